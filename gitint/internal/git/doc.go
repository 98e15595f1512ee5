// Package git starts git, and nothing else does.
//
// What it keeps true:
//
//   - A command only reads, stays off the network, asks nobody and takes its paths literally,
//     unless its [Command] says otherwise.
//   - Messages are untranslated. A command that fails is an [*ExitError] with what git printed.
//   - A command ends with its context, and does not wait for what outlives it.
//   - What [CatFile] and [Runner.CatAll] return was hashed and compared with its name.
package git
