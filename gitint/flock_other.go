//go:build !unix || aix || solaris

package gitint

import "os"

// flock reports that nothing is known of other processes, so that no lock is broken.
func flock(*os.File) bool { return false }
