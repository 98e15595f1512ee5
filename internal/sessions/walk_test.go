package sessions

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
)

// TestWalk checks which links are followed: to files and directories, each directory once, and
// none around the walk. Without Links they are only named.
func TestWalk(t *testing.T) {
	top := t.TempDir()
	for _, name := range []string{"home/p/a", "home/b", "else/x/c", "else/x/sub/d", "else/e"} {
		path := filepath.Join(top, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for link, target := range map[string]string{
		"projects": "home", "home/x": "../else/x", "home/x2": "../else/x", "home/e": "../else/e",
		"home/gone": "nowhere", "home/up": "..", "home/self": ".", "home/slash": "/",
		"else/x/sub/loop": "..", "home/p/loop": "../p",
	} {
		if err := os.Symlink(target, filepath.Join(top, link)); err != nil {
			t.Skip("no links here: ", err) // for some users of Windows
		}
	}
	walk := func(links bool) string {
		var all []string
		w := Walk{Links: links, Visit: func(path string, err error) error {
			name, relErr := filepath.Rel(filepath.Join(top, "home"), path)
			switch {
			case errors.Is(err, ErrLink):
				name += "@"
			case errors.Join(err, relErr) != nil:
				return errors.Join(err, relErr)
			}
			all = append(all, filepath.ToSlash(name))
			return nil
		}}
		if err := w.Below(filepath.Join(top, "projects")); err != nil {
			t.Fatal(err)
		}
		slices.Sort(all)
		return fmt.Sprint(all)
	}
	want := "[b e p/a p/loop/a x/c x/sub/d]"
	if got := walk(true); got != want {
		t.Errorf("visited %s, want %s", got, want)
	}
	want = "[b e@ gone@ p/a p/loop@ self@ slash@ up@ x2@ x@]"
	if got := walk(false); got != want {
		t.Errorf("visited %s, want %s", got, want)
	}
}
