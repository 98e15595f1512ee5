// Package doctor examines what a check of the conversations cannot see: the hooks, drivers and
// attributes of a clone, git, the man page, the user's directories, and whether today's jp can read
// the workspace. It reports findings and changes one thing: it closes our directories that other
// users could enter.
package doctor
