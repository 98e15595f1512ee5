package gitint_test

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

func TestConfigSaysWhereAValueStands(t *testing.T) {
	r := gittest.Repo(t)
	global := filepath.Join(gittest.TempDir(t), "config")
	r = r.With("GIT_CONFIG_GLOBAL="+global,
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=jp.x", "GIT_CONFIG_VALUE_0=of the command")
	r.Run("config", "--global", "jp.x", "of the user")
	r.Run("config", "jp.x", "two\nlines")
	repo := openAt(t, r)
	all, err := repo.ConfigAll(t.Context(), "jp.x")
	want := []gitint.Setting{
		{Scope: "global", Value: "of the user"},
		{Scope: "local", Value: "two\nlines"},
		{Scope: "command", Value: "of the command"},
	}
	if err != nil || !slices.Equal(all, want) {
		t.Errorf("got %q, %v", all, err)
	}
	value, ok, err := repo.Config(t.Context(), "jp.x")
	if value != "of the command" || !ok || err != nil {
		t.Errorf("got %q, %t, %v", value, ok, err)
	}
	if _, ok, err := repo.Config(t.Context(), "jp.none"); ok || err != nil {
		t.Errorf("absent key: %t, %v", ok, err)
	}
	if _, _, err := repo.Config(t.Context(), "no key"); err == nil {
		t.Error("a key that is none gives no error")
	}
}

// TestConfigWhileGitIsTraced checks that a missing key is recognized while git writes a trace.
func TestConfigWhileGitIsTraced(t *testing.T) {
	r := gittest.Repo(t)
	log := filepath.Join(gittest.TempDir(t), "log")
	for _, v := range []string{
		"GIT_TRACE=1", "GIT_TRACE_SETUP=2", "GIT_TRACE2=true", "GIT_TRACE2_PERF=1", "GIT_TRACE=" + log,
	} {
		traced := r.With(v)
		if _, ok, err := openAt(t, traced).Config(t.Context(), "jp.none"); ok || err != nil {
			t.Errorf("%s: %t, %v", v, ok, err)
		}
		options := gitint.Options{Env: traced.Env, Dir: traced.Dir}
		if _, ok, err := gitint.ConfigAt(t.Context(), options, "jp.none"); ok || err != nil {
			t.Errorf("%s, outside: %t, %v", v, ok, err)
		}
	}
	if _, err := os.Stat(log); err != nil {
		t.Error(err)
	}
}

func TestSetConfig(t *testing.T) {
	r := gittest.Repo(t)
	repo := openAt(t, r)
	r.Run("config", "--add", "jp.x", "one")
	r.Run("config", "--add", "jp.x", "two")
	if err := repo.SetConfig(t.Context(), "jp.x", "--three"); err != nil {
		t.Fatal(err)
	}
	if got := r.Run("config", "--get-all", "jp.x"); got != "--three" {
		t.Errorf("got %q", got)
	}
	for range 2 {
		if err := repo.UnsetConfig(t.Context(), "jp.x"); err != nil {
			t.Fatal(err)
		}
	}
	r.WriteFile(".git/config.lock", "")
	var locked *gitint.LockedError
	if err := repo.SetConfig(t.Context(), "jp.x", "y"); !errors.As(err, &locked) {
		t.Errorf("got %v", err)
	}
}

func TestHooksDir(t *testing.T) {
	r := gittest.Repo(t)
	r.Commit("base")
	r.Run("worktree", "add", "-q", "../tree")
	check := func(r *gittest.Repository, wantDir, wantScope string) {
		t.Helper()
		repo := openAt(t, r)
		settings, err := repo.ConfigAll(t.Context(), gitint.HooksKey)
		if err != nil {
			t.Fatal(err)
		}
		dir, scope, err := repo.HooksDir(t.Context(), settings)
		if err != nil || dir != wantDir || scope != wantScope {
			t.Errorf("got %q, %q, %v, want %q, %q", dir, scope, err, wantDir, wantScope)
		}
	}
	check(r, r.Path(".git/hooks"), "")
	check(r.In("../tree"), r.Path(".git/hooks"), "")
	global := r.With("GIT_CONFIG_GLOBAL=" + filepath.Join(gittest.TempDir(t), "config"))
	global.Run("config", "--global", "core.hooksPath", "/some/where")
	check(global, "/some/where", "global")
	global.Run("config", "core.hooksPath", ".husky/_")
	check(global, r.Path(".husky/_"), "local")
	check(global.In("../tree"), r.In("../tree").Path(".husky/_"), "local")
	r.WriteFile("file", "")
	global.Run("config", "core.hooksPath", "file/hooks")
	check(global, r.Path("file/hooks"), "local")
}

func TestCheckAttr(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile(".gitattributes", "*.json merge=jp -text\n")
	got, err := openAt(t, r).CheckAttr(t.Context(), []string{"merge", "text", "diff"},
		[]string{"a.json", "new\nline"})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []struct{ path, attr, value string }{
		{"a.json", "merge", "jp"},
		{"a.json", "text", gitint.AttrUnset},
		{"a.json", "diff", gitint.AttrUnspecified},
		{"new\nline", "merge", gitint.AttrUnspecified},
	} {
		if v := got[want.path][want.attr]; v != want.value {
			t.Errorf("%q %s: got %q, want %q", want.path, want.attr, v, want.value)
		}
	}
}

func TestCheckIgnore(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile(".gitignore", "\n*.gz\n!keep.gz\n")
	r.WriteFile("tracked.gz", "")
	r.Run("add", "-f", "tracked.gz")
	repo := openAt(t, r)
	got, err := repo.CheckIgnore(t.Context(),
		[]string{"a.gz", "keep.gz", "x", "tracked.gz", ":(top)b.gz"})
	want := []gitint.Ignored{
		{Path: "a.gz", Source: ".gitignore", Line: 2, Pattern: "*.gz"},
		{Path: "tracked.gz", Source: ".gitignore", Line: 2, Pattern: "*.gz"},
		{Path: ":(top)b.gz", Source: ".gitignore", Line: 2, Pattern: "*.gz"},
	}
	if err != nil || !slices.Equal(got, want) {
		t.Errorf("got %+v, %v", got, err)
	}
	if got, err := repo.CheckIgnore(t.Context(), []string{"x"}); len(got) != 0 || err != nil {
		t.Errorf("got %v, %v", got, err)
	}
}

func TestParseVersion(t *testing.T) {
	for text, want := range map[string]gitint.Version{
		"git version 2.39.5\n":               {Major: 2, Minor: 39, Patch: 5},
		"git version 2.39.5 (Apple Git-154)": {Major: 2, Minor: 39, Patch: 5},
		"git version 2.45.0.windows.1":       {Major: 2, Minor: 45},
		"git version 2.55.0-rc1":             {Major: 2, Minor: 55},
		"git version 2.55.GIT":               {Major: 2, Minor: 55},
		"2.51.0.123.gabcdef":                 {Major: 2, Minor: 51},
		"git version 3.0":                    {Major: 3},
	} {
		if got, err := gitint.ParseVersion(text); got != want || err != nil {
			t.Errorf("%q: got %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "git version", "git version x.y"} {
		if got, err := gitint.ParseVersion(text); err == nil {
			t.Errorf("%q: got %v", text, got)
		}
	}
	v, err := openAt(t, gittest.Repo(t)).Version(t.Context())
	if err != nil || !v.AtLeast(gitint.MinVersion()) {
		t.Errorf("this git is %v, %v", v, err)
	}
	if (gitint.Version{Major: 2, Minor: 30, Patch: 9}).AtLeast(gitint.MinVersion()) {
		t.Error("2.30.9 is new enough")
	}
}
