package importer

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/sessions/codex"
	"github.com/git-jp/git-jp/internal/sessions/copilot"
	"github.com/git-jp/git-jp/internal/sessions/gemini"
	"github.com/git-jp/git-jp/internal/sessions/llm"
	"github.com/git-jp/git-jp/internal/sessions/opencode"
)

// Dialects returns the readers of all agents.
func Dialects() []sessions.Dialect {
	return []sessions.Dialect{
		claude.Dialect{},
		codex.Dialect{},
		gemini.Dialect{},
		copilot.Dialect{},
		opencode.Dialect{},
		llm.Dialect{},
	}
}

// A Selection selects sessions.
type Selection struct {
	Agents  []sessions.Agent // all if empty and there are no Paths
	Paths   []string         // files, or directories with files
	IDs     []string         // the agents' own ids, or prefixes of them
	Since   time.Time        // only those that grew since
	Foreign bool             // also those that ran outside of Root
	Root    string           // of the working tree
}

// A Found is a selected session, or an error of the search.
type Found struct {
	sessions.Session
	Dialect sessions.Dialect
	Err     error
	Copy    bool // a longer source of the session is found too

	spares []Found // copies that say nothing more, for a source that cannot be read
}

// Find returns the selected sessions, sorted by agent and time, and the number of other sessions by
// the directory in which they ran.
func Find(
	ctx context.Context, places sessions.Places, sel Selection,
) (found []Found, foreign map[string]int) {
	foreign = map[string]int{}
	add := func(f Found) {
		if f.Dir == "" && f.DirSum != "" {
			f.Dir = sel.known(f.DirSum)
		}
		switch {
		case f.Err != nil:
			found = append(found, f)
		case !sel.means(f.Session):
		case !sel.Foreign && !belongs(f.Session, sel.Root):
			foreign[f.Dir]++
		default:
			found = append(found, f)
		}
	}
	parts := make([][]Found, len(sel.Paths))
	parallel.Each(len(parts), atOnce(), func(i int) {
		findPath(ctx, sel.Paths[i], func(f Found) { parts[i] = append(parts[i], f) })
	})
	for _, f := range slices.Concat(parts...) {
		add(f)
	}
	for _, d := range Dialects() {
		if !sel.wants(d.Agent()) {
			continue
		}
		for s, err := range d.Find(ctx, places) {
			if err == nil {
				err = sessions.Absolute(s.Path)
			}
			add(Found{Session: s, Dialect: d, Err: err})
		}
	}
	slices.SortStableFunc(found, func(a, b Found) int { return a.Changed.Compare(b.Changed) })
	return unique(found), foreign
}

// known returns the root if sum is that of its path, else "".
func (sel *Selection) known(sum string) string {
	for _, root := range []string{sel.Root, regular.Resolved(sel.Root)} {
		if of := sha256.Sum256([]byte(root)); hex.EncodeToString(of[:]) == sum {
			return sel.Root
		}
	}
	return ""
}

func (sel *Selection) wants(a sessions.Agent) bool {
	return slices.Contains(sel.Agents, a) || len(sel.Agents) == 0 && len(sel.Paths) == 0
}

func (sel *Selection) means(s sessions.Session) bool {
	if !sel.Since.IsZero() && s.Changed.Before(sel.Since) {
		return false
	}
	return len(sel.IDs) == 0 || slices.ContainsFunc(sel.IDs, func(id string) bool {
		return strings.HasPrefix(s.Name.ID, id) || s.Name.String() == id
	})
}

// unique keeps the longest of several sources of a session, such as a copy that was resumed
// elsewhere, or a compressed file beside a plain one. A session may have been continued in two
// places: then what the longest does not begin with stays too, after it.
func unique(found []Found) []Found {
	at := map[sessions.Name]int{}
	var out, rest []Found
	for _, f := range found {
		i, known := at[f.Name]
		switch {
		case f.Err != nil || f.Name.IsZero():
			out = append(out, f)
		case !known:
			at[f.Name] = len(out)
			out = append(out, f)
		case f.Length > out[i].Length:
			f, out[i] = out[i], f
			rest = append(rest, f)
		default:
			rest = append(rest, f)
		}
	}
	for _, f := range rest {
		switch long := &out[at[f.Name]]; {
		case f.Path == long.Path:
		case isApartFrom(f, *long):
			f.Copy = true
			out = append(out, f)
		default:
			long.spares = append(long.spares, f)
		}
	}
	return out
}

// isApartFrom reports whether a source of a session may say what the longest does not. Of one that
// changes in place that is unknown before it is read, unless both end with the same change.
func isApartFrom(f, long Found) bool {
	if !f.Dialect.Appends(f.Session) {
		return f.Length != long.Length && f.Length > 0 || f.Length+long.Length == 0
	}
	return f.Length > 0 && !begins(long.Path, f.Path)
}

// begins reports whether a file begins with what another one has, or either cannot be read.
func begins(long, short string) bool {
	a, err := regular.OpenFile(long)
	if err != nil {
		return true
	}
	defer a.Close() //nolint:errcheck // only read
	b, err := regular.OpenFile(short)
	if err != nil {
		return true
	}
	defer b.Close() //nolint:errcheck // only read
	var x, y [32 << 10]byte
	for {
		n, err := io.ReadFull(b, y[:])
		if m, _ := io.ReadFull(a, x[:n]); m < n || !bytes.Equal(x[:n], y[:n]) {
			return false
		}
		if err != nil {
			return true
		}
	}
}

// A copyError names a copy of a session that was not imported.
type copyError struct{ path string }

func (e *copyError) Error() string { return e.path + ", " + ErrOtherCopy.Error() }
func (*copyError) Unwrap() error   { return ErrOtherCopy }

// ErrUnknown reports a file that no reader recognizes.
var ErrUnknown = errors.New("it is not a session of a known agent")

// findPath yields the sessions in a file, or in the files of a directory.
func findPath(ctx context.Context, path string, add func(Found)) {
	info, err := os.Stat(path)
	if err != nil || !info.IsDir() {
		findFile(ctx, path, add)
		return
	}
	w := sessions.Walk{Visit: func(name string, err error) error {
		switch {
		case errors.Is(err, sessions.ErrLink):
			if strings.Contains(filepath.Base(name), ".jsonl") {
				err = fmt.Errorf("read %s: %w", name, err)
				add(Found{Session: sessions.Session{Path: name}, Err: err})
			}
			return ctx.Err()
		case err != nil || ctx.Err() != nil:
			return errors.Join(err, ctx.Err())
		}
		findFile(ctx, name, func(f Found) {
			if errors.Is(f.Err, ErrUnknown) {
				f.Err = sessions.Readable(name)
			}
			if f.Err != nil || !f.Name.IsZero() {
				add(f)
			}
		})
		return nil
	}}
	if err := w.Below(path); err != nil {
		add(Found{Err: err})
	}
}

func findFile(ctx context.Context, path string, add func(Found)) {
	room := heads.Get().(*bytes.Buffer)
	defer heads.Put(room)
	for _, size := range headSizes {
		head, err := headOf(path, size, room)
		if err != nil {
			add(Found{Session: sessions.Session{Path: path}, Err: err})
			return
		}
		if findAs(ctx, path, head, add) {
			return
		}
		if len(head) < size {
			break
		}
	}
	add(Found{
		Session: sessions.Session{Path: path}, Err: fmt.Errorf("read %s: %w", path, ErrUnknown),
	})
}

// findAs yields the sessions in a file that begins with head, and reports whether an agent is known
// that writes such files.
func findAs(ctx context.Context, path string, head []byte, add func(Found)) bool {
	for _, d := range Dialects() {
		if !d.Recognize(head) {
			continue
		}
		all, err := d.List(ctx, path)
		if errors.Is(err, sessions.ErrOther) {
			continue // another agent's, or none's
		}
		if err != nil {
			add(Found{Session: sessions.Session{Path: path}, Dialect: d, Err: err})
			return true
		}
		for _, s := range all {
			add(Found{Session: s, Dialect: d})
		}
		if len(all) > 0 {
			return true
		}
	}
	return false
}

// headSizes are how much of a file is read to recognize it: its first records are mostly enough,
// but those of some agents are long.
var headSizes = []int{16 << 10, 256 << 10}

// heads holds buffers for the beginnings of files, which are looked at one after the other.
var heads = sync.Pool{New: func() any { return new(bytes.Buffer) }}

// firstLines reads up to size bytes of a file, and at least its first line. The result may be in
// room.
func firstLines(r io.Reader, size int, room *bytes.Buffer) ([]byte, error) {
	room.Reset()
	room.Grow(size + bytes.MinRead)
	_, err := room.ReadFrom(io.LimitReader(r, int64(size)))
	head := room.Bytes()
	if err != nil || len(head) < size || bytes.Contains(head, []byte("\n")) ||
		sessions.IsPacked(head) {
		return head, err
	}
	rest, err := bufio.NewReader(io.LimitReader(r, sessions.MaxLine)).ReadBytes('\n')
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return append(head, rest...), err
}

// headOf returns the beginning of a file, decompressed.
func headOf(path string, size int, room *bytes.Buffer) ([]byte, error) {
	f, err := regular.OpenFile(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	head, err := firstLines(f, size, room)
	if err != nil || !sessions.IsPacked(head) {
		return head, err
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return nil, err
	}
	d, err := sessions.Unpack(f)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	head, err = firstLines(d, size, room)
	if errors.Is(err, io.ErrUnexpectedEOF) {
		err = nil
	}
	return head, err
}
