package capture

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/sessions"
)

// TestTakingANoteKeepsWhatCameSince verifies that a session that grew while it was imported is
// still noted, also if its length is unknown, and that all notes of what was imported are removed.
func TestTakingANoteKeepsWhatCameSince(t *testing.T) {
	s := StoreIn(t.TempDir())
	hooks := 0
	grow := func(size int64) {
		t.Helper()
		n := Note{Agent: sessions.Codex, Session: "a", Path: "/t.jsonl", Size: size, Root: "/w"}
		hooks++
		if err := s.add(n, hooks); err != nil {
			t.Fatal(err)
		}
	}
	grow(10)
	grow(9) // two hooks at once
	grow(10)
	notes := taken(t, s, 1)
	if n := notes[0]; n.Size != 10 || n.Path != "/t.jsonl" || n.Root != "/w" || n.Agent != sessions.Codex {
		t.Errorf("got note %+v", n)
	}
	grow(11)
	if err := s.Done(notes[0]); err != nil {
		t.Fatal(err)
	}
	later := taken(t, s, 1)
	if later[0].Size != 11 {
		t.Errorf("got note %+v", later[0])
	}
	for range 2 { // another process may have been faster
		if err := s.Done(later[0]); err != nil {
			t.Fatal(err)
		}
	}
	taken(t, s, 0)
	grow(0)
	first := taken(t, s, 1)
	grow(0)
	if err := s.Done(first[0]); err != nil {
		t.Fatal(err)
	}
	taken(t, s, 1)
}

func taken(t *testing.T, s Store, want int) []Note {
	t.Helper()
	notes, err := s.Notes()
	if err != nil || len(notes) != want {
		t.Fatalf("got notes %+v, %v; want %d", notes, err, want)
	}
	return notes
}

// TestNotesOfLaterVersions checks that notes which only a later version can use stay, and stop no
// other one.
func TestNotesOfLaterVersions(t *testing.T) {
	dir := t.TempDir()
	store := StoreIn(dir)
	here := Note{Agent: sessions.Codex, Session: "here", Root: "/srv/proj"}
	later := Note{Agent: "later", Session: "there", Root: "/srv/proj"}
	for _, n := range []Note{later, here} {
		if err := store.Add(n); err != nil {
			t.Fatal(err)
		}
	}
	unknown := filepath.Join(dir, "jp", "captures", "0.json")
	if err := os.WriteFile(unknown, []byte(`{"agent":["codex"]}`), 0o600); err != nil {
		t.Fatal(err)
	}
	notes, err := store.Notes()
	if err != nil || len(notes) != 1 || notes[0].Session != here.Session {
		t.Fatalf("%+v, %v", notes, err)
	}
	if err := store.Done(notes[0]); err != nil {
		t.Fatal(err)
	}
	left, err := filepath.Glob(filepath.Join(dir, "jp", "captures", "*.json"))
	if err != nil || len(left) != 2 {
		t.Errorf("%q stay, %v", left, err)
	}
}

// TestATurnEndsByItself verifies that an agent in a turn is waited for in its own working tree, and
// one that was killed in it not for ever.
func TestATurnEndsByItself(t *testing.T) {
	s, now := StoreIn(t.TempDir()), time.Now()
	in := func(now time.Time, root string) int {
		t.Helper()
		return len(s.InTurn(now, root))
	}
	if n := in(now, "/w"); n != 0 {
		t.Errorf("%d are in a turn before anything began", n)
	}
	n := Note{Agent: sessions.Codex, Session: "a", Root: "/w/sub"}
	if err := s.Begin(n); err != nil {
		t.Fatal(err)
	}
	if got := s.InTurn(now, "/w"); len(got) != 1 || got[0].Session != "a" || got[0].Agent != n.Agent {
		t.Errorf("in a turn are %+v, want %+v", got, n)
	}
	got := []int{
		in(now, "/w/sub"), in(now, "/w2"), in(now.Add(2*busyFor), "/w"),
		in(now.Add(-2*busyFor), "/w"), // the clock was wrong when it began
	}
	if !slices.Equal(got, []int{1, 0, 0, 0}) {
		t.Errorf("in a turn there, elsewhere, much later and before are %d", got)
	}
	for range 2 {
		if err := s.End(sessions.Codex, "a"); err != nil {
			t.Fatal(err)
		}
	}
	if n := in(now, "/w"); n != 0 {
		t.Errorf("%d are in a turn after its end", n)
	}
}

// TestANoteThatACrashEmptied verifies that a damaged note does not hide the others.
func TestANoteThatACrashEmptied(t *testing.T) {
	dir := t.TempDir()
	s := StoreIn(dir)
	n := Note{Agent: sessions.Codex, Session: "a", Root: dir}
	if err := s.Add(n); err != nil {
		t.Fatal(err)
	}
	for name, data := range map[string]string{"00-7.json": "", "01-7.json": `{"agent"`} {
		if err := os.WriteFile(filepath.Join(s.dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for _, n := range taken(t, s, 3) {
		if n.IsGone() == (n.Session == "a") {
			t.Errorf("%+v is gone: %t", n, n.IsGone())
		}
		if n.IsGone() {
			if err := s.Done(n); err != nil {
				t.Fatal(err)
			}
		}
	}
	taken(t, s, 1)
}

// TestWhatKilledAgentsLeft verifies that their files do not stay, and that all others do, also those
// of a later version.
func TestWhatKilledAgentsLeft(t *testing.T) {
	s, now := StoreIn(t.TempDir()), time.Now()
	n := Note{Agent: sessions.Codex, Session: "a", Root: "/w"}
	if err := errors.Join(s.Begin(n), s.Add(n), s.Exclude("b")); err != nil {
		t.Fatal(err)
	}
	later := filepath.Join(s.dir, "later")
	if err := os.WriteFile(later, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, step := range []struct {
		after time.Duration
		want  int
	}{{leftFor - time.Hour, 6}, {leftFor, 5}} {
		if due, err := s.SweepDue(now.Add(step.after + time.Minute)); err != nil || !due {
			t.Fatal(due, err)
		}
		names, err := os.ReadDir(s.dir)
		if err != nil || len(names) != step.want {
			t.Errorf("after %v there are %v, %v; want %d", step.after, names, err, step.want)
		}
	}
	taken(t, s, 1)
}

// TestSweepDue verifies that only one of many calls in a short time sweeps, also if the clock was
// set back.
func TestSweepDue(t *testing.T) {
	s, now := StoreIn(t.TempDir()), time.Now()
	for i, step := range []struct {
		after time.Duration
		want  bool
	}{{0, true}, {0, false}, {sweepEvery - 1, false}, {sweepEvery, true}, {-time.Hour, true}, {-time.Hour, false}} {
		if got, err := s.SweepDue(now.Add(step.after)); err != nil || got != step.want {
			t.Errorf("asked for the %dth time, after %v: due is %t, %v", i+1, step.after, got, err)
		}
	}
}

// TestExcludes tests exclusion by an id, by a directory and by an unreadable list.
func TestExcludes(t *testing.T) {
	s := StoreIn(t.TempDir())
	if s.Excludes("a", "/w") {
		t.Error("something is excluded where nothing was")
	}
	if err := s.Exclude("a", "/private/w"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		session, dir string
		want         bool
	}{
		{"a", "/w", true},
		{"ab", "/w", false},
		{"b", "/private/w", true},
		{"b", "/private/w/sub", true},
		{"b", "/private/ww", false},
		{"b", "/private", false},
	} {
		if got := s.Excludes(c.session, c.dir); got != c.want {
			t.Errorf("session %s in %s: excluded is %t, want %t", c.session, c.dir, got, c.want)
		}
	}
	if err := s.Exclude("x\ny"); err == nil {
		t.Error("a line feed is excluded")
	}
	file := filepath.Join(s.dir, excludeFile)
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(file, 0o700); err != nil {
		t.Fatal(err)
	}
	if !s.Excludes("b", "/w") {
		t.Error("what is excluded cannot be read, and a session is captured")
	}
}

// TestReadEvents reads the agents' events, verbatim from runs of them.
func TestReadEvents(t *testing.T) {
	for name, c := range map[string]struct {
		text string
		want Event
	}{
		"claude-code": {
			`{"session_id":"5b","transcript_path":"/h/5b.jsonl","cwd":"/p","prompt_id":"5",` +
				`"permission_mode":"default","hook_event_name":"Stop","stop_hook_active":false,` +
				`"last_assistant_message":"y","background_tasks":[],"session_crons":[]}`,
			Event{Ended, "5b", "/h/5b.jsonl", "/p"},
		},
		"codex, no transcript": {
			`{"session_id":"01a","transcript_path":null,"cwd":"/p","hook_event_name":"SessionEnd","reason":"other"}`,
			Event{Ended, "01a", "", "/p"},
		},
		"gemini": {
			`{"session_id":"03","transcript_path":"/h/03.jsonl","cwd":"/p","hook_event_name":` +
				`"BeforeAgent","timestamp":"2026-11-23T12:36:48.798Z","prompt":"x"}`,
			Event{Begun, "03", "/h/03.jsonl", "/p"},
		},
		"compaction": {
			`{"session_id":"5b","transcript_path":"/h","cwd":"/p","hook_event_name":"PreCompact"}`,
			Event{Within, "5b", "/h", "/p"},
		},
		"copilot begins": {
			`{"sessionId":"2f","timestamp":1795437441975,"cwd":"/p","prompt":"x"}`,
			Event{Begun, "2f", "", "/p"},
		},
		"copilot stops": {
			`{"sessionId":"2f","timestamp":1795437442137,"cwd":"/p","transcriptPath":` +
				`"/h/events.jsonl","stopReason":"end_turn","stop_hook_active":false}`,
			Event{Ended, "2f", "/h/events.jsonl", "/p"},
		},
		"copilot ends": {
			`{"sessionId":"2f","timestamp":1795437442158,"cwd":"/p","reason":"complete"}`,
			Event{Ended, "2f", "", "/p"},
		},
		"opencode": {
			`{"session_id":"ses_1","cwd":"/p","hook_event_name":"session.idle"}`,
			Event{Ended, "ses_1", "", "/p"},
		},
	} {
		if got, err := readEvents(c.text); err != nil || !slices.Equal(got, []Event{c.want}) {
			t.Errorf("%s: got %+v, %v; want %+v", name, got, err, c.want)
		}
	}
	for _, text := range []string{
		"", "{", "[]", "{}", `{"session_id":"a","cwd":"p"}`, `{"cwd":"/p"}`, `{"session_id":7,"cwd":"/p"}`,
	} {
		if got, err := readEvents(text); err == nil || len(got) > 0 {
			t.Errorf("%q is read as %+v, %v", text, got, err)
		}
	}
	want := []Event{{Begun, "a", "", "/p"}, {Ended, "a", "", "/p"}}
	const whole = `{"session_id":"a","cwd":"/p","hook_event_name":"session.turn"}`
	if got, err := readEvents(whole); err != nil || !slices.Equal(got, want) {
		t.Errorf("a turn: got %+v, %v; want %+v", got, err, want)
	}
}

// TestAWaitingHookCanBeStopped: the input of a turn may stay open for hours.
func TestAWaitingHookCanBeStopped(t *testing.T) {
	in, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer out.Close() // in memory
	const begun = `{"session_id":"a","cwd":"/p","hook_event_name":"session.turn"}`
	if _, err := out.WriteString(begun); err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	var all []Event
	err = ReadEvents(ctx, in, func(e Event) error {
		all = append(all, e)
		stop()
		return nil
	})
	if want := []Event{{Begun, "a", "", "/p"}}; !errors.Is(err, context.Canceled) ||
		!slices.Equal(all, want) {
		t.Errorf("got %+v, %v; want %+v, %v", all, err, want, context.Canceled)
	}
}

func readEvents(text string) (all []Event, err error) {
	err = ReadEvents(context.Background(), strings.NewReader(text), func(e Event) error {
		all = append(all, e)
		return nil
	})
	return all, err
}
