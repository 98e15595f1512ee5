//go:build !unix

package regular

import "io/fs"

// Links returns the number of a file's names, 1 if unknown.
func Links(fs.FileInfo) int { return 1 }

// Owner returns the id of the user who owns a file, or -1 if it cannot be determined.
func Owner(fs.FileInfo) int { return -1 }
