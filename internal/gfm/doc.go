// Package gfm adds GitHub's tables, strikethrough and task lists to goldmark: a part of what
// goldmark's package extension does.
//
// It keeps true that each text gives the same tree, with the same positions, and the same HTML as
// that package, with the alignment of cells as an attribute. Tests compare the two.
//
// It exists because git starts the program for each hook and each merged file: at each start,
// package extension compiles expressions for web addresses that we do not use.
package gfm
