package gc_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gc"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// now is later than the time of every file that a test writes, and old is earlier.
var (
	now = time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	old = time.Date(2020, 1, 1, 0, 0, 0, 0, time.UTC)
)

// A fixture is a repository with a workspace at its root.
type fixture struct {
	*gittest.Repository
	tb    testing.TB
	cache *refs.Cache
	hook  func(gc.Step, string) error
	grace time.Duration
	// failed counts the commands of which a call was made to fail.
	failed *atomic.Int64
	// noData removes the user's data directory.
	noData bool
}

func newFixture(tb testing.TB, initArgs ...string) *fixture {
	tb.Helper()
	r := gittest.Template(tb, "fixture", func(r *gittest.Repository) {
		(&fixture{Repository: r, tb: tb}).begin()
	}, initArgs...)
	return &fixture{Repository: r, tb: tb, grace: 14 * 24 * time.Hour}
}

func (f *fixture) begin() {
	f.workspace("")
	f.WriteFile("readme", "x")
	f.Commit("begin")
}

// fixtureAt returns a fixture for an existing repository.
func fixtureAt(tb testing.TB, dir string) *fixture {
	return &fixture{Repository: gittest.At(tb, dir), tb: tb, grace: 14 * 24 * time.Hour}
}

// workspace makes a workspace in a directory.
func (f *fixture) workspace(dir string) {
	f.WriteFile(filepath.Join(dir, ".jp/.id"), "generated\nabcde\n")
	f.WriteFile(filepath.Join(dir, ".jp/.gitignore"),
		"/blobs/.tmp/\n/locks/\n/conversations/.trash/\n")
	f.WriteFile(filepath.Join(dir, ".jp/conversations/.keep"), "")
}

// at returns the fixture for another worktree.
func (f *fixture) at(dir string) *fixture {
	c := *f
	c.Repository = f.In(dir)
	return &c
}

// blob writes content to the store, with an old time.
func (f *fixture) blob(content string) blobs.Hash {
	f.tb.Helper()
	return f.blobIn(".jp/blobs/", content)
}

// blobIn is blob for another store.
func (f *fixture) blobIn(store, content string) blobs.Hash {
	f.tb.Helper()
	h := blobs.Sum([]byte(content))
	name := store + h.Path()
	f.WriteFile(name, string(blobs.Encode([]byte(content))))
	if err := os.Chtimes(f.Path(name), old, old); err != nil {
		f.tb.Fatal(err)
	}
	return h
}

func (f *fixture) has(h blobs.Hash) bool {
	_, err := os.Lstat(f.Path(".jp/blobs/" + h.Path()))
	return err == nil
}

// stream returns an events.json that refers to contents.
func stream(all ...blobs.Hash) string {
	var b strings.Builder
	b.WriteString(`[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"why"}`)
	for i, h := range all {
		fmt.Fprintf(&b, `,
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"call_%d","name":"read","arguments":{}},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"call_%d","content":[{"type":"text","content":{"$blob":"%s","size":1}}],"is_error":false}`,
			i, i, h)
	}
	return b.String() + "]\n"
}

const conversation = ".jp/conversations/17800000001-one"

// converse writes the files of a conversation.
func (f *fixture) converse(dir string, all ...blobs.Hash) {
	f.WriteFile(dir+"/metadata.json", "{\n  \"title\": \"About "+filepath.Base(dir)+
		"\",\n  \"last_activated_at\": \"2026-01-01 00:00:00.0\"\n}\n")
	f.WriteFile(dir+"/base_config.json", "{}\n")
	f.WriteFile(dir+"/events.json", stream(all...))
}

// commit commits a conversation without its contents, and without a ref.
func (f *fixture) commit(all ...blobs.Hash) string {
	f.tb.Helper()
	return f.commitFile(conversation+"/events.json", stream(all...))
}

// commitFile commits files without a ref: names and contents alternate.
func (f *fixture) commitFile(name, content string, more ...string) string {
	f.tb.Helper()
	files := map[string]string{name: content}
	for pair := range slices.Chunk(more, 2) {
		files[pair[0]] = pair[1]
	}
	return f.CommitOf("made", files)
}

// options opens the repository and the workspace.
func (f *fixture) options() gc.Options {
	f.tb.Helper()
	o, err := f.open()
	if err != nil {
		f.tb.Fatal(err)
	}
	return o
}

// open is options, but returns the error.
func (f *fixture) open() (gc.Options, error) {
	repo, err := gitint.Open(f.tb.Context(), gitint.Options{Dir: f.Dir, Env: f.Env})
	if err != nil {
		return gc.Options{}, err
	}
	f.tb.Cleanup(func() { _ = repo.Close() })
	clock := func() time.Time { return now }
	data := filepath.Join(filepath.Dir(f.Dir), "data")
	home := filepath.Dir(f.Dir)
	if f.noData {
		data, home = "", ""
	}
	w, err := workspace.Open(f.Dir, workspace.Env{
		Getenv: func(name string) string {
			if name == "JP_USER_DATA_DIR" {
				return data
			}
			return ""
		},
		Now: clock, Home: home, Dir: f.Dir, PID: os.Getpid(),
	})
	if err != nil {
		return gc.Options{}, err
	}
	f.tb.Cleanup(func() { _ = w.Close() })
	return gc.Options{
		Repo: repo, Workspace: w, Now: clock, Grace: f.grace, PID: os.Getpid(),
		Cache: f.cache, Hook: f.hook,
	}, nil
}

// collect makes a plan and sweeps.
func (f *fixture) collect() (*gc.Result, error) {
	f.tb.Helper()
	o := f.options()
	p, err := gc.MakePlan(f.tb.Context(), o)
	if err != nil {
		return nil, err
	}
	return gc.Sweep(f.tb.Context(), o, p)
}

// withCache opens the cache of the repository.
func (f *fixture) withCache() {
	f.cache = refs.Open(f.Path(".git/jp/cache"))
}

// age makes every run in the trash older than the grace period.
func (f *fixture) age() {
	f.tb.Helper()
	files, err := filepath.Glob(f.Path(".git/jp/trash/*/run.json"))
	if err != nil || len(files) == 0 {
		f.tb.Fatal("no run in the trash")
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err == nil {
			text := strings.Replace(string(data), `"started":"2030`, `"started":"2020`, 1)
			err = os.WriteFile(name, []byte(text), 0o600)
		}
		if err != nil {
			f.tb.Fatal(err)
		}
	}
}
