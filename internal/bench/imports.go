package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"slices"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/importer"
	"github.com/git-jp/git-jp/internal/parallel"
	agents "github.com/git-jp/git-jp/internal/sessions"
)

// real returns the available sessions of agents, and their size in bytes.
func (b *builder) real() (found []importer.Found, raw int64, err error) {
	dir := filepath.Join(b.data, "agents")
	if _, err := os.Stat(dir); err != nil || b.data == "" {
		return nil, 0, errNoData
	}
	all, _ := importer.Find(context.Background(), agents.Places{}, importer.Selection{
		Paths: []string{dir}, Foreign: true,
	})
	for i, f := range all {
		if f.Err == nil && filepath.Ext(f.Path) == ".jsonl" && i%b.scale == 0 {
			found = append(found, f)
			raw += f.Size
		}
	}
	return found, raw, nil
}

// forget is a destination for contents that are hashed and not written.
type forget struct{}

func (forget) Write(b []byte) (blobs.Ref, error) { return blobs.RefTo(b), nil }

// convert converts sessions to conversations, as many at a time as there are processors, and the
// largest first, as an import does.
func convert(found []importer.Found) (time.Duration, error) {
	start := time.Now()
	found = slices.Clone(found)
	slices.SortStableFunc(found, func(a, b importer.Found) int { return cmp.Compare(b.Size, a.Size) })
	errs := make([]error, len(found))
	parallel.Each(len(found), runtime.GOMAXPROCS(0), func(i int) { errs[i] = convertOne(found[i]) })
	return time.Since(start), errors.Join(errs...)
}

func convertOne(f importer.Found) error {
	_, err := converted(f, forget{})
	return err
}

// converted returns the conversations of a session.
func converted(f importer.Found, to events.Writer) ([]*agents.Conversation, error) {
	b := agents.NewBuilder(f.Session, agents.Options{
		Writer: to, Root: f.Dir, MaxBlob: blobs.DefaultMaxBlobBytes,
	})
	var all []*agents.Conversation
	v, err := f.Dialect.Read(context.Background(), f.Session, 0, b)
	if err == nil {
		all, err = b.Finish(v)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Path, err)
	}
	return all, nil
}

// tokens reads sessions as JSON tokens and discards them.
func tokens(found []importer.Found) (took time.Duration, err error) {
	for _, f := range found {
		data, err := os.ReadFile(f.Path)
		if err != nil {
			return 0, err
		}
		start := time.Now()
		for line := range bytes.Lines(data) {
			dec := jsontext.NewDecoder(bytes.NewBuffer(line), jsontext.AllowDuplicateNames(true),
				jsontext.AllowInvalidUTF8(true))
			for err == nil {
				_, err = dec.ReadToken()
			}
			err = nil // the end, or a line that is cut
		}
		took += time.Since(start)
	}
	return took, nil
}

// importing compares making conversations of all sessions with one pass of the tokenizer.
func importing(b *builder) (ours, theirs side, err error) {
	found, _, err := b.real()
	ours = side{label: "read into conversations", do: func() (time.Duration, error) {
		runtime.GC() // what the other side has left
		defer debug.SetGCPercent(debug.SetGCPercent(garbage))
		return convert(found)
	}}
	theirs = side{label: "one pass of the tokenizer", do: func() (time.Duration, error) {
		return tokens(found)
	}}
	return ours, theirs, err
}

// garbage is how much memory is taken until garbage is collected, in percent of the live heap: as
// in the program during an import, while the heap is small.
const garbage = 400

// importer creates a new workspace and imports all sessions into it.
func (b *builder) importer(found []importer.Found) side {
	ours := b.jp("import", "--yes", "-q", "--foreign")
	for _, f := range found {
		ours.args = append(ours.args, f.Path)
	}
	ours.before = func() error {
		if err := b.aside(".jp"); err != nil {
			return err
		}
		return b.write(identity().path, identity().data)
	}
	return ours
}

func importingToDisk(b *builder) (ours, theirs side, err error) {
	found, _, err := b.real()
	if err == nil {
		err = b.git("init", "-q")
	}
	_, theirs, _ = importing(b)
	return b.importer(found), theirs, err
}

// imported imports all sessions and packs them.
func (b *builder) imported(found []importer.Found) error {
	if err := b.git("init", "-q"); err != nil {
		return err
	}
	if _, err := b.importer(found).run(); err != nil {
		return err
	}
	for _, args := range [][]string{
		{"add", "-A"}, {"commit", "-q", "--no-verify", "-m", "Import"}, {"gc", "-q", "--prune=now"},
	} {
		if err := b.git(args...); err != nil {
			return err
		}
	}
	return nil
}

// takes returns the size of all sessions when they are imported, in the working tree and in Git.
func (b *builder) takes() (files, bytes, packed, raw int64, err error) {
	found, raw, err := b.real()
	if err == nil {
		err = b.shared("imported", func() error { return b.imported(found) })
	}
	if err != nil {
		return 0, 0, 0, 0, err
	}
	if files, bytes, err = usage(filepath.Join(b.dir, ".jp")); err != nil {
		return 0, 0, 0, 0, err
	}
	_, packed, err = usage(filepath.Join(b.dir, ".git", "objects", "pack"))
	return files, bytes, packed, raw, err
}

// usage returns the number of files below a directory, and their size in bytes.
func usage(dir string) (files, bytes int64, err error) {
	err = filepath.WalkDir(dir, func(_ string, e fs.DirEntry, err error) error {
		if err != nil || !e.Type().IsRegular() {
			return err
		}
		info, err := e.Info()
		if err == nil {
			files, bytes = files+1, bytes+info.Size()
		}
		return err
	})
	return files, bytes, err
}

func importedPacked(b *builder) (ours, theirs side, err error) {
	_, _, packed, raw, err := b.takes()
	return side{label: "packed by git, bytes", amount: packed}, rawBytes(raw), err
}

func importedOnDisk(b *builder) (ours, theirs side, err error) {
	_, bytes, _, raw, err := b.takes()
	return side{label: "in the working tree, bytes", amount: bytes}, rawBytes(raw), err
}

func importedFiles(b *builder) (ours, theirs side, err error) {
	files, _, _, raw, err := b.takes()
	return side{label: "files", amount: files}, side{label: "raw MB", amount: raw / 1e6}, err
}

func rawBytes(n int64) side { return side{label: "raw, bytes", amount: n} }

// captured measures how long an agent waits when a session of 1 GB grew.
func captured(b *builder) (ours, theirs side, err error) {
	if err := b.repository(1, 1, true); err != nil {
		return ours, theirs, err
	}
	transcript := filepath.Join(b.dir, "11111111-2222-4333-8444-555555555555.jsonl")
	const line = `{"type":"user","sessionId":"11111111-2222-4333-8444-555555555555"}` + "\n"
	err = errors.Join(os.WriteFile(transcript, []byte(line), 0o600), os.Truncate(transcript, 1<<30))
	ours = b.jp("capture", "--hook", "claude-code")
	ours.stdin = fmt.Appendf(nil, `{"session_id":"11111111-2222-4333-8444-555555555555",`+
		`"transcript_path":%q,"cwd":%q,"hook_event_name":"PostToolUse"}`, transcript, b.dir)
	return ours, b.other("git rev-parse", "git", "rev-parse", "--git-dir"), err
}
