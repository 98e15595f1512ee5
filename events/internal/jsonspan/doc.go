// Package jsonspan reads and changes JSON in place. It knows where in the bytes a value stands,
// so that a change leaves all others as somebody wrote them.
//
// Its functions walk JSON that jsontext has found valid; on anything else they may panic. They
// exist beside jsontext because the codec needs positions, not values in another form.
package jsonspan
