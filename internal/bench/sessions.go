package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/dedup"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/importer"
	agents "github.com/git-jp/git-jp/internal/sessions"
)

// sessions reads the files below a directory as conversations, by name: jp's events.json, and the
// sessions of agents, of these one conversation for each part between the agent's own compactions.
// Other files are left out.
func sessions(dir string) (map[string]*events.Stream, error) {
	all := map[string]*events.Stream{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || d.Name() != "events.json" {
			return err
		}
		data, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if s, err := events.Decode(data); err == nil {
			all[name] = s
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	found, _ := importer.Find(context.Background(), agents.Places{}, importer.Selection{
		Paths: []string{dir}, Foreign: true,
	})
	for _, f := range found {
		if f.Err != nil {
			continue
		}
		if err := addSession(f, all); err != nil {
			return nil, err
		}
	}
	if len(all) == 0 {
		return nil, errors.New("there are no sessions")
	}
	return all, nil
}

// addSession adds the parts of the conversations of a session.
func addSession(f importer.Found, to map[string]*events.Stream) error {
	store := stored{}
	all, err := converted(f, store)
	for _, c := range all {
		if _, err := c.Stream.Inline(store); err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		s, err := events.Decode(c.Stream.Encode())
		if err != nil {
			return fmt.Errorf("%s: %w", f.Path, err)
		}
		for n, part := range parts(s) {
			to[fmt.Sprintf("%s#%s.%d", f.Path, c.Name, n)] = part
		}
	}
	return err
}

// stored has contents in memory.
type stored map[blobs.Hash][]byte

func (s stored) Write(b []byte) (blobs.Ref, error) {
	r := blobs.RefTo(b)
	s[r.Hash] = bytes.Clone(b)
	return r, nil
}

func (s stored) Read(r blobs.Ref) ([]byte, error) { return s[r.Hash], nil }

// parts returns what the model was given up to each compaction of the agent, and at the end.
func parts(s *events.Stream) (all []*events.Stream) {
	for i := range s.Len() + 1 {
		if i < s.Len() && s.At(i).Kind() != events.KindCompaction {
			continue
		}
		begun := s.Clone()
		begun.Remove(i, begun.Len()-i)
		part := events.New()
		for _, e := range dedup.Trim(begun.Project().Stream).All() {
			if e.Kind().IsEvent() {
				part.Append(e)
			}
		}
		if part.Len() > 0 {
			all = append(all, part)
		}
	}
	return all
}
