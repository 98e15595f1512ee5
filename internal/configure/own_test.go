package configure

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/config"
)

func TestKeysOfOurs(t *testing.T) {
	for key, own := range map[string]bool{
		"storage.format": true, "gc.grace": true,
		"conversation.tools.mine.deduplicate": true,
		"assistant.model.id":                  false, "storage": false, "storage.format.x": false, "": false,
	} {
		if IsOwn(key) != own {
			t.Errorf("%q: own is %v", key, !own)
		}
	}
}

func TestValuesAreWrittenAsTheyAreGiven(t *testing.T) {
	for want, value := range map[string]any{
		"": nil, "2w": 14 * 24 * time.Hour, "36h": 36 * time.Hour, "3d": 72 * time.Hour,
		"1m30s": 90 * time.Second, "a,b": []string{"a", "b"}, "7": 7, "true": true,
	} {
		if got := text(value); got != want {
			t.Errorf("%v: got %q, want %q", value, got, want)
		}
	}
}

// A link in the user's own directory leads to where people keep their files; one below .jp may be
// committed by someone who wants another file written.
func TestLinksOfTheUserAreFollowed(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "kept.toml")
	for name, follows := range map[string]bool{"home/git-jp.toml": true, ".jp/git-jp.toml": false} {
		link := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(link), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(kept, []byte("[gc]\ngrace = \"3w\"\n"), 0o644); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(kept, link); err != nil {
			t.Skip(err)
		}
		if err := Set(link, "gc.grace", "5w"); (err == nil) != follows {
			t.Errorf("%s: %v", name, err)
		}
		data, err := os.ReadFile(kept)
		if err != nil || strings.Contains(string(data), "5w") != follows {
			t.Errorf("%s: the file has %q, %v", name, data, err)
		}
		if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
			t.Errorf("%s: the link is gone: %v", name, err)
		}
	}
}

func TestOneKeyChanges(t *testing.T) {
	file := filepath.Join(t.TempDir(), config.OwnFile)
	const before = "# of mine\n[other]\n\n[gc]\ngrace = \"3w\" # long\n"
	if err := os.WriteFile(file, []byte(before), 0o644); err != nil {
		t.Fatal(err)
	}
	has := func(want string) {
		t.Helper()
		if data, err := os.ReadFile(file); err != nil || string(data) != want {
			t.Errorf("the file has %q, %v, want %q", data, err, want)
		}
	}
	wrong := new(config.SettingError)
	if err := Set(file, "gc.grace", "long"); !errors.As(err, &wrong) {
		t.Errorf("got %v, want an error about the setting", err)
	}
	has(before)
	if err := Set(file, "gc.grace", "5w"); err != nil {
		t.Error(err)
	}
	has("# of mine\n[other]\n\n[gc]\ngrace = \"5w\" # long\n")
	if err := Unset(file, "gc.grace"); err != nil {
		t.Error(err)
	}
	if err := Unset(file, "gc.grace"); !errors.As(err, &wrong) || !wrong.Unset {
		t.Errorf("again: got %v, want an error about a key without a value", err)
	}
}
