package revisions

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Side is a conversation as one place has it, in the words in which it is compared. It has no
// name where there is none.
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

// InSnapshot reads a conversation below the directory .jp of a snapshot; the zero side when it has
// none. Content that the snapshot lacks is read from the workspace.
func InSnapshot(
	w *workspace.Workspace, s gitint.Snapshot, dir string, id events.ID,
) (Side, error) {
	entries, _, err := workspace.Scan(s, dir)
	if err != nil {
		return Side{}, err
	}
	at := slices.IndexFunc(entries, func(e workspace.Entry) bool { return e.ID == id })
	if at < 0 {
		return Side{}, nil
	}
	conv, err := workspace.Read(s, entries[at])
	if err != nil {
		return Side{}, fmt.Errorf("read %s: %w", s.Name(), err)
	}
	content := eitherReader{blobs.FS(gitint.Sub(s, dir+"/"+blobs.Dir), 0), w.Blobs()}
	return sideOf(conv, s.Name()+":"+entries[at].Path, content)
}

// maxCompared is how much text of a conversation is compared: comparing takes several times that
// in memory, and nobody reads as much.
const maxCompared = 32 << 20

// ErrLongText says that a conversation is too long to be compared.
var ErrLongText = fmt.Errorf("more than %s of text", render.Bytes(maxCompared))

// comparedText holds what is compared.
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

// eitherReader reads a blob where it is: content is the same wherever it lies.
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
