package gc

import (
	"context"
	"path"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Why has the reasons why a content is kept, or was.
type Why struct {
	Hash blobs.Hash
	// ModTime is that of its file; zero if the store lacks it.
	ModTime time.Time
	// Young is true if the grace period keeps it.
	Young bool
	// Run is the run in whose quarantine it is, "" if none.
	Run string
	// Tips refer to it: each of them alone would keep it.
	Tips []Chain
	// Past are older commits that refer to it without having the blob.
	Past []Chain
	// Last is the last commit that referred to it, if nothing keeps it.
	Last *Chain
}

// Kept reports whether something other than its age keeps it.
func (w *Why) Kept() bool { return len(w.Tips)+len(w.Past) > 0 }

// A Chain leads from a root to a reference.
type Chain struct {
	Root         string
	Commit       gitint.OID // zero in a working tree or an index
	Path         string
	Conversation events.ID
	Title        string
	// At is the reference, nil if the content is only mentioned.
	At *events.RefAt
}

// Explain finds out why a content is kept or not.
func Explain(ctx context.Context, o Options, h blobs.Hash) (*Why, error) {
	m, p, err := begin(ctx, &o)
	if err != nil {
		return nil, err
	}
	w := &Why{Hash: h}
	if info, err := o.blobs().Stat(h); err == nil {
		w.ModTime = info.ModTime()
		w.Young = !w.ModTime.Before(p.started.Add(-o.Grace))
	}
	if err := w.quarantine(&o, p.place); err != nil {
		return nil, err
	}
	e := explainer{m: m, hash: h, why: w}
	e.tips(ctx)
	if len(w.Tips) > 0 || o.UserLocal {
		return w, nil
	}
	return w, e.past(ctx, p)
}

func (w *Why) quarantine(o *Options, p place) error {
	all, err := runs(o, p)
	for _, r := range all {
		if regular.Exists(r.file(w.Hash)) {
			w.Run = r.Run
		}
	}
	return err
}

type explainer struct {
	m    *marker
	hash blobs.Hash
	why  *Why
}

func (e *explainer) tips(ctx context.Context) {
	n, ok := e.m.hashes.find(e.hash)
	if !ok {
		return
	}
	for _, t := range e.m.tips {
		for _, f := range t.disk {
			if f.has(n) {
				e.why.Tips = append(e.why.Tips, e.onDisk(t, f.path))
			}
		}
		e.m.trees.eachDocument(t, func(d document, name func() string) {
			if e.m.references.known[d].has(n) {
				c := Chain{Root: t.title, Commit: t.commit, Path: name()}
				e.why.Tips = append(e.why.Tips, e.complete(ctx, c, d))
			}
		})
	}
}

func (f mentions) has(n int32) bool {
	return slices.Contains(f.sure, n) || slices.Contains(f.loose, n)
}

// onDisk completes the chain of a working tree. A file that has changed meanwhile gives no
// position.
func (e *explainer) onDisk(t *tip, name string) Chain {
	c := Chain{Root: t.title, Path: name}
	at := filepath.Join(t.base, filepath.FromSlash(name))
	if data, err := regular.ReadFile(at, e.m.trees.limits().OfStream()); err == nil {
		c.At = find(data, e.hash)
	}
	dir := path.Dir(at)
	c.Conversation, _ = events.ParseDirname(path.Base(dir))
	file := filepath.Join(dir, workspace.MetadataFile)
	if data, err := regular.ReadFile(file, regular.MaxSettings); err == nil {
		details, _ := events.DecodeDetails(data)
		c.Title = details.Name()
	}
	return c
}

func (e *explainer) complete(ctx context.Context, c Chain, d document) Chain {
	c.Conversation, _ = events.ParseDirname(path.Base(path.Dir(c.Path)))
	if data, err := e.m.o.Repo.ReadObject(ctx, d.id, 0); err == nil {
		c.At = find(data, e.hash)
	}
	if c.Commit.IsZero() {
		return c
	}
	t := titler{repo: e.m.o.Repo, known: make(map[string]Mention)}
	if found := t.mention(ctx, &lastMention{c.Commit, c.Path}); found != nil {
		c.Title = found.Title
	}
	return c
}

func find(data []byte, h blobs.Hash) *events.RefAt {
	all, err := events.ReferencesWith(data, events.ReferencesOptions{
		DecodeOptions: events.DecodeOptions{MaxBlobBytes: -1}, Duplicates: true,
	})
	if err != nil {
		return nil
	}
	for _, r := range all {
		if r.Ref.Hash == h {
			return &r
		}
	}
	return nil
}

// past searches history for the one content.
func (e *explainer) past(ctx context.Context, p *Plan) error {
	h, err := e.m.askHistory(ctx, p, map[blobs.Hash]candidate{e.hash: {}}, nil)
	if err == nil {
		err = e.m.refused()
	}
	if err != nil {
		return err
	}
	if v := h.found[0]; v.needed {
		c := Chain{Root: "history", Commit: v.by}
		if v.by.IsZero() && h.last[0] != nil { // the blob that should carry it is missing
			c.Commit = h.last[0].commit
		}
		if err := e.locate(ctx, h, &c); err != nil {
			return err
		}
		e.why.Past = append(e.why.Past, c)
		return nil
	}
	if last := h.last[0]; last != nil {
		c := Chain{Root: "history", Commit: last.commit, Path: last.path}
		if err := e.locate(ctx, h, &c); err != nil {
			return err
		}
		e.why.Last = &c
	}
	return nil
}

// locate finds the reference in the commit of a chain.
func (e *explainer) locate(ctx context.Context, h *history, c *Chain) error {
	for _, p := range h.trees.places[c.Commit] {
		if p.Conversations.IsZero() {
			continue
		}
		lists, err := h.trees.units(ctx, []gitint.OID{p.Conversations})
		if err != nil {
			return err
		}
		for _, u := range lists[0] {
			for _, f := range h.trees.files(u) {
				d := document{f.Object, isStream(u, f)}
				name := filePath(p, u, f)
				if h.references.known[d].has(0) && (c.Path == "" || c.Path == name) {
					c.Path = name
					*c = e.complete(ctx, *c, d)
					return nil
				}
			}
		}
	}
	return nil
}
