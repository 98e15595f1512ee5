package check

import (
	"context"
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

// learn reads the files of the first source that the cache does not know, at once and
// several at a time, so that the examination finds all in the cache. What cannot be read
// is left to the examination, which says so.
func (ch *checker) learn(ctx context.Context, src Source, fresh []*conv) error {
	o, ok := src.(objectSource)
	if !ok || ch.listed == nil {
		return nil
	}
	lessons := ch.lessons(fresh)
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
	err := o.ReadObjects(ctx, ids, func(i int, data []byte, err error) error {
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

// lessons lists the files in the order of their conversations, each once.
func (ch *checker) lessons(fresh []*conv) []lesson {
	kinds := []struct {
		name string
		kind refs.File
	}{
		{eventsFile, refs.StreamFile},
		{detailsFile, refs.DetailsFile},
		{configFile, refs.DocumentFile},
	}
	var all []lesson
	seen := make(map[lesson]bool)
	for _, c := range fresh {
		for _, k := range kinds {
			e, ok := ch.listed[c.dir][k.name]
			l := lesson{k.kind, e.ID}
			if !ok || e.ID == "" || !e.Mode.IsRegular() || seen[l] || ch.cache.Knows(k.kind, e.ID) {
				continue
			}
			seen[l] = true
			all = append(all, l)
		}
	}
	return all
}
