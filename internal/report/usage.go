package report

import (
	"errors"
	"fmt"
)

// A UsageError is a command line that could not be parsed.
type UsageError struct {
	Err     error
	Command string // that was parsed so far, as after `git jp help`; "" without one
}

// Error returns what is wrong with it.
func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *UsageError) Unwrap() error { return e.Err }

// Usagef makes a UsageError.
func Usagef(format string, args ...any) error {
	return &UsageError{Err: fmt.Errorf(format, args...)}
}

// A CommandError names a command that does not exist.
type CommandError struct {
	Name  string
	Guess string // the parser's suggestion, "" without one
}

// Error names the command, and the suggestion.
func (e *CommandError) Error() string {
	text := fmt.Sprintf("no command named %q", e.Name)
	if e.Guess != "" {
		text += ", " + e.Guess
	}
	return text
}

// A NameError is a conversation that was named on the command line and not found.
type NameError struct {
	Arg string
	Err error
}

// Error returns why it was not found.
func (e *NameError) Error() string { return e.Err.Error() }

// Unwrap returns the reason.
func (e *NameError) Unwrap() error { return e.Err }

// usageHint names the help of the command that was called.
func usageHint(err error) string {
	if unknown, ok := errors.AsType[*CommandError](err); ok {
		if hint := habitHint[unknown.Name]; hint != "" {
			return hint
		}
	}
	u := new(UsageError)
	if errors.As(err, &u) && u.Command != "" {
		return fmt.Sprintf("'git jp help %s' explains it", u.Command)
	}
	return "'git jp help' lists the commands, 'git jp help <command>' explains one"
}

// habitHint names the command for which git and other programs have another word.
var habitHint = map[string]string{
	"add":    "'git jp stage' stages a conversation with all that it needs",
	"ask":    "'git jp query' asks",
	"chat":   "'git jp query' asks",
	"branch": "'git jp fork' makes another conversation of one",
	"commit": "'git jp stage --changed' stages conversations, 'git commit' commits them",
	"fsck":   "'git jp check' finds references without content",
	"merge":  "'git merge' merges conversations, too; 'git jp update-branch' merges a base",
	"mv":     "'git jp rename' gives a conversation another title",
	"prune":  "'git jp gc' deletes content that nothing refers to",
	"pull":   "'git pull' merges conversations, too, where 'git jp install' was run",
	"reset":  "'git jp unstage' removes a conversation from the index",
	"search": "'git jp grep' searches conversations",
}
