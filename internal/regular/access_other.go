//go:build !unix

package regular

// Readable is not known before a file is opened on this system.
func Readable(string, bool) error { return nil }

// Writable is not known before a file is created on this system.
func Writable(string) error { return nil }
