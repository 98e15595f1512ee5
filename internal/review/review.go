package review

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Conversation is a conversation that a branch changed.
type Conversation struct {
	*workspace.Conversation

	Contents blobs.Reader
	Turns    []int // those with events of the branch, counted from 0
}

// Has reports whether the branch added to a turn, counted from 1.
func (c Conversation) Has(turn int) bool { return slices.Contains(c.Turns, turn-1) }

// ErrCut reports a commit at the boundary of a shallow clone.
var ErrCut = errors.New("history is cut off there, so what it added is unknown")

// Between returns the conversations to which head has added since base, in the order of their ids,
// or all that head has if base is zero. A conversation that cannot be read is passed to problem,
// and the others are returned. It fetches nothing: see [Fetch].
func Between(
	ctx context.Context, repo *gitint.Repo, base, head gitint.OID, problem func(error),
) ([]Conversation, error) {
	changed, err := compare(ctx, repo, base, head)
	if err != nil {
		return nil, err
	}
	var all []Conversation
	for _, e := range changed.pairs {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		c, err := changed.read(e)
		if err != nil {
			problem(err)
			continue
		}
		if len(c.Turns) > 0 {
			all = append(all, c)
		}
	}
	return all, nil
}

// changes holds the conversations whose streams differ between two commits.
type changes struct {
	was   *gitint.Tree // nil if there is none
	is    *gitint.Tree
	pairs []pair
}

type pair struct {
	before *place // nil if there is none
	after  place
}

// read reads a conversation with the indexes of the added turns.
func (c changes) read(p pair) (Conversation, error) {
	conv, err := workspace.Read(c.is, p.after.Entry)
	if err != nil {
		return Conversation{}, fmt.Errorf("read %s: %w", c.is.Name(), err)
	}
	return c.added(p, conv)
}

// added returns the turns that were added to a conversation.
func (c changes) added(p pair, conv *workspace.Conversation) (Conversation, error) {
	is := Conversation{
		Conversation: conv, Contents: ondemand.Contents(c.is, p.after.jp+"/"+blobs.Dir),
	}
	for i := range conv.Stream.Turns() {
		is.Turns = append(is.Turns, i)
	}
	if p.before == nil {
		return is, nil
	}
	return is, is.without(c.was, *p.before)
}

func compare(
	ctx context.Context, repo *gitint.Repo, base, head gitint.OID,
) (c changes, err error) {
	var before []place
	if !base.IsZero() {
		if c.was, err = repo.Tree(ctx, base.String()); err != nil {
			return c, err
		}
		if before, err = conversations(c.was); err != nil {
			return c, err
		}
	}
	if c.is, err = repo.Tree(ctx, head.String()); err != nil {
		return c, err
	}
	after, err := conversations(c.is)
	if err != nil {
		return c, err
	}
	for _, e := range after {
		p := pair{after: e}
		if i := slices.IndexFunc(before, func(b place) bool { return b.ID == e.ID }); i >= 0 {
			if streamOf(c.was, before[i]) == streamOf(c.is, e) {
				continue
			}
			p.before = &before[i]
		}
		c.pairs = append(c.pairs, p)
	}
	return c, nil
}

// A place is a conversation in a tree.
type place struct {
	workspace.Entry

	jp string // the .jp that it is in
}

// conversations lists the conversations of a tree.
func conversations(tree *gitint.Tree) (all []place, err error) {
	dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
	if err != nil {
		return nil, fmt.Errorf("list %s: %w", tree.Name(), err)
	}
	for _, dir := range dirs {
		entries, _, err := workspace.Scan(tree, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, fmt.Errorf("list %s: %w", tree.Name(), err)
		}
		for _, e := range entries {
			all = append(all, place{e, dir})
		}
	}
	slices.SortStableFunc(all, func(a, b place) int { return int(a.ID - b.ID) })
	return all, nil
}

// streamOf returns the object of a stream.
func streamOf(tree *gitint.Tree, p place) gitint.OID {
	name := workspace.EventsFile
	if p.Legacy {
		name = workspace.MessagesFile
	}
	oid, _ := tree.OID(p.Path + "/" + name)
	return oid
}

// without removes the turns whose events are all in an earlier version.
func (c *Conversation) without(tree *gitint.Tree, p place) error {
	old, err := workspace.Read(tree, p.Entry)
	if err != nil {
		return fmt.Errorf("read %s: %w", tree.Name(), err)
	}
	had := lists.Set(old.Stream.Keys())
	keys, turns := c.Stream.Keys(), c.Stream.Turns()
	c.Turns = slices.DeleteFunc(c.Turns, func(i int) bool {
		t := turns[i]
		for at := t.First; at <= t.Last; at++ {
			if c.Stream.At(at).Kind().IsEvent() && !had[keys[at]] {
				return false
			}
		}
		return true
	})
	return nil
}

// Asked returns the text of a turn: its prompts, and the messages after the last call.
func Asked(s *events.Stream, t events.Turn) (author, prompt, answer string, calls int) {
	for i := t.First; i <= t.Last; i++ {
		switch ev := s.At(i).Event().(type) {
		case *events.ChatRequest:
			if prompt != "" {
				prompt += "\n\n"
			}
			prompt += render.Typed(ev.Content)
			author = ev.Author
		case *events.ToolCallRequest:
			calls++
			answer = ""
		case *events.ChatResponse:
			if ev.Form == events.FormMessage {
				if answer != "" {
					answer += "\n\n"
				}
				answer += ev.Text
			}
		}
	}
	return author, prompt, answer, calls
}
