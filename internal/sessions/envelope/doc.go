// Package envelope reads and writes conversations in the format of jp's RFD D49: one JSON object a
// line, with all content in it.
package envelope
