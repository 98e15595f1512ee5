package web

import (
	"context"
	"errors"
	"io/fs"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/blame"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/view"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Revision has the conversations that a ref has at the time of a call.
type Revision struct {
	Repo *gitint.Repo
	Ref  string
}

// Entries implements [Source]. It fetches their files if they are not here.
func (s Revision) Entries(ctx context.Context) ([]Entry, error) {
	tree, err := s.Repo.Tree(ctx, s.Ref)
	if err != nil {
		return nil, err
	}
	dirs, err := gitint.NewDirFinder(workspace.DirName).Find(tree)
	if err != nil {
		return nil, err
	}
	var all []Entry
	var places []ondemand.Place
	for _, dir := range dirs {
		entries, _, err := workspace.Scan(tree, dir)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			p := ondemand.Place{Entry: e, Snapshot: tree, Store: dir + "/" + blobs.Dir}
			places = append(places, p)
			stream, _ := tree.OID(e.Path + "/" + workspace.EventsFile)
			details, _ := tree.OID(e.Path + "/" + workspace.MetadataFile)
			all = append(all, Entry{
				ID: e.ID, Version: func() string { return stream.String() + details.String() },
				Details: func() (*events.Details, error) { return workspace.ReadDetails(tree, e) },
				Load: func() (*workspace.Conversation, view.Conversation, error) {
					return fromTree(tree, e, ondemand.Demanded(s.Repo, p))
				},
			})
		}
	}
	// Content that does not arrive is reported where it is read.
	_ = ondemand.Fetch(ctx, s.Repo, false, places...)
	return all, nil
}

func fromTree(
	tree *gitint.Tree, e workspace.Entry, contents blobs.Reader,
) (*workspace.Conversation, view.Conversation, error) {
	conv, err := workspace.Read(tree, e)
	if err != nil {
		return nil, view.Conversation{}, err
	}
	return conv, shown(conv, contents), nil
}

// shown returns a conversation in the form for a page.
func shown(conv *workspace.Conversation, contents blobs.Reader) view.Conversation {
	return view.Conversation{
		Conversation: render.Conversation{
			ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: contents,
			Base: conv.BaseConfig,
		},
		Facts: view.FactsOf(conv),
	}
}

// Subjects calls its function with each conversation of a source.
func Subjects(
	ctx context.Context, source Source, problem func(error),
) func(func(blame.Subject) error) error {
	return func(f func(blame.Subject) error) error {
		all, err := source.Entries(ctx)
		if err != nil {
			return err
		}
		for _, e := range all {
			conv, page, err := e.Load()
			if err != nil {
				problem(err)
				continue
			}
			if err := f(blame.Subject{
				ID: e.ID, Title: view.TitleOf(page), Stream: conv.Stream,
			}); err != nil {
				return err
			}
		}
		return nil
	}
}
