// Package settings merges partial configurations of jp as jp does, finds the delta between two, and
// computes the configuration in force at an element of a stream.
//
// It knows where jp's schema requires a value to be merged differently from other values of its
// kind, and nothing else of the schema: keys that this version does not know are merged like all
// others.
package settings
