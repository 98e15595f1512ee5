package importer

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// quiet is a text that is redacted in a conversation after its export.
const quiet = "tulip-4711"

// redactedSince returns a conversation that was exported and continued by an agent, and the
// redactions in it since.
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

// leaks imports the sessions in a directory, and reports whether a workspace has the redacted text
// again.
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

// markOfEditors names a damage that an editor does to a file.
const markOfEditors = "a byte order mark"

// TestDamagedMarkIsRefused checks that a session whose export mark is damaged is imported neither
// into a conversation nor as a session of its own.
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
		markOfEditors:          func(line []byte) []byte { return append([]byte("\ufeff"), line...) },
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
			want := sessions.ErrMark
			if name == markOfEditors { // it is read as if it were not there, but is not what was exported
				want = ErrWithheld
			}
			if leaked || len(all) != 1 || !errors.Is(all[0].Err, want) || count(t, w) != 1 {
				t.Errorf("%s, %s: it is %v, back: %v", d.Agent(), name, all, leaked)
			}
		}
	}
}

// TestHalfWrittenMarkWaits checks that an incomplete first line is no error yet.
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

// TestNoDamageBringsRedactedBack checks that no single damage to the first line restores text that
// was redacted after the export.
func TestNoDamageBringsRedactedBack(t *testing.T) {
	members := regexp.MustCompile(`"([a-z_]+)":("[^"]*"|[0-9]+|\{[^{}]*\})`)
	for _, d := range resumable {
		_, x, _ := redactedSince(t, d, "Keep "+quiet+" for me.")
		first, rest, _ := bytes.Cut(x.data(t), []byte("\n"))
		lines := map[string][]byte{"gone": nil}
		for n := range first {
			lines[fmt.Sprintf("cut at %d", n)] = append(bytes.Clone(first[:n]), '\n')
			if n%3 > 0 {
				continue
			}
			lines[fmt.Sprintf("ends at %d", n)] = bytes.Clone(first[:n])
			other := append(bytes.Clone(first), '\n')
			other[n] ^= 1
			lines[fmt.Sprintf("other at %d", n)] = other
		}
		for _, at := range members.FindAllSubmatchIndex(first, -1) {
			member, name := string(first[at[0]:at[1]]), string(first[at[2]:at[3]])
			for how, with := range map[string]string{
				"gone": `"x":0`, "twice": member + "," + member, "null": `"` + name + `":null`,
				"array": `"` + name + `":[]`, "number": `"` + name + `":7`, "text": `"` + name + `":"7"`,
			} {
				lines[name+" "+how] = append(bytes.Replace(bytes.Clone(first), []byte(member), []byte(with), 1), '\n')
			}
		}
		w, x, entries := redactedSince(t, d, "Keep "+quiet+" for me.")
		ours := has(t, w)
		for name, line := range lines {
			x.write(t, append(line, rest...))
			if all, leaked := leaks(t, w, x, entries); leaked {
				t.Fatalf("%s, %s: it is back: %v", d.Agent(), name, all)
			}
			for _, e := range must(w.AllCopies()) {
				for _, c := range e {
					if c.ID.IsDerived() {
						if err := w.Remove(t.Context(), c.ID, nil); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
		}
		if got := has(t, w); strings.Contains(fmt.Sprint(got), quiet) || len(got) != len(ours) {
			t.Errorf("%s: -before +after:\n%s", d.Agent(), cmp.Diff(ours, got))
		}
		if err := os.Remove(x.path); err != nil {
			t.Fatal(err)
		}
	}
}

func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// unmarked removes the mark that makes a session an export.
func (x *exported) unmarked(t *testing.T) {
	t.Helper()
	first, rest, _ := bytes.Cut(x.data(t), []byte("\n"))
	if x.Agent() == sessions.ClaudeCode {
		x.write(t, rest)
		return
	}
	first = regexp.MustCompile(`"git_jp_export":\{[^{}]*\},`).ReplaceAll(first, nil)
	x.write(t, append(append(first, '\n'), rest...))
}

// TestCopyIsRedacted checks that an unmarked copy of a conversation is imported without the text
// that was redacted there, anywhere in it, and with everything else.
func TestCopyIsRedacted(t *testing.T) {
	long := strings.Repeat("so it is and so it was\n", 1000)
	for _, d := range resumable {
		for name, questions := range map[string][]string{
			"all of a text":          {"What do you keep?", quiet},
			"the first words":        {quiet + " is what you keep."},
			"twice":                  {"Keep " + quiet + " for me.", "Again, keep " + quiet + " for me."},
			"in the midst of a long": {long + quiet + long},
		} {
			w, x, entries := redactedSince(t, d, questions...)
			x.unmarked(t)
			all, leaked := leaks(t, w, x, entries)
			if leaked || len(all) != 1 || all[0].Err != nil || all[0].Outcome.State != New {
				t.Fatalf("%s, %s: back: %v, it is %v", d.Agent(), name, leaked, all)
			}
			c := loaded(t, w, all[0].Outcome.Made[0].ID)
			was, got := said(loaded(t, w, 17528832001).Stream), said(c.Stream)
			got = slices.DeleteFunc(got, func(s string) bool { return s == "<permissions instructions>" })
			if diff := cmp.Diff(append(was, "And now?", "Gone on."), got); diff != "" {
				t.Errorf("%s, %s: -redacted +copy:\n%.600s", d.Agent(), name, diff)
			}
			if _, leaked := leaks(t, w, x, entries); leaked {
				t.Errorf("%s, %s: once more it is back", d.Agent(), name)
			}
			x.asks(t, "More?", "Yes.")
			all, leaked = leaks(t, w, x, entries)
			if leaked || all[0].Err != nil || all[0].Outcome.State != Grown {
				t.Errorf("%s, %s: when it grows, back: %v, it is %v", d.Agent(), name, leaked, all)
			}
			if err := w.Remove(t.Context(), 17528832001, nil); err != nil {
				t.Fatal(err)
			}
			x.asks(t, "Still?", "Yes.")
			if _, leaked := leaks(t, w, x, entries); leaked {
				t.Errorf("%s, %s: when the conversation is gone, it is back", d.Agent(), name)
			}
			x.takes(t, &Importer{Workspace: w, Redactions: entries, Fresh: true})
			if _, leaked := leaks(t, w, x, entries); leaked {
				t.Errorf("%s, %s: made anew, it is back", d.Agent(), name)
			}
		}
	}
}

// TestLikeTextStays checks that text which only resembles redacted text is kept.
func TestLikeTextStays(t *testing.T) {
	for _, d := range resumable {
		w, _, entries := redactedSince(t, d, "First?", "Keep "+quiet+" for me.", quiet)
		other := newWorkspace(t)
		questions := []string{"tulip-4712", "Keep lemon-4711 for me."}
		for n := range 600 {
			questions = append(questions, fmt.Sprintf("tulip-%04d", 5000+n))
		}
		x := export(t, other, ours(t, other, questions...), d)
		x.unmarked(t)
		all, _ := leaks(t, w, x, entries)
		got := said(loaded(t, w, all[0].Outcome.Made[0].ID).Stream)
		for i, q := range questions {
			if got[2*i] != q {
				t.Errorf("%s: %q became %q", d.Agent(), q, got[2*i])
			}
		}
	}
}
