package atomicfile

import "os"

// syncFlag opens a file for syncing, which Windows allows only to writers.
const syncFlag = os.O_RDWR

// noWait is not needed on this system.
const noWait = 0

// fsyncDir does nothing: Windows has no such call and journals names itself.
func fsyncDir(*os.File) error { return nil }

func ignoreUnsupported(err error) error { return err }
