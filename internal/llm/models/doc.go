// Package models looks up language models by name: their provider, its format, the size of the
// window and the price.
//
// It keeps true:
//
//   - A model is named as in jp, "provider/name"; an alias refers to such a name or to another
//     alias.
//   - All data about models is in one file, models.toml. Each row has its source and the day on
//     which it was read; the values in the user's table take precedence. Unknown values are zero,
//     and an unknown cost is reported as such.
//   - Keys are requested when a model is created, from the caller, who decides on them, and only
//     for providers that need one. Nothing is read from the environment.
//
// It does not promise that prices are current: show their date with them.
package models
