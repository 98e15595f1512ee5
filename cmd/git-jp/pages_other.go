//go:build !linux

package main

// growInLargePages does nothing: only Linux is asked for large pages.
func growInLargePages() {}
