package check

import (
	"context"
	"fmt"
	"sync"

	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
)

// learnFrom is the number of files from which on it pays to read them at once.
const learnFrom = 64

// A lesson is a file of a conversation about which the cache has no answers.
type lesson struct {
	kind refs.File
	id   refs.ObjectID
}

// learn reads the files that the cache does not know, at once and several at a time, so that
// the examination finds all in the cache. What cannot be read is left to the examination, which
// says so.
func (ch *checker) learn(ctx context.Context, src Source, fresh []*conv) error {
	o, ok := src.(objectSource)
	if !ok {
		return nil
	}
	lessons, known := ch.lessons(fresh)
	var err error
	if ch.gone, err = goneOf(ctx, o, known); err != nil {
		return fmt.Errorf("look up %d files of %s: %w", len(known), src.Name(), err)
	}
	if len(lessons) < learnFrom {
		return nil
	}
	ids := make([]refs.ObjectID, len(lessons))
	for i, l := range lessons {
		ids[i] = l.id
	}
	type file struct {
		lesson
		data []byte
	}
	files := make(chan file)
	var group sync.WaitGroup
	for range ch.opts.workers() {
		group.Go(func() {
			for f := range files {
				ch.cache.Learn(f.kind, f.id, f.data)
			}
		})
	}
	done := 0
	err = o.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
		switch {
		case err != nil:
		case regular.IsLarge(int64(len(data))):
			ch.cache.Learn(lessons[i].kind, lessons[i].id, data) // nothing else is read meanwhile
		default:
			files <- file{lessons[i], data}
		}
		done++
		ch.opts.progress("files", done, len(ids))
		return nil //nolint:nilerr // the examination says what cannot be read
	})
	close(files)
	group.Wait()
	return err
}

// goneOf returns the objects that are not here. What the cache knows of an object is true for
// ever, and says nothing of whether somebody can still read it.
func goneOf(
	ctx context.Context, o objectSource, ids []refs.ObjectID,
) (map[refs.ObjectID]bool, error) {
	if len(ids) == 0 {
		return nil, nil
	}
	sizes, err := o.ObjectSizes(ctx, ids)
	if err != nil {
		return nil, err
	}
	gone := make(map[refs.ObjectID]bool)
	for i, size := range sizes {
		if size < 0 {
			gone[ids[i]] = true
		}
	}
	return gone, nil
}

// lessons lists the files in the order of their conversations, each once, and apart from them
// the objects of those that the cache knows.
func (ch *checker) lessons(fresh []*conv) (unknown []lesson, known []refs.ObjectID) {
	kinds := []struct {
		name string
		kind refs.File
	}{
		{eventsFile, refs.StreamFile},
		{detailsFile, refs.DetailsFile},
		{configFile, refs.DocumentFile},
	}
	seen := make(map[lesson]bool)
	for _, c := range fresh {
		for _, k := range kinds {
			e, ok := ch.listed[c.dir][k.name]
			l := lesson{k.kind, e.ID}
			if !ok || e.ID == "" || !e.Mode.IsRegular() || seen[l] {
				continue
			}
			seen[l] = true
			if ch.cache.Knows(k.kind, e.ID) {
				known = append(known, e.ID)
			} else {
				unknown = append(unknown, l)
			}
		}
	}
	return unknown, known
}
