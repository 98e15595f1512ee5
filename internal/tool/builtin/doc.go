// Package builtin has the tools that need no configuration: for reading, searching and changing the
// files of the workspace, inspecting its git repository, refreshing resources, and describing
// tools.
//
// Names and arguments are those of the tools that jp's own workspace declares, so that they are
// familiar to models and conversations.
//
// What it keeps true: files outside the workspace and those of git and jp are neither read nor
// written (package file); a call that changes several files changes none of them if one of its
// patterns does not match; listing and searching cover the files that git does not ignore.
//
// What it does not promise: a snapshot of one moment, or that a regular expression has exactly the
// meaning that it has in jp, whose engine is another one of the same family.
package builtin
