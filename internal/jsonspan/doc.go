// Package jsonspan reads and changes JSON in place. It works with the positions of values, so that
// a change to one value leaves the bytes of all others as they were written.
//
// Its functions scan JSON that jsontext has found valid; on anything else they may panic. They
// exist beside jsontext because the codec needs positions rather than decoded values.
package jsonspan
