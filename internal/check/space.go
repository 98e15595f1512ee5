package check

import (
	"context"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/refs"
)

const (
	conversationsDir = "conversations"
	archiveDir       = "conversations/.archive"
)

// A checker holds what is known of one workspace after the last source, and goes on to
// the next one by what differs.
type checker struct {
	opts     *Options
	cache    *refs.Cache
	report   *Report
	verifier *verifier
	store    *store

	dir    string           // of the workspace, from the root of the source
	last   Source           // nil at first
	parts  map[string]Entry // what lay in dir
	convs  map[string]*conv // by directory, from the root of the source
	extra  []Finding        // on directories that are no conversations, and on duplicates
	wanted []blobs.Hash     // blobs to judge
}

// step checks the next source.
func (ch *checker) step(ctx context.Context, src Source) error {
	parts, err := ch.list(src)
	if err != nil {
		return err
	}
	if ch.last == nil || changed(ch.parts, parts, blobs.Dir) ||
		changed(ch.parts, parts, conversationsDir) {
		if err := ch.update(ctx, src); err != nil {
			return err
		}
	}
	ch.last, ch.parts = src, parts
	ch.emit(src)
	return nil
}

func (ch *checker) list(src Source) (map[string]Entry, error) {
	entries, err := list(src, ch.dir)
	if err != nil {
		return nil, err
	}
	parts := make(map[string]Entry, len(entries))
	for _, e := range entries {
		parts[e.Name] = e
	}
	return parts, nil
}

// changed reports whether a directory may differ.
func changed(old, new map[string]Entry, name string) bool {
	was, before := old[name]
	is, after := new[name]
	if !before && !after {
		return false
	}
	return before != after || was.Mode != is.Mode || was.ID != is.ID || is.ID == ""
}

func (ch *checker) update(ctx context.Context, src Source) error {
	if err := ch.store.update(ctx, ch.last, src); err != nil {
		return err
	}
	ch.wanted = append(ch.wanted[:0], ch.store.touched...)
	fresh, err := ch.conversations(ctx, src)
	if err != nil {
		return err
	}
	sound, err := ch.verifier.judge(ctx, src, ch.store, ch.wanted)
	if err != nil {
		return err
	}
	if !sound {
		for dir := range fresh {
			ch.convs[dir].suspect = true
		}
	}
	return ch.evaluate(ctx, src, fresh)
}

// conversations goes on to the conversations of src and returns the directories
// that are new or differ.
func (ch *checker) conversations(ctx context.Context, src Source) (map[string]bool, error) {
	listed, foreign, err := ch.directories(src)
	if err != nil {
		return nil, err
	}
	var stale, fresh []string
	for dir, c := range ch.convs {
		if now, ok := listed[dir]; !ok || now.tree != c.tree || now.tree == "" {
			stale = append(stale, dir)
		}
	}
	for _, dir := range stale {
		ch.forget(ch.last, ch.convs[dir])
		delete(ch.convs, dir)
	}
	for dir := range listed {
		if ch.convs[dir] == nil {
			fresh = append(fresh, dir)
		}
	}
	slices.Sort(fresh)
	done := make(map[string]bool, len(fresh))
	for i, dir := range fresh {
		c := listed[dir]
		if err := (reading{ch, src, c}).examine(ctx); err != nil {
			return nil, err
		}
		ch.convs[dir], done[dir] = c, true
		ch.opts.progress("conversations", i+1, len(fresh))
	}
	ch.extra = append(foreign, ch.duplicates(src)...)
	return done, nil
}

// directories lists the conversations of src, live and archived, and what does not
// belong between them.
func (ch *checker) directories(src Source) (map[string]*conv, []Finding, error) {
	listed := make(map[string]*conv)
	var foreign []Finding
	for _, part := range []string{conversationsDir, archiveDir} {
		dir := path.Join(ch.dir, part)
		entries, err := list(src, dir)
		if err != nil {
			return nil, nil, err
		}
		for _, e := range entries {
			id, ok := events.ParseDirname(e.Name)
			switch name := path.Join(dir, e.Name); {
			case strings.HasPrefix(e.Name, ".") || e.Mode.IsRegular():
				// jp does not look at these.
			case ok && e.Mode.IsDir() && ch.opts.selects(id):
				listed[name] = &conv{dir: name, id: id, tree: e.ID}
			case ok && e.Mode.IsDir():
				// not asked for
			case ch.opts.Select == nil:
				foreign = append(foreign, foreignDirectory(name, e))
			}
		}
	}
	return listed, foreign, nil
}

func foreignDirectory(name string, e Entry) Finding {
	f := Finding{State: Foreign, Path: name, Element: -1}
	f.Detail = "is no conversation: jp moves such a directory to its trash"
	f.Next = "git rm -r -- " + shellQuote(name)
	if !e.Mode.IsDir() {
		f.Detail = "is a link: jp does not see it"
	}
	return f
}

// duplicates returns a finding for every directory whose id another one has, but for
// the first.
func (ch *checker) duplicates(src Source) []Finding {
	first := make(map[events.ID]string, len(ch.convs))
	var again []string
	for dir, c := range ch.convs {
		switch other, ok := first[c.id]; {
		case !ok:
			first[c.id] = dir
		case dir < other:
			first[c.id], again = dir, append(again, other)
		default:
			again = append(again, dir)
		}
	}
	var all []Finding
	for _, dir := range again {
		c := ch.convs[dir]
		all = append(all, Finding{
			State: DuplicateID, Path: dir, Element: -1,
			Conversation: idText(c.id), Title: reading{ch, src, c}.title(),
			Detail: "has the id of " + first[c.id] + ": jp keeps one of them and " +
				"deletes the other at the next save",
			Next: "git jp repair " + idText(c.id),
		})
	}
	return all
}

// evaluate looks at the references of the conversations for which the answer can have
// changed: those that are new, those that have findings, and all when a blob that
// something refers to is no longer there or not sound.
func (ch *checker) evaluate(ctx context.Context, src Source, fresh map[string]bool) error {
	all := ch.lost()
	for _, dir := range slices.Sorted(maps.Keys(ch.convs)) {
		if err := ctx.Err(); err != nil {
			return err
		}
		c := ch.convs[dir]
		if all || len(c.dangling) > 0 || fresh[dir] && c.suspect {
			if err := (reading{ch, src, c}).references(); err != nil {
				return err
			}
		}
	}
	return nil
}

// lost reports whether the update has harmed a reference that did not change.
func (ch *checker) lost() bool {
	for _, h := range ch.store.touched {
		b := ch.store.blobs[h]
		if b.refs <= 0 {
			continue
		}
		if b.mode == absent || !b.verdict.fits(blobs.Ref{Hash: h, Size: b.size}) {
			return true
		}
	}
	return false
}

// emit reports what is wrong in src.
func (ch *checker) emit(src Source) {
	var all []Finding
	for _, c := range ch.convs {
		all = append(append(all, c.found...), c.dangling...)
	}
	all = append(all, ch.extra...)
	if ch.opts.Select == nil {
		all = append(all, ch.store.foreignFindings()...)
	}
	all = append(all, ch.conflicts(src)...)
	for i := range all {
		all[i].Commit = src.Name()
	}
	ch.report.addAll(all)
}

func (ch *checker) conflicts(src Source) []Finding {
	c, ok := src.(Conflicter)
	if !ok {
		return nil
	}
	var all []Finding
	for _, name := range c.Conflicts() {
		if strings.HasPrefix(name, ch.dir+"/") {
			all = append(all, Finding{
				State: Conflicted, Path: name, Element: -1,
				Detail: "is unmerged", Next: "git jp resolve",
			})
		}
	}
	return all
}
