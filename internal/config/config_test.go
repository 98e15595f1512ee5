package config

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/trust"
)

// layers writes files, named user/… or ws/…, and returns their directories.
func layers(t *testing.T, files map[string]string) Dirs {
	t.Helper()
	dir := t.TempDir()
	for name, text := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return Dirs{User: filepath.Join(dir, "user"), Workspace: filepath.Join(dir, "ws")}
}

func mustLoad(t *testing.T, dirs Dirs) *Config {
	t.Helper()
	c, err := Load(dirs)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestDefaultsAreComplete(t *testing.T) {
	s := mustLoad(t, Dirs{}).Settings()
	if s.Storage.Format != Blobs || s.Storage.MaxBlobBytes != 50<<20 || s.GC.Grace != 14*day ||
		!s.GC.Auto || s.Hooks.Check != "error" || s.Trim.Schedule != "cold" ||
		!s.Deduplication.Enabled || s.Deduplication.MinBytes != 300 ||
		s.Deduplication.LookbackTurns != 30 || s.Compaction.SummarizeThreshold != 0.5 ||
		!slices.Equal(s.Compaction.Strategy, []string{"auto"}) || !s.Compaction.Fork {
		t.Errorf("defaults are %+v", s)
	}
}

func TestHigherLayerWinsAndIsNamed(t *testing.T) {
	steps := []struct{ file, want string }{
		{"user/config.toml", "user/config.toml:2"},
		{"user/git-jp.toml", "user/git-jp.toml:2"},
		{"ws/config.toml", "ws/config.toml:2"},
		{"ws/config.yaml", "ws/config.yaml"},
		{"ws/git-jp.toml", "ws/git-jp.toml:2"},
	}
	files := map[string]string{}
	for i, step := range steps {
		files[step.file] = "[conversation.deduplication]\nmin_bytes = " + string(rune('1'+i)) + "\n"
		if strings.HasSuffix(step.file, "yaml") {
			files[step.file] = "conversation:\n  deduplication:\n    min_bytes: 4\n"
		}
		c := mustLoad(t, layers(t, files))
		v, origin, ok := c.Value("conversation.deduplication.min_bytes")
		from := filepath.ToSlash(origin.String())
		if !ok || v != int64(i+1) || !strings.HasSuffix(from, step.want) {
			t.Errorf("with %s: %v from %v", step.file, v, origin)
		}
		if got := origin.Layer.Committed(); got != strings.HasPrefix(step.file, "ws/") {
			t.Errorf("with %s: committed is %v", step.file, got)
		}
		in, of, ok := c.ValueIn(origin.Layer, "conversation.deduplication.min_bytes")
		if !ok || in != v || of != origin {
			t.Errorf("with %s: its layer has %v from %v", step.file, in, of)
		}
	}
	dirs := layers(t, files)
	dirs.Overrides = []string{"conversation.deduplication.min_bytes=9"}
	v, origin, _ := mustLoad(t, dirs).Value("conversation.deduplication.min_bytes")
	if v != int64(9) || origin.String() != "-c" {
		t.Errorf("with -c: %v from %v", v, origin)
	}
}

func TestVariantsOfJPsFile(t *testing.T) {
	for name, text := range map[string]string{
		"ws/config.json":  `{"storage": {"format": "inline"}}`,
		"ws/config.json5": `{storage: {format: 'inline',}, /* x */}`,
		"ws/config.yml":   "storage:\n  format: inline\n",
		"user/config.yml": "storage:\n  format: inline\n",
	} {
		s := mustLoad(t, layers(t, map[string]string{name: text})).Settings()
		if got := s.Storage.Format; got != Inline {
			t.Errorf("%s: format is %s", name, got)
		}
	}
}

func TestFaultsHavePositions(t *testing.T) {
	for _, tt := range []struct{ file, text, want string }{
		{
			"user/git-jp.toml",
			"\n[storage]\nformt = 'blobs'\n",
			"git-jp.toml:3:1: storage.formt: unknown key",
		},
		{"user/git-jp.toml", "[storag]\n", "git-jp.toml:1:2: storag: unknown key"},
		{"user/git-jp.toml", "storage = 3\n", "git-jp.toml:1:1: storage: unknown key"},
		{"user/git-jp.toml", "storage = { x = 1 }\n", "git-jp.toml:1:13: storage.x: unknown key"},
		{
			"user/git-jp.toml",
			"[assistant]\nname = 'x'\n",
			"git-jp.toml:2:1: assistant.name: unknown key",
		},
		{
			"user/git-jp.toml",
			"[storage]\nformat = 'zip'\n",
			`storage.format: expected one of blobs, inline, found "zip"`,
		},
		{"user/git-jp.toml", "[storage]\nmax_blob_bytes = 0\n", "expected at least one byte"},
		{"user/git-jp.toml", "[gc]\nauto = 'yes'\n", `gc.auto: expected true or false, found "yes"`},
		{"user/git-jp.toml", "[gc]\ngrace = 14\n", "gc.grace: expected a duration like 14d, found 14"},
		{"user/git-jp.toml", "[gc]\ngrace = '-1h'\n", "expected a duration"},
		{
			"user/git-jp.toml",
			"[conversation.compaction]\nkeep_last = -1\n",
			"expected no negative number",
		},
		{"user/git-jp.toml", "[conversation.compaction]\nsummarize_threshold = 1.5\n", "from 0 to 1"},
		{"user/git-jp.toml", "[conversation.compaction]\nstrategy = ['auto', 'x']\n", `found "x"`},
		{"user/config.toml", "[gc]\nauto = 'yes'\n", "config.toml:2:1: gc.auto"},
		{"user/config.toml", "x = [1\n", "config.toml:1:7: array is incomplete"},
		{"user/config.json", "{", "config.json: unexpected end"},
		{
			"user/git-jp.toml",
			"[conversation.compaction]\nmodel = 'a'\nsummarize_model = 'b'\n",
			"summarize_model: set twice, also under its other name conversation.compaction.model",
		},
	} {
		_, err := Load(layers(t, map[string]string{tt.file: tt.text}))
		var ke *KeyError
		if err == nil || !strings.Contains(err.Error(), tt.want) || !errors.As(err, &ke) {
			t.Errorf("%q: error is %v, want %s", tt.text, err, tt.want)
		}
	}
}

// TestCommittedFaultsAreLeftOut checks that a fault in a key of a committed file is no error.
func TestCommittedFaultsAreLeftOut(t *testing.T) {
	c := mustLoad(t, layers(t, map[string]string{
		"ws/git-jp.toml": "[hooks]\nstrict = true\nfuture = 1\n[gc]\ngrace = 'x'\n",
	}))
	if !c.Settings().Hooks.Strict || c.Settings().GC.Grace != 14*day {
		t.Errorf("settings are %+v", c.Settings())
	}
	if left := c.LeftOut(); len(left) != 2 ||
		!strings.Contains(left[1].Error(), "git-jp.toml:3:1: hooks.future: unknown key") {
		t.Errorf("left out: %v", left)
	}
}

func TestAllFaultsAreNamed(t *testing.T) {
	_, err := Load(layers(t, map[string]string{
		"user/git-jp.toml": "y = 1\n[x]\na = 1\nb = 2\n",
	}))
	if err == nil || strings.Count(err.Error(), "unknown key") != 3 {
		t.Errorf("error is %v", err)
	}
}

func TestAliases(t *testing.T) {
	for _, file := range []string{"ws/config.toml", "ws/git-jp.toml"} {
		dirs := layers(t, map[string]string{file: `
[conversation.compaction]
summarize_model = "anthropic/claude-haiku"
[tools.fs_read_file]
deduplicate = false
compaction.response = "strip"
`})
		if got := mustLoad(t, dirs).Settings().Compaction.Model; got != "" {
			t.Errorf("%s: somebody else's model is %q", file, got)
		}
		dirs.Approved = func(c trust.Claim) bool { return c.Value == `"anthropic/claude-haiku"` }
		c := mustLoad(t, dirs)
		if got := c.Settings().Compaction.Model; got != "anthropic/claude-haiku" {
			t.Errorf("%s: model is %q", file, got)
		}
		tool := c.Tool("fs_read_file")
		if tool.Deduplicate || tool.Compaction.Response != "strip" || !c.Tool("other").Deduplicate {
			t.Errorf("%s: tool is %+v", file, tool)
		}
		if v, _, ok := c.Value("tools.fs_read_file.deduplicate"); !ok || v != false {
			t.Errorf("%s: value under the alias is %v, %v", file, v, ok)
		}
	}
}

func TestToolsFallBackToStar(t *testing.T) {
	c := mustLoad(t, layers(t, map[string]string{"ws/git-jp.toml": `
[conversation.tools.'*']
deduplicate = false
[conversation.tools."a.b"]
deduplicate = true
compaction.dedup = false
`}))
	own, other := c.Tool("a.b"), c.Tool("x")
	dedup := own.Compaction.Dedup
	if !own.Deduplicate || other.Deduplicate || dedup == nil || *dedup {
		t.Errorf("tools are %+v and %+v", own, other)
	}
}

func TestCommittedValuesDoNotStartProcesses(t *testing.T) {
	const text = "[conversation.tools.x.compaction]\nsubsumes = 'tool'\nlike = 'Read'\n"
	c := mustLoad(t, layers(t, map[string]string{"ws/git-jp.toml": text}))
	if v, ok := c.Tool("x").Compaction.Subsumes.Value(); ok {
		t.Errorf("a committed value counts: %q", v)
	}
	if v, ok := c.Tool("x").Compaction.Like.Value(); ok {
		t.Errorf("somebody else says what a tool is like: %q", v)
	}
	c = mustLoad(t, layers(t, map[string]string{
		"user/git-jp.toml": text,
		"ws/config.toml":   strings.Replace(text, "'tool'", "'exact'", 1),
	}))
	if v, ok := c.Tool("x").Compaction.Subsumes.Value(); !ok || v != "tool" {
		t.Errorf("the user's value is %q, %v", v, ok)
	}
	if v, ok := c.Tool("x").Compaction.Like.Value(); !ok || v != "Read" {
		t.Errorf("the user's value is %q, %v", v, ok)
	}
	c = mustLoad(t, layers(t, map[string]string{
		"user/config.toml": "[providers.llm.x]\nbase_url = 'good'\n",
		"ws/config.toml":   "[providers.llm.x]\nbase_url = 'evil'\n",
	}))
	if v, _, _ := c.Value("providers.llm.x.base_url"); v != "good" {
		t.Errorf("effective base_url is %v", v)
	}
}

func TestCommittedGraceOnlyLengthens(t *testing.T) {
	for _, tt := range []struct {
		user, ws, override string
		want               time.Duration
	}{
		{"", "0s", "", 14 * day},
		{"", "4w", "", 28 * day},
		{"1d", "2d", "", 2 * day},
		{"3d", "2d", "", 3 * day},
		{"", "4w", "1h", time.Hour},
	} {
		files := map[string]string{"ws/git-jp.toml": "[gc]\ngrace = '" + tt.ws + "'\n"}
		if tt.user != "" {
			files["user/git-jp.toml"] = "[gc]\ngrace = '" + tt.user + "'\n"
		}
		dirs := layers(t, files)
		if tt.override != "" {
			dirs.Overrides = []string{"gc.grace=" + tt.override}
		}
		if got := mustLoad(t, dirs).Settings().GC.Grace; got != tt.want {
			t.Errorf("%+v: grace is %v", tt, got)
		}
	}
}

func TestOverrides(t *testing.T) {
	dirs := Dirs{Overrides: []string{
		"storage.format=inline", "storage.max_blob_bytes=2MiB", "gc.auto=false",
		`conversation.compaction.strategy:=["prune-tools","summarize"]`,
		"conversation.compaction.summarize_threshold:=0.25", "assistant.model.id=a/b",
		`conversation.tools.a.deduplicate=false`,
	}}
	c := mustLoad(t, dirs)
	s := c.Settings()
	if s.Storage != (Storage{Inline, 2 << 20, 64 << 20}) || s.GC.Auto || c.Tool("a").Deduplicate ||
		s.Compaction.SummarizeThreshold != 0.25 || len(s.Compaction.Strategy) != 2 {
		t.Errorf("settings are %+v", s)
	}
	if v, _, ok := c.Value("assistant.model.id"); !ok || v != "a/b" {
		t.Errorf("assistant.model.id is %v", v)
	}
	for _, bad := range []string{
		"storage.format", "storage.formt=x", "gc.auto=maybe", "gc.auto:=1", "gc.auto:={", "a b=c",
		"storage.format+=x", "=x", "nonsense.key=1", "gc.grace=x", "storage.max_blob_bytes=12XB",
	} {
		_, err := Load(Dirs{Overrides: []string{bad}})
		var ke *KeyError
		if !errors.As(err, &ke) || ke.Origin.Layer != Command {
			t.Errorf("-c %s: error is %v", bad, err)
		}
	}
}

func TestLinkOutOfTheWorkspaceIsRefused(t *testing.T) {
	dirs := layers(t, map[string]string{"secret.toml": "[storage]\nformat='inline'\n", "ws/x": ""})
	err := os.Symlink("../secret.toml", filepath.Join(dirs.Workspace, OwnFile))
	if err != nil {
		t.Skip(err)
	}
	if _, err := Load(dirs); !errors.Is(err, regular.ErrOutside) {
		t.Errorf("error is %v", err)
	}
}

func TestRealConfiguration(t *testing.T) {
	c := mustLoad(t, Dirs{Workspace: realdata.Dir(t, "jp-config")})
	v, origin, ok := c.Value("style.reasoning.display")
	if !ok || v != "full" || origin.Line != 79 || !origin.Layer.Committed() {
		t.Errorf("style.reasoning.display is %v from %v", v, origin)
	}
	if len(c.Keys()) < len(Known()) {
		t.Errorf("%d keys", len(c.Keys()))
	}
}

func TestUserDir(t *testing.T) {
	for _, tt := range []struct {
		goos, want string
		env        map[string]string
	}{
		{"linux", "/home/a/.config/jp", nil},
		{"linux", "/x/jp", map[string]string{"XDG_CONFIG_HOME": "/x"}},
		{"linux", "/home/a/.config/jp", map[string]string{"XDG_CONFIG_HOME": "rel"}},
		{
			"darwin",
			"/home/a/Library/Application Support/jp",
			map[string]string{"XDG_CONFIG_HOME": "/x"},
		},
		{"linux", "/home/a/y", map[string]string{"JP_GLOBAL_CONFIG_DIR": "~/y/"}},
		{"linux", "~b/y", map[string]string{"JP_GLOBAL_CONFIG_DIR": "~b/y"}},
	} {
		got := UserDir(func(k string) string { return tt.env[k] }, "/home/a", tt.goos)
		if filepath.ToSlash(got) != tt.want {
			t.Errorf("%s %v: %s, want %s", tt.goos, tt.env, got, tt.want)
		}
		for _, home := range []string{"", "rel"} {
			got := UserDir(func(k string) string { return tt.env[k] }, home, tt.goos)
			if strings.HasPrefix(tt.want, "/home/a/") && got != "" {
				t.Errorf("%s %v, home %q: %s", tt.goos, tt.env, home, got)
			}
		}
	}
}

// TestStreamLimitIsTheUsersAlone checks that a committed file neither raises nor lowers the limit,
// that no approval changes that, and that its value is reported.
func TestStreamLimitIsTheUsersAlone(t *testing.T) {
	const key = "storage.max_stream_bytes"
	for _, value := range []string{"1", "'1GiB'"} {
		dirs := layers(t, map[string]string{
			"user/git-jp.toml": "[storage]\nmax_stream_bytes = '100MiB'\n",
			"ws/git-jp.toml":   "[storage]\nmax_stream_bytes = " + value + "\n",
		})
		dirs.Approved = func(trust.Claim) bool { return true }
		c := mustLoad(t, dirs)
		shown, _, _ := c.Value(key)
		if got := c.Settings().Storage.MaxStreamBytes; got != 100<<20 || shown != got {
			t.Errorf("with %s: %d, shown as %v", value, got, shown)
		}
		if claims := c.Claims(); len(claims) > 0 {
			t.Errorf("with %s: to approve are %v", value, claims)
		}
		if left := c.LeftOut(); len(left) != 1 || !strings.Contains(left[0].Error(), key) {
			t.Errorf("with %s: left out are %v", value, left)
		}
	}
}
