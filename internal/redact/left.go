package redact

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/klauspost/compress/gzip"
)

// A Place is a file that still has the target.
type Place struct {
	Tree string // name of the [check.Source]
	// Path is from the root of the repository; a side of an unmerged file begins with :1: to :3:.
	Path string
	// ID is the conversation that the file belongs to or that refers to it, or 0.
	ID events.ID
	// Unmerged is true if the conversation is in conflict.
	Unmerged bool
	// Label is the label with the target if it identifies the agent session of the conversation.
	Label string
	// Stashed is true if only a stash may refer to it.
	Stashed bool
	// Leftover is true for a temporary file that a killed process left, and Kept if the quarantine
	// has the same.
	Leftover, Kept bool
	// Copied is true for what an undo brings back, such as the copy from before a compaction, and
	// Unread if it cannot be read and may have the target. Path is absolute, as it is if Noted is
	// true: for what this program has noted about the repository, such as a conflict.
	Copied, Unread, Noted bool
}

// A Left lists the places that a redaction did not reach.
type Left struct {
	Places []Place
	// Unread counts the blobs that could not be read and may have the target.
	Unread int
}

// StillThere looks for the target in everything below .jp, in the working tree and in the index,
// whether a redaction reaches it or not: in every file, in the sides of unmerged ones, in all
// content, in what killed processes left, and in what this program keeps outside. A file that is
// the same in both is reported once.
func (t Tracked) StillThere(ctx context.Context, target Target) (*Left, error) {
	if target.Rule == "" {
		return t.namedInSides(ctx)
	}
	tree, err := check.OpenWorkTree(t.Repo.Root(), t.Repo.Limits())
	if err != nil {
		return nil, err
	}
	defer tree.Close() //nolint:errcheck // it was only read
	index, err := t.Repo.Index(ctx)
	if err != nil {
		return nil, err
	}
	l := &look{
		Tracked: t, target: target, index: index, left: &Left{}, unmerged: t.unmerged(index),
		seen: map[[sha256.Size]byte]bool{}, blobs: map[blobs.Hash]bool{},
	}
	for _, l.tree = range []check.Source{tree, check.Git(t.Repo, index)} {
		if err := l.below(ctx, t.Dir); err != nil {
			return nil, err
		}
	}
	for _, s := range index.Stages() {
		if strings.HasPrefix(s.Path, t.Dir+"/") {
			l.side(ctx, s)
		}
	}
	if err := l.strays(ctx, tree); err != nil {
		return nil, err
	}
	l.leftovers(tree, path.Join(t.Dir, blobs.Dir, tempDir))
	l.state()
	return l.left, ctx.Err()
}

// namedInSides looks for text that entries name in the sides of unmerged streams. In merged ones it
// was redacted.
func (t Tracked) namedInSides(ctx context.Context) (*Left, error) {
	left := &Left{}
	index, err := t.Repo.Index(ctx)
	if err != nil || len(index.Stages()) == 0 {
		return left, err
	}
	entries, err := t.committed()
	if err != nil {
		return nil, err
	}
	for _, side := range index.Stages() {
		id, ok := workspace.PathIDIn(t.Dir, side.Path)
		if !ok || path.Base(side.Path) != workspace.EventsFile {
			continue
		}
		data, err := t.Repo.ReadObject(ctx, side.OID, t.Repo.Limits().OfStream())
		if err != nil {
			left.Unread++
			continue
		}
		s, err := events.Decode(data)
		if err != nil {
			continue // a check reports it
		}
		contents := blobs.Readers{indexed{index, t.Dir}, t.Workspace.Blobs(), t.elsewhere(id)}
		if done, err := entries.Apply(id, s, contents); err == nil && len(done.Replaced) > 0 {
			left.Places = append(left.Places, Place{
				Tree: check.IndexName, Path: named(side), ID: id, Unmerged: true,
			})
		}
	}
	return left, ctx.Err()
}

// named names a side of an unmerged file as git does.
func named(s gitint.StageEntry) string { return fmt.Sprintf(":%d:%s", s.Stage, s.Path) }

// A look is one search for remaining values.
type look struct {
	Tracked

	target   Target
	index    *gitint.Index
	tree     check.Source
	left     *Left
	unmerged map[events.ID]bool
	seen     map[[sha256.Size]byte]bool
	blobs    map[blobs.Hash]bool
	items    map[string]bool // directories in the quarantine of the workspace
}

// passed holds the directories below .jp without parts of conversations, and that of temporary
// files, which is searched apart.
var passed = []string{
	blobs.Dir + "/" + tempDir, "locks", secrets.RedactedDir, secrets.AllowedDir,
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
		case e.Mode.IsDir() && !slices.Contains(passed, strings.TrimPrefix(name, l.Dir+"/")):
			err = l.below(ctx, name)
		case e.Mode.IsRegular() && !l.isBlob(name):
			data, err := l.tree.ReadFile(name)
			l.file(name, name, data, err)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// isBlob reports whether a path is that of a blob. Content is searched by its hash.
func (l *look) isBlob(name string) bool {
	_, ok := blobs.ParsePath(strings.TrimPrefix(name, path.Join(l.Dir, blobs.Dir)+"/"))
	return ok
}

// side searches one version of an unmerged file.
func (l *look) side(ctx context.Context, s gitint.StageEntry) {
	data, err := l.Repo.ReadObject(ctx, s.OID, l.Repo.Limits().Of(s.Path))
	if err == nil && strings.HasSuffix(s.Path, ".gz") {
		data, err = unzipped(data, l.Repo.Limits().OfAny())
	}
	l.file(s.Path, named(s), data, err)
}

// file searches a file, which is shown as another name, and the content to which it refers if it is
// a stream.
func (l *look) file(name, shown string, data []byte, err error) {
	if err != nil {
		l.left.Unread++
		return
	}
	sum := sha256.Sum256(append([]byte(shown+"\x00"), data...))
	if l.seen[sum] {
		return
	}
	l.seen[sum] = true
	id, _ := workspace.PathIDIn(l.Dir, name)
	if l.has(data) {
		l.add(Place{Path: shown, ID: id, Label: l.label(name, data)})
	}
	if path.Base(name) != workspace.EventsFile {
		return
	}
	all, _ := events.References(data) // the references that can be found if it is damaged
	for _, at := range all {
		l.content(id, at.Ref)
	}
}

func (l *look) add(p Place) {
	p.Tree, p.Unmerged = l.tree.Name(), l.unmerged[p.ID]
	l.left.Places = append(l.left.Places, p)
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
	if len(l.target.Value) == 0 {
		return bytes.Contains(data, []byte(l.target.Whole.String()))
	}
	return l.target.isIn(blobs.Hash{}, data)
}

// isIn reports whether content with a hash has the target, apart from the marker.
func (t Target) isIn(h blobs.Hash, content []byte) bool {
	if len(t.Value) == 0 {
		return h == t.Whole && string(content) != secrets.Marker(t.Rule)
	}
	content = bytes.ReplaceAll(content, []byte(secrets.Marker(t.Rule)), nil)
	return len(secrets.ValueRules(t.Rule, string(t.Value)).Scan(content)) > 0
}

// content searches content, from the tree or else from the store, which may have it.
func (l *look) content(id events.ID, ref blobs.Ref) {
	if l.blobs[ref.Hash] || len(l.target.Value) == 0 {
		return
	}
	l.blobs[ref.Hash] = true
	name := workspace.BlobPath(l.Dir, ref.Hash)
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
		l.add(Place{Path: name, ID: id})
	}
}

// strays searches the blobs to which no stream refers, and the copies of a lazy clone.
func (l *look) strays(ctx context.Context, tree check.Source) error {
	stashed, err := l.Repo.HasStash(ctx)
	if err != nil {
		return err
	}
	for _, h := range l.stored(l.index) {
		if l.blobs[h] {
			continue
		}
		switch _, text, err := l.blob(l.index, h); {
		case err != nil:
			l.left.Unread++
		case l.target.isIn(h, text):
			l.stray(h, tree, stashed)
		}
	}
	return nil
}

// stray adds a blob where it is: in the index, in the working tree, or only as a copy.
func (l *look) stray(h blobs.Hash, tree check.Source, stashed bool) {
	name := workspace.BlobPath(l.Dir, h)
	if _, ok := l.index.OID(name); !ok {
		l.tree = tree
		if _, err := tree.ReadFile(name); err != nil {
			name = spare.Path(path.Join(l.Dir, blobs.Dir), h)
		}
	}
	l.add(Place{Path: name, Stashed: stashed})
}

// leftovers searches the temporary files that killed processes left in a directory, except a
// quarantine: one of them may be the original of a file that was redacted.
func (l *look) leftovers(tree *check.WorkTree, dir string) {
	l.tree = tree
	entries, err := tree.List(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		l.left.Unread++
	}
	for _, e := range entries {
		name := path.Join(dir, e.Name)
		switch {
		case e.Mode.IsDir() && e.Name != "trash":
			l.leftovers(tree, name)
		case e.Mode.IsRegular():
			data, err := tree.ReadFile(name)
			if err != nil && !errors.Is(err, fs.ErrNotExist) {
				l.left.Unread++
			}
			text, _ := unzipped(data, l.Repo.Limits().OfAny()) // what there is of it
			if l.has(data) || l.has(text) || l.target.isIn(blobs.Sum(text), text) {
				l.add(Place{Path: name, Leftover: true, Kept: l.Quarantine.Has(data)})
			}
		}
	}
}

// unzipped returns the content of a file that may be a part of a blob. With an error it returns
// what there is of it.
func unzipped(data []byte, limit int64) ([]byte, error) {
	r, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(io.LimitReader(r, limit))
}
