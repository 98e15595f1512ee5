// Package listing has conversations as people list, look at and choose them.
//
// It keeps two things true: no blob is opened for what a list or an overview says, and what one
// directory cannot say hides none of the others. It does not say why a conversation cannot be
// read: internal/check does.
package listing
