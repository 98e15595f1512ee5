package codex

import (
	"path/filepath"
	"slices"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// A base is the beginning of a fork, which Codex does not copy: so many bytes of the file of
// another thread, which may have a base itself.
type base struct {
	Thread sessions.Text   `json:"thread_id"`
	End    sessions.Number `json:"end_byte_offset"`
}

// A span is the beginning of a file that has a part of a thread.
type span struct {
	path, thread string
	end          int64
}

// maxBases limits how many forks a thread is away from the one that is no fork.
const maxBases = 256

// bases returns what a thread begins with, the oldest first. A file that is gone, or is not that of
// the thread that is looked for, ends it: what is there is imported. So does a thread that ran in a
// directory for which isIn is false: it may be of other work.
func bases(path string, isIn func(dir string) bool) (all []span) {
	path = regular.Resolved(path) // links from there lead nowhere, see first
	start := path
	_, _, b := describe(path)
	for b.Thread != "" && b.End > 0 && len(all) < maxBases {
		s := span{fileOf(path, string(b.Thread)), string(b.Thread), int64(b.End)}
		circle := s.path == start ||
			slices.ContainsFunc(all, func(o span) bool { return o.path == s.path })
		thread, dir, next := describe(s.path)
		if circle || thread != s.thread || !isIn(dir) {
			break
		}
		all, path, b = append(all, s), s.path, next
	}
	slices.Reverse(all)
	return all
}

// describe returns the thread of a file, where it ran, and what it begins with.
func describe(path string) (thread, dir string, b base) {
	_, _ = sessions.Glance(path, func(line []byte) (more bool) { // a file that is gone has none
		if r, ok := read(line); ok && r.Type == kindMeta {
			thread, dir, b = string(r.p.ID), string(r.p.CWD), r.p.Base.Value
			return false
		}
		return true
	})
	return thread, dir, b
}

// fileOf returns the file of a thread: beside that of another, or anywhere in the directories of
// Codex if the other is there; "" if there is none. An id that is a pattern finds any thread's.
func fileOf(other, thread string) string {
	name := "*-" + thread + ".jsonl*"
	dir := filepath.Dir(other)
	if path := first(dir, name); path != "" {
		return path
	}
	for range maxDepth {
		switch filepath.Base(dir) {
		case "sessions", "archived_sessions":
			return first(filepath.Dir(dir), "sessions/*/*/*/"+name, "archived_sessions/"+name)
		}
		dir = filepath.Dir(dir)
	}
	return ""
}

// first returns the first file in a directory that matches one of some patterns. A plain file sorts
// before its packed copy, which Codex unpacks to append to it. Links are not followed: somebody who
// sent a fork may have put one beside it that leads to a thread of the user.
func first(dir string, patterns ...string) string {
	for _, pattern := range patterns {
		found, _ := regular.Glob(dir, pattern) // no files if it is no pattern
		for _, path := range found {
			if real, err := filepath.EvalSymlinks(path); err == nil && real == path {
				return path
			}
		}
	}
	return ""
}
