// Package doctor looks at what a check of the conversations cannot see: the hooks, drivers and
// attributes of a clone, git, the man page, the user's directories, and whether today's jp can read
// what is there. It reports findings and changes one thing: directories of ours that other users
// could enter are closed to them.
package doctor
