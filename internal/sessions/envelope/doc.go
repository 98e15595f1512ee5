// Package envelope reads and writes conversations as jp's RFD D49 has them: one JSON object a
// line, with all content in it.
package envelope
