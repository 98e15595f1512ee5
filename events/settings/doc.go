// Package settings joins partial configurations of jp as jp joins them, finds what leads from one
// to another, and computes what was in force at an element of a stream.
//
// It knows where jp's schema makes a value join in another way than by its kind, and nothing else
// of the schema: keys that this version has never heard of are joined like all others.
package settings
