package importer

import (
	"os"
	"path/filepath"
	"testing"
)

// TestBeginningOfAnotherDirectory checks that a fork does not bring what a thread said in another
// directory than the one that is $WORKSPACE for it, not even if what is between ran in it.
func TestBeginningOfAnotherDirectory(t *testing.T) {
	for name, test := range map[string]struct{ a, b, c, want string }{
		"all here":           {"/w", "/w/sub", "/w", "one two three"},
		"one is elsewhere":   {"/w", "/w2", "/w", "three"},
		"the first is":       {"/", "/w", "/w", "two three"},
		"a parent":           {"/w", "/w", "/w/sub", "three"},
		"no directory known": {"/w", "", "/w", "three"},
	} {
		t.Run(name, func(t *testing.T) {
			w, dir := newWorkspace(t), t.TempDir()
			a := codexThread("a", test.a, "", 0, "one")
			b := codexThread("b", test.b, "a", len(a), "two")
			for name, data := range map[string]string{
				"a": a, "b": b, "c": codexThread("c", test.c, "b", len(b), "three"),
			} {
				if err := os.WriteFile(filepath.Join(dir, "x-"+name+".jsonl"), []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			importsThread(t, &Importer{Workspace: w}, filepath.Join(dir, "x-c.jsonl"))
			if got := asked(t, w, "c"); got != test.want {
				t.Errorf("it asks %q, want %q", got, test.want)
			}
		})
	}
}

// TestStrangerNamesNoThreadOfTheUser checks that a file that somebody sent does not bring a thread
// of the user: neither from the directory of Codex, nor by a link beside the file.
func TestStrangerNamesNoThreadOfTheUser(t *testing.T) {
	home := t.TempDir()
	private := codexThread("private", "/w", "", 0, "private")
	own := filepath.Join(home, ".codex", "sessions", "2026", "01", "01", "rollout-x-private.jsonl")
	stranger := codexThread("stranger", "/w", "private", len(private), "strange")
	for name, link := range map[string]bool{"in the home directory": false, "beside a link": true} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(home, "sessions", name)
			for path, data := range map[string]string{own: private, filepath.Join(dir, "stranger.jsonl"): stranger} {
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(data), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			if link {
				if err := os.Symlink(own, filepath.Join(dir, "x-private.jsonl")); err != nil {
					t.Skip(err)
				}
			}
			w := newWorkspace(t)
			importsThread(t, &Importer{Workspace: w, Home: home}, filepath.Join(dir, "stranger.jsonl"))
			if got := asked(t, w, "stranger"); got != "strange" {
				t.Errorf("it asks %q, want only what it says itself", got)
			}
		})
	}
}
