package events

// MaxContainers is the number of objects and arrays that a file may have.
const MaxContainers = maxContainers

// ErrTooLarge is the reason of a [SyntaxError] about a file that is too large.
var ErrTooLarge = errTooLarge
