package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/workspace"
)

// TestWhatFailedIsImportedAgain: an import that ends after some of a session's conversations leaves
// none of them out for good.
func TestWhatFailedIsImportedAgain(t *testing.T) {
	im := &Importer{Workspace: newWorkspace(t)}
	s := writeSession(t, rewound())
	all, err := im.build(t.Context(), claude.Dialect{}, s, 0, discard{})
	if err != nil || len(all) < 3 {
		t.Fatalf("%d conversations, %v; want some that were rewound", len(all), err)
	}
	for _, c := range all[1:] {
		im := &Importer{Workspace: newWorkspace(t)}
		id := events.SessionIDs(c.Name.String())[0]
		inTheWay := filepath.Join(im.Workspace.Dir(), "conversations", ".archive", id.Digits())
		if err := os.MkdirAll(filepath.Dir(inTheWay), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(inTheWay, nil, 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := im.Import(t.Context(), claude.Dialect{}, s); err == nil {
			t.Fatal("a file in the place of a conversation is no error")
		}
		if err := os.Remove(inTheWay); err != nil {
			t.Fatal(err)
		}
		again := &Importer{Workspace: im.Workspace}
		if _, err := again.Import(t.Context(), claude.Dialect{}, s); err != nil {
			t.Fatal(err)
		}
		made, problems, err := im.Workspace.List(workspace.ListOptions{Archived: true})
		if err != nil || len(problems) > 0 || len(made) != len(all) {
			t.Errorf("%d conversations, %v, %v; want %d", len(made), problems, err, len(all))
		}
	}
}

// TestAHalfSavedImportGoesOn: of a conversation that grew the stream was saved and not what says how
// much was imported.
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
