// Package listing lists conversations for people, shows overviews of them and lets people choose
// one.
//
// It keeps two things true: no blob is opened for a list or an overview, and an unreadable
// directory does not hide the others. It does not say why a conversation cannot be read:
// internal/check does.
package listing
