package prepare

import (
	"errors"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestAttachmentsArePermittedAtOnce, for the race detector: a model may have several started again
// at the same time.
func TestAttachmentsArePermittedAtOnce(t *testing.T) {
	dir := t.TempDir()
	if err := errors.Join(
		os.Mkdir(filepath.Join(dir, ".jp"), 0o700),
		os.WriteFile(filepath.Join(dir, ".jp", "config.toml"),
			[]byte("[conversation]\nattachments = ['cmd:sh a.sh']\n"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	c, err := jpconfig.Load(jpconfig.Sources{Workspace: dir})
	if err != nil {
		t.Fatal(err)
	}
	s := &servers{config: c, gate: trust.Nobody{}}
	a := (&Host{Getenv: func(string) string { return "" }}).attachments(
		t.Context(), nil, config.Network{}, s, builtin.Workspace{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			if a.permit("cmd:sh a.sh") == nil {
				t.Error("it is permitted")
			}
		})
	}
	wg.Wait()
}
