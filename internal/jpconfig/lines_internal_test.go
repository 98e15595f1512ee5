package jpconfig

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestFilesOfLines checks that a claim covers the file that a line leads to, however it is written:
// whoever changes that file must not run other code without a question.
func TestFilesOfLines(t *testing.T) {
	const root = "repo/ws"
	base := t.TempDir()
	for _, name := range []string{
		"repo/ws/a.sh", "repo/ws/b c.sh", "repo/ws/sub/a.sh", "repo/ws/sub/Makefile", "repo/ws/bin/lint",
		"repo/ws/x.js", "repo/ws/web/index.js", "repo/ws/web/package.json", "repo/ws/pkg/__main__.py",
		"repo/ws/pkg/mod.py", "repo/ws/cmd/gen/main.go", "repo/ws/cmd/gen/main_test.go",
		"repo/ws/JustFile", "repo/ws/eslint.config.js", "repo/ws/notes.md", "repo/tools/out.sh",
		"repo/ws/sub/deep/d.sh", "repo/ws/go.mod", "outside.sh",
	} {
		path := filepath.Join(base, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Mkdir(filepath.Join(base, "repo", ".git"), 0o700); err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(base, filepath.FromSlash(root))
	if err := os.Mkdir(filepath.Join(base, "far"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(base, "far", "f.sh"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(base, "far"), filepath.Join(dir, "link")); err != nil {
		t.Fatal(err)
	}
	// A directory of PATH is known by any of its names.
	if err := os.Symlink(filepath.Join(base, "repo"), filepath.Join(base, "other")); err != nil {
		t.Fatal(err)
	}
	c := newTree(dir, Around(dir, ""), "/usr/bin:"+filepath.Join(base, "other", "ws", "bin"))
	for _, tt := range []struct{ line, want string }{
		{"sh <a.sh", "a.sh"},
		{". ./a.sh", "a.sh"},
		{"source a.sh", "a.sh"},
		{"cat a.sh|sh", "a.sh"},
		{"cd sub && ./a.sh", "sub/a.sh"},
		{"cd sub\ncd deep && ./d.sh", "sub/deep/d.sh"},
		{"make -C sub", "sub/Makefile"},
		{"make --directory=sub", "sub/Makefile"},
		{"make -f sub/Makefile", "sub/Makefile"},
		{"make -fsub/Makefile", "sub/Makefile"},
		{"make --file=sub/Makefile", "sub/Makefile"},
		{"env -C sub ./a.sh", "sub/a.sh"},
		{"$PWD/a.sh", "a.sh"},
		{`"${PWD}"/a.sh`, "a.sh"},
		{"$(pwd)/sub/a.sh", "sub/a.sh"},
		{"`pwd`/a.sh", "a.sh"},
		{"~+/a.sh", "a.sh"},
		{"D=sub; sh $D/a.sh", "sub/a.sh"},
		{"{{context.root}}/a.sh", "a.sh"},
		{"sh {{ context.root }}/sub/a.sh", "sub/a.sh"},
		{`sh {{ "a.sh" }}`, "a.sh"},
		{"sh {% if true %}a.sh{% endif %}", "a.sh"},
		{dir + "/a.sh", "a.sh"},
		{"sh " + dir + "/a.sh", "a.sh"},
		{`.//a"".sh`, "a.sh"},
		{`sh a\.sh`, "a.sh"},
		{`sh 'b c.sh'`, "b c.sh"},
		{`sh b\ c.sh`, "b c.sh"},
		{"env BASH_ENV=./a.sh bash -c true", "a.sh"},
		{"bash --rcfile=a.sh -i", "a.sh"},
		{"env NODE_OPTIONS=--require=./x.js node -e 1", "x.js"},
		{"node -r./x.js -e 1", "x.js"},
		{"find . -exec ./a.sh {} ;", "a.sh"},
		{"echo x | xargs ./a.sh", "a.sh"},
		{"node x", "x.js"},
		{"node web", "web/index.js"},
		{"node web", "web/package.json"},
		{"python3.12 -m pkg", "pkg/__main__.py"},
		{"python -m pkg.mod", "pkg/mod.py"},
		{"python pkg", "pkg/__main__.py"},
		{"go run ./cmd/gen", "cmd/gen/main.go"},
		{"go test ./...", "go.mod"},
		{"just test", "JustFile"},
		{"eslint .", "eslint.config.js"},
		{"npm --prefix web test", "web/package.json"},
		{"npm --prefix=web test", "web/package.json"},
		{"lint x", "bin/lint"},
		{"true && lint", "bin/lint"},
		{"env lint", "bin/lint"},
		{"../tools/out.sh", "../tools/out.sh"},
		{"sh ../tools/out.sh", "../tools/out.sh"},
		{"cd link && sh f.sh", "link/f.sh"},
		{"curl -d @a.sh", "a.sh"},
		{"sh -c 'cd sub; ./a.sh'", "sub/a.sh"},
	} {
		if _, ok := c.filesOf([]string{tt.line}, true)[tt.want]; !ok {
			t.Errorf("the script %q does not cover %s", tt.line, tt.want)
		}
		if strings.ContainsAny(tt.line, "$`&|<~;\n") || strings.HasPrefix(tt.line, "source") {
			continue // only a shell interprets it
		}
		words, err := command.Words(tt.line)
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := c.filesOf(words, false)[tt.want]; !ok {
			t.Errorf("the words %q do not cover %s", words, tt.want)
		}
	}
	for _, tt := range []struct{ line, not string }{
		{"rg -n x .", "notes.md"},
		{"go run ./cmd/gen", "cmd/gen/main_test.go"},
		{"../../outside.sh", "../../outside.sh"},
		{"cargo test", "a.sh"},
		{"eslint .", "x.js"},
	} {
		words, _ := wordsOf(marshal(tt.line))
		if _, ok := c.filesOf(words, false)[tt.not]; ok {
			t.Errorf("%q covers %s", tt.line, tt.not)
		}
	}
}

// TestWordsOfURL checks that the words of a cmd: attachment are those that its program gets, or more.
func TestWordsOfURL(t *testing.T) {
	for u, want := range map[string]string{
		"cmd:sh a.sh": "sh a.sh", "cmd:sh%20a.sh": "sh a.sh", "cmd:'sh' \"a.sh\"": "sh a.sh",
		"cmd://sh?arg=a.sh": "sh a.sh", "cmd://sh/?args=a.sh": "sh a.sh", "cmd://sh?arg%5B%5D=a.sh": "sh a.sh",
		"cmd://sh?description=x&arg=-e&args[]=a.sh": "sh -e a.sh", "cmd://sh?arg=-c&arg=.+a.sh": "sh -c a.sh",
		"cmd://sh?arg=-c&arg=.%2520a.sh": "sh -c a.sh", "CMD://%2E/a.sh?arg=x": "./a.sh x",
		"cmd:sh%20a.sh%20%ZZ": "sh a.sh %ZZ", "cmd://s%68?arg=a.sh%zz": "sh a.sh%zz",
		"cmd:sh a\\.sh?description=x": "sh a.sh",
	} {
		got := wordsOfURL(u)
		for i, w := range strings.Fields(want) {
			if i == 0 && got[0] != w || !slices.Contains(got, w) {
				t.Errorf("%s has the words %q, want %s", u, got, want)
			}
		}
	}
}

// TestLinesOfSettings checks of which programs of attachments and settings the arguments count, too.
func TestLinesOfSettings(t *testing.T) {
	for line, want := range map[string]bool{
		"cat notes.md": false, "git log -- a.md": false, "sh a.sh": true, "git bisect run ./a.sh": true,
		"git -C sub log": true, "git --git-dir=sub log": true, "git -c core.fsmonitor=./a.sh status": true,
	} {
		words := strings.Fields(line)
		if got := lineIn(words, false)[0].words; len(got) > 1 != want {
			t.Errorf("%s: %q", line, got)
		}
	}
}

// TestToolsNameFilesInOptions checks that a file which a placeholder names is covered.
func TestToolsNameFilesInOptions(t *testing.T) {
	tool := trust.Tool{
		Command: []byte(`"sh {{tool.options.a.b}}"`), Options: []byte(`{"a":{"b":"x.sh"},"c":["y.sh",1]}`),
	}
	lines := linesOf(tool)
	if len(lines) != 1 || !slices.Contains(lines[0].words, "x.sh") || !slices.Contains(lines[0].words, "y.sh") {
		t.Errorf("%v", lines)
	}
}
