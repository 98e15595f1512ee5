// Package tools has no code. Its go.mod, a separate module, pins the developer tools, so that
// neither their versions nor their requirements reach the users of git-jp. The Makefile builds them
// into bin.
package tools
