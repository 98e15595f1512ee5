package gitint

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A reflogEntry is a step of a ref from one object to another, either of them perhaps
// none.
type reflogEntry struct{ was, is OID }

// readReflog reads a reflog, oldest entry first. Another git may be appending, so an end
// that is no whole line is read again, for a moment.
func (r *Repo) readReflog(file string) (entries []reflogEntry, err error) {
	for try := range emptyRefTries {
		var data []byte
		if data, err = os.ReadFile(file); err != nil {
			return nil, ignoreMissing(err)
		}
		if entries, err = parseReflog(data); err == nil {
			return entries, nil
		}
		if try < emptyRefTries-1 {
			time.Sleep(emptyRefPause)
		}
	}
	return nil, err
}

// parseReflog reads "<was> <is> <who> TAB <why>" a line. An unknown line fails it:
// what it kept would be lost.
func parseReflog(data []byte) ([]reflogEntry, error) {
	var entries []reflogEntry
	for line := range strings.Lines(string(data)) {
		was, rest, ok := strings.Cut(line, " ")
		is, _, spaced := strings.Cut(rest, " ")
		before, err := ParseOID(was)
		after, afterErr := ParseOID(is)
		if !ok || !spaced || !strings.HasSuffix(line, "\n") ||
			errors.Join(err, afterErr) != nil {
			return nil, fmt.Errorf("it has the line %.80q", line)
		}
		entries = append(entries, reflogEntry{before, after})
	}
	return entries, nil
}

// walkFiles calls f with the slash path below dir of every file there. What goes
// meanwhile is passed over.
func walkFiles(ctx context.Context, dir string, f func(name string) error) error {
	return filepath.WalkDir(dir, func(at string, d fs.DirEntry, err error) error {
		if isFileMissing(err) {
			return nil
		}
		if err != nil {
			return err
		}
		if d.IsDir() || strings.HasSuffix(at, lockSuffix) {
			return ctx.Err()
		}
		name, err := filepath.Rel(dir, at)
		if err != nil {
			return err
		}
		return f(filepath.ToSlash(name))
	})
}

func isFileMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}
