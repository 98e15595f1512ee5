//go:build !unix

package regular

// noWait is nothing where no directory has pipes.
const noWait = 0
