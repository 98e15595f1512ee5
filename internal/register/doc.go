// Package register installs the hooks, drivers and attributes of a clone for a person, and removes
// them.
//
// It keeps one thing true: what was done is printed, and steps that are left to do by hand are an
// error. Package [github.com/git-jp/git-jp/hooks/install] decides what is installed, and leaves
// other files alone.
package register
