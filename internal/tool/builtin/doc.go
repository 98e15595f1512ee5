// Package builtin is the tools that need no configuration: reading, searching and
// changing the files of the workspace, looking at its git repository, refreshing
// resources, and describing tools.
//
// Names and arguments are those of the tools that jp's own workspace declares, so that
// models and conversations find what they know.
//
// What it keeps true: files outside the workspace and those of git and jp are neither
// read nor written (package file); a call that changes several files changes none of
// them when one of its patterns does not fit; what is listed and searched is what git
// does not ignore.
//
// What it does not promise: a view of one moment, or that a regular expression means
// exactly what it means to jp, whose engine is another one of the same family.
package builtin
