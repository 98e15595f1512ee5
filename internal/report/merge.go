package report

import (
	"context"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/check"
)

// Register registers the drivers of a clone.
const Register = "git jp install"

// streamDriver is set in a clone that has the drivers.
const streamDriver = "merge.jp-events.driver"

// merge names the command that finishes a merge, or corrects one that was made without drivers. It
// depends on whether the merge waits, on who has it already, and on the clone.
func (ad Adviser) merge(ctx context.Context, findings []check.Finding) {
	isMerge := func(f check.Finding) bool {
		return f.State == check.Conflicted || f.State == check.TextMerged
	}
	if !slices.ContainsFunc(findings, isMerge) {
		return
	}
	register := ""
	// Settings that cannot be read are left out of the advice.
	if _, ok, err := ad.Repo.Config(ctx, streamDriver); err == nil && !ok {
		register = Register + " && "
	}
	for i, f := range findings {
		switch {
		case f.State == check.Conflicted && strings.HasPrefix(f.Next, check.Resolve("")):
			findings[i].Next = register + f.Next
		case f.State == check.TextMerged && f.Next == "":
			findings[i].Next = ad.mergeAgain(ctx, f, register)
		}
	}
}

// mergeAgain returns the command that makes a merge again, if it is the last commit and no one else
// has it. Otherwise history stays, and the conversation is corrected.
func (ad Adviser) mergeAgain(
	ctx context.Context, f check.Finding, register string,
) string {
	edit := "git jp edit " + f.Conversation
	switch {
	case ad.Repo.Root() == "":
		return ""
	case f.Commit == check.IndexName || f.Severity == check.Warning:
		return edit // a person changed it
	}
	head, err := ad.Repo.Resolve(ctx, "HEAD")
	if err != nil || head.String() != f.Commit {
		return edit
	}
	names, err := ad.Repo.RefsWith(ctx, head)
	at, headErr := ad.Repo.Head(ctx)
	if err != nil || headErr != nil || slices.ContainsFunc(names, func(name string) bool {
		return name != at.Target
	}) {
		return edit
	}
	parents, err := ad.Repo.Parents(ctx, head)
	if err != nil || len(parents) != 2 {
		return edit
	}
	const short = 12
	return register + "git reset --keep HEAD^1 && git merge " + parents[1].String()[:short]
}
