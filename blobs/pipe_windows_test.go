package blobs

import "os"

// mkfifo makes something that is no regular file.
func mkfifo(path string) error { return os.Mkdir(path, 0o755) }
