package report

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Exit codes. The table is in the man page too.
const (
	ExitDone        = 0
	ExitProblems    = 1 // problems found, or failed
	ExitConflict    = 2 // a person has to decide
	ExitUsage       = 129
	ExitInterrupted = 130
	ExitTerminated  = 143 // as a shell says of a program that SIGTERM ended
)

// ErrProblems reports that the command has already printed what is wrong.
var ErrProblems = errors.New("problems found")

// A Hinted error comes from a command, which knows best what the user can do about it. It has no
// hints if nothing helps.
type Hinted interface {
	error
	Hints() []string
}

// A Detailed error has lines that are printed below its sentence.
type Detailed interface {
	error
	Details() []string
}

// A Conflict is an error that may leave something for a person to decide.
type Conflict interface {
	error
	Undecided() bool
}

// Print prints an error and returns the exit code.
func Print(stderr io.Writer, err error) int {
	switch {
	case err == nil:
		return ExitDone
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, "interrupted")
		if isA[*ask.DraftError](err) {
			fmt.Fprintf(stderr, "hint: %s\n", render.Message(draftHint(err)))
		}
		return ExitInterrupted
	case errors.Is(err, ErrProblems):
		return ExitProblems
	}
	fmt.Fprintf(stderr, "error: %s\n", render.Message(err.Error()))
	for _, line := range details(err) {
		fmt.Fprintf(stderr, "  %s\n", render.Message(line))
	}
	for _, hint := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", render.Message(hint))
	}
	return exitCode(err)
}

// Warn prints an error that did not end the command, and its hints.
func Warn(stderr io.Writer, err error) {
	fmt.Fprintf(stderr, "warning: %s\n", render.Message(err.Error()))
	for _, hint := range hints(err) {
		fmt.Fprintf(stderr, "hint: %s\n", render.Message(hint))
	}
}

func exitCode(err error) int {
	conflict, ok := errors.AsType[Conflict](err)
	switch {
	case isUsage(err):
		return ExitUsage
	case isA[*gitint.UnmergedError](err), isA[*hooks.ConflictError](err),
		ok && conflict.Undecided():
		return ExitConflict
	default:
		return ExitProblems
	}
}

// isUsage reports whether the command line is wrong. A key or a value of the configuration may be
// on it too.
func isUsage(err error) bool {
	setting, isSetting := errors.AsType[*config.SettingError](err)
	key, isKey := errors.AsType[*config.KeyError](err)
	return isA[*UsageError](err) || isA[*CommandError](err) || isSetting && !setting.Unset ||
		isKey && key.Origin.Layer == config.Command
}

func isA[T error](err error) bool {
	_, ok := errors.AsType[T](err)
	return ok
}

// details returns the lines of an error below its sentence.
func details(err error) []string {
	var lines []string
	if ambiguous, ok := errors.AsType[*workspace.AmbiguousError](err); ok {
		lines = candidateLines(ambiguous.Candidates)
	}
	if refused, ok := errors.AsType[*gc.RefusedError](err); ok {
		lines = obstacleLines(refused.Obstacles[1:])
	}
	if detailed, ok := errors.AsType[Detailed](err); ok {
		lines = detailed.Details()
	}
	return lines
}

// maxObstacles is how many obstacles are printed after the first.
const maxObstacles = 20

func obstacleLines(obstacles []gc.Obstacle) (lines []string) {
	for i, o := range obstacles {
		if i == maxObstacles {
			return append(lines, fmt.Sprintf("and %d more", len(obstacles)-i))
		}
		lines = append(lines, o.String())
	}
	return lines
}

// maxCandidates is how many conversations of an ambiguous name are printed.
const maxCandidates = 12

func candidateLines(candidates []workspace.Candidate) (lines []string) {
	for i, c := range candidates {
		if i == maxCandidates {
			return append(lines, fmt.Sprintf("and %d more", len(candidates)-i))
		}
		lines = append(lines, fmt.Sprintf("%s  %s", c.Entry.ID, render.Output{}.Line(c.Title)))
	}
	return lines
}
