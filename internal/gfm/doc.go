// Package gfm adds GitHub's tables, strikethrough and task lists to goldmark: a part of what its
// package extension does.
//
// It keeps true that each text gives the same tree, with the same positions, and the same HTML as
// that package, whose alignment of cells is an attribute. Tests compare the two.
//
// It is here because git starts the program for each hook and each merged file: package extension
// compiles expressions for addresses on the web, which nothing of ours looks for, at each start.
package gfm
