package opencode_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/opencode"
	"github.com/git-jp/git-jp/internal/sessions/sessionstest"
	"github.com/git-jp/git-jp/internal/sqlite"
	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"
)

const database = "testdata/session.db"

// tree writes the files of the sessions and returns opencode's data directory.
func tree(t *testing.T) (dir string) {
	t.Helper()
	a, err := txtar.ParseFile("testdata/session.txtar")
	if err != nil {
		t.Fatal(err)
	}
	dir = t.TempDir()
	if err := txtar.Write(a, dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func listed(t *testing.T, path string) map[string]sessions.Session {
	t.Helper()
	return sessionstest.List(t, opencode.Dialect{}, path)
}

func dump(t *testing.T, s sessions.Session) string {
	t.Helper()
	all, kept := sessionstest.Read(t, opencode.Dialect{}, s, sessions.Options{Root: s.Dir})
	return sessionstest.Dump(all, kept)
}

func TestRead(t *testing.T) {
	for id, s := range listed(t, database) {
		t.Run(id, func(t *testing.T) {
			sessionstest.Golden(t, "testdata/"+id+".golden", dump(t, s))
		})
	}
}

// TestTreeEqualsDatabase checks that the files from before the database give the same
// conversations.
func TestTreeEqualsDatabase(t *testing.T) {
	dir := tree(t)
	n := 0
	for id, want := range listed(t, database) {
		path := filepath.Join(dir, "storage", "session", "proj", id+".json")
		got := listed(t, path)[id]
		if got.Title != want.Title || got.Dir != want.Dir || got.Parent != want.Parent ||
			!got.Changed.Equal(want.Changed) {
			t.Errorf("%s is listed as %+v, want %+v", id, got, want)
		}
		if d := cmp.Diff(dump(t, want), dump(t, got)); d != "" {
			t.Errorf("%s: %s", id, d)
		}
		n++
	}
	if n != 4 {
		t.Errorf("%d sessions, want 4", n)
	}
}

func TestFind(t *testing.T) {
	home := t.TempDir()
	data := filepath.Join(home, ".local", "share", "opencode")
	if err := os.MkdirAll(filepath.Dir(data), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tree(t), data); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(data, "opencode.db"), whole, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		home, xdg string
		want      int
	}{{home, "", 8}, {"/nowhere", filepath.Dir(data), 8}, {t.TempDir(), "", 0}} {
		n := 0
		for s, err := range (opencode.Dialect{}).Find(t.Context(), sessions.Places{
			Home: c.home, Getenv: func(string) string { return c.xdg },
		}) {
			if err != nil || s.Name.ID == "" {
				t.Errorf("%+v: %v", s, err)
			}
			n++
		}
		if n != c.want {
			t.Errorf("%s %s: %d sessions, want %d", c.home, c.xdg, n, c.want)
		}
	}
}

func TestRecognize(t *testing.T) {
	dir := tree(t)
	for name, want := range map[string]bool{
		database: true,
		filepath.Join(dir, "storage/session/proj/ses_main.json"): true,
		filepath.Join(dir, "storage/part/msg_m1/prt_m1a.json"):   false,
		"testdata/make.py": false,
	} {
		head, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := (opencode.Dialect{}).Recognize(head); got != want {
			t.Errorf("%s: %t, want %t", name, got, want)
		}
	}
	message := `{"id":"msg_1","sessionID":"ses_1","role":"user"}`
	if !(opencode.Dialect{}).Recognize([]byte(message)) {
		t.Error("a message is not recognised")
	}
}

// TestVersion checks that every new row of a session changes its version.
func TestVersion(t *testing.T) {
	dir := tree(t)
	s := listed(t, filepath.Join(dir, "storage/message/ses_undo"))["ses_undo"]
	version := func() string {
		all, _ := sessionstest.Read(t, opencode.Dialect{}, s, sessions.Options{Root: s.Dir})
		return all[0].Details.Labels[sessions.LabelImport]
	}
	was := version()
	if again := version(); again != was {
		t.Errorf("version %s, then %s", was, again)
	}
	write(t, filepath.Join(dir, "storage/part/msg_u4/prt_u4b.json"), `{"type":"text","text":"more",
		"time":{"start":1771000095000,"end":1771000095001}}`)
	now := version()
	if now == was || !strings.HasPrefix(now, fmt.Sprintf("%d.1771000095001.", sessions.Revision)) {
		t.Errorf("version %s after %s", now, was)
	}
}

// TestLengthCountsMessages checks that a message changed after the row of its session changes the
// length.
func TestLengthCountsMessages(t *testing.T) {
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	const was, now = 1771000001900, 1771000099999
	grown := filepath.Join(t.TempDir(), "grown.db")
	write(t, grown, strings.ReplaceAll(string(data), stored(was), stored(now)))
	if got := listed(t, database)["ses_half"].Length; got != 1771000090000 {
		t.Fatalf("length %d before", got)
	}
	if got := listed(t, grown)["ses_half"].Length; got != now {
		t.Errorf("length %d, want %d", got, now)
	}
}

// TestBroken checks that parts of unknown types, or broken ones, hide nothing else.
func TestBroken(t *testing.T) {
	for _, part := range []string{
		"", "null", "{", `{"type":7}`, `{"type":"tool","state":"x","callID":[]}`, "\xff",
		`{"type":"tool","state":{"status":"completed"}}`,
		`{"type":"file","url":"data:image/png;base64,%%%"}`, `{"type":"reasoning"}`,
	} {
		dir := tree(t)
		write(t, filepath.Join(dir, "storage/part/msg_u1/prt_u1b.json"), part)
		write(t, filepath.Join(dir, "storage/part/msg_u2/prt_u2b.json"), part)
		got := dump(t, listed(t, filepath.Join(dir, "storage/message/ses_undo"))["ses_undo"])
		for _, want := range []string{`ask "one"`, `say "1"`, `ask "two"`, `say "2"`} {
			if !strings.Contains(got, want) {
				t.Errorf("%q hides %s:\n%s", part, want, got)
			}
		}
		if strings.Count(got, "records") == 0 {
			t.Errorf("%q is lost:\n%s", part, got)
		}
	}
}

// TestStoppedIsKept checks that a call that did not end as usual hides nothing that its program
// said, and that neither does a message that is gone.
func TestStoppedIsKept(t *testing.T) {
	const said = "QZJX"
	for _, state := range []string{
		`"status":"error","error":"Tool execution aborted","metadata":{"output":"QZJX"}`,
		`"status":"error","error":"It failed.","output":"QZJX"`,
		`"status":"completed","output":"Done.","error":"QZJX"`,
		`"status":"cancelled","output":"QZJX"`, `"status":"cancelled","error":"QZJX"`,
	} {
		dir := tree(t)
		write(t, filepath.Join(dir, "storage/part/msg_u2/prt_u2b.json"),
			`{"type":"tool","callID":"c","tool":"bash","state":{`+state+`}}`)
		s := listed(t, filepath.Join(dir, "storage/message/ses_undo"))["ses_undo"]
		if !tells(t, s, said) {
			t.Errorf("%s: it is lost", state)
		}
	}
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	torn := filepath.Join(t.TempDir(), "torn.db")
	write(t, torn, strings.NewReplacer("prt_h1amsg_h1", "prt_h1amsg_h0", `"one"`, `"QZJ"`).
		Replace(string(data)))
	if !tells(t, listed(t, torn)["ses_half"], "QZJ") {
		t.Error("a part without its message is lost")
	}
}

// tells reports whether a text occurs in what a session becomes.
func tells(t *testing.T, s sessions.Session, text string) bool {
	t.Helper()
	all, _ := sessionstest.Read(t, opencode.Dialect{}, s, sessions.Options{Root: s.Dir})
	return slices.ContainsFunc(all, func(c *sessions.Conversation) bool {
		return strings.Contains(string(c.Stream.Encode()), text)
	})
}

func TestGone(t *testing.T) {
	s := listed(t, database)["ses_main"]
	s.Name.ID = "ses_none"
	_, err := opencode.Dialect{}.Read(t.Context(), s, 0, sessions.NewBuilder(s, sessions.Options{}))
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), "ses_none") {
		t.Errorf("a session that is gone: %v", err)
	}
}

// TestOtherDatabase checks that a database of another program, or of a version that has other
// tables, is named.
func TestOtherDatabase(t *testing.T) {
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	renamed := filepath.Join(t.TempDir(), "renamed.db")
	const column = "`message_id` text NOT NULL, `session_id`"
	write(t, renamed, strings.ReplaceAll(string(data), column, column[:len(column)-3]+"no`"))
	for _, path := range []string{"../../sqlite/testdata/rows.db", renamed} {
		all, err := opencode.Dialect{}.List(t.Context(), path)
		if !errors.Is(err, sessions.ErrOther) || len(all) != 0 {
			t.Errorf("%s: %v, %v", path, all, err)
		}
	}
	name := filepath.Join(t.TempDir(), "x.db")
	write(t, name, "SQLite format 3\x00 and no more")
	if _, err := (opencode.Dialect{}).List(t.Context(), name); !errors.Is(err, sqlite.ErrNotDatabase) {
		t.Errorf("a torn database: %v", err)
	}
}

func write(t *testing.T, name, data string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(data), 0o600); err != nil {
		t.Fatal(err)
	}
}

// stored returns a time as SQLite stores an integer of six bytes.
func stored(ms uint64) string { return string(binary.BigEndian.AppendUint64(nil, ms)[2:]) }

// TestLengthAfterAWrongClock checks that the length of a session counts as unknown if its clock was
// set back: the latest change stays the same while the session grows.
func TestLengthAfterAWrongClock(t *testing.T) {
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	const first, ahead = 1771000000000, 1871000000000
	set := filepath.Join(t.TempDir(), "set.db")
	write(t, set, strings.ReplaceAll(string(data), stored(first), stored(ahead)))
	if got := listed(t, set)["ses_half"].Length; got != 0 {
		t.Errorf("length %d, want 0", got)
	}
	if got := listed(t, set)["ses_sub"].Length; got == 0 {
		t.Error("the clock of another session counts")
	}
}

// TestLengthInATurn checks that the length of a session counts as unknown while its last message
// has not ended, also if opencode was killed: its parts change, and nothing else does.
func TestLengthInATurn(t *testing.T) {
	data, err := os.ReadFile(database)
	if err != nil {
		t.Fatal(err)
	}
	open := filepath.Join(t.TempDir(), "open.db")
	write(t, open, strings.ReplaceAll(string(data), `"completed":`, `"completes":`))
	for id, s := range listed(t, open) {
		if s.Length != 0 {
			t.Errorf("%s has length %d, want 0", id, s.Length)
		}
	}
}
