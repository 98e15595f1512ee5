package prepare

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/jpconfig"
)

// TestCallsThatNobodyWatchesEnd checks the time limits of calls: ten minutes if no user can see
// that a call still runs; the user may change that in either direction, foreign settings may only
// lower it. The tests of internal/tool check that a call ends at its limit.
func TestCallsThatNobodyWatchesEnd(t *testing.T) {
	const others = "[conversation.tools]\nless = {timeout = '1m'}\nmore = {timeout = '24h'}\n" +
		"mine = {timeout = '24h'}\n"
	const own = "[conversation.tools]\nmine = {timeout = '30m'}\n"
	user, root := t.TempDir(), t.TempDir()
	for name, text := range map[string]string{
		filepath.Join(user, "config.toml"): own, filepath.Join(root, ".jp.toml"): others,
	} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	conf, err := jpconfig.Load(jpconfig.Sources{User: user, Workspace: root, Dir: root})
	if err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		name               string
		unwatched, watched time.Duration
	}{
		{"any", 10 * time.Minute, 0},
		{"less", time.Minute, time.Minute},
		{"more", 10 * time.Minute, 24 * time.Hour},
		{"mine", 30 * time.Minute, 30 * time.Minute},
	} {
		seen := new(ask.Terminal)
		k := &toolset{host: &Host{Terminal: seen}, config: conf}
		if got := k.limit(tc.name); got != tc.unwatched {
			t.Errorf("%s, unwatched: %v, want %v", tc.name, got, tc.unwatched)
		}
		seen.Errors.Terminal = true
		if got := k.limit(tc.name); got != tc.watched {
			t.Errorf("%s, watched: %v, want %v", tc.name, got, tc.watched)
		}
		seen.Quiet = true
		if got := k.limit(tc.name); got != tc.unwatched {
			t.Errorf("%s, quiet: %v, want %v", tc.name, got, tc.unwatched)
		}
	}
}
