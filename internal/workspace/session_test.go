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
