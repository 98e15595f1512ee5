// Package ask shows a turn at a terminal: the answer as it arrives, with calls and reasoning beside
// it, the questions for the user, and interrupts.
//
// Standard output has only the answer; everything else is written to standard error. Nothing is
// written while the user is asked, and there is one question at a time, on the terminal device,
// wherever the standard streams lead. Without a terminal, nothing waits for an answer: the
// [Prompter] is nil then, and a nil Prompter means that the answer is no.
//
// Package [github.com/git-jp/git-jp/internal/query] decides what to ask and what to save; this
// package makes no decision for the user.
package ask
