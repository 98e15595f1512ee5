package blobs

import "os"

// mkfifo creates a directory, which is not a regular file either.
func mkfifo(path string) error { return os.Mkdir(path, 0o755) }
