package workspace

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A world is a workspace in a temporary directory, with a user data directory beside it.
type world struct {
	*testing.T
	dir  string // of everything
	root string // of the workspace
	env  Env
	vars map[string]string
}

func newWorld(t *testing.T) *world {
	t.Helper()
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{T: t, dir: dir, root: filepath.Join(dir, "proj"), vars: map[string]string{}}
	w.vars["JP_USER_DATA_DIR"] = filepath.Join(dir, "data")
	w.env = Env{
		Getenv:   func(k string) string { return w.vars[k] },
		Now:      time.Now,
		Dir:      w.root,
		Settings: Settings{LockWait: 10 * time.Second},
	}
	w.write("proj/.jp/.id", idWarning+"\notvo8\n")
	w.write("proj/.jp/conversations/.keep", "")
	return w
}

// withUserLocal creates user-local storage and returns its path below dir.
func (w *world) withUserLocal() string {
	w.Helper()
	w.write("data/workspace/proj-otvo8/sessions/.keep", "")
	return "data/workspace/proj-otvo8"
}

func (w *world) path(name string) string { return filepath.Join(w.dir, filepath.FromSlash(name)) }

func (w *world) write(name, text string) {
	w.Helper()
	if err := os.MkdirAll(filepath.Dir(w.path(name)), 0o755); err != nil {
		w.Fatal(err)
	}
	if err := os.WriteFile(w.path(name), []byte(text), 0o644); err != nil {
		w.Fatal(err)
	}
}

func (w *world) read(name string) string {
	w.Helper()
	data, err := os.ReadFile(w.path(name))
	if err != nil {
		w.Fatal(err)
	}
	return string(data)
}

func (w *world) open() *Workspace {
	w.Helper()
	ws, err := Open(w.root, w.env)
	if err != nil {
		w.Fatal(err)
	}
	w.Cleanup(func() {
		if err := ws.Close(); err != nil {
			w.Error(err)
		}
	})
	return ws
}

const live = "proj/.jp/conversations/"

// conversation writes a conversation of one turn, with unusual white space.
func (w *world) conversation(dir, title string) {
	w.Helper()
	w.write(dir+"/"+MetadataFile, metadata(title))
	w.write(dir+"/"+BaseConfigFile, "{}\n")
	w.write(dir+"/"+EventsFile, stream("hello", "there"))
}

func metadata(title string) string {
	const form = "{\n  \"title\": %q,\n  \"last_activated_at\": \"2026-05-29 19:41:27.5\"\n}\n"
	return fmt.Sprintf(form, title)
}

func stream(request, result string) string {
	return fmt.Sprintf(`[
 {"timestamp": "2026-05-29 19:42:36.0", "type": "turn_start"},
 {"timestamp": "2026-05-29 19:42:36.1", "type": "chat_request",  "content": %q},
 {"timestamp": "2026-05-29 19:42:37.0", "type": "tool_call_request", "id": "t",
   "name": "x", "arguments": {}},
 {"timestamp": "2026-05-29 19:42:38.0", "type": "tool_call_response", "id": "t",
   "content": [{"type": "text", "content": {"text": %q}}], "is_error": false}
]
`, request, result)
}

// snapshot returns every regular file below name with its content and time.
func (w *world) snapshot(name string) map[string]string {
	w.Helper()
	all := map[string]string{}
	err := filepath.WalkDir(w.path(name), func(p string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		data, err := os.ReadFile(p)
		rel, _ := filepath.Rel(w.path(name), p)
		all[filepath.ToSlash(rel)] = info.ModTime().String() + " " + string(data)
		return err
	})
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	return all
}

func (w *world) unchanged(before map[string]string, name string) {
	w.Helper()
	if after := w.snapshot(name); !maps.Equal(before, after) {
		w.Errorf("%s changed:\n%v\nbecame\n%v", name, before, after)
	}
}

// names lists a directory.
func (w *world) names(dir string) []string {
	w.Helper()
	list, err := os.ReadDir(w.path(dir))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		w.Fatal(err)
	}
	var names []string
	for _, d := range list {
		names = append(names, d.Name())
	}
	return names
}

// dirs lists the directories of live conversations.
func (w *world) dirs() []string {
	w.Helper()
	return slices.DeleteFunc(w.names(live), func(n string) bool { return n[0] == '.' })
}

// noTrash fails if temporary or foreign files were left.
func (w *world) noTrash() {
	w.Helper()
	for name := range w.snapshot("proj/.jp") {
		base := filepath.Base(name)
		if strings.HasPrefix(name, tempDir) || strings.HasSuffix(base, ".tmp") ||
			strings.HasPrefix(name, LocksDir+"/") {
			w.Errorf("left over: %s", name)
		}
	}
}

const id1 events.ID = 17800836875

// dir1 is the directory of id1 with its original title.
const dir1 = live + "17800836875-first"

func message(text string) *events.Element {
	at := time.Date(2026, 5, 29, 20, 0, 0, 0, time.UTC)
	return events.NewElement(at, &events.ChatResponse{Text: text}, events.Metadata{})
}

// withResult returns a call of a tool and its result, whose content is loaded.
func withResult(text string) []*events.Element {
	at := time.Date(2026, 5, 29, 20, 0, 0, 0, time.UTC)
	block := events.Block{Type: events.BlockText, Content: blobs.Loaded([]byte(text))}
	return []*events.Element{
		events.NewElement(at, &events.ToolCallRequest{
			ID: "c", Name: "x", Arguments: []byte("{}"),
		}, events.Metadata{}),
		events.NewElement(at, &events.ToolCallResponse{
			ID: "c", Blocks: []events.Block{block},
		}, events.Metadata{}),
	}
}

func TestOpenWithoutWorkspace(t *testing.T) {
	if _, err := Open(t.TempDir(), Env{}); !errors.Is(err, ErrNoWorkspace) {
		t.Errorf("error is %v", err)
	}
}

func TestUserLocalIsFoundAsJPFindsIt(t *testing.T) {
	w := newWorld(t)
	userLocal := func() string {
		rel, _ := filepath.Rel(w.dir, w.open().UserDir())
		return filepath.ToSlash(rel)
	}
	for _, name := range []string{"old-otvo8", "otvo8x", "x-otvo9", "xotvo8"} {
		w.write("data/workspace/"+name+"/f", "")
	}
	if got := userLocal(); got != "data/workspace/old-otvo8" {
		t.Errorf("the only match: %s", got)
	}
	w.write("data/workspace/otvo8/f", "")
	future := time.Now().Add(time.Hour)
	if err := os.Chtimes(w.path("data/workspace/old-otvo8/f"), future, future); err != nil {
		t.Fatal(err)
	}
	if got := userLocal(); got != "data/workspace/old-otvo8" {
		t.Errorf("the newest contents: %s", got)
	}
	w.write("data/workspace/proj-otvo8/f", "")
	if got := userLocal(); got != "data/workspace/proj-otvo8" {
		t.Errorf("the one of the root's name: %s", got)
	}
	w.write("proj/.jp/.id", "nonsense\n")
	if got := w.open().UserDir(); got != "" {
		t.Errorf("without an id: %s", got)
	}
	if got := w.read("proj/.jp/.id"); got != "nonsense\n" {
		t.Errorf("the id was changed to %q", got)
	}
}

func TestDataDirs(t *testing.T) {
	for _, tt := range []struct {
		goos, jp, ours string
		vars           map[string]string
	}{
		{"linux", "/h/.local/share/jp", "/h/.local/share/git-jp", nil},
		{"linux", "/x/jp", "/x/git-jp", map[string]string{"XDG_DATA_HOME": "/x"}},
		{
			"linux", "/h/.local/share/jp", "/h/.local/share/git-jp",
			map[string]string{"XDG_DATA_HOME": "x"},
		},
		{
			"darwin", "/h/Library/Application Support/jp",
			"/h/Library/Application Support/git-jp", nil,
		},
		{"windows", "/l/jp/data", "/l/git-jp/data", map[string]string{"LOCALAPPDATA": "/l"}},
		{"linux", "/wd/rel", "/wd/rel/git-jp", map[string]string{"JP_USER_DATA_DIR": "rel"}},
		{
			"linux", "/u", "/u/git-jp",
			map[string]string{"JP_USER_DATA_DIR": "/u", "XDG_DATA_HOME": "/x"},
		},
	} {
		env := Env{
			Getenv: func(k string) string { return tt.vars[k] },
			Home:   "/h", Dir: "/wd", GOOS: tt.goos,
		}
		jp, ours := filepath.ToSlash(env.jpDataDir()), filepath.ToSlash(env.StateDir())
		if jp != tt.jp || ours != tt.ours {
			t.Errorf("%s %v: %s and %s", tt.goos, tt.vars, jp, ours)
		}
	}
}
