package workspace

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
)

func TestSessionIdentity(t *testing.T) {
	sid := func() (int, error) { return 4711, nil }
	for _, tt := range []struct {
		vars map[string]string
		sid  func() (int, error)
		goos string
		want string
	}{
		{
			map[string]string{"JP_SESSION": "a/b", "TMUX_PANE": "x"},
			sid, "linux",
			"env-JP_SESSION-c14cddc033f64b9d",
		},
		{map[string]string{"TMUX_PANE": "x"}, sid, "linux", "getsid-4711"},
		{nil, sid, "windows", "hwnd-4711"},
		{
			map[string]string{"ITERM_SESSION_ID": "y", "WEZTERM_PANE": "x"},
			nil, "linux",
			"env-WEZTERM_PANE-2d711642b726b044",
		},
		{nil, func() (int, error) { return 0, errors.New("no") }, "linux", ""},
	} {
		getenv := func(k string) string { return tt.vars[k] }
		env := Env{Getenv: getenv, Getsid: tt.sid, GOOS: tt.goos}
		s, ok := SessionOf(env)
		if ok != (tt.want != "") || ok && s.key() != tt.want {
			t.Errorf("%v: %s", tt.vars, s.key())
		}
	}
}

func sessionWorld(t *testing.T) (*world, Session) {
	w := newWorld(t)
	w.vars["JP_SESSION"] = "a/b"
	w.env.Now = func() time.Time { return time.Date(2026, 5, 29, 19, 0, 0, 5e8, time.UTC) }
	for _, dir := range []string{"17-a", "18-b", "19-c", ".archive/20-d"} {
		w.conversation(live+dir, "x")
	}
	s, _ := SessionOf(w.env)
	return w, s
}

const sessionFile = "/sessions/env-JP_SESSION-c14cddc033f64b9d.json"

func TestActivateSharesTheFileWithJP(t *testing.T) {
	w, s := sessionWorld(t)
	userLocal := w.withUserLocal()
	w.write(userLocal+sessionFile, `{
  "history": [
    {"id": 18, "activated_at": "2026-05-29T18:00:00.123456Z"},
    {"id": 99, "activated_at": "2026-05-29T17:00:00Z"},
    {"id": 17, "activated_at": "2026-05-29T16:00:00Z"}
  ],
  "id": "a/b",
  "source": {"type": "env", "key": "JP_SESSION"}
}`)
	ws := w.open()
	expect := func(active, previous events.ID) {
		t.Helper()
		a, err := ws.Active(s)
		p, err2 := ws.Previous(s)
		if err != nil || err2 != nil || a.ID != active || p.ID != previous {
			t.Errorf("active %v (%v), previous %v (%v)", a.ID, err, p.ID, err2)
		}
	}
	expect(18, 17)
	if err := ws.Activate(s, 17); err != nil {
		t.Fatal(err)
	}
	const want = `{
  "history": [
    {
      "id": 17,
      "activated_at": "2026-05-29T19:00:00.5Z"
    },
    {
      "id": 18,
      "activated_at": "2026-05-29T18:00:00.123456Z"
    },
    {
      "id": 99,
      "activated_at": "2026-05-29T17:00:00Z"
    }
  ],
  "id": "a/b",
  "source": {
    "type": "env",
    "key": "JP_SESSION"
  }
}
`
	if got := w.read(userLocal + sessionFile); got != want {
		t.Errorf("wrote %s", got)
	}
	expect(17, 18)
}

func TestSearchForTheActiveOneEndsAtAnArchivedOne(t *testing.T) {
	w, s := sessionWorld(t)
	ws := w.open()
	for _, id := range []events.ID{17, 20} {
		if err := ws.Activate(s, id); err != nil {
			t.Fatal(err)
		}
	}
	var none *NotFoundError
	if _, err := ws.Active(s); !errors.As(err, &none) {
		t.Errorf("error is %v", err)
	}
}

func TestSessionsWithoutUserLocal(t *testing.T) {
	w, s := sessionWorld(t)
	ws := w.open()
	before := w.snapshot("proj")
	if err := ws.Activate(s, 19); err != nil {
		t.Fatal(err)
	}
	w.unchanged(before, "proj")
	got := w.read("data/git-jp/workspace/otvo8" + sessionFile)
	if !strings.Contains(got, `"id": 19`) {
		t.Errorf("wrote %s", got)
	}
	if _, err := os.Stat(w.path("data/workspace")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a userLocal was made: %v", err)
	}
	w.withUserLocal()
	if e, err := w.open().Active(s); err != nil || e.ID != 19 {
		t.Errorf("after jp made a userLocal: %v, %v", e, err)
	}
}

func TestSessionsOfOthersAreIgnored(t *testing.T) {
	w, s := sessionWorld(t)
	userLocal := w.withUserLocal()
	ws := w.open()
	for _, text := range []string{
		`{"history": [{"id": 17, "activated_at": "x"}], "id": "other",
			"source": {"type": "env", "key": "JP_SESSION"}}`,
		`{"history": [{"id": 17, "activated_at": "x"}], "id": "a/b", "source": {"type": "getsid"}}`,
		"not JSON",
	} {
		w.write(userLocal+sessionFile, text)
		var none *NotFoundError
		if _, err := ws.Active(s); !errors.As(err, &none) {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestOlderSessionFiles(t *testing.T) {
	w, _ := sessionWorld(t)
	userLocal := w.withUserLocal()
	w.write(userLocal+"/sessions/4711.json", `{"history": [{"id": 17, "activated_at": "x"}]}`)
	s := Session{ID: "4711", Source: Source{Type: "getsid"}}
	if e, err := w.open().Active(s); err != nil || e.ID != 17 {
		t.Errorf("%v, %v", e, err)
	}
}

// TestSessionOfAnEarlierProcess: the number of a terminal's process comes again, after a restart at
// the latest. What was active in a terminal that is gone is not active in the new one.
func TestSessionOfAnEarlierProcess(t *testing.T) {
	w, _ := sessionWorld(t)
	delete(w.vars, "JP_SESSION")
	w.env.Getsid = func() (int, error) { return 4711, nil }
	age := time.Hour
	w.env.Leader = func(int) (time.Duration, bool) { return age, true }
	s, _ := SessionOf(w.env)
	ws := w.open()
	if err := ws.Activate(s, 19); err != nil {
		t.Fatal(err)
	}
	now := w.env.Now().Add(40 * 24 * time.Hour)
	w.env.Now = func() time.Time { return now }
	for _, tt := range []struct {
		age  time.Duration
		want bool
	}{
		{time.Hour, false},
		{40*24*time.Hour - time.Hour, false},
		{40*24*time.Hour - 30*time.Second, true}, // clocks are not that exact
		{41 * 24 * time.Hour, true},
		{0, true}, // not known
	} {
		age = tt.age
		e, err := w.open().Active(s)
		if (err == nil) != tt.want || tt.want && e.ID != 19 {
			t.Errorf("process of %v: %v, %v", tt.age, e.ID, err)
		}
	}
	age = time.Hour
	named := Session{ID: "4711", Source: Source{Type: "env", Key: "JP_SESSION"}}
	ws = w.open()
	if err := ws.Activate(named, 19); err != nil {
		t.Fatal(err)
	}
	now = now.Add(2 * time.Hour)
	if e, err := w.open().Active(named); err != nil || e.ID != 19 {
		t.Errorf("a name that is a number: %v, %v", e.ID, err)
	}
	ws = w.open()
	if err := ws.Activate(s, 17); err != nil {
		t.Fatal(err)
	}
	if e, err := ws.Previous(s); err == nil {
		t.Errorf("%v was active in this terminal before", e.ID)
	}
}

// TestSessionsThatAreGone: each terminal has a file, and nothing but this removes it.
func TestSessionsThatAreGone(t *testing.T) {
	w, env := sessionWorld(t)
	delete(w.vars, "JP_SESSION")
	sid := 0
	w.env.Getsid = func() (int, error) { return sid, nil }
	w.env.Leader = func(pid int) (time.Duration, bool) { return 0, pid < 3 }
	now := time.Now()
	w.env.Now = func() time.Time { return now }
	ws := w.open()
	if err := ws.Activate(env, 18); err != nil {
		t.Fatal(err)
	}
	activate := func(n int) {
		t.Helper()
		sid = n
		s, _ := SessionOf(w.env)
		if err := w.open().Activate(s, 17); err != nil {
			t.Fatal(err)
		}
	}
	const dir = "data/git-jp/workspace/otvo8/sessions"
	w.write(dir+"/note.txt", "x")
	for n := range 6 {
		activate(n + 1)
	}
	old := now.Add(-31 * 24 * time.Hour)
	recent := now.Add(-29 * 24 * time.Hour)
	if err := os.Chtimes(w.path(dir+"/getsid-3.json"), recent, recent); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{
		"note.txt", "getsid-1.json", "getsid-4.json", "getsid-5.json",
		strings.TrimPrefix(sessionFile, "/sessions/"),
	} {
		if err := os.Chtimes(w.path(dir+"/"+name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	activate(5) // which its leader has left
	entries, err := os.ReadDir(w.path(dir))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, strings.TrimSuffix(e.Name(), ".json"))
	}
	want := "env-JP_SESSION-c14cddc033f64b9d getsid-1 getsid-2 getsid-3 getsid-5 getsid-6 note.txt"
	if strings.Join(got, " ") != want {
		t.Errorf("%v, want %s", got, want)
	}
}
