package main

import (
	"context"
	"io"
	"strings"

	"github.com/git-jp/git-jp/internal/revisions"
)

type diffCmd struct {
	Conversation string   `arg:"" optional:"" help:"The conversation, which may follow the revisions; the active one by default. A deleted one is named by its id in full."`
	Revision     []string `arg:"" optional:"" help:"One revision to compare with the working tree, or two, also as A..B or A...B."`
	Staged       bool     `aliases:"cached" help:"Compare the index with HEAD, or with the revision."`
}

// Help says what is compared.
func (diffCmd) Help() string {
	return `Shows how a conversation changed as people read it, with its content, wherever its
directory was. As with 'git diff', the working tree is compared with the index unless
revisions are given.`
}

// Run compares two states of a conversation.
func (c diffCmd) Run(ctx context.Context, a *app) error {
	between, err := c.comparison(ctx, a)
	if err != nil {
		return err
	}
	id, given, err := subject(ctx, a, between.Repo, c.Conversation, c.Revision)
	if err != nil {
		return err
	}
	between.ID = id
	revs, err := between.Range(ctx, given)
	if err != nil {
		return err
	}
	if len(revs) > 2 || c.Staged && len(revs) > 1 {
		return usagef("too many revisions: %s", strings.Join(given, " "))
	}
	if len(revs) < 2 {
		err := needsFiles(a, "compare", "name two revisions, as in 'git jp diff <id> HEAD~ HEAD'")
		if err != nil {
			return err
		}
	}
	places, err := between.Places(ctx, revs, c.Staged)
	if err != nil {
		return err
	}
	found, problems, err := between.Between(ctx, places)
	switch {
	case err != nil:
		return err
	case found.Patch == "":
	case a.JSON:
		err = a.printJSON(found)
	default:
		err = a.paged(ctx, func(out io.Writer) error {
			_, err := io.WriteString(out, a.output().Patch(found.Patch))
			return err
		})
	}
	if err != nil {
		return err
	}
	return contentProblems(a, problems)
}

// comparison returns one without a conversation.
func (c diffCmd) comparison(ctx context.Context, a *app) (b revisions.Comparison, err error) {
	if b.Repo, err = a.repo(ctx); err != nil {
		return b, err
	}
	if b.Workspace, err = a.workspace(); err != nil {
		return b, err
	}
	b.Dir, err = a.dirInRepo(b.Workspace, b.Repo)
	b.Find, b.Problem = a.find, func(err error) { a.warn("%v", err) }
	return b, err
}
