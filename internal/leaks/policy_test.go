package leaks_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestOwnSecretsOfFiles checks which files .env* have the user's own secrets: templates have none.
func TestOwnSecretsOfFiles(t *testing.T) {
	dir := t.TempDir()
	for name, value := range map[string]string{
		".env": "qx17-vb92k", ".env.local": "qx17-vb93k", ".env.dist": "qx17-vb94k", ".env.example": "qx17-vb95k",
		".env.sample": "qx17-vb96k", ".env.template": "qx17-vb97k", "x.env": "qx17-vb98k",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("API_KEY="+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	own := leaks.Policy{Env: []string{"DB_PASSWORD=qx17-vb91k", "SAME_KEY=qx17-vb93k"}}.Guard(dir, dir, dir).Own
	if want := []string{"qx17-vb91k", "qx17-vb92k", "qx17-vb93k"}; !slices.Equal(own, want) {
		t.Errorf("%q, want %q", own, want)
	}
}

// TestOwnSecretsOfOddDirectories reads the files of a directory whose name is a pattern, and not
// those of directories that match it.
func TestOwnSecretsOfOddDirectories(t *testing.T) {
	base := t.TempDir()
	odd := filepath.Join(base, `a*?[bc]`)
	for dir, value := range map[string]string{odd: "qx17-vb92k", filepath.Join(base, `axyb`): "qx17-vb93k"} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Skip(err)
		}
		if err := os.WriteFile(filepath.Join(dir, ".env"), []byte("API_KEY="+value+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if own := (leaks.Policy{}).Guard(odd, odd).Own; !slices.Equal(own, []string{"qx17-vb92k"}) {
		t.Errorf("%q", own)
	}
}

// TestOff checks that a rule is off where the user approved it: in that workspace, by that name.
func TestOff(t *testing.T) {
	base := t.TempDir()
	approved := leaks.Policy{Approved: func(root string) func(trust.Claim) bool {
		return func(c trust.Claim) bool {
			return root == filepath.Join(base, "sub") && c.Kind == trust.Setting && c.Value == "jwt"
		}
	}}
	names := []string{"npm-token", "jwt"}
	for dir, want := range map[string]string{"sub/.jp": "jwt", ".jp": ""} {
		if got := approved.Off(base)(dir, names); strings.Join(got, " ") != want {
			t.Errorf("%s: off are %q", dir, got)
		}
	}
	if !slices.Equal(names, []string{"npm-token", "jwt"}) {
		t.Errorf("the list became %q", names)
	}
}
