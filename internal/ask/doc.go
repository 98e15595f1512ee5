// Package ask is what asking a model does at a terminal: the answer as it comes, the calls and
// the reasoning beside it, the questions that a person is asked meanwhile, and interrupts.
//
// Standard output has the answer alone, and whatever else is shown goes to standard error.
// Nothing is written while a person is asked, one question stands at a time, and each is put
// on the terminal device, wherever the standard streams lead. Where nobody can be asked,
// nothing waits: a [Prompter] is nil then, and whoever has none says no.
//
// What is asked and what is kept of it is [github.com/git-jp/git-jp/internal/query]'s; this
// package decides nothing that a person did not say.
package ask
