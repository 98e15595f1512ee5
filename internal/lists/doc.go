// Package lists makes lists and sets of others, as package slices does not.
package lists
