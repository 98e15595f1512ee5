// Package models knows the language models by name: which provider has one, in which format it
// is spoken to, how large its window is and what it costs.
//
// It keeps true:
//
//   - A model is named as in jp, "provider/name"; an alias stands for such a name or for
//     another alias.
//   - What is known of models stands in one file, models.toml. Each row has its source and
//     the day on which it was read; a user's table wins row by row. What is not known is zero,
//     and a cost that is not known is said to be so.
//   - Keys are asked for when a model is made, of whoever may decide on them, and only for
//     providers that want one. Nothing is read from the environment.
//
// It does not promise that prices are today's: show their date where you show them.
package models
