// Package jsonspan reads and changes JSON in place. It works with the positions of values, so that
// a change to one value leaves the bytes of all others as they were written.
//
// A [Cursor] scans any text. The other functions scan JSON that is known to be valid; on anything
// else they may panic. They exist beside jsontext because streams, sessions and settings need
// positions rather than decoded values.
package jsonspan
