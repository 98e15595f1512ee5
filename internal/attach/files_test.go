package attach_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

func put(t *testing.T, name, data string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

// newFiles creates a workspace in a repository.
func newFiles(t *testing.T) (builtin.Workspace, string) {
	t.Helper()
	r := gittest.Repo(t)
	for name, data := range map[string]string{
		"src/main.rs": "one\ntwo\nthree\n", "src/lib.rs": "lib\n", "src/deep/er.rs": "er\n",
		"src/.hidden.rs": "hidden\n", ".github/ci.yml": "ci\n", "docs/a b.md": "# a\n",
		"src/[id].tsx": "id\n", "logo.png": "\x89PNG\r\n\x1a\n", "target/out.rs": "out\n",
		".gitignore": "target/\n", ".jp/config.toml": "x", "100%.txt": "p\n",
	} {
		put(t, filepath.Join(r.Dir, name), data)
	}
	r.Commit("start")
	put(t, filepath.Join(filepath.Dir(r.Dir), "secret"), "secret")
	tree, err := file.Open(r.Dir)
	if err != nil {
		t.Fatal(err)
	}
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { tree.Close(); repo.Close() })
	return builtin.Workspace{Tree: tree, Repo: repo}, r.Dir
}

// names returns the URIs without their common prefix.
func names(rs []events.Resource) string {
	var all []string
	for _, r := range rs {
		all = append(all, strings.TrimPrefix(r.URI, "file:///$WORKSPACE/"))
	}
	return strings.Join(all, " ")
}

func TestFiles(t *testing.T) {
	w, dir := newFiles(t)
	put(t, filepath.Join(dir, `o\[d]d`, "o.md"), "odd\n")
	r := attach.New(attach.Options{Files: w})
	const rust = "src/%5Bid%5D.tsx src/deep/er.rs src/lib.rs src/main.rs"
	tests := []struct {
		attachments string // separated by blanks
		want        string
	}{
		{"file:src/main.rs", "src/main.rs"},
		{"file:///$WORKSPACE/src/main.rs", "src/main.rs"},
		{"file://src/main.rs", "src/main.rs"},
		{"file://" + dir + "/src/main.rs", "src/main.rs"},
		{"file:docs/../src/./main.rs", "src/main.rs"},
		{"file:docs/a%20b.md", "docs/a%20b.md"},
		{"file:100%25.txt", "100%25.txt"},
		{"file:src/main.rs file:src/main.rs file:./src/main.rs", "src/main.rs"},
		{"file:src/main.rs#L2-3", "src/main.rs#L2-3"},
		{"file:src/main.rs#L2-99", "src/main.rs#L2-3"},
		{"file:src/*.rs", "src/lib.rs src/main.rs"},
		{"file:src/**/*.rs", "src/deep/er.rs src/lib.rs src/main.rs"},
		{"file:**/*.rs", "src/deep/er.rs src/lib.rs src/main.rs"},
		{"file://" + dir + "/src/*.rs", "src/lib.rs src/main.rs"},
		{"file:src/{lib,main}.rs", "src/lib.rs src/main.rs"},
		{"file:src", rust},
		{"file:src/", rust},
		{"file:src/[id].tsx", "src/%5Bid%5D.tsx"}, // the name of an existing file is not a pattern
		{"file:src/.*.rs", "src/.hidden.rs"},
		{"file:src/.hidden.rs", "src/.hidden.rs"},
		{"file:.github", ".github/ci.yml"},
		{"file:.github/*.yml", ".github/ci.yml"},
		{"file:target/out.rs", "target/out.rs"}, // explicitly named
		{"file:**/out.rs?ignored", "target/out.rs"},
		{"file:**/*.rs?ignored=true", "src/deep/er.rs src/lib.rs src/main.rs target/out.rs"},
		{"file:**/*.rs file:src/deep?exclude=true", "src/lib.rs src/main.rs"},
		{"file:**/*.rs file:**/lib.rs?exclude", "src/deep/er.rs src/main.rs"},
		{"file:src/lib.rs file:**/*.rs?exclude", "src/lib.rs"}, // an explicit name takes precedence
		{"file:logo.png", "logo.png"},
		{`file:o\[d]d`, "o%5C%5Bd%5Dd/o.md"}, // as is that of a directory
		{`file:o\\\[d]d/*.md`, "o%5C%5Bd%5Dd/o.md"},
	}
	for _, tt := range tests {
		got, failures := r.Resolve(t.Context(), strings.Fields(tt.attachments))
		if names(got) != tt.want || len(failures) > 0 {
			t.Errorf("%s: %q %v, want %q", tt.attachments, names(got), failures, tt.want)
		}
	}
	failing := []string{
		"file:nope", "file:nope/*.rs", "file:../secret", "file:" + filepath.Dir(dir) + "/secret",
		"file:../*", "file:.jp/config.toml", "file:.jp", "file:.git/config", "file:**/out.rs",
		"file:" + strings.Repeat("{s,r}", 7), "file:" + strings.Repeat("**/", 5) + "x",
		"file:src/main.rs?nope=1", "file:src/main.rs#intro", "file:src/main.rs#L9-9", "file:src/[",
		"nothing", "gopher://a", "cmd:true", "http://a.example", "jp://jp-c1", "mcp+a+b:c",
	}
	for _, a := range failing {
		got, failures := r.Resolve(t.Context(), []string{a, "file:src/lib.rs"})
		if names(got) != "src/lib.rs" || len(failures) != 1 || failures[0].Attachment != a {
			t.Errorf("%s: %q %v", a, names(got), failures)
		}
	}
}

// TestPatternsAreBounded checks that a foreign exclusion which takes long to match fails the
// attachments that it applies to, since it may protect a secret; and that the number of matches is
// limited.
func TestPatternsAreBounded(t *testing.T) {
	w, _ := newFiles(t)
	intricate := "file:" + strings.Repeat("{s,r}", 7) + "?exclude"
	got, failures := attach.New(attach.Options{Files: w}).Resolve(t.Context(),
		[]string{"file:src/*.rs", "file:logo.png", intricate})
	if names(got) != "logo.png" || len(failures) != 1 ||
		!errors.Is(failures[0], regular.ErrPattern) {
		t.Errorf("%q %v", names(got), failures)
	}
	r := attach.New(attach.Options{Files: w})
	attach.Tire(r)
	got, failures = r.Resolve(t.Context(), []string{"file:src/*.rs", "file:logo.png"})
	if names(got) != "logo.png" || len(failures) != 1 ||
		!strings.Contains(failures[0].Error(), "more than 10000000 times") {
		t.Errorf("%q %v", names(got), failures)
	}
}

func TestAttachedAndReadAreTheSame(t *testing.T) {
	w, _ := newFiles(t)
	attached, _ := attach.New(attach.Options{Files: w}).Resolve(t.Context(),
		[]string{"file:src/main.rs", "file:src/main.rs#L2-2"})
	x, err := tool.NewExecutor(builtin.Items(w), tool.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, args := range []string{
		`{"path":"src/../src/main.rs"}`, `{"path":"src/main.rs","start_line":2,"end_line":2}`,
	} {
		rs, err := x.Run(t.Context(),
			[]tool.Call{{Name: "fs_read_file", Arguments: jsontext.Value(args)}}, nil)
		if err != nil {
			t.Fatal(err)
		}
		read := rs[0].Blocks[0].Resource
		if read.URI != attached[i].URI || read.Content.Ref() != attached[i].Content.Ref() ||
			read.MIMEType != attached[i].MIMEType {
			t.Errorf("%+v, %+v", read, attached[i])
		}
	}
}

func TestASnapshotDoesNotChange(t *testing.T) {
	w, dir := newFiles(t)
	r := attach.New(attach.Options{Files: w})
	before, _ := r.Resolve(t.Context(), []string{"file:src/lib.rs"})
	put(t, filepath.Join(dir, "src/lib.rs"), "new\n")
	if b, _ := before[0].Content.Bytes(nil); string(b) != "lib\n" {
		t.Errorf("%q", b)
	}
	f := r.Refresher([]string{before[0].URI, "file:///$WORKSPACE/src/%5Bid%5D.tsx"}, nil)
	for _, uri := range []string{before[0].URI, w.Tree.Expand(before[0].URI)} {
		now, err := f.Refresh(t.Context(), uri)
		if err != nil || now.URI != before[0].URI {
			t.Fatalf("%+v (%v)", now, err)
		}
		if b, _ := now.Content.Bytes(nil); string(b) != "new\n" {
			t.Errorf("%q", b)
		}
	}
	if _, err := f.Refresh(t.Context(), "file:///$WORKSPACE/src/%5Bid%5D.tsx"); err != nil {
		t.Errorf("a name that looks like a pattern: %v", err)
	}
	for _, uri := range []string{
		"file:///$WORKSPACE/src/main.rs", "file:///etc/passwd", "cmd://rm?arg=x", "http://a.example/",
	} {
		if _, err := f.Refresh(t.Context(), uri); err == nil || !strings.Contains(err.Error(), "not attached") {
			t.Errorf("%s: %v", uri, err)
		}
	}
	r = attach.New(attach.Options{Files: w, Starter: &starter{stdout: "out"}})
	f = r.Refresher([]string{"cmd://git?arg=log&arg=-3"}, nil)
	for _, uri := range []string{"cmd://git?arg=log&arg=-3", "cmd:git log -3", "cmd://git/?args=log&arg=%2D3"} {
		if _, err := f.Refresh(t.Context(), uri); err != nil {
			t.Errorf("%s: %v", uri, err)
		}
	}
	if _, err := f.Refresh(t.Context(), "cmd:git log -4"); err == nil {
		t.Error("another command was run")
	}
	for spelled, want := range map[string]string{
		"HTTP://A.Example:80/x/../y#f": "http://a.example/y", "https://a.example": "https://a.example/",
		"jp:jp-c17000000001?select=assistant": "jp://jp-c17000000001",
		"mcp+s+test://doc":                    "test://doc", "test://doc": "test://doc",
		"file:src/../src/lib.rs": before[0].URI, "cmd:": "cmd:",
	} {
		if got := r.Canonical(spelled); got != want {
			t.Errorf("%s is %s, want %s", spelled, got, want)
		}
	}
	r = attach.New(attach.Options{Files: w})
	none := r.Refresher([]string{"test://x", "cmd://a"}, []string{"mcp+s+test://x"})
	if _, err := none.Refresh(t.Context(), "test://x"); err == nil {
		t.Error("a refresher for what cannot be resolved again")
	}
}

func TestArguments(t *testing.T) {
	w, dir := newFiles(t)
	src, odd := filepath.Join(dir, "src"), filepath.Join(dir, "o[d]d")
	if err := os.Mkdir(odd, 0o700); err != nil {
		t.Fatal(err)
	}
	tests := []struct{ cwd, in, want string }{
		{dir, "src/main.rs", "file:src/main.rs"},
		{src, "main.rs", "file:src/main.rs"},
		{src, "../docs/a b.md", "file:docs/a b.md"},
		{src, filepath.Join(dir, "logo.png"), "file:logo.png"},
		{dir, "src", "file:src"},
		{dir, "!src/lib.rs", "file:src/lib.rs?exclude=true"},
		{dir, "100%.txt", "file:100%25.txt"},
		{dir, "src/**/*.rs", "file:src/**/*.rs"},
		{src, "*.rs", "file:src/*.rs"},
		{dir, "*.rs", "file:*.rs"},
		{odd, "*.rs", `file:o\[d]d/*.rs`},
		{odd, "../src/*.rs", "file:src/*.rs"},
		{dir, "https://a.example/x", "https://a.example/x"},
		{dir, "cmd:git diff", "cmd:git diff"},
		{src, "file://" + dir + "/src/main.rs#L2-3", "file:src/main.rs#L2-3"},
		{src, "file:///src/main.rs", "file:///src/main.rs"}, // as jp means it
		{dir, "jp-c17838348630", "jp://jp-c17838348630"},
		{dir, "jp-c17838348630?u,a:-2", "jp://jp-c17838348630?select=u,a:-2"},
		{dir, "jp-c17838348630?raw=all", "jp://jp-c17838348630?raw=all"},
		{dir, "nope", ""},
		{dir, "../secret", ""},
		{dir, "../*", ""},
		{dir, ".jp/config.toml", ""},
	}
	for _, tt := range tests {
		got, err := attach.Argument(tt.in, tt.cwd, w.Tree)
		if got != tt.want || (err != nil) != (tt.want == "") {
			t.Errorf("%s: %q (%v), want %q", tt.in, got, err, tt.want)
		}
	}
}

// TestTooMuchAndTooStrange attaches what cannot be intended, and what a workspace may contain to do
// harm.
func TestTooMuchAndTooStrange(t *testing.T) {
	w, dir := newFiles(t)
	r := attach.New(attach.Options{Files: w})
	for i := range 1001 {
		put(t, filepath.Join(dir, "many", strconv.Itoa(i)), "x")
	}
	for i := range 5 {
		put(t, filepath.Join(dir, "large", strconv.Itoa(i)), strings.Repeat("x", 9<<20))
	}
	put(t, filepath.Join(dir, "huge"), strings.Repeat("x", 11<<20))
	odd := filepath.Join(dir, "odd")
	put(t, filepath.Join(odd, "ok"), "ok")
	if err := os.WriteFile(filepath.Join(odd, "n\xff\xfe\n.txt"), []byte("odd"), 0o666); err != nil {
		t.Skipf("no such names here: %v", err)
	}
	for name, target := range map[string]string{
		"loop": "loop", "one": "two", "two": "one", "up": "..", "out": "../../secret",
	} {
		if err := os.Symlink(target, filepath.Join(odd, name)); err != nil {
			t.Skipf("no links here: %v", err)
		}
	}
	for a, why := range map[string]string{
		"file:many": "files match, and 1000 are allowed", "file:large/*": "larger than 33554432 bytes",
	} {
		got, failures := r.Resolve(t.Context(), []string{a})
		if len(got) > 0 || len(failures) != 1 || !strings.Contains(failures[0].Error(), why) {
			t.Errorf("%s: %d resources, %v", a, len(got), failures)
		}
	}
	put(t, filepath.Join(dir, "mixed", "huge"), strings.Repeat("x", 11<<20))
	put(t, filepath.Join(dir, "mixed", "small"), "x")
	for _, a := range []string{"file:mixed", "file:mixed/*"} {
		got, failures := r.Resolve(t.Context(), []string{a})
		if names(got) != "mixed/small" || len(failures) != 1 || failures[0].Found != 1 ||
			!errors.Is(failures[0], file.ErrTooLarge) {
			t.Errorf("%s: %q, %v", a, names(got), failures)
		}
	}
	for _, a := range []string{"file:huge", "file:odd/loop", "file:odd/one/x", "file:odd/out"} {
		if got, failures := r.Resolve(t.Context(), []string{a}); len(got) > 0 || len(failures) != 1 {
			t.Errorf("%s: %q, %v", a, names(got), failures)
		}
	}
	for _, a := range []string{"file:odd", "file:odd/**", "file:odd?ignored"} {
		got, failures := r.Resolve(t.Context(), []string{a})
		if names(got) != "odd/n%FF%FE%0A.txt odd/ok" || len(failures) > 0 {
			t.Fatalf("%s: %q, %v", a, names(got), failures)
		}
		// It can be stored, and is read back unchanged.
		s := events.New(events.NewElement(time.Unix(0, 0), &events.ChatRequest{Resources: got},
			events.Metadata{}))
		if err := s.Validate(); err != nil {
			t.Errorf("%s: %v", a, err)
		}
		again, err := events.Decode(s.Encode())
		if err != nil {
			t.Fatal(err)
		}
		request, _ := again.At(0).Event().(*events.ChatRequest)
		if names(request.Resources) != names(got) {
			t.Errorf("%s: comes back as %q", a, names(request.Resources))
		}
	}
}

// starter records commands and prints the configured output.
type starter struct {
	commands       []tool.Command
	stdout, stderr string
	err            error
	refuse         error
}

func (s *starter) Start(_ context.Context, c tool.Command) (tool.Process, error) {
	s.commands = append(s.commands, c)
	if s.refuse != nil {
		return nil, s.refuse
	}
	_, _ = c.Stdout.Write([]byte(s.stdout))
	_, _ = c.Stderr.Write([]byte(s.stderr))
	return s, nil
}

func (s *starter) Wait() error { return s.err }

func TestCommands(t *testing.T) {
	w, dir := newFiles(t)
	tests := []struct {
		in, words, uri, description string
	}{
		{
			"cmd://date?arg=%2B%25Y-%25m-%25d&description=Current Date", "date|+%Y-%m-%d",
			"cmd://date?arg=%2B%2525Y-%2525m-%2525d&description=Current+Date", "Current Date",
		},
		{
			"cmd:git diff --cached?description=The diff", "git|diff|--cached",
			"cmd://git?arg=diff&arg=--cached&description=The+diff", "The diff",
		},
		{
			"cmd:git diff -- . :^.jp/x 'a b'", "git|diff|--|.|:^.jp/x|a b",
			"cmd://git?arg=diff&arg=--&arg=.&arg=%3A%5E.jp%2Fx&arg=a+b", "",
		},
		{"cmd://echo?args[]=a%20b&arg=%2525", "echo|a b|%", "cmd://echo?arg=a+b&arg=%2525", ""},
		{"cmd:true", "true", "cmd://true", ""},
	}
	for _, tt := range tests {
		s := &starter{stdout: "out\n"}
		r := attach.New(attach.Options{Files: w, Starter: s})
		for _, in := range []string{tt.in, tt.uri} {
			got, failures := r.Resolve(t.Context(), []string{in})
			if len(failures) > 0 || len(got) != 1 {
				t.Errorf("%s: %v", in, failures)
				continue
			}
			c := s.commands[len(s.commands)-1]
			words := strings.Join(append([]string{c.Program}, c.Args...), "|")
			if words != tt.words || c.Dir != dir || got[0].URI != tt.uri ||
				got[0].Description != tt.description {
				t.Errorf("%s: %q %+v", in, words, got[0])
			}
			if b, _ := got[0].Content.Bytes(nil); string(b) != "out\n" {
				t.Errorf("%s: %q", in, b)
			}
		}
	}
	s := &starter{stdout: "o\n", stderr: "e\n", err: &tool.ExitError{Code: 3}}
	got, _ := attach.New(attach.Options{Files: w, Starter: s}).Resolve(t.Context(), []string{"cmd:false"})
	want := "<Output>\n<stdout>\no\n</stdout>\n<stderr>\ne\n</stderr>\n<code>3</code>\n</Output>\n"
	if b, _ := got[0].Content.Bytes(nil); string(b) != want {
		t.Errorf("%q", b)
	}
	s = &starter{refuse: errors.New("not approved")}
	got, failures := attach.New(attach.Options{Files: w, Starter: s}).Resolve(t.Context(), []string{"cmd:x"})
	if got != nil || len(failures) != 1 || !errors.Is(failures[0], s.refuse) {
		t.Errorf("%v %v", got, failures)
	}
	for _, a := range []string{"cmd:", "cmd://", "cmd:'a", "cmd://a?b=c"} {
		if got, failures := attach.New(attach.Options{Files: w, Starter: s}).
			Resolve(t.Context(), []string{a}); got != nil || len(failures) != 1 {
			t.Errorf("%s: %v", a, got)
		}
	}
}

type server map[string]string

func (s server) Read(_ context.Context, uri string) ([]events.Resource, error) {
	text, ok := s[uri]
	if !ok {
		return nil, errors.New("no such resource")
	}
	return []events.Resource{{URI: uri, MIMEType: text}}, nil
}

func TestServers(t *testing.T) {
	w, _ := newFiles(t)
	var asked []string
	r := attach.New(attach.Options{Files: w, Server: func(_ context.Context, id string) (attach.Reader, error) {
		if asked = append(asked, id); id != "Book" {
			return nil, errors.New("no such server")
		}
		return server{"crate://x/1": "text/plain"}, nil
	}})
	a := "mcp+Book+crate://x/1"
	got, failures := r.Resolve(t.Context(), []string{a, "mcp+other+crate://x", "mcp+Book", "mcp+Book+crate://y"})
	if len(got) != 1 || got[0].URI != "crate://x/1" || got[0].Name != got[0].URI || len(failures) != 3 ||
		!slices.Equal(asked, []string{"Book", "other", "Book"}) {
		t.Errorf("%+v %v %v", got, failures, asked)
	}
	f := r.Refresher([]string{"crate://x/1"}, []string{a})
	if f == nil {
		t.Fatal("no refresher")
	}
	if res, err := f.Refresh(t.Context(), "crate://x/1"); err != nil || res.URI != "crate://x/1" {
		t.Errorf("%+v (%v)", res, err)
	}
}
