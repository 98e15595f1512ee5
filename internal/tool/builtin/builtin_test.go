package builtin_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/go-json-experiment/json/jsontext"
)

// A bench is a workspace with its tools.
type bench struct {
	*gittest.Repository
	t    *testing.T
	dir  string // root of the workspace
	exec *tool.Executor
}

// newBench creates a repository with a workspace in its subdirectory sub.
func newBench(t *testing.T, sub string) *bench {
	t.Helper()
	r := gittest.Repo(t)
	b := &bench{Repository: r, t: t, dir: filepath.Join(r.Dir, sub)}
	b.put("src/main.rs", "fn main() {\n    one();\n    two();\n}\n")
	b.put("src/lib.rs", "pub fn one() {}\npub fn two() {}\n")
	b.put("docs/a b.md", "# one\n")
	b.put(".gitignore", "target/\n*.log\n")
	b.put(".jp/config.toml", "one")
	r.Commit("start")
	b.open(true)
	return b
}

func (b *bench) open(git bool) {
	b.t.Helper()
	tree, err := file.Open(b.dir)
	if err != nil {
		b.t.Fatal(err)
	}
	b.t.Cleanup(func() { tree.Close() })
	w := builtin.Workspace{Tree: tree}
	if git {
		if w.Repo, err = gitint.Open(b.t.Context(), gitint.Options{Dir: b.dir, Env: b.Env}); err != nil {
			b.t.Fatal(err)
		}
		b.t.Cleanup(func() { w.Repo.Close() })
	}
	items := builtin.Items(w)
	for i := range items {
		items[i].Policy.Run = tool.Unattended
	}
	if b.exec, err = tool.NewExecutor(items, tool.Options{}); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) put(name, data string) {
	b.t.Helper()
	name = filepath.Join(b.dir, name)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		b.t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		b.t.Fatal(err)
	}
}

func (b *bench) get(name string) string {
	data, err := os.ReadFile(filepath.Join(b.dir, name))
	if err != nil {
		return "(" + err.Error() + ")"
	}
	return string(data)
}

func (b *bench) call(name, args string) tool.Result {
	b.t.Helper()
	rs, err := b.exec.Run(b.t.Context(),
		[]tool.Call{{ID: "c", Name: name, Arguments: jsontext.Value(args)}}, nil)
	if err != nil {
		b.t.Fatal(err)
	}
	return rs[0]
}

// text calls a tool and returns its text; that of an error result begins with "!".
func (b *bench) text(name, args string) string {
	b.t.Helper()
	r := b.call(name, args)
	text, err := (&events.ToolCallResponse{Blocks: r.Blocks}).Text(nil)
	if err != nil {
		b.t.Fatal(err)
	}
	if r.IsError {
		text = "!" + text
	}
	return text
}

// says calls a tool and compares its text.
func (b *bench) says(name, args, want string) {
	b.t.Helper()
	if got := b.text(name, args); got != want {
		b.t.Errorf("%s %s:\n%s\nwant:\n%s", name, args, got, want)
	}
}

// contains checks for pieces of the text.
func (b *bench) contains(name, args string, want ...string) string {
	b.t.Helper()
	got := b.text(name, args)
	for _, w := range want {
		if !strings.Contains(got, w) {
			b.t.Errorf("%s %s: no %q in\n%s", name, args, w, got)
		}
	}
	return got
}

func TestReadFile(t *testing.T) {
	b := newBench(t, "ws")
	b.put("bin", "\x00\x01")
	b.put("empty", "")
	const ws = "file:///$WORKSPACE/"
	tests := []struct{ args, uri, content string }{
		{`{"path":"src/lib.rs"}`, ws + "src/lib.rs", "pub fn one() {}\npub fn two() {}\n"},
		{`{"path":"./docs/../src//lib.rs"}`, ws + "src/lib.rs", "pub fn one() {}\npub fn two() {}\n"},
		{`{"path":"src/main.rs","start_line":2,"end_line":3}`, ws + "src/main.rs#L2-3", "    one();\n    two();\n"},
		{`{"path":"src/main.rs","start_line":3}`, ws + "src/main.rs#L3-4", "    two();\n}\n"},
		{`{"path":"src/main.rs","end_line":1}`, ws + "src/main.rs#L1-1", "fn main() {\n"},
		{`{"path":"src/main.rs","start_line":"2","end_line":99}`, ws + "src/main.rs#L2-4", "    one();\n    two();\n}\n"},
		{`{"path":"src/lib.rs","start_line":1,"end_line":99}`, ws + "src/lib.rs", "pub fn one() {}\npub fn two() {}\n"},
		{`{"path":"docs/a b.md"}`, ws + "docs/a%20b.md", "# one\n"},
		{`{"path":"file:///$WORKSPACE/src/main.rs#L2-2"}`, ws + "src/main.rs#L2-2", "    one();\n"},
		{`{"path":"bin"}`, ws + "bin", "\x00\x01"},
		{`{"path":"empty","start_line":1}`, ws + "empty", ""},
	}
	for _, tt := range tests {
		r := b.call("fs_read_file", tt.args)
		if r.IsError || len(r.Blocks) != 1 || r.Blocks[0].Type != events.BlockResource {
			t.Errorf("%s: %+v", tt.args, r)
			continue
		}
		res := r.Blocks[0].Resource
		data, err := res.Content.Bytes(nil)
		if err != nil || res.URI != tt.uri || string(data) != tt.content {
			t.Errorf("%s: %s %q (%v)", tt.args, res.URI, data, err)
		}
	}
	absolute := `{"path":` + quoted(filepath.Join(b.dir, "src/lib.rs")) + `}`
	if r := b.call("fs_read_file", absolute); r.Blocks[0].Resource == nil ||
		r.Blocks[0].Resource.URI != ws+"src/lib.rs" {
		t.Errorf("absolute path: %+v", r)
	}
	for _, args := range []string{
		`{"path":"src/lib.rs","start_line":9}`, `{"path":"src/lib.rs","start_line":0}`,
		`{"path":"src/lib.rs","start_line":2,"end_line":1}`, `{"path":"src"}`, `{"path":"nope"}`,
		`{"path":".jp/config.toml"}`, `{"path":"../.git/config"}`, `{"path":"/etc/passwd"}`,
		`{"path":""}`, `{"path":7}`, `{"path":"bin","start_line":2}`, `{"path":"https://a.example"}`,
	} {
		if r := b.call("fs_read_file", args); !r.IsError {
			t.Errorf("%s: %+v", args, r)
		}
	}
}

func quoted(s string) string {
	b, _ := json.Marshal(s)
	return string(b)
}

func TestReadingTwiceIsTheSameResource(t *testing.T) {
	b := newBench(t, "")
	first := b.call("fs_read_file", `{"path":"src/lib.rs"}`).Blocks[0].Resource
	again := b.call("fs_read_file", `{"path":"./src/lib.rs","start_line":1}`).Blocks[0].Resource
	if first.URI != again.URI || first.Content.Ref() != again.Content.Ref() {
		t.Errorf("%s %s, %s %s", first.URI, first.Content.Ref(), again.URI, again.Content.Ref())
	}
}

func TestListFiles(t *testing.T) {
	for _, sub := range []string{"", "deep/ws"} {
		b := newBench(t, sub)
		b.put("target/out.rs", "")
		b.put("new.rs", "")
		b.says("fs_list_files", `{}`, ".gitignore\ndocs/a b.md\nnew.rs\nsrc/lib.rs\nsrc/main.rs")
		b.says("fs_list_files", `{"extensions":["rs"],"prefixes":["src/"]}`, "src/lib.rs\nsrc/main.rs")
		b.says("fs_list_files", `{"extensions":".md"}`, "docs/a b.md")
		b.says("fs_list_files", `{"prefixes":["src","."],"extensions":["toml"]}`, "No files match.")
		b.contains("fs_list_files", `{"prefixes":["../"]}`, "!")
		b.contains("fs_list_files", `{"prefixes":[".git"]}`, "!")
		if err := os.Remove(filepath.Join(b.dir, "src/lib.rs")); err != nil {
			t.Fatal(err)
		}
		b.says("fs_list_files", `{"prefixes":["src"]}`, "src/main.rs")
	}
}

func TestListFilesWithoutGit(t *testing.T) {
	b := newBench(t, "")
	b.open(false)
	b.says("fs_list_files", `{}`, ".gitignore\ndocs/a b.md\nsrc/lib.rs\nsrc/main.rs")
	b.contains("fs_delete_file", `{"path":"src/lib.rs"}`, "!", "no git repository")
	b.contains("git_status", `{}`, "not available")
}

func TestGrepFiles(t *testing.T) {
	b := newBench(t, "ws")
	b.put("debug.log", "one\n")
	b.put("bin", "one\x00")
	b.put("crlf", "one\r\ntwo\r\n")
	b.says("fs_grep_files", `{"pattern":"fn \\w+\\(\\) \\{\\}"}`,
		"src/lib.rs:1:pub fn one() {}\nsrc/lib.rs:2:pub fn two() {}")
	b.says("fs_grep_files", `{"pattern":"two\\(\\);","context":1}`,
		"src/main.rs-2-    one();\nsrc/main.rs:3:    two();\nsrc/main.rs-4-}")
	b.says("fs_grep_files", `{"pattern":"^one$"}`, "crlf:1:one")
	b.says("fs_grep_files", `{"pattern":"one","paths":["debug.log"]}`, "debug.log:1:one")
	b.says("fs_grep_files", `{"pattern":"one","paths":["docs","docs/a b.md"]}`, "docs/a b.md:1:# one")
	b.says("fs_grep_files", `{"pattern":"zzz"}`, "No matches found.")
	b.contains("fs_grep_files", `{"pattern":"("}`, "!", "pattern")
	b.contains("fs_grep_files", `{"pattern":"x","paths":[".git/config"]}`, "!")
	b.put("gap", "m\na\nb\nc\nd\nm\n")
	b.says("fs_grep_files", `{"pattern":"m","paths":["gap"],"context":1}`,
		"gap:1:m\ngap-2-a\n--\ngap-5-d\ngap:6:m")
	b.put("many", strings.Repeat("hit\n", 101))
	got := b.contains("fs_grep_files", `{"pattern":"hit","context":3}`,
		"[50 of 101 matches are shown, without context]")
	if n := strings.Count(got, ":hit"); n != 50 {
		t.Errorf("%d matches shown", n)
	}
	b.put("wide", strings.Repeat("w", 10_000))
	if got := b.contains("fs_grep_files", `{"pattern":"www"}`, "… [10000 bytes]"); len(got) > 600 {
		t.Errorf("a line of %d bytes", len(got))
	}
}

func TestCreateFile(t *testing.T) {
	b := newBench(t, "")
	b.says("fs_create_file", `{"path":"a/b/c.rs","content":"x"}`, "File 'a/b/c.rs' created. File size: 1")
	b.says("fs_create_file", `{"path":"empty"}`, "File 'empty' created. File size: 0")
	b.says("fs_create_file", `{"path":"empty","content":"y"}`,
		"!File 'empty' already exists. Use `fs_modify_file` to change it.")
	for _, p := range []string{"../x", ".git/hooks/pre-commit", ".jp/config.toml", ".GIT/x", "sub/.git/x", "file:///tmp/x"} {
		b.contains("fs_create_file", `{"path":"`+p+`","content":"y"}`, "!")
	}
	if got := b.get("a/b/c.rs") + b.get("empty") + b.get(".jp/config.toml"); got != "xone" {
		t.Errorf("%q", got)
	}
}

func TestModifyFile(t *testing.T) {
	b := newBench(t, "")
	b.says("fs_modify_file",
		`{"path":"src/lib.rs","patterns":[{"old":"one","new":"uno"}],"replace_using_regex":false}`,
		"File modified successfully:\n\n```diff\n--- src/lib.rs\n+++ src/lib.rs\n@@ -1,2 +1,2 @@\n"+
			"-pub fn one() {}\n+pub fn uno() {}\n pub fn two() {}\n```")
	b.contains("fs_modify_file",
		`{"path":"src/lib.rs","patterns":[{"old":"^pub fn (\\w+)","new":"fn ${1}_x"}],"replace_using_regex":true}`,
		"+fn uno_x() {}")
	b.contains("fs_modify_file", `{"patterns":[
		{"old":"()","new":"(a)","paths":["src/lib.rs","src/main.rs"]},
		{"old":"a+","new":"b","regex":true,"paths":["src/lib.rs"]}]}`, "src/lib.rs", "src/main.rs")
	want := "fn uno_x(b) {}\nfn two_x(b) {}\n" + "fn main(a) {\n    one(a);\n    two(a);\n}\n"
	if got := b.get("src/lib.rs") + b.get("src/main.rs"); got != want {
		t.Errorf("%q", got)
	}
	tests := []struct{ args, want string }{
		{`{"path":"src/lib.rs","patterns":[{"old":"uno","new":"eins"},{"old":"zzz","new":"y"}]}`, "pattern #2 does not match"},
		{`{"patterns":[{"old":"uno","new":"x","paths":["src/lib.rs","nope"]}]}`, "nope"},
		{`{"path":"src/lib.rs","patterns":[{"old":"a","new":"a"},{"old":"b","new":"b"}]}`, "#1, #2 have identical"},
		{`{"path":"src/lib.rs","patterns":[{"old":"","new":"a"}]}`, "empty"},
		{`{"patterns":[{"old":"b","new":"a"}]}`, "no `path`"},
		{`{"path":"src/lib.rs","patterns":[]}`, "no patterns"},
		{`{"path":"src/lib.rs","patterns":[{"old":"(","new":"a"}],"replace_using_regex":true}`, "pattern #1"},
		{`{"path":".jp/config.toml","patterns":[{"old":"one","new":"a"}]}`, "git or jp"},
		{`{"path":"src/lib.rs"}`, "missing: patterns"},
	}
	for _, tt := range tests {
		b.contains("fs_modify_file", tt.args, "!", tt.want)
	}
	if got := b.get("src/lib.rs") + b.get("src/main.rs"); got != want {
		t.Errorf("changed by a call that failed: %q", got)
	}
}

// TestModifyIsBoundedBeforeItIsBuilt counts allocations: each of these results would have
// gigabytes.
func TestModifyIsBoundedBeforeItIsBuilt(t *testing.T) {
	b := newBench(t, "")
	b.put("a.txt", strings.Repeat("a", 2000))
	b.put("big.txt", strings.Repeat("x\n", 1<<19))
	var alternating []string
	for i := range 8 {
		from, to := "a", strings.Repeat("b", 100)
		if i%2 == 1 {
			from, to = "b", strings.Repeat("a", 100)
		}
		alternating = append(alternating, `{"old":"`+from+`","new":"`+to+`"}`)
	}
	var names []string
	for i := range 12 {
		name := "f" + strconv.Itoa(i)
		b.put(name, strings.Repeat("y\n", 4<<20))
		names = append(names, `"`+name+`"`)
	}
	tests := []struct{ name, args, want string }{
		{"literal", `{"path":"a.txt","patterns":[` + strings.Join(alternating, ",") + `]}`, "would become"},
		{"regex", `{"path":"a.txt","replace_using_regex":true,"patterns":[` +
			strings.Join(alternating, ",") + `]}`, "would become"},
		{"one match", `{"path":"big.txt","replace_using_regex":true,"patterns":[{"old":"(?s)(.*)","new":"` +
			strings.Repeat("$1", 10_000) + `"}]}`, "too often"},
		{"empty matches", `{"path":"big.txt","replace_using_regex":true,"patterns":[{"old":"` +
			strings.Repeat("()", 100) + `","new":"x"}]}`, "too often"},
		{
			"many files", `{"patterns":[{"old":"y","new":"z","paths":[` +
				strings.Join(names, ",") + `]}]}`, "files of one call",
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			b.contains("fs_modify_file", tt.args, "!", tt.want)
			runtime.ReadMemStats(&after)
			if used := after.TotalAlloc - before.TotalAlloc; used > 600<<20 {
				t.Errorf("%d MiB were allocated", used>>20)
			}
		})
	}
	if b.get("a.txt") != strings.Repeat("a", 2000) {
		t.Error("a file was changed")
	}
}

// TestForgedNames: a name neither adds lines to the patch that a user approves, nor is a user asked
// about a name that would be refused then.
func TestForgedNames(t *testing.T) {
	b := newBench(t, "")
	b.put("odd\n-all\nname", "all:\n")
	tree, err := file.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	caution := func(name, args string) (tool.Caution, error) {
		for _, it := range builtin.Items(builtin.Workspace{Tree: tree}) {
			if c, ok := it.Tool.(tool.Cautious); ok && it.Tool.Definition().Name == name {
				return c.Caution(t.Context(), tool.Call{Name: name, Arguments: jsontext.Value(args)})
			}
		}
		t.Fatalf("no cautious tool %s", name)
		return tool.Caution{}, nil
	}
	for name, args := range map[string]string{
		"fs_modify_file": `{"path":"odd\n-all\nname","patterns":[{"old":"all","new":"x"}]}`,
		"fs_delete_file": `{"path":"odd\n-all\nname"}`,
	} {
		got, err := caution(name, args)
		if err != nil || !strings.HasPrefix(got.Change, `--- "odd\n-all\nname"`+"\n+++ ") {
			t.Errorf("%s: %q (%v)", name, got.Change, err)
		}
	}
	if got, err := caution("fs_create_file", `{"path":"x\ny"}`); !errors.Is(err, file.ErrControl) {
		t.Errorf("a name with a line feed: %+v (%v)", got, err)
	}
}

// TestFilesThatOthersObeyAreAskedFor checks the caution of every tool that writes.
func TestFilesThatOthersObeyAreAskedFor(t *testing.T) {
	b := newBench(t, "")
	b.put("Makefile", "all:\n")
	b.put("linked.txt", "x\n")
	if err := os.Symlink("linked.txt", filepath.Join(b.dir, "AGENTS.md")); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("Makefile", filepath.Join(b.dir, "innocent.txt")); err != nil {
		t.Fatal(err)
	}
	tree, err := file.Open(b.dir)
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	tools := map[string]tool.Tool{}
	for _, it := range builtin.Items(builtin.Workspace{Tree: tree}) {
		tools[it.Tool.Definition().Name] = it.Tool
	}
	const change = `,"patterns":[{"old":"all","new":"evil"}]}`
	tests := []struct{ name, args, subject, patch string }{
		{"fs_create_file", `{"path":".envrc","content":"rm -rf x"}`, ".envrc", "+rm -rf x"},
		{"fs_create_file", `{"path":"sub/PACKAGE.json"}`, "sub/PACKAGE.json", ""},
		{"fs_create_file", `{"path":"a.go","content":"x"}`, "", ""},
		{"fs_modify_file", `{"path":"Makefile"` + change, "Makefile", "-all:\n+evil:"},
		{"fs_modify_file", `{"path":"innocent.txt"` + change, "Makefile", "+evil:"},
		{"fs_modify_file", `{"path":"AGENTS.md","patterns":[{"old":"x","new":"y"}]}`, "linked.txt", "+y"},
		{"fs_modify_file", `{"path":"src/lib.rs","patterns":[{"old":"one","new":"y"}]}`, "", ""},
		{"fs_delete_file", `{"path":"Makefile"}`, "Makefile", "-all:"},
		{"fs_delete_file", `{"path":"src/lib.rs"}`, "", ""},
	}
	for _, tt := range tests {
		c, ok := tools[tt.name].(tool.Cautious)
		if !ok {
			t.Fatalf("%s is not cautious", tt.name)
		}
		got, err := c.Caution(t.Context(), tool.Call{Name: tt.name, Arguments: jsontext.Value(tt.args)})
		if err != nil || strings.Join(got.Subjects, " ") != tt.subject ||
			!strings.Contains(got.Change, tt.patch) {
			t.Errorf("%s %s: %+v (%v)", tt.name, tt.args, got, err)
		}
	}
	for name := range tools {
		_, cautious := tools[name].(tool.Cautious)
		if writes := slices.Contains([]string{"fs_create_file", "fs_modify_file", "fs_delete_file"}, name); writes != cautious {
			t.Errorf("%s: cautious is %v", name, cautious)
		}
	}
}

func TestModifyKeepsTheMode(t *testing.T) {
	b := newBench(t, "")
	b.put("run.sh", "echo one\n")
	name := filepath.Join(b.dir, "run.sh")
	if err := os.Chmod(name, 0o755); err != nil {
		t.Fatal(err)
	}
	b.contains("fs_modify_file", `{"path":"run.sh","patterns":[{"old":"one","new":"two"}]}`, "+echo two")
	if info, err := os.Stat(name); err != nil || info.Mode().Perm() != 0o755 {
		t.Errorf("%v (%v)", info.Mode(), err)
	}
}

func TestDeleteFileOnlyWhatGitBringsBack(t *testing.T) {
	b := newBench(t, "ws")
	b.put("new", "")
	b.put("debug.log", "")
	b.put("src/main.rs", "changed")
	b.put("staged", "")
	b.Run("add", "ws/staged")
	for _, p := range []string{"new", "debug.log", "src/main.rs", "staged"} {
		b.contains("fs_delete_file", `{"path":"`+p+`"}`, "!", "uncommitted")
	}
	for _, name := range []string{"assume-unchanged", "skip-worktree"} {
		b.put(name, "as committed")
		b.Run("add", "ws/"+name)
		b.Run("commit", "-q", "-m", name, "ws/"+name)
		b.Run("update-index", "--"+name, "ws/"+name)
		b.put(name, "as the user has it")
		b.contains("fs_delete_file", `{"path":"`+name+`"}`, "!", "git does not look")
	}
	for _, p := range []string{"nope", "src", ".jp/config.toml", "../.git/HEAD"} {
		b.contains("fs_delete_file", `{"path":"`+p+`"}`, "!")
	}
	b.says("fs_delete_file", `{"path":"src/lib.rs"}`, "File 'src/lib.rs' deleted.")
	if got := b.get("src/lib.rs"); !strings.Contains(got, "no such file") {
		t.Error(got)
	}
}

func TestGitTools(t *testing.T) {
	b := newBench(t, "ws")
	b.says("git_status", `{}`, "No uncommitted changes.")
	b.says("git_diff", `{"status":"unstaged"}`, "No unstaged changes.")
	b.put("src/lib.rs", "changed\n")
	b.put("new.txt", "")
	b.put("target/x", "")
	b.put(".jp/conversations/1/events.json", "[]")
	b.put("staged.txt", "")
	b.put("long.txt", "")
	b.Run("add", "ws/staged.txt", "ws/long.txt")
	b.put("long.txt", strings.Repeat("line\n", 90))
	b.says("git_status", `{}`, "staged    new      long.txt\nstaged    new      staged.txt\n"+
		"unstaged  modified long.txt\nunstaged  modified src/lib.rs\nuntracked new      new.txt")
	got := b.contains("git_diff", `{"status":"unstaged"}`, "-pub fn one() {}", "+changed",
		"more lines; name the file")
	if strings.Contains(got, "events.json") || strings.Count(got, "+line") > 50 {
		t.Error(got)
	}
	if got := b.contains("git_diff", `{"status":"unstaged","paths":["long.txt"]}`); strings.Count(got, "+line") != 90 {
		t.Error(got)
	}
	b.contains("git_diff", `{"status":"staged"}`, "new file mode")
	b.contains("git_diff", `{"status":"staged","paths":["../.git"]}`, "!")
	b.contains("git_diff", `{"status":"both"}`, "!")
	b.contains("git_log", `{}`, "<git_log>", "    subject: start", "short_hash: ")
	b.contains("git_log", `{"paths":["src"],"count":1,"query":"sta"}`, "subject: start")
	b.says("git_log", `{"query":"nothing"}`, "No commits match.")
	b.contains("git_show", `{"revision":"HEAD"}`, "  <message>\n    start\n", "ws/src/lib.rs (+2, -0)")
	b.contains("git_show", `{"revision":"--all"}`, "!", "unknown revision")
}

type refresher map[string]string

var errUnknown = errors.New("no handler")

func (r refresher) Refresh(_ context.Context, uri string) (events.Resource, error) {
	s, ok := r[uri]
	if !ok {
		return events.Resource{}, errUnknown
	}
	return events.Resource{URI: uri, Content: blobs.Loaded([]byte(s))}, nil
}

func TestRefreshAndDescribe(t *testing.T) {
	b := newBench(t, "")
	defs := b.exec.Definitions()
	items := []tool.Item{
		builtin.Refresh(refresher{"a:b": "now"}),
		builtin.Describe(func() []tool.Definition { return defs }),
	}
	var err error
	if b.exec, err = tool.NewExecutor(items, tool.Options{}); err != nil {
		t.Fatal(err)
	}
	b.says("refresh_resource", `{"uri":"a:b"}`, "now")
	b.says("refresh_resource", `{"uri":"c:d"}`, "!no handler")
	got := b.contains("describe_tools", `{"tools":["fs_modify_file","nope"]}`, "# fs_modify_file",
		"- `patterns` (array, required)", "  - `old` (string, required)", "No tool has the name 'nope'")
	if !strings.Contains(got, "## Examples") {
		t.Error(got)
	}
	b.contains("describe_tools", `{"tools":["nope"]}`, "!No tool")
}

func TestOnlyReadingIsUnattended(t *testing.T) {
	tree, err := file.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer tree.Close()
	var asked []string
	for _, it := range builtin.Items(builtin.Workspace{Tree: tree, Repo: new(gitint.Repo)}) {
		if it.Policy.Run != tool.Unattended {
			asked = append(asked, it.Tool.Definition().Name)
		}
	}
	if !slices.Equal(asked, []string{"fs_create_file", "fs_modify_file", "fs_delete_file"}) {
		t.Errorf("%q", asked)
	}
}
