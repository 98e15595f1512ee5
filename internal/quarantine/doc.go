// Package quarantine keeps conversations as they were before they were changed in place, so
// that what was removed can be brought back.
//
// What it keeps true: a copy is there, whole and synced, before [Quarantine.Put] returns, and
// holds every content that only it refers to. A copy is given back only to a conversation that
// still begins with what it was changed to; what came after that is kept.
//
// What it does not promise: that a copy stays. It lies where everything may be deleted at any
// time, and costs nothing but the way back.
package quarantine
