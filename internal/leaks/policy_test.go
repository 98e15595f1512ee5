package leaks_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/leaks"
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
	own := leaks.Policy{Env: []string{"DB_PASSWORD=qx17-vb91k"}}.Guard(dir, dir).Own
	if want := []string{"qx17-vb91k", "qx17-vb92k", "qx17-vb93k"}; !slices.Equal(own, want) {
		t.Errorf("%q, want %q", own, want)
	}
}
