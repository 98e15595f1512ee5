package events

// MaxMembers is the number of members that one object may have.
const MaxMembers = maxMembers

// ErrNumber is the reason of a [SyntaxError] about a number that jp cannot read.
var ErrNumber = errNumber

// ErrCrowded is the reason of an error about a file with too many objects or members.
var ErrCrowded = errCrowded
