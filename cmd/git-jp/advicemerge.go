package main

import (
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/merge"
)

// streamDriver is set in a clone that has the drivers.
const streamDriver = "merge.jp-events.driver"

// adviseMerge names what finishes a merge, and what puts one right that was made without
// drivers. It depends on whether the merge waits, on who has it already, and on the clone.
func (a *app) adviseMerge(ctx context.Context, repo *gitint.Repo, findings []check.Finding) {
	isMerge := func(f check.Finding) bool {
		return f.State == check.Conflicted || f.State == check.TextMerged
	}
	if !slices.ContainsFunc(findings, isMerge) {
		return
	}
	register := ""
	// What cannot be found out is left out of the advice.
	if _, ok, err := repo.Config(ctx, streamDriver); err == nil && !ok {
		register = registerCommand + " && "
	}
	for i, f := range findings {
		switch {
		case f.State == check.Conflicted && strings.HasPrefix(f.Next, check.Resolve("")):
			findings[i].Next = register + f.Next
		case f.State == check.TextMerged && f.Next == "":
			findings[i].Next = a.mergeAgain(ctx, repo, f, register)
		}
	}
}

// mergeAgain is the command that makes a merge anew, where it is the last commit and nobody
// else has it. Otherwise history stays, and the conversation is corrected.
func (a *app) mergeAgain(
	ctx context.Context, repo *gitint.Repo, f check.Finding, register string,
) string {
	edit := "git jp edit " + f.Conversation
	switch {
	case repo.Root() == "":
		return ""
	case f.Commit == check.IndexName || f.Severity == check.Warning:
		return edit // a person made it what it is
	}
	head, err := repo.Resolve(ctx, "HEAD")
	if err != nil || head.String() != f.Commit {
		return edit
	}
	names, err := repo.RefsWith(ctx, head)
	at, headErr := repo.Head(ctx)
	if err != nil || headErr != nil || slices.ContainsFunc(names, func(name string) bool {
		return name != at.Target
	}) {
		return edit
	}
	parents, err := merge.Parents(ctx, repo, head)
	if err != nil || len(parents) != 2 {
		return edit
	}
	const short = 12
	return register + "git reset --keep HEAD^1 && git merge " + parents[1].String()[:short]
}
