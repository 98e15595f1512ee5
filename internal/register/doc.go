// Package register installs the hooks, drivers and attributes of a clone for a person, and removes
// them.
//
// It keeps one thing true: what was done is printed, and what is left to be done by hand is an
// error. What is installed, and that nothing of others' is touched, is
// [github.com/git-jp/git-jp/hooks/install]'s business.
package register
