//go:build !unix

package regular

import "io/fs"

// Links returns the number of a file's names, 1 if unknown.
func Links(fs.FileInfo) int { return 1 }
