package jpconfig_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/jpconfig"
)

func TestExtendsInACircle(t *testing.T) {
	_, err := jpconfig.Load(sources(t, map[string]string{
		"ws/.jp/config.toml": "extends = ['a.toml']\n", "ws/.jp/a.toml": "extends = ['config.toml']\n",
	}))
	if !errors.Is(err, jpconfig.ErrExtends) {
		t.Errorf("error is %v", err)
	}
}

// TestExtendsAreBounded commits files just within the limits of extends, and just beyond.
func TestExtendsAreBounded(t *testing.T) {
	const depth, files, size, names = 32, 512, 8 << 20, 100_000
	chain := func(n int) map[string]string {
		all := map[string]string{"ws/.jp/config.toml": "extends = ['1.toml']"}
		for i := 1; i < n; i++ {
			all[fmt.Sprintf("ws/.jp/%d.toml", i)] = fmt.Sprintf("extends = ['%d.toml']", i+1)
		}
		all[fmt.Sprintf("ws/.jp/%d.toml", n)] = "extends = []"
		return all
	}
	wide := func(n, bytes int) map[string]string {
		all := map[string]string{"ws/.jp/config.toml": "extends = ['x/*.toml']"}
		for i := range n {
			all[fmt.Sprintf("ws/.jp/x/%d.toml", i)] = "extends = []\n#" + strings.Repeat("x", bytes)
		}
		return all
	}
	again := func(n int) map[string]string {
		return map[string]string{
			"ws/.jp/config.toml": "extends = [" + strings.Repeat("'x.toml',", n) + "]",
			"ws/.jp/x.toml":      "extends = []",
		}
	}
	looking := func(patterns int) map[string]string {
		all := map[string]string{
			"ws/.jp/config.toml": "extends = [" + strings.Repeat("'x/**/none*.toml',", patterns) + "]",
		}
		for i := range 100 {
			all[fmt.Sprintf("ws/.jp/x/%d/y/z", i)] = ""
		}
		return all
	}
	for _, tt := range []struct {
		name  string
		files map[string]string
		want  error
		says  string
	}{
		{"deep", chain(depth - 1), nil, ""},
		{"too deep", chain(depth), jpconfig.ErrExtends, ""},
		{"wide", wide(files-1, 0), nil, ""},
		{"too wide", wide(files, 0), jpconfig.ErrTooMuch, ""},
		{"again", again(files - 1), nil, ""},
		{"too often", again(files), jpconfig.ErrTooMuch, ""},
		{"large", wide(size>>20, 1<<19), nil, ""},
		{"too large", wide(9, size/9+100), jpconfig.ErrTooMuch, ""},
		{"a long look", looking(names / 1500), nil, ""},
		{"too long a look", looking(names / 400), nil, ".jp/config.toml:1: patterns are compared with"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := jpconfig.Load(sources(t, tt.files))
			if tt.says != "" {
				if err == nil || !strings.Contains(err.Error(), tt.says) {
					t.Errorf("error is %v, want %q", err, tt.says)
				}
				return
			}
			if !errors.Is(err, tt.want) || tt.want == nil && err != nil {
				t.Errorf("error is %.300v, want %v", err, tt.want)
			}
		})
	}
}

// TestWildcardsFollowNoLinks checks that links to each other do not make an endless tree, that what
// git and jp store is not searched for configuration, and that a link with a name of its own leads
// on, as one to a file does.
func TestWildcardsFollowNoLinks(t *testing.T) {
	s := sources(t, map[string]string{
		"ws/.jp/config.toml": "extends = ['../x/**/*.toml', '../.jp/**/*.json', '../link/*.toml']",
		"ws/x/y/z":           "", "ws/x/y/.git/a.toml": "assistant.name = 'git'",
		"ws/.jp/blobs/a.json": "[", "ws/.jp/conversations/1-x/base_config.json": "[",
		"ws/more/b.toml": "user.name = 'b'", "ws/team": "assistant.name = 'team'",
	})
	for name, to := range map[string]string{
		"x/a": ".", "x/b": ".", "x/c": ".", "x/d": ".", "x/e.toml": "y", "link": "more",
		"x/f.toml": "../team",
	} {
		if err := os.Symlink(to, filepath.Join(s.Workspace, name)); err != nil {
			t.Skip(err) // without links there is nothing to test
		}
	}
	c := load(t, s)
	if got := value(c, "user.name") + value(c, "assistant.name"); got != `"b""team"` {
		t.Errorf("settings are %s", got)
	}
}

// TestIntricatePatterns checks that a pattern which takes long to match is left out with a warning.
func TestIntricatePatterns(t *testing.T) {
	c := load(t, sources(t, map[string]string{
		"ws/.jp/config.toml": "user.name = 'x'\nextends = ['" + strings.Repeat("{a,b}", 20) + "', 'a.toml']",
		"ws/.jp/a.toml":      "assistant.name = 'y'\nextends = []",
	}))
	if got := value(c, "user.name") + value(c, "assistant.name"); got != `"x""y"` {
		t.Errorf("settings are %s", got)
	}
	warnings := c.Warnings()
	if len(warnings) != 1 || !strings.Contains(warnings[0].String(), "the pattern is too complex") {
		t.Errorf("warnings are %v", warnings)
	}
}
