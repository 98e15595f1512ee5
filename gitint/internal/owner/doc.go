// Package owner has git's rule for whose files are safe to use: the user's own, and those that
// safe.directory allows.
//
// What it keeps true: where the rule is another, on systems other than Unix, only git decides.
package owner
