//go:build !unix

package regular

import "io/fs"

// Links returns how many names a file has, 1 where that cannot be told.
func Links(fs.FileInfo) int { return 1 }
