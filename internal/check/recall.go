package check

import (
	"context"
	"fmt"
	"path"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// rules increases whenever a check can find more in the same trees than before.
const rules = 1

// remembering returns the name under which the verdict on a source that is checked alone is cached.
// It holds everything that determines the verdict, except for which objects are here. It is "" if
// the verdict depends on more than that.
func (ch *checker) remembering(ctx context.Context, t transition) string {
	o, ofGit := t.new.(objectSource)
	_, mergeable := t.new.(Conflicter)
	conversations, store := t.is[workspace.ConversationsDir], t.is[blobs.Dir]
	switch {
	case !ch.alone || !ofGit || mergeable || t.old != nil || ch.opts.Rules == "" || ch.opts.Content,
		ch.opts.Select != nil, len(ch.foreign) > 0,
		!conversations.Mode.IsDir() || conversations.ID.IsZero(),
		!store.Mode.IsDir() || store.ID.IsZero(),
		// Content that is not here now may arrive, and was not checked.
		ch.opts.partial() || IsLazy(ctx, t.new):
		return ""
	}
	limits := o.Limits()
	return fmt.Sprintf("check %d %q %s %s limits %d %d %d %d pointers %t",
		rules, ch.opts.Rules, conversations.ID, store.ID,
		ch.opts.limits().Max(), ch.verifier.opts.limits().Max(), limits.Stream, limits.Blob,
		!ch.opts.NoPointers)
}

// recall reports whether nothing was found in these trees before, and everything that was read then
// is still here. Otherwise the full check runs and reports.
func (ch *checker) recall(ctx context.Context, t transition) bool {
	ch.verdict = ch.remembering(ctx, t)
	if ch.verdict == "" {
		return false
	}
	was, ok := ch.cache.Sound(ch.verdict)
	if !ok {
		return false
	}
	o := t.new.(objectSource) // remembering asked
	here := make(chan bool, 1)
	go func() { here <- ch.store.stillHere(ctx, o, t.new) }()
	if listed := ch.stillListed(ctx, o); !<-here || !listed {
		return false
	}
	ch.report.Conversations, ch.report.References = was.Conversations, was.References
	ch.verifier.total = was.Blobs
	return true
}

// remember records that nothing was found.
func (ch *checker) remember() {
	if ch.verdict != "" {
		ch.cache.SetSound(ch.verdict, refs.Sound{
			Conversations: ch.report.Conversations, References: ch.report.References,
			Blobs: ch.verifier.total,
		})
	}
}

// stillListed reports whether the conversations can be listed, and their files are here and within
// the limit.
func (ch *checker) stillListed(ctx context.Context, o objectSource) bool {
	var files []lesson
	err := o.Walk(ctx, path.Join(ch.dir, workspace.ConversationsDir), func(e Entry) {
		switch name := path.Base(e.Name); name {
		case workspace.EventsFile, workspace.MetadataFile, workspace.BaseConfigFile:
			if e.Mode.IsRegular() {
				files = append(files, lesson{name: name, id: e.ID})
			}
		}
	})
	if err != nil {
		return false
	}
	gone, err := unread(ctx, o, files, o.Limits())
	return err == nil && len(gone) == 0
}

// stillHere reports whether the cache knows the directories of the store, none of their blobs is a
// Git LFS pointer, and all directories and blobs are here.
func (s *store) stillHere(ctx context.Context, o objectSource, src Source) bool {
	entries, err := list(src, s.dir)
	if err != nil {
		return false
	}
	var ids []gitint.OID
	lookUp := func() bool {
		gone, err := o.Gone(ctx, ids)
		ids = ids[:0]
		return err == nil && len(gone) == 0
	}
	for _, e := range entries {
		if !e.Mode.IsDir() {
			continue // an allowed file, or it would have been a finding
		}
		if !s.cache.IsPlain(e.ID) {
			return false
		}
		below, ok := s.cache.Trees().Of(e.ID)
		files, listed := s.cache.Blobs().Of(e.ID)
		if !ok || !listed {
			return false
		}
		ids = append(append(ids, e.ID), below...)
		for _, f := range files {
			ids = append(ids, f.Object)
		}
		if len(ids) >= objectsAtOnce && !lookUp() {
			return false
		}
	}
	return lookUp()
}
