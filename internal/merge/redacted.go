package merge

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// redactions holds the redactions that some trees list for a workspace, and reads content from
// these trees.
type redactions struct {
	dir     string // .jp
	sources []check.Source
	entries secrets.Redactions
	known   map[string]bool // names of the entries; what one says is determined by its name
	// versions returns those of a conversation that are at hand, nil if none are: a record, which
	// has another key whenever it grew, and a text that was edited are recognized by them.
	versions func(events.ID) []*events.Stream
	copies   map[events.ID]*secrets.Copies // of versions, once they were needed
	// texts is the content of redacted versions that belongs in the store.
	texts contents
}

// contents collects content.
type contents [][]byte

// Write implements [events.Writer].
func (c *contents) Write(content []byte) (blobs.Ref, error) {
	*c = append(*c, content)
	return blobs.Loaded(content).Ref(), nil
}

// add adds the entries of a tree; left has what a sparse checkout leaves out of it.
func (r *redactions) add(src check.Source, left leaks.LeftOut) error {
	entries, err := leaks.ReadRedactions(src, r.dir, left, func(name string) bool {
		return r.known[name]
	})
	if err != nil {
		return err
	}
	r.sources = append(r.sources, src)
	if r.entries == nil {
		r.entries, r.known = secrets.Redactions{}, map[string]bool{}
	}
	for _, entry := range entries.Redacted {
		r.entries.Add(entry)
		r.known[entry.Name()] = true
	}
	return nil
}

// Read implements [blobs.Reader] with the first tree that has the content.
func (r *redactions) Read(ref blobs.Ref) ([]byte, error) {
	for _, src := range r.sources {
		gz, err := src.ReadFile(workspace.BlobPath(r.dir, ref.Hash))
		if err != nil {
			continue
		}
		if data, err := blobs.Decode(gz, ref); err == nil {
			return data, nil
		}
	}
	return nil, fs.ErrNotExist
}

// apply returns a stream without the redacted text, as it is saved, and adds to texts what belongs
// in the store. If it fails it returns the stream unchanged, and a check finds the secret.
func (r *redactions) apply(id events.ID, s *events.Stream) *events.Stream {
	if s == nil {
		return s
	}
	now := r.applied(id, s, r.entries)
	now = r.applied(id, now, secrets.NewRedactions(r.copiesOf(id).Of(id, now, r)))
	if now != s {
		_, _ = now.Externalize(&r.texts, events.ExternalizeOptions{}) // cannot fail
	}
	return now
}

// copiesOf returns what recognizes the records and the edited texts of a conversation.
func (r *redactions) copiesOf(id events.ID) *secrets.Copies {
	if c, ok := r.copies[id]; ok {
		return c
	}
	c := new(secrets.Copies)
	if r.versions != nil && len(r.entries[id.Digits()]) > 0 {
		for _, s := range r.versions(id) {
			c.Know(r.entries, id, s, r)
		}
	}
	if r.copies == nil {
		r.copies = map[events.ID]*secrets.Copies{}
	}
	r.copies[id] = c
	return c
}

// decoded returns the versions that can be decoded.
func decoded(versions ...[]byte) (all []*events.Stream) {
	for _, version := range versions {
		if s, err := events.Decode(version); err == nil {
			all = append(all, s)
		}
	}
	return all
}

func (r *redactions) applied(
	id events.ID, s *events.Stream, entries secrets.Redactions,
) *events.Stream {
	done, err := entries.Apply(id, s, r)
	if err != nil {
		return s
	}
	r.texts = append(r.texts, done.Store...)
	return done.Stream
}

// redact removes from the three versions of a stream the text that the working tree and the merged
// commits list as redacted, so that it does not come back if both sides changed an event or have no
// common ancestor. A virtual base is left alone: redacted, it could equal one side, and git would
// then take the other side, which still has the secret, without calling the driver.
func (f *File) redact(
	ctx context.Context, repo *gitint.Repo, dir string, heads []gitint.OID,
) error {
	id := conversationOf(f.Path)
	if id == 0 || f.Kind != Events || f.Virtual {
		return nil
	}
	r, done, err := redactionsOf(ctx, repo, dir, heads)
	if err != nil {
		return fmt.Errorf("read redactions: %w", err)
	}
	defer done()
	versions := decoded(f.Base, f.Ours, f.Theirs)
	for _, s := range versions {
		r.entries.Prove(id, s, r)
	}
	r.versions = func(events.ID) []*events.Stream { return versions }
	for _, version := range []*[]byte{&f.Base, &f.Ours, &f.Theirs} {
		if *version, err = r.redacted(repo, id, *version); err != nil {
			return err
		}
	}
	return nil
}

// redactNames replaces a title or a label of one side that was redacted on the other: no entry
// names it, and without a common ancestor, or after a change of both, the later side would bring it
// back.
func (f *File) redactNames() {
	ours, oursErr := events.DecodeDetails(f.Ours)
	theirs, theirsErr := events.DecodeDetails(f.Theirs)
	if oursErr != nil || theirsErr != nil {
		return // the merge reports it
	}
	f.Ours = redactedAs(f.Ours, ours.Clone(), theirs)
	f.Theirs = redactedAs(f.Theirs, theirs, ours)
}

// redactedAs returns a version of metadata with the texts that are redacted in another one.
func redactedAs(version []byte, d, other *events.Details) []byte {
	texts := map[string]string{}
	other.Clone().MapTexts(func(name, text string) string {
		texts[name] = text
		return text
	})
	if d.MapTexts(func(name, text string) string {
		if secrets.IsRedacted(texts[name], text) {
			return texts[name]
		}
		return text
	}) == 0 {
		return version
	}
	return d.Encode()
}

// redact removes from a stream in the working tree, which is about to be staged, the text that
// entries list: the version of a side that nothing was merged with may still have it.
func (r Resolver) redact(ctx context.Context, c Case) error {
	if kindOf(c.Path) != Events {
		return nil
	}
	was, err := regular.ReadFile(r.file(c.Path), r.Repo.Limits().Of(c.Path))
	if err != nil {
		return fmt.Errorf("resolve %s: %w", c.Path, err)
	}
	now, err := withoutRedacted(ctx, r.Repo, r.Dir, c.Path, was)
	if err != nil || bytes.Equal(now, was) {
		return err
	}
	return r.write(ctx, c, was, now)
}

// withoutRedacted returns a stream without the text that the working tree, HEAD and the merged
// commits list as redacted.
func withoutRedacted(
	ctx context.Context, repo *gitint.Repo, dir, name string, version []byte,
) ([]byte, error) {
	id := conversationOf(name)
	if id == 0 {
		return version, nil
	}
	entries, done, err := redactionsNow(ctx, repo, dir)
	if err != nil {
		return nil, fmt.Errorf("%s: read redactions: %w", name, err)
	}
	defer done()
	entries.versions = func(events.ID) (all []*events.Stream) {
		for _, src := range entries.sources {
			if other, err := src.ReadFile(name); err == nil {
				all = append(all, decoded(other)...)
			}
		}
		return all
	}
	return entries.redacted(repo, id, version)
}

// redactionsNow reads the redactions of the working tree, HEAD and the merged commits.
func redactionsNow(
	ctx context.Context, repo *gitint.Repo, dir string,
) (r *redactions, done func(), err error) {
	heads, err := repo.MergeHeads()
	if err != nil {
		return nil, nil, err
	}
	return redactionsOf(ctx, repo, dir, append(heads, headOf(ctx, repo)))
}

// hiddenIn returns what is redacted now in a conversation and not in its stream in a snapshot. The
// other files of that snapshot, which no entry names, may have it too.
func hiddenIn(
	ctx context.Context, repo *gitint.Repo, dir string, side homes, id events.ID,
) (secrets.Originals, error) {
	r, done, err := redactionsNow(ctx, repo, dir)
	if err != nil {
		return nil, fmt.Errorf("read redactions: %w", err)
	}
	defer done()
	if len(r.entries) == 0 {
		return nil, nil
	}
	stream, err := side.side(id)
	if err != nil || stream.Stream == nil {
		return nil, unlessSyntax(err)
	}
	r.sources = append(r.sources, check.Git(repo, side.snap))
	applied, err := r.entries.Apply(id, stream.Stream, r)
	if err != nil {
		return nil, fmt.Errorf("look for redacted text: %w", err)
	}
	return applied.Originals(), nil
}

// Restorable returns a file of a conversation as it may be restored if the values are redacted in
// its stream: metadata with markers, others only if they have none of them. The stream itself is
// left to the entries.
func Restorable(hidden secrets.Originals, name string, data []byte) (_ []byte, ok bool) {
	_, below, _ := homeOf(name)
	if len(hidden) == 0 || below == workspace.EventsFile {
		return data, true
	}
	if d, err := events.DecodeDetails(data); err == nil && kindOf(name) == Metadata {
		hidden.Mask(d)
		data = d.Encode()
	}
	return data, !hidden.In(data)
}

// redacted returns a version of a stream without redacted text, and stores the content that takes
// its place. A version that cannot be decoded is returned unchanged: a merge or a check reports it.
func (r *redactions) redacted(repo *gitint.Repo, id events.ID, version []byte) ([]byte, error) {
	if len(r.entries) == 0 || len(version) == 0 {
		return version, nil
	}
	s, err := events.Decode(version)
	if err != nil {
		return version, nil //nolint:nilerr // see above
	}
	now := r.apply(id, s)
	if now == s {
		return version, nil
	}
	if err := r.store(repo); err != nil {
		return nil, fmt.Errorf("store what was redacted: %w", err)
	}
	return now.Encode(), nil
}

// without returns a side without redacted text.
func (r *redactions) without(id events.ID, side threeway.Side) threeway.Side {
	side.Stream = r.apply(id, side.Stream)
	return side
}

// redactionsOf reads the redactions of the working tree and of the merged commits.
func redactionsOf(
	ctx context.Context, repo *gitint.Repo, dir string, heads []gitint.OID,
) (r *redactions, done func(), err error) {
	r, done = &redactions{dir: dir}, func() {}
	if repo.Root() != "" {
		src, err := check.OpenWorkTree(repo.Root(), repo.Limits())
		if err != nil {
			return r, done, err
		}
		done = func() { _ = src.Close() } // it is only read
		if err := r.add(src, leaks.LeftOutOf(ctx, repo)); err != nil {
			return r, done, err
		}
	}
	for _, head := range heads {
		if head.IsZero() {
			continue // before the first commit
		}
		tree, err := gitint.OrNone(repo.Tree(ctx, head.String()))
		if tree != nil && err == nil {
			err = r.add(check.Git(repo, tree), nil)
		}
		if err != nil {
			return r, done, err
		}
	}
	return r, done, nil
}

// store writes the texts to the store, except those that a tree has, since git brings along the
// blobs of the sides.
func (r *redactions) store(repo *gitint.Repo) error {
	texts := slices.DeleteFunc(r.texts, func(text []byte) bool {
		_, err := r.Read(blobs.Loaded(text).Ref())
		return err == nil
	})
	r.texts = nil
	_, err := stored(repo, r.dir, texts)
	return err
}

// stored writes content to the store of a workspace, and returns the paths of its files.
func stored(repo *gitint.Repo, dir string, texts contents) (names []string, err error) {
	store, err := blobs.Open(
		filepath.Join(repo.Root(), filepath.FromSlash(dir), blobs.Dir), blobs.Options{},
	)
	if err != nil {
		return nil, err
	}
	for _, text := range texts {
		ref, err := store.Write(text)
		if err != nil {
			return nil, errors.Join(err, store.Close())
		}
		names = append(names, workspace.BlobPath(dir, ref.Hash))
	}
	return names, store.Close()
}
