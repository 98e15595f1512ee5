// Package gfm adds GitHub's tables, strikethrough and task lists to goldmark: a part of what its
// package extension does, and bounds what goldmark does with a text.
//
// It keeps true that each text gives the same tree, with the same positions, and the same HTML as
// that package, whose alignment of cells is an attribute. Tests compare the two. The
// exception is a text that takes more work than its length allows, as only hostile ones do: the
// marks that are too many stay text. The time for any text is in proportion to its length.
//
// It exists because git starts the program for each hook and each merged file: at each start,
// package extension compiles expressions for web addresses that we do not use.
package gfm
