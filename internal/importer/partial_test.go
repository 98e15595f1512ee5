package importer

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestWhatFailedIsImportedAgain checks that an import that fails after some conversations of a
// session leaves none out for good.
func TestWhatFailedIsImportedAgain(t *testing.T) {
	im := &Importer{Workspace: newWorkspace(t)}
	s := writeSession(t, rewound())
	all, err := im.newJob(claude.Dialect{}, s).build(t.Context(), 0, discard{})
	if err != nil || len(all) < 3 {
		t.Fatalf("%d conversations, %v; want some that were rewound", len(all), err)
	}
	others := manySessions(t, minJoint)
	for _, c := range all[1:] {
		failsOnce(t, c.Name, len(all), func(im *Importer) error {
			_, err := im.Import(t.Context(), claude.Dialect{}, s)
			return err
		})
		failsOnce(t, c.Name, len(all)+len(others), func(im *Importer) (err error) {
			found := append(others, Found{Session: s, Dialect: claude.Dialect{}})
			for r := range im.All(t.Context(), found) {
				err = errors.Join(err, r.Err)
			}
			return err
		})
	}
}

// failsOnce imports sessions while a file blocks the place of a rewound fork, and once more without
// it; then all conversations exist.
func failsOnce(t *testing.T, rewound sessions.Name, want int, run func(*Importer) error) {
	t.Helper()
	w := newWorkspace(t)
	list := func() []workspace.Entry {
		made, problems, err := w.List(workspace.ListOptions{Archived: true})
		if err != nil || len(problems) > 0 {
			t.Errorf("%v, %v", problems, err)
		}
		return made
	}
	id := rewound.IDs()[0]
	inTheWay := filepath.Join(w.Dir(), "conversations", ".archive", id.Digits())
	if err := os.MkdirAll(filepath.Dir(inTheWay), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := run(&Importer{Workspace: w}); err == nil {
		t.Fatal("a file in the place of a conversation is no error")
	}
	own := sessions.Name{Agent: rewound.Agent, ID: "grow"}.IDs()[0]
	if slices.ContainsFunc(list(), func(e workspace.Entry) bool { return e.ID == own }) {
		t.Error("the session's own conversation is there without what was rewound in it")
	}
	if err := os.Remove(inTheWay); err != nil {
		t.Fatal(err)
	}
	if err := run(&Importer{Workspace: w}); err != nil {
		t.Fatal(err)
	}
	if got := len(list()); got != want {
		t.Errorf("%d conversations; want %d", got, want)
	}
}

// TestAHalfSavedImportGoesOn checks an import that saved the stream of a grown conversation but not
// the metadata that says how much was imported.
func TestAHalfSavedImportGoesOn(t *testing.T) {
	for name, data := range map[string][]byte{"grown": transcript(), "rewound": rewound()} {
		half := bytes.IndexByte(data[len(data)/2:], '\n') + len(data)/2 + 1
		im := &Importer{Workspace: newWorkspace(t)}
		imported := func(data []byte) workspace.Entry {
			t.Helper()
			s := writeSession(t, data)
			im := &Importer{Workspace: im.Workspace}
			if _, err := im.Import(t.Context(), claude.Dialect{}, s); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			e, _, err := im.find(s.Name)
			if err != nil {
				t.Fatal(err)
			}
			return e
		}
		e := imported(data[:half])
		file := filepath.Join(im.Workspace.Root(), filepath.FromSlash(e.Path), workspace.MetadataFile)
		before, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		imported(data)
		want, err := im.Workspace.Load(e)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, before, 0o600); err != nil {
			t.Fatal(err)
		}
		imported(data)
		got, err := im.Workspace.Load(e)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Stream.Encode(), want.Stream.Encode()) ||
			!bytes.Equal(got.Details.Encode(), want.Details.Encode()) {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got.Stream.Encode(), want.Stream.Encode())
		}
	}
}
