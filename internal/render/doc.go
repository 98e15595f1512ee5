// Package render turns conversations into output for people and programs: terminal text, plain
// text, Markdown, JSON, tables and progress. It is the only place of the program that writes escape
// codes.
//
// What it keeps true:
//
//   - Whatever a conversation contains, output for a terminal has no control sequences but the
//     colours (SGR) that this package writes itself. See [Sanitize].
//   - Output that is not for a terminal keeps texts byte for byte except for line feeds at their
//     end, so that redirecting it to a file loses nothing. One-line fields, such as titles in
//     tables, are the exception: white space in them becomes a space.
//   - Contents are opened only if they are printed. Missing or damaged content is shown as a line
//     saying so, is returned as a [Problem], and stops nothing.
//
// It does not promise that terminal output can be parsed, nor that its layout stays the same
// between releases; the JSON forms are for that, and their names are only added to.
//
// The package reads no environment, clock or terminal size: they come in through [Signals] and
// option structs. The pager is the only process it starts.
package render
