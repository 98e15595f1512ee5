package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/sessions/claude"
	"github.com/git-jp/git-jp/internal/workspace"
)

// newWorkspace returns a new workspace.
func newWorkspace(t *testing.T) *workspace.Workspace {
	t.Helper()
	home := t.TempDir()
	env := workspace.Env{
		Getenv: func(name string) string { return map[string]string{"JP_USER_DATA_DIR": home}[name] },
		Now:    time.Now, Dir: t.TempDir(),
	}
	if _, err := workspace.Init(env.Dir, env); err != nil {
		t.Fatal(err)
	}
	w, err := workspace.Open(env.Dir, env)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := w.Close(); err != nil {
			t.Error(err)
		}
	})
	return w
}

func writeSession(t *testing.T, data []byte) sessions.Session {
	t.Helper()
	file := filepath.Join(t.TempDir(), "s.jsonl")
	if err := os.WriteFile(file, data, 0o600); err != nil {
		t.Fatal(err)
	}
	found, err := claude.Dialect{}.List(t.Context(), file)
	if err != nil || len(found) != 1 {
		t.Fatalf("%d sessions, %v", len(found), err)
	}
	return found[0]
}

// stored returns all contents of a store as one text.
func stored(t *testing.T, s *blobs.Store) string {
	t.Helper()
	var all strings.Builder
	for h, err := range s.All() {
		if err != nil {
			t.Fatal(err)
		}
		gz, err := os.ReadFile(workspace.BlobPath(filepath.Dir(s.Dir()), h))
		if err != nil {
			t.Fatal(err)
		}
		content, err := blobs.DecodeHash(gz, h)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(content)
	}
	return all.String()
}

// TestRedactedContentIsNeverStored checks that an import writes redacted content to no place from
// which it could be committed.
func TestRedactedContentIsNeverStored(t *testing.T) {
	const word = "the quiet word"
	long := `a\n` + word + strings.Repeat(`.`, 9000) + `\nb` // large enough to be stored
	data := bytes.ReplaceAll(transcript(), []byte(`a\nb`), []byte(long))
	w, s := newWorkspace(t), writeSession(t, data)
	im := &Importer{Workspace: w}
	out, err := im.Import(t.Context(), claude.Dialect{}, s)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(stored(t, w.Blobs()), word) {
		t.Fatal("the store lacks what the session says")
	}
	copies, err := w.Copies(out.Made[0].ID)
	if err != nil || len(copies) != 1 {
		t.Fatal(copies, err)
	}
	c, err := w.Load(copies[0])
	if err != nil {
		t.Fatal(err)
	}
	redactions := secrets.Redactions{}
	for i, key := range c.Stream.Keys() {
		for _, text := range secrets.Texts(c.Stream.At(i)) {
			value, err := text.Content.Bytes(w.Blobs())
			if err != nil {
				t.Fatal(err)
			}
			for _, m := range secrets.ValueRules("word", word).Scan(value) {
				redactions.Add(secrets.Redaction{
					Conversation: c.ID.Digits(), Event: key, Member: text.Member,
					Ranges: []secrets.Range{secrets.NewRange(value, m)},
				})
			}
		}
	}

	other := newWorkspace(t)
	im = &Importer{Workspace: other, Redactions: redactions}
	if out, err = im.Import(t.Context(), claude.Dialect{}, s); err != nil {
		t.Fatal(err)
	}
	got := stored(t, other.Blobs())
	if strings.Contains(got, word) || !strings.Contains(got, secrets.Marker("word")) {
		t.Errorf("contents are\n%s", got)
	}
	if copies, err = other.Copies(out.Made[0].ID); err != nil {
		t.Fatal(err)
	}
	if c, err = other.Load(copies[0]); err != nil {
		t.Fatal(err)
	}
	if text := string(c.Stream.Encode()); strings.Contains(text, word) {
		t.Errorf("the stream has it:\n%s", text)
	}
	if out, err = im.Import(t.Context(), claude.Dialect{}, s); err != nil || out.State != Unchanged {
		t.Errorf("again it is %s, %v", out.State, err)
	}
}

// TestNothingHalf checks that an import that fails writes no conversation.
func TestNothingHalf(t *testing.T) {
	w, s := newWorkspace(t), writeSession(t, transcript())
	im := &Importer{Workspace: w, Options: sessions.Options{MaxStream: 500}}
	if _, err := im.Import(t.Context(), claude.Dialect{}, s); err == nil {
		t.Fatal("no error")
	}
	all, problems, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil || len(all)+len(problems) > 0 {
		t.Errorf("there are %v, %v, %v", all, problems, err)
	}
	if got := stored(t, w.Blobs()); got != "" {
		t.Errorf("contents are\n%s", got)
	}
}
