// Package repair changes the form in which conversations are stored.
//
// What it keeps true: a conversation says the same before and after, element by
// element, by [events.Equal], and is not saved otherwise. Each conversation is
// changed in one step under its lock, so a migration can be interrupted at any time
// and run again: what is done is found done. Content is stored before anything
// refers to it, and migrating back deletes none.
//
// What it does not promise: that bytes come back. Text that was not base64 where jp
// writes base64 comes back as base64, which jp itself does with it at its next save.
package repair
