//go:build !unix

package regular

// noWait is 0 on systems without pipes in directories.
const noWait = 0

const asDirectory = ""
