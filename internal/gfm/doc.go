// Package gfm adds GitHub's tables, strikethrough and task lists to goldmark, a part of its package
// extension, and limits the work that goldmark does for a text.
//
// What it keeps true: each text gives the same tree, with the same positions, and the same HTML as
// that package configured to align cells by attributes. Tests compare the two. The exception is a
// text that takes more work than its length allows, as only hostile ones do: markup beyond that
// stays text. The time for any text is proportional to its length.
//
// It exists because git starts the program for each hook and each merged file: at each start,
// package extension compiles expressions for web addresses that we do not use.
package gfm
