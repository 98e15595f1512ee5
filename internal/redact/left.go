package redact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Place is a file that still has the target.
type Place struct {
	Tree string // name of the [check.Source]
	Path string
	// ID is the conversation that the file belongs to or that refers to it, or 0.
	ID events.ID
	// Label is the label with the target if it identifies the agent session of the conversation.
	Label string
	Next  string // how to remove it from the index
}

// A Left lists the places that a redaction did not reach.
type Left struct {
	Places []Place
	// Unread counts the blobs that could not be read and may have the target.
	Unread int
}

// Left looks for a target in everything below the directory .jp of trees, whether a redaction
// reaches it or not: in every file, and in the content to which streams refer, including streams
// that cannot be decoded. A file that is the same in an earlier tree is reported once.
func (r Redactor) Left(
	ctx context.Context, t Target, dir string, trees ...check.Source,
) (*Left, error) {
	l := &look{
		Redactor: r, target: t, left: &Left{}, seen: map[[sha256.Size]byte]bool{},
		blobs: map[blobs.Hash]bool{},
	}
	for _, tree := range trees {
		l.tree, l.dir = tree, dir
		if err := l.below(ctx, dir); err != nil {
			return nil, err
		}
	}
	return l.left, nil
}

// A look is one search for remaining values.
type look struct {
	Redactor
	target Target
	tree   check.Source
	dir    string // .jp
	left   *Left
	seen   map[[sha256.Size]byte]bool
	blobs  map[blobs.Hash]bool
}

// passed holds the directories below .jp without parts of conversations.
var passed = []string{
	blobs.Dir, "locks", "conversations/.trash", secrets.RedactedDir, secrets.AllowedDir,
}

func (l *look) below(ctx context.Context, dir string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	entries, err := l.tree.List(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case e.Mode.IsDir() && !slices.Contains(passed, strings.TrimPrefix(name, l.dir+"/")):
			err = l.below(ctx, name)
		case e.Mode.IsRegular():
			l.file(name)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// file searches a file and, if it is a stream, the content to which it refers.
func (l *look) file(name string) {
	data, err := l.tree.ReadFile(name)
	if err != nil {
		l.left.Unread++
		return
	}
	sum := sha256.Sum256(append([]byte(name+"\x00"), data...))
	if l.seen[sum] {
		return
	}
	l.seen[sum] = true
	id, _ := workspace.PathIDIn(l.dir, name)
	if l.has(data) {
		l.left.Places = append(l.left.Places, Place{
			Tree: l.tree.Name(), Path: name, ID: id, Label: l.label(name, data),
		})
	}
	if path.Base(name) != workspace.EventsFile {
		return
	}
	all, _ := events.References(data) // the references that can be found if it is damaged
	for _, at := range all {
		l.content(id, at.Ref)
	}
}

// label returns the label that identifies the agent session, if the target is only in that: it must
// stay.
func (l *look) label(name string, data []byte) string {
	if path.Base(name) != workspace.MetadataFile || len(l.target.Value) == 0 {
		return ""
	}
	d, err := events.DecodeDetails(data)
	if err != nil || l.target.named(0, d, "") {
		return ""
	}
	for key, value := range d.SessionLabels() {
		if strings.Contains(value, string(l.target.Value)) {
			return key
		}
	}
	return ""
}

// has reports whether a text has the target. The marker that replaces it may have the same text,
// and does not count.
func (l *look) has(data []byte) bool {
	data = bytes.ReplaceAll(data, []byte(secrets.Marker(l.target.Rule)), nil)
	if len(l.target.Value) == 0 {
		return bytes.Contains(data, []byte(l.target.Whole.String()))
	}
	return len(secrets.ValueRules(l.target.Rule, string(l.target.Value)).Scan(data)) > 0
}

// content searches content, from the tree or else from the store, which may have it.
func (l *look) content(id events.ID, ref blobs.Ref) {
	if l.blobs[ref.Hash] || len(l.target.Value) == 0 {
		return
	}
	l.blobs[ref.Hash] = true
	name := workspace.BlobPath(l.dir, ref.Hash)
	gz, err := l.tree.ReadFile(name)
	var text []byte
	if err == nil {
		text, err = blobs.Decode(gz, ref)
	}
	if err != nil {
		text, err = l.Workspace.Blobs().Read(ref)
	}
	switch {
	case err != nil:
		l.left.Unread++
	case l.has(text):
		l.left.Places = append(l.left.Places, Place{Tree: l.tree.Name(), Path: name, ID: id})
	}
}
