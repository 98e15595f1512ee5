package redact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/regular"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/quarantine"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/spare"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Redactor redacts the conversations of a workspace.
type Redactor struct {
	Workspace  *workspace.Workspace
	Quarantine quarantine.Quarantine
	Now        func() time.Time
	PID        int
	// Memo has the entries that the command has read. It may be nil.
	Memo *leaks.Memo
	// Elsewhere reads content that the store does not have: a redaction removed it, and a fork that
	// a pick or a patch brings refers to it. It may be nil.
	Elsewhere blobs.Reader
	// Forget, if set, removes copies of content that was deleted from the store.
	Forget func(blobs.Hash) error
}

// A Target selects the text to remove: a value wherever it occurs, or all content with a hash. The
// zero value selects the text that existing entries name.
type Target struct {
	Rule  string // name in the marker
	Value []byte
	Whole blobs.Hash // if there is no value
}

// A Result describes the changes of a redaction.
type Result struct {
	// Conversations lists those that changed, in order.
	Conversations []events.ID
	// Entries holds the paths of new entries, below the workspace's .jp.
	Entries []string
	// Replaced counts texts, and Dropped removed reasoning.
	Replaced, Dropped int
	// Gone are the blobs that were removed, now or by an earlier redaction whose original is still
	// kept, and that no conversation of the working tree refers to. Removed are those whose files
	// were still in the store.
	Gone, Removed []blobs.Hash
	// Kept lists the names of the originals in the quarantine.
	Kept []string
	// Strays are the blobs with the target to which nothing referred, and StraysKept is the name of
	// their copies in the quarantine.
	Strays     []blobs.Hash
	StraysKept string
	// Skipped reports conversations that cannot be read.
	Skipped []error
}

// Redact removes a target from all conversations of the workspace except unmerged ones, and writes
// the entries that keep it out.
func (t Tracked) Redact(ctx context.Context, target Target) (*Result, error) {
	r, err := t.newRun(ctx, target)
	if err != nil {
		return nil, err
	}
	if err := r.united(); err != nil {
		return nil, err
	}
	var fresh []secrets.Redaction
	if target.Rule != "" {
		err = r.each(ctx, &Result{}, nil, func(c *workspace.Conversation) error {
			found, err := target.find(c, r.Workspace.BlobsOf(c.Entry), r.entries)
			fresh = append(fresh, found...)
			return err
		})
	}
	if err != nil {
		return nil, err
	}
	// A crash before the entries are written leaves everything unchanged; after a later one the
	// entries find the remaining values.
	for _, entry := range fresh {
		if err := WriteEntry(r.Workspace, entry.Name(), entry.Encode()); err != nil {
			return nil, err
		}
		r.entries.Add(entry)
		r.res.Entries = append(r.res.Entries, entry.Name())
	}
	return r.res, r.complete(ctx)
}

// Apply removes again what entries name, for example after a merge of an older branch.
//
// If there are ids, only these conversations are changed.
func (t Tracked) Apply(ctx context.Context, ids ...events.ID) (*Result, error) {
	r, err := t.newRun(ctx, Target{})
	if err != nil {
		return nil, err
	}
	if err := r.apply(ctx, ids...); err != nil {
		return nil, err
	}
	return r.res, r.sweep(ctx)
}

// committed returns the entries of the workspace.
func (r Redactor) committed() (secrets.Redactions, error) {
	entries, err := leaks.RedactionsOf(r.Workspace, r.Memo)
	if err != nil {
		return nil, err
	}
	return entries.Redactions, nil
}

// contents returns a reader of the content of a conversation, wherever this machine has it.
func (r Redactor) contents(e workspace.Entry) blobs.Readers {
	return append(blobs.Readers{r.Workspace.BlobsOf(e)}, r.elsewhere(e.ID)...)
}

// find returns the entries that remove the target from a conversation.
func (t Target) find(
	c *workspace.Conversation, contents blobs.Reader, known secrets.Redactions,
) (entries []secrets.Redaction, err error) {
	keys := c.Stream.Keys()
	for i, e := range c.Stream.All() {
		for _, text := range secrets.Texts(e) {
			if t.isNamed(text.Member) {
				continue // the entry would have it; the command reports what is left
			}
			was, err := text.Content.Bytes(contents)
			if err != nil {
				continue // a check reports that it is missing
			}
			before := known.Of(c.ID, e, keys[i])[text.Member]
			var ranges []secrets.Range
			for _, m := range t.matches(was, text.Content) {
				g := secrets.NewRange(was, m)
				g.From = secrets.Original(was, before, m.Start)
				g.To = g.From + m.End - m.Start
				ranges = append(ranges, g)
			}
			parts, err := secrets.Redaction{
				Conversation: c.ID.Digits(), Event: keys[i], Member: text.Member, Ranges: ranges,
			}.Parts()
			if err != nil {
				return nil, fmt.Errorf("member %.80q of event %s: %w", text.Member, keys[i], err)
			}
			entries = append(entries, parts...)
		}
	}
	return entries, nil
}

// isNamed reports whether the names that lead to a text have the target.
func (t Target) isNamed(member string) bool {
	names := strings.NewReplacer("~1", "/", "~0", "~").Replace(member)
	return len(t.Value) > 0 && strings.Contains(names, string(t.Value))
}

// matches returns the ranges of a text that have the target.
func (t Target) matches(text []byte, c blobs.Content) []secrets.Match {
	if len(t.Value) == 0 {
		if len(text) > 0 && c.Ref().Hash == t.Whole && string(text) != secrets.Marker(t.Rule) {
			return []secrets.Match{{Rule: t.Rule, End: len(text)}}
		}
		return nil
	}
	return secrets.ValueRules(t.Rule, string(t.Value)).Scan(text)
}

// A run is one redaction of the conversations of a workspace.
type run struct {
	Tracked

	target  Target
	entries secrets.Redactions
	res     *Result
	gone    map[blobs.Hash]bool // content that may no longer be referenced
	// unmerged are the conversations in conflict. They are not changed: their files have to be the
	// ones that git left, or 'git jp resolve' would take them for edited.
	unmerged map[events.ID]bool
}

func (t Tracked) newRun(ctx context.Context, target Target) (*run, error) {
	entries, err := t.committed()
	if err != nil {
		return nil, err
	}
	index, err := t.Repo.IndexWhere(ctx, func(_ []byte, mark gitint.Mark) bool {
		return mark != gitint.MarkNone
	})
	if err != nil {
		return nil, err
	}
	return &run{
		t, target, entries, &Result{}, map[blobs.Hash]bool{}, t.unmerged(index),
	}, nil
}

// united refuses conversations with several directories, because only one would be redacted.
func (r *run) united() error {
	_, problems, err := r.Workspace.List(workspace.ListOptions{Archived: true})
	for _, p := range problems {
		if p.Kind == workspace.Duplicate && !p.Local && !r.unmerged[p.ID] {
			return &workspace.DuplicateError{ID: p.ID, Paths: []string{p.Detail, p.Path}}
		}
	}
	return errors.Join(err, workspace.Unlisted(problems))
}

// each calls f with the conversations of the workspace, or with those in ids.
func (r *run) each(
	ctx context.Context, res *Result, ids []events.ID, f func(*workspace.Conversation) error,
) error {
	all, problems, err := r.Workspace.List(workspace.ListOptions{Archived: true})
	if err = errors.Join(err, workspace.Unlisted(problems)); err != nil {
		return err
	}
	all = slices.DeleteFunc(all, func(e workspace.Entry) bool {
		return r.unmerged[e.ID] || len(ids) > 0 && !slices.Contains(ids, e.ID)
	})
	if err := r.Workspace.Expect(ctx, all); err != nil {
		return err
	}
	for _, e := range all {
		if err := ctx.Err(); err != nil {
			return err
		}
		c, err := r.Workspace.Load(e)
		if err != nil {
			res.Skipped = append(res.Skipped, err)
			continue
		}
		if c.Legacy {
			continue
		}
		if err := f(c); err != nil {
			return fmt.Errorf("conversation %s: %w", e.ID, err)
		}
	}
	return nil
}

// complete does all remaining work, also that of a redaction that was stopped: the original of each
// conversation is in the quarantine before the conversation is changed, and shows which blobs had
// to be removed.
func (r *run) complete(ctx context.Context) error {
	if err := r.apply(ctx); err != nil {
		return err
	}
	if err := r.addTaken(); err != nil {
		return err
	}
	if err := r.addStrays(ctx); err != nil {
		return err
	}
	// A newer one may be a copy that is being written.
	unfinished := r.Now().Add(-time.Minute)
	err := spare.Tidy(r.Repo.GitDir(), path.Join(r.Dir, blobs.Dir), unfinished)
	return errors.Join(err, r.sweep(ctx))
}

// addTaken adds the blobs that quarantined originals refer to and their redacted versions do not.
func (r *run) addTaken() error {
	items, err := r.Quarantine.Items()
	if err != nil {
		return err
	}
	seen := map[events.ID]bool{}
	for _, item := range items {
		if item.Kind != quarantine.Redacted || seen[item.Conversation] {
			continue
		}
		seen[item.Conversation] = true
		for _, kept := range r.Quarantine.CopiesOf(quarantine.Redacted, item.Conversation) {
			done, err := r.entries.Apply(item.Conversation, kept.Stream, kept)
			if err != nil {
				return err
			}
			still := referred(stored(done.Stream))
			for _, ref := range referred(kept.Stream) {
				if !slices.Contains(still, ref) {
					r.gone[ref.Hash] = true
				}
			}
		}
	}
	return nil
}

// apply redacts conversations according to the entries.
func (r *run) apply(ctx context.Context, ids ...events.ID) error {
	return r.each(ctx, r.res, ids, func(c *workspace.Conversation) error {
		done, err := r.applied(ctx, c, r.contents(c.Entry))
		if err != nil || len(done.Replaced) == 0 && !r.target.named(c.ID, c.Details, c.Dirname) {
			return err
		}
		return r.change(ctx, c.ID)
	})
}

// change redacts one conversation, after keeping the original.
func (r *run) change(ctx context.Context, id events.ID) error {
	res := r.res
	var done secrets.Applied // result of the last call
	named := 0
	err := r.Workspace.Update(ctx, id, func(c *workspace.Conversation) (err error) {
		store, contents := r.Workspace.BlobsOf(c.Entry), r.contents(c.Entry)
		done, err = r.applied(ctx, c, contents)
		if err != nil {
			return err
		}
		for _, text := range done.Store {
			if _, err := store.Write(text); err != nil {
				return err
			}
		}
		var change *quarantine.Named
		named, change = r.target.rename(c)
		item, err := r.Quarantine.Put(quarantine.Change{
			Kind: quarantine.Redacted, ID: id, At: r.Now(), Was: c.Stream, Is: stored(done.Stream),
			Contents: contents, Named: change,
		})
		if err != nil {
			return err
		}
		for _, ref := range referred(c.Stream) {
			r.gone[ref.Hash] = true
		}
		res.Kept = append(res.Kept, item.Name)
		c.Stream = done.Stream
		return nil
	})
	if err != nil {
		return err
	}
	for _, rep := range done.Replaced {
		if rep.Dropped {
			res.Dropped++
		} else {
			res.Replaced++
		}
	}
	res.Replaced += named
	res.Conversations = append(res.Conversations, id)
	return nil
}

// stored returns the stream as it is saved, which the quarantine needs to find content that is no
// longer referenced.
func stored(s *events.Stream) *events.Stream {
	out := s.Clone()
	_, _ = out.Externalize(nowhere{}, events.ExternalizeOptions{}) // cannot fail
	return out
}

// nowhere accepts content and discards it.
type nowhere struct{}

// Write implements [events.Writer].
func (nowhere) Write(content []byte) (blobs.Ref, error) { return blobs.Loaded(content).Ref(), nil }

func referred(s *events.Stream) (refs []blobs.Ref) {
	all, _ := events.References(s.Encode()) // cannot fail: the stream was read
	for _, at := range all {
		if at.Counts() {
			refs = append(refs, at.Ref)
		}
	}
	return refs
}

// sweep deletes content from the store if no conversation refers to it any more, and no side of an
// unmerged one. If a conversation cannot be read it deletes nothing.
func (r *run) sweep(ctx context.Context) error {
	res, gone := r.res, r.gone
	if len(gone) == 0 || len(res.Skipped) > 0 {
		return nil
	}
	needed, err := r.referred(ctx, false)
	if err != nil || needed == nil {
		return err
	}
	maps.DeleteFunc(gone, func(h blobs.Hash, _ bool) bool { return needed[h] })
	root, err := regular.OpenRoot(r.Workspace.Dir())
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // nothing is written through it
	for _, h := range slices.SortedFunc(maps.Keys(gone), blobs.Hash.Compare) {
		name := path.Join(blobs.Dir, h.Path())
		err := root.Remove(name)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		_ = root.Remove(path.Dir(name)) // if it is empty now
		if r.Forget != nil {
			if err := r.Forget(h); err != nil {
				return err
			}
		}
		res.Gone = append(res.Gone, h)
		if err == nil {
			res.Removed = append(res.Removed, h)
		}
	}
	return nil
}
