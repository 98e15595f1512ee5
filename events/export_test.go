package events

// MaxMembers is the number of members that one object may have.
const MaxMembers = maxMembers
