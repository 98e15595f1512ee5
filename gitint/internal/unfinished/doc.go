// Package unfinished reads the files in which git keeps an operation that is in progress, such as a
// rebase, an am or a merge: which objects they name, and whether a part of them is lost.
//
// What it keeps true: everything in the form of an object id counts as one, because these files are
// not all documented; and what cannot be read as plain text is reported, because it may have been
// the only name of something.
package unfinished
