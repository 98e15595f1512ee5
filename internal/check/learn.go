package check

import (
	"context"
	"fmt"
	"sync"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// learnFrom is the number of files above which reading them at once pays.
const learnFrom = 64

// A lesson is a file of a conversation that the cache does not know.
type lesson struct {
	name string
	kind refs.File
	id   gitint.OID
}

// learn reads the files that the cache does not know in one bulk read, several at a time except
// large ones, so that the examination finds all of them in the cache. The examination reports files
// that cannot be read.
func (ch *checker) learn(ctx context.Context, src Source, fresh []*conv) error {
	o, ok := src.(objectSource)
	if !ok {
		return nil
	}
	limits := o.Limits()
	lessons, known := ch.lessons(fresh)
	var err error
	if ch.unread, err = unread(ctx, o, known, limits); err != nil {
		return fmt.Errorf("look up %d files of %s: %w", len(known), src.Name(), err)
	}
	if len(lessons) < learnFrom {
		return nil
	}
	ids := lists.Map(lessons, func(l lesson) gitint.OID { return l.id })
	var turn sync.Mutex
	done := 0
	return o.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		if l := lessons[i]; err == nil && int64(len(data)) <= limits.Of(l.name) {
			ch.cache.Learn(l.kind, l.id, data)
		}
		turn.Lock()
		defer turn.Unlock()
		done++
		ch.opts.progress("files", done, len(ids))
		return nil // the examination says what cannot be read
	})
}

// unread returns the known objects that cannot be read: they are missing, or larger than the
// current limit, which may be lower than when the cache learned them. The cached facts about an
// object stay true, but cover neither case.
func unread(
	ctx context.Context, o objectSource, known []lesson, limits regular.Limits,
) (map[gitint.OID]bool, error) {
	ids := lists.Map(known, func(l lesson) gitint.OID { return l.id })
	sizes, err := o.ObjectSizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	gone := make(map[gitint.OID]bool)
	for i, size := range sizes {
		if size < 0 || size > limits.Of(known[i].name) {
			gone[ids[i]] = true
		}
	}
	return gone, nil
}

// lessons lists the files in the order of their conversations, without duplicates, and separately
// those that the cache knows.
func (ch *checker) lessons(fresh []*conv) (unknown, known []lesson) {
	kinds := []struct {
		name string
		kind refs.File
	}{
		{workspace.EventsFile, refs.StreamFile},
		{workspace.MetadataFile, refs.DetailsFile},
		{workspace.BaseConfigFile, refs.DocumentFile},
	}
	seen := make(map[lesson]bool)
	for _, c := range fresh {
		for _, k := range kinds {
			e, ok := ch.listed[c.dir].file(k.name)
			l := lesson{k.name, k.kind, e.ID}
			if !ok || e.ID.IsZero() || !e.Mode.IsRegular() || seen[l] {
				continue
			}
			seen[l] = true
			if ch.cache.Knows(k.kind, e.ID) {
				known = append(known, l)
			} else {
				unknown = append(unknown, l)
			}
		}
	}
	return unknown, known
}
