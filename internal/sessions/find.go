package sessions

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"path/filepath"
	"strings"
)

// maxFound limits how many files of an agent are looked at; the others are found the next time.
const maxFound = 200_000

var errManyFiles = errors.New("it has too many files to read")

// FindFiles yields the sessions in all files below some directories whose names match. A directory
// may be a symlink, as in a dotfiles setup, and links below it are followed, as agents do.
func FindFiles(
	ctx context.Context, d Dialect, dirs []string, is func(name string) bool,
) iter.Seq2[Session, error] {
	return func(yield func(Session, error) bool) {
		for _, dir := range dirs {
			if !findIn(ctx, d, dir, is, yield) {
				return
			}
		}
	}
}

// ListEach passes the sessions at each of some paths to yield, until that wants no more. A missing
// path has none.
func ListEach(
	ctx context.Context, d Dialect, paths []string, yield func(Session, error) bool,
) {
	for _, path := range paths {
		var all []Session
		err := Absolute(path)
		if err == nil {
			all, err = d.List(ctx, path)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) && !yield(Session{Path: path}, err) {
			return
		}
		for _, s := range all {
			if !yield(s, nil) {
				return
			}
		}
	}
}

// ErrOther reports a database without the tables of an agent: it is another agent's, or that of a
// version that is not known.
var ErrOther = errors.New("its tables are not those of a known version")

var errNoRecord = errors.New("no line of it is a record")

// Readable returns an error for a file that cannot be read, because it may have a session. Files
// without content, as agents leave some, are no error.
func Readable(path string) error {
	if !strings.Contains(filepath.Base(path), ".jsonl") {
		return nil
	}
	lines, record := 0, false
	_, err := Glance(path, func(line []byte) (more bool) {
		lines++
		record = Complete(line)
		return !record
	})
	if err == nil && lines > 0 && !record {
		err = fmt.Errorf("read %s: %w", path, errNoRecord)
	}
	return err
}

func findIn(
	ctx context.Context, d Dialect, dir string, is func(string) bool,
	yield func(Session, error) bool,
) (more bool) {
	if err := Absolute(dir); err != nil {
		return yield(Session{Path: dir}, err)
	}
	more = true
	looked := 0
	w := Walk{Links: true, Visit: func(path string, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed, or an agent that was never used
		case err == nil && !is(filepath.Base(path)):
			return nil
		}
		var all []Session
		if looked++; looked > maxFound {
			return errManyFiles
		}
		if err == nil {
			all, err = d.List(ctx, path)
		}
		if err == nil && len(all) == 0 {
			err = Readable(path)
		}
		if err != nil {
			more = yield(Session{Path: path}, err)
		}
		for _, s := range all {
			more = more && yield(s, nil)
		}
		if !more {
			return fs.SkipAll
		}
		return nil
	}}
	err := w.Below(dir)
	if err != nil && more {
		more = yield(Session{Path: dir}, err)
	}
	return more
}
