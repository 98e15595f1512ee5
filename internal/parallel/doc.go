// Package parallel calls a function from several goroutines.
//
// What it does not promise: order between calls, and an end of the calls on an error or a done
// context, which the function observes itself.
package parallel
