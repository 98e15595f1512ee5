package leaks

import (
	"context"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A beside records which redaction entries the trees of [Scanner.Skip] have beside a conversation.
type beside struct {
	// names has the entries of those trees, by the key of their directory.
	names map[string]map[string]bool
	// of has the keys of these directories, by the key of a conversation beside which they are.
	of map[string][]string
	// read has the keys of conversations and directories that Revisit read.
	read map[string]bool
}

func (s *Scanner) skippedBeside() (*beside, error) {
	b := &beside{map[string]map[string]bool{}, map[string][]string{}, map[string]bool{}}
	for _, src := range s.skipped {
		for _, dir := range s.Dirs {
			if err := b.skip(s.reader(src, dir)); err != nil {
				return nil, err
			}
		}
	}
	return b, nil
}

// keyOf names a version of a file or directory.
func keyOf(at string, e check.Entry) string { return at + " " + e.ID.String() }

// skip records a tree.
func (b *beside) skip(r *entryReader) error {
	key, _, err := redactedIn(r)
	if err != nil {
		return err
	}
	if b.names[key] == nil {
		b.names[key] = map[string]bool{}
		list := func(name string, _ check.Entry, _ func() ([]byte, error)) error {
			b.names[key][name] = true
			return nil
		}
		if _, err := r.all(nil, nil, list); err != nil {
			return err
		}
	}
	return directories(r.src, r.dir, func(_ events.ID, at string, e check.Entry) error {
		if of := keyOf(at, e); !slices.Contains(b.of[of], key) {
			b.of[of] = append(b.of[of], key)
		}
		return nil
	})
}

// redactedIn returns the key of the directory of redaction entries of a tree, and whether the tree
// has it.
func redactedIn(r *entryReader) (key string, ok bool, err error) {
	all, err := r.list(secrets.Dir)
	for _, e := range all {
		if path.Join(secrets.Dir, e.Name) == secrets.RedactedDir {
			return keyOf(r.dir, e), true, nil
		}
	}
	return keyOf(r.dir, check.Entry{}), false, err
}

// Revisit reports redacted text in conversations of a scanned tree that Scan did not look at, since
// an earlier tree or HEAD had them: a merge brings them together with an entry that no tree of Skip
// has beside them.
func (s *Scanner) Revisit(ctx context.Context, src check.Source) error {
	for _, dir := range s.Dirs {
		if err := s.revisit(ctx, src, dir); err != nil {
			return fmt.Errorf("look for redacted text: %w", err)
		}
	}
	return nil
}

func (s *Scanner) revisit(ctx context.Context, src check.Source, dir string) error {
	entries, ok, err := redactedIn(s.reader(src, dir))
	if err == nil && ok && s.beside == nil {
		s.beside, err = s.skippedBeside()
	}
	if err != nil || !ok {
		return err
	}
	rules, redactions := s.rulesOf(src, dir), s.redactionsOf(src, dir)
	fresh := map[string]secrets.Redactions{}
	return directories(src, dir, func(id events.ID, at string, e check.Entry) error {
		if err := ctx.Err(); err != nil {
			return err
		}
		key := keyOf(at, e)
		known := s.beside.of[key]
		if s.Select != nil && !s.Select(id) {
			known = slices.Sorted(maps.Keys(s.beside.names)) // as HEAD has it
		}
		joined := strings.Join(known, "\n")
		if _, ok := fresh[joined]; !ok {
			var err error
			if fresh[joined], err = s.notBeside(s.reader(src, dir), known); err != nil {
				return err
			}
		}
		if len(fresh[joined]) == 0 || !e.ID.IsZero() && s.beside.read[key+"\n"+entries] {
			return nil
		}
		s.beside.read[key+"\n"+entries] = true
		c := conversation{src: src, dir: dir, at: at, id: id, redactions: redactions}
		if c.read(); c.stream == nil || !fresh[joined].Concern(c.stream) {
			return nil
		}
		var err error
		if c.scan, err = rules(); err != nil {
			return err
		}
		return s.unredacted(c)
	})
}

// notBeside returns the redactions of a tree that none of the directories of others has.
func (s *Scanner) notBeside(r *entryReader, others []string) (secrets.Redactions, error) {
	r.known = func(name string) bool {
		return slices.ContainsFunc(others, func(key string) bool {
			return s.beside.names[key][name]
		})
	}
	all, err := r.redactions()
	if err != nil {
		return nil, err
	}
	return all.Redactions, nil
}

// rulesOf returns a function that reads the rules of a tree once.
func (s *Scanner) rulesOf(src check.Source, dir string) func() (*secrets.Scanner, error) {
	return sync.OnceValues(func() (*secrets.Scanner, error) {
		r := s.reader(src, dir)
		entries, err := r.all(r.rules, nil, nil)
		if err != nil {
			return nil, err
		}
		return s.scanner(dir, entries.Committed), nil
	})
}
