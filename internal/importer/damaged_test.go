package importer

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// quiet is what is redacted in a conversation after its export.
const quiet = "tulip-4711"

// redactedSince returns a conversation that was exported and gone on with, and what was redacted in
// it since.
func redactedSince(
	t *testing.T, d sessions.Dialect, questions ...string,
) (*workspace.Workspace, *exported, secrets.Redactions) {
	t.Helper()
	w, entries := newWorkspace(t), secrets.Redactions{}
	id := ours(t, w, questions...)
	x := export(t, w, id, d)
	x.asks(t, "And now?", "Gone on.")
	change(t, w, id, func(s *events.Stream) {
		for i, key := range s.Keys() {
			for _, text := range secrets.Texts(s.At(i)) {
				was, err := text.Content.Bytes(nil)
				if err != nil {
					t.Fatal(err)
				}
				at := bytes.Index(was, []byte(quiet))
				if at < 0 {
					continue
				}
				entries.Add(secrets.Redaction{
					Conversation: id.Digits(), Event: key, Member: text.Member, Ranges: []secrets.Range{
						secrets.NewRange(was, secrets.Match{Start: at, End: at + len(quiet), Rule: "word"}),
					},
				})
			}
		}
		done, err := entries.Apply(id, s, nil)
		if err != nil || len(done.Replaced) == 0 {
			t.Fatal(done, err)
		}
		*s = *done.Stream
	})
	return w, x, entries
}

// leaks imports what is in a directory, and reports whether a workspace has the text again.
func leaks(t *testing.T, w *workspace.Workspace, x *exported, entries secrets.Redactions) (all []Result, leaked bool) {
	t.Helper()
	sel := Selection{Paths: []string{filepath.Dir(x.path)}, Foreign: true}
	found, _ := Find(t.Context(), sessions.Places{}, sel)
	for r := range (&Importer{Workspace: w, Redactions: entries}).All(t.Context(), found) {
		all = append(all, r)
	}
	for _, said := range has(t, w) {
		leaked = leaked || strings.Contains(said, quiet)
	}
	return all, leaked || strings.Contains(stored(t, w.Blobs()), quiet)
}

var exportValue = regexp.MustCompile(`"git_jp_export":(\{[^{}]*\})`)

// TestDamagedMarkIsRefused: a session that names its export is of no conversation where the rest of
// that cannot be read, and no session of its own either.
func TestDamagedMarkIsRefused(t *testing.T) {
	value := func(with string) func([]byte) []byte {
		return func(line []byte) []byte {
			return exportValue.ReplaceAllLiteral(line, []byte(`"git_jp_export":`+with))
		}
	}
	for name, damage := range map[string]func(line []byte) []byte{
		"cut": func(line []byte) []byte {
			return append(line[:bytes.Index(line, []byte(`"bytes"`))], '\n')
		},
		"merged with the next": func(line []byte) []byte { return bytes.TrimSuffix(line, []byte("\n")) },
		"a byte order mark":    func(line []byte) []byte { return append([]byte("\ufeff"), line...) },
		"twice": func(line []byte) []byte {
			mark := exportValue.Find(line)
			return bytes.Replace(line, mark, fmt.Appendf(nil, "%s,%s", mark, mark), 1)
		},
		"null":   value(`null`),
		"array":  value(`[]`),
		"text":   value(`"17528832001"`),
		"number": value(`17528832001`),
		"empty":  value(`{}`),
	} {
		for _, d := range resumable {
			w, x, entries := redactedSince(t, d, "First?", "Keep "+quiet+" for me.")
			lines := bytes.SplitAfter(x.data(t), []byte("\n"))
			lines[0] = damage(bytes.Clone(lines[0]))
			x.write(t, bytes.Join(lines, nil))
			all, leaked := leaks(t, w, x, entries)
			if leaked || len(all) != 1 || !errors.Is(all[0].Err, sessions.ErrMark) || count(t, w) != 1 {
				t.Errorf("%s, %s: it is %v, back: %v", d.Agent(), name, all, leaked)
			}
		}
	}
}

// TestHalfWrittenMarkWaits: the first line may not be complete yet.
func TestHalfWrittenMarkWaits(t *testing.T) {
	for _, d := range resumable {
		w, x, entries := redactedSince(t, d, "Keep "+quiet+" for me.")
		line, _, _ := bytes.Cut(x.data(t), []byte("\n"))
		x.write(t, line[:len(line)-2])
		if all, leaked := leaks(t, w, x, entries); len(all) != 0 || leaked {
			t.Errorf("%s: it is %v", d.Agent(), all)
		}
	}
}
