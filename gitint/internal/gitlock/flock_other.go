//go:build !unix || aix || solaris

package gitlock

import "os"

// flock returns false, since nothing is known of other processes: so no lock is broken.
func flock(*os.File) bool { return false }
