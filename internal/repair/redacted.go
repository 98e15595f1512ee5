package repair

import (
	"context"
	"path"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A redaction removes from the merged versions the text that the workspace lists as redacted, so
// that it does not come back and causes no conflict with a directory that still has it.
type redaction struct {
	entries   secrets.Redactions
	workspace *workspace.Workspace
	contents  blobs.Reader
	texts     [][]byte // texts that replace content and are in no store yet
}

// redaction reads the list of the working tree.
func (m *planner) redaction(ctx context.Context) (r redaction, err error) {
	entries, err := leaks.RedactionsOf(m.Workspace, nil)
	if err != nil {
		return r, err
	}
	return redaction{
		entries: entries.Redactions, workspace: m.Workspace, contents: m.Reader(ctx),
	}, nil
}

// Reader returns a reader of content that has a file in the store, or is in another place: a
// redaction removed it from the store, and what an older version had can only be redacted in its
// content. Nothing is stored. What has no file, as in a lazy clone, the store is asked for last: it
// would make content a file again of which a recent commit has the object.
func (s Sources) Reader(ctx context.Context) blobs.Reader {
	own := s.Workspace.Blobs()
	s.Progress = nil
	looked := map[blobs.Hash][]byte{}
	return reader(func(ref blobs.Ref) ([]byte, error) {
		if _, err := own.Stat(ref.Hash); err == nil {
			if data, err := own.Read(ref); err == nil {
				return data, nil
			}
		}
		found, known := looked[ref.Hash]
		if !known {
			search, failed := newSearch(s, []Lost{{Hash: ref.Hash, Size: ref.Size}},
				func(_ blobs.Hash, content []byte) error {
					found = content
					return nil
				})
			if failed == nil {
				failed = search.run(ctx)
			}
			if failed != nil {
				return nil, failed
			}
			looked[ref.Hash] = found
		}
		if found == nil {
			return own.Read(ref)
		}
		return found, nil
	})
}

// Redacted tells which findings are about missing or damaged content that was redacted: their
// conversations, redacted again, do without it. Nobody has to bring it back.
func (s Sources) Redacted(ctx context.Context, findings []check.Finding) ([]bool, error) {
	is := make([]bool, len(findings))
	entries, err := leaks.RedactionsOf(s.Workspace, nil)
	if err != nil || len(entries.Redactions) == 0 {
		return is, err
	}
	contents, left := s.Reader(ctx), map[string]map[blobs.Hash]bool{}
	for i, f := range findings {
		if !lacksContent(f.State) || path.Base(f.Path) != workspace.EventsFile {
			continue
		}
		version := f.Commit + ":" + f.Path
		if left[version] == nil {
			left[version] = s.leftIn(ctx, f, entries.Redactions, contents)
		}
		is[i] = left[version] != nil && !left[version][f.Hash]
	}
	return is, nil
}

// lacksContent reports whether a finding of this kind is about content that a repair looks for.
func lacksContent(s check.State) bool {
	return s == check.Missing || s == check.Corrupt || s == check.LFSPointer
}

// leftIn returns the content to which the stream that a finding is about refers once it is
// redacted, nil if that is not known.
func (s Sources) leftIn(
	ctx context.Context, f check.Finding, entries secrets.Redactions, contents blobs.Reader,
) map[blobs.Hash]bool {
	stream, err := s.streamOf(ctx, f)
	if err != nil {
		return nil
	}
	done, err := entries.Apply(conversationOf(f), stream, contents)
	if err != nil {
		return nil
	}
	left := map[blobs.Hash]bool{}
	all, _ := events.References(done.Stream.Encode()) // cannot fail: the stream was read
	for _, at := range all {
		left[at.Ref.Hash] = true
	}
	return left
}

// streamOf reads the stream that a finding is about.
func (s Sources) streamOf(ctx context.Context, f check.Finding) (*events.Stream, error) {
	data, err := s.fileOf(ctx, f)
	if err != nil {
		return nil, err
	}
	return events.Decode(data)
}

// fileOf reads the file that a finding names.
func (s Sources) fileOf(ctx context.Context, f check.Finding) ([]byte, error) {
	switch f.Commit {
	case check.WorkTreeName:
		dir, _ := workspace.PathDir(f.Path)
		file := filepath.Join(s.Workspace.Dir(), filepath.FromSlash(f.Path[len(dir):]))
		return regular.ReadFile(file, s.limits().OfStream())
	case check.IndexName:
		index, err := s.Repo.Index(ctx)
		if err != nil {
			return nil, err
		}
		return index.ReadFile(f.Path)
	}
	tree, err := s.Repo.Tree(ctx, f.Commit)
	if err != nil {
		return nil, err
	}
	return tree.ReadFile(f.Path)
}

// A reader is a function as a [blobs.Reader].
type reader func(blobs.Ref) ([]byte, error)

func (r reader) Read(ref blobs.Ref) ([]byte, error) { return r(ref) }

// restorable returns a version of a file as a repair may write it. It reports false if it is beside
// the stream and has text that was redacted in the stream, as far as a version of that has it.
func (m *planner) restorable(
	ctx context.Context, id events.ID, name string, data []byte,
) (_ []byte, ok bool, err error) {
	r, err := m.redaction(ctx)
	if err != nil || len(r.entries) == 0 || path.Base(name) == workspace.EventsFile {
		return data, true, err
	}
	var hidden secrets.Originals
	stream := versionKey{id, workspace.EventsFile}
	err = m.versions.each(ctx, stream, func(_ version, text []byte) bool {
		if s, err := events.Decode(text); err == nil {
			done, _ := r.entries.Apply(id, s, r.contents) // nothing if it fails
			hidden = append(hidden, done.Originals()...)
		}
		return false
	})
	data, ok = merge.Restorable(hidden, name, data)
	return data, ok, err
}

// from returns a conversation without redacted text. If it fails the conversation is returned
// unchanged, and a check finds the secret.
func (r *redaction) from(c *workspace.Conversation, id events.ID) *workspace.Conversation {
	if len(r.entries) == 0 {
		return c
	}
	done, err := r.entries.Apply(id, c.Stream, r.contents)
	if err != nil || len(done.Replaced) == 0 {
		return c
	}
	r.texts = append(r.texts, done.Store...)
	out := *c
	out.Stream = done.Stream
	return &out
}

// fromStream is from for an encoded stream.
func (r *redaction) fromStream(data []byte, id events.ID) []byte {
	s, err := events.Decode(data)
	if err != nil {
		return data // the merge reports it
	}
	now := r.from(&workspace.Conversation{Stream: s}, id).Stream
	if now == s {
		return data
	}
	return now.Encode()
}

// store writes the texts to which the streams refer.
func (r *redaction) store() error {
	for _, text := range r.texts {
		if _, err := r.workspace.Blobs().Write(text); err != nil {
			return err
		}
	}
	return nil
}
