//go:build !unix

package regular

import "io/fs"

// Links returns the number of a file's names, 1 if unknown.
func Links(fs.FileInfo) int { return 1 }

// Owner returns the number of the user to whom a file belongs, -1 where that cannot be told.
func Owner(fs.FileInfo) int { return -1 }
