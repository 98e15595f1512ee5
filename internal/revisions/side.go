package revisions

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ondemand"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Side is one version of a conversation, as the text that is compared. Its name is empty if there
// is no conversation.
type Side struct {
	Name, Text string
	Problems   []render.Problem
}

// InWorkingTree reads a conversation in the working tree.
func InWorkingTree(w *workspace.Workspace, e workspace.Entry) (Side, error) {
	conv, err := w.Load(e)
	if err != nil {
		return Side{}, err
	}
	return sideOf(conv, "working tree:"+e.Path, w.BlobsOf(e))
}

// InSnapshot reads a conversation below the directory .jp of a snapshot, or returns the zero side
// if there is none. Content that the snapshot lacks is read from the workspace. It fetches nothing:
// see [Fetch].
func InSnapshot(
	w *workspace.Workspace, s gitint.Snapshot, dir string, id events.ID,
) (Side, error) {
	e, ok, err := find(s, dir, id)
	if err != nil || !ok {
		return Side{}, err
	}
	conv, err := workspace.Read(s, e)
	if err != nil {
		return Side{}, fmt.Errorf("read %s: %w", s.Name(), err)
	}
	content := eitherReader{ondemand.Contents(s, dir+"/"+blobs.Dir), w.Blobs()}
	return sideOf(conv, s.Name()+":"+e.Path, content)
}

func find(s gitint.Snapshot, dir string, id events.ID) (e workspace.Entry, ok bool, err error) {
	entries, _, err := workspace.Scan(s, dir)
	at := slices.IndexFunc(entries, func(e workspace.Entry) bool { return e.ID == id })
	if err != nil || at < 0 {
		return e, false, err
	}
	return entries[at], true, nil
}

// Fetch fetches a conversation as in snapshots, in a clone that may lack it.
func Fetch(
	ctx context.Context, repo *gitint.Repo, dir string, id events.ID, snaps ...gitint.Snapshot,
) error {
	var all []ondemand.Place
	for _, s := range snaps {
		e, ok, err := find(s, dir, id)
		if err != nil {
			return err
		}
		if ok {
			all = append(all, ondemand.Place{Entry: e, Snapshot: s, Store: dir + "/" + blobs.Dir})
		}
	}
	return ondemand.Fetch(ctx, repo, true, all...)
}

// maxCompared bounds the text that is compared: comparing takes several times as much memory, and
// people do not read that much.
const maxCompared = 32 << 20

// ErrLongText reports a conversation that is too long to compare.
var ErrLongText error = longTextError{}

type longTextError struct{}

func (longTextError) Error() string { return "more than " + render.Bytes(maxCompared) + " of text" }

// Hints names a command that can compare it.
func (longTextError) Hints() []string { return []string{"'git diff' compares the files"} }

// comparedText collects the text to compare.
type comparedText struct{ b strings.Builder }

// Write implements [io.Writer].
func (t *comparedText) Write(p []byte) (int, error) { return t.WriteString(string(p)) }

// WriteString implements [io.StringWriter].
func (t *comparedText) WriteString(s string) (int, error) {
	if t.b.Len()+len(s) > maxCompared {
		return 0, ErrLongText
	}
	return t.b.WriteString(s)
}

func sideOf(conv *workspace.Conversation, name string, content blobs.Reader) (Side, error) {
	var text comparedText
	if _, err := text.WriteString(headOf(conv) + "\n"); err != nil {
		return Side{}, fmt.Errorf("compare %s: %w", name, err)
	}
	r := render.Conversation{
		ID: conv.ID, Title: conv.Title(), Stream: conv.Stream, Contents: content,
		Base: conv.BaseConfig,
	}
	problems, err := r.Render(&text, render.Options{
		Format: render.FormatText, Full: true, Records: true,
	})
	if err != nil {
		return Side{}, fmt.Errorf("compare %s: %w", name, err)
	}
	return Side{name, text.b.String(), problems}, nil
}

// headOf returns what people change besides turns: the title, and each label on a line.
func headOf(conv *workspace.Conversation) string {
	head := "title: " + conv.Title() + "\n"
	for _, key := range slices.Sorted(maps.Keys(conv.Details.Labels)) {
		head += strings.TrimSuffix("label: "+key+"="+conv.Details.Labels[key], "=") + "\n"
	}
	return head
}

// eitherReader reads a blob from the first reader that has it: content is the same everywhere.
type eitherReader [2]blobs.Reader

// Read implements blobs.Reader.
func (r eitherReader) Read(ref blobs.Ref) ([]byte, error) {
	data, err := r[0].Read(ref)
	if err == nil {
		return data, nil
	}
	data, second := r[1].Read(ref)
	if second != nil {
		return nil, errors.Join(err, second)
	}
	return data, nil
}
