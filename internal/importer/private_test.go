package importer

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/sessions"
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

// TestSecretsInWhatForksAndCompactionsName checks that secrets are redacted in the records that
// name what a fork begins with, or what a compaction keeps, and in the beginning of a fork.
func TestSecretsInWhatForksAndCompactionsName(t *testing.T) {
	const token = "ghp_16C7e42F292c6912E7710c838347Ae178B4a"
	dir := t.TempDir()
	a := codexThread("a-"+token, "/w", "", 0, "one "+token)
	b := codexThread("b", "/w", "a-"+token, len(a), "two")
	claudes := compacted(token + `","` + uuidOf(11))
	claudes = bytes.Replace(claudes, []byte(`"compactMetadata":{`),
		[]byte(`"compactMetadata":{"preservedSegment":{"headUuid":"`+token+`"},"trigger":"`+token+`",`), 1)
	for name, data := range map[string]string{"x-a-" + token: a, "x-b": b, "c": string(claudes)} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	w := newWorkspace(t)
	found, _ := Find(t.Context(), sessions.Places{}, Selection{
		Paths: []string{filepath.Join(dir, "x-b.jsonl"), filepath.Join(dir, "c.jsonl")}, Foreign: true,
	})
	im := &Importer{Workspace: w, Rules: secrets.Builtin()}
	for r := range im.All(t.Context(), found) {
		if r.Err != nil || len(r.Outcome.Report.Redacted) == 0 {
			t.Fatal(r.Outcome.Report, r.Err)
		}
	}
	if got := asked(t, w, "b"); !strings.HasSuffix(got, " two") || !strings.HasPrefix(got, "one ") {
		t.Fatalf("the fork asks %q", got)
	}
	for name, data := range treeOf(t, w.Dir()) {
		if strings.Contains(name+data, token) {
			t.Errorf("%s has the token", name)
		}
	}
}
