package configure

import (
	"errors"
	"os"
	"path/filepath"
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
	for _, want := range []bool{true, false} {
		if had, err := Unset(file, "gc.grace"); had != want || err != nil {
			t.Errorf("had is %v, %v, want %v", had, err, want)
		}
	}
}
