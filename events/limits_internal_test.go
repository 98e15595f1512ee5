package events

// MaxContainers is how many objects and lists a file may have.
const MaxContainers = maxContainers

// ErrTooLarge is the reason of a [SyntaxError] about a file that is too large.
var ErrTooLarge = errTooLarge
