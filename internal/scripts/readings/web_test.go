package readings_test

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
)

// TestWebShowsRefsAndTheWorkTree serves a working tree, a branch of it and a bare clone: each shows
// the conversations that it has.
func TestWebShowsRefsAndTheWorkTree(t *testing.T) {
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("committed", []string{"alpha"}) {
		r.WriteFile(filepath.Join(".jp/conversations/17000000001", name), text)
	}
	r.Run("add", ".")
	r.Run("commit", "-qm", "one")
	bare := filepath.Join(t.TempDir(), "bare.git")
	r.Run("clone", "-q", "--bare", ".", bare)
	for name, text := range scripts.Conversation("not committed", []string{"beta"}) {
		r.WriteFile(filepath.Join(".jp/conversations/17000000002", name), text)
	}
	for name, c := range map[string]struct {
		dir  string
		args []string
		want []string // of the two titles
	}{
		"working tree": {r.Dir, nil, []string{">committed</a>", ">not committed</a>"}},
		"ref":          {r.Dir, []string{"--ref", "HEAD"}, []string{">committed</a>"}},
		"bare":         {bare, nil, []string{">committed</a>"}},
	} {
		t.Run(name, func(t *testing.T) {
			address := serveWeb(t, r.Env, c.dir, c.args...)
			list := fetched(t, address)
			for _, title := range []string{">committed</a>", ">not committed</a>"} {
				want := strings.Contains(strings.Join(c.want, " "), title)
				if strings.Contains(list, title) != want {
					t.Errorf("%s in the list: want %v", title, want)
				}
			}
			if page := fetched(t, address+"17000000001.html"); !strings.Contains(page, "alpha") {
				t.Error("the page has no result")
			}
		})
	}
}

// TestWebShowsCommitsAndLines leads from the list to commits and the turns that they added, and
// from a turn to the lines of a file that it wrote, and back.
func TestWebShowsCommitsAndLines(t *testing.T) {
	r := gittest.Repo(t)
	files := scripts.Conversation("reading", []string{"alpha"})
	for name, text := range files {
		r.WriteFile(filepath.Join(".jp/conversations/17000000001", name), text)
	}
	at := `"timestamp": "2026-01-01 00:00:00.0", `
	r.WriteFile(".jp/conversations/17000000001/events.json", `[
		{`+at+`"type": "turn_start"}, {`+at+`"type": "chat_request", "content": "open the index"},
		{`+at+`"type": "tool_call_request", "id": "a", "name": "Edit", "arguments":
			{"file_path": "bWFpbi5nbw==", "old_string": "YQ==", "new_string": "ZnVuYyBvcGVuSW5kZXgoKSB7fQo="}},
		{`+at+`"type": "tool_call_response", "id": "a", "content": "b2s=", "is_error": false},
		{`+at+`"type": "tool_call_request", "id": "b", "name": "Write", "arguments":
			{"file_path": "JFdPUktTUEFDRS9vdGhlci5nbw==", "content": "YQ=="}},
		{`+at+`"type": "tool_call_response", "id": "b", "content": "b2s=", "is_error": false}]`)
	r.WriteFile("main.go", "package main\n\nfunc openIndex() {}\n")
	r.Run("add", ".")
	r.Run("commit", "-qm", "Read the <index>")
	commit := strings.TrimSpace(r.Run("rev-parse", "HEAD"))
	address := serveWeb(t, r.Env, r.Dir)
	for page, wants := range map[string][]string{
		"":                           {`href="commits.html"`, `href="branch.html"`},
		"commits.html":               {`href="commit-` + commit + `.html"`, "Read the &lt;index&gt;"},
		"commit-" + commit + ".html": {"open the index", "Turns of commit " + commit, `href="file?path=main.go"`},
		"17000000001.html":           {`href="file?path=main.go"`, `href="file?path=other.go"`},
		"file?path=main.go":          {"Lines 1 to 3", "recorded, wrote 1 line", `href="17000000001.html#e-`, "openIndex", `href="commit-` + commit},
	} {
		text := fetched(t, address+page)
		for _, want := range wants {
			if !strings.Contains(text, want) {
				t.Errorf("%q: no %q", page, want)
			}
		}
	}
	for page, want := range map[string]struct {
		code  int
		words string
	}{
		"file?path=../../etc/passwd": {404, "../../etc/passwd is not in the repository"},
		"file?path=/etc/passwd":      {404, "/etc/passwd is not in the repository"},
		"file?path=--help":           {404, "--help is not in the repository"},
		"file?path=other.go":         {404, "other.go is not in the repository"},
		"file?path=a%00b":            {400, "A name must not contain a zero byte"},
		"file":                       {404, "is not in the repository"},
		"commit---help.html":         {404, "No such commit"},
		"commit-a%00b.html":          {400, "A name must not contain a zero byte"},
		"commit-HEAD~99.html":        {404, "No such commit"},
		"branch.html":                {404, "'git config jp.base main' names one"},
		"a%00b":                      {404, "No such page"},
		"no/such.html":               {404, "No such page"},
	} {
		explained(t, address, page, want.code, want.words)
	}
	r.Run("checkout", "-q", "--detach")
	explained(t, address, "branch.html", 404, "No branch is checked out")
	r.Run("checkout", "-q", "--orphan", "new")
	for _, page := range []string{"commits.html", "branch.html", "file?path=main.go"} {
		explained(t, address, page, 404, "There is no commit yet")
	}
	if list := fetched(t, address); !strings.Contains(list, "17000000001.html") {
		t.Error("the list is empty without a commit")
	}
	if hits := fetched(t, address+"search?q=a%ffb"); !strings.Contains(hits, "0 places") {
		t.Error("a search for what is no text has hits")
	}
}

// explained fetches a page that is not there, and verifies its status and words.
func explained(t *testing.T, address, page string, code int, words string) {
	t.Helper()
	answer, err := http.Get(address + page)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(answer.Body)
	if err := errors.Join(err, answer.Body.Close()); err != nil {
		t.Fatal(err)
	}
	got := string(text)
	if answer.StatusCode != code || !strings.Contains(got, words) ||
		strings.Contains(got, "fatal:") || strings.Contains(got, "exec") {
		t.Errorf("%q: got %s\n%s", page, answer.Status, got[strings.Index(got, "<main"):])
	}
}

// serveWeb starts the server and returns its address.
func serveWeb(t *testing.T, env []string, dir string, args ...string) string {
	t.Helper()
	scripts.DependOnSources(t)
	cmd := exec.Command("git-jp", append([]string{"web"}, args...)...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, append(env, "XDG_DATA_HOME="+t.TempDir()), os.Stderr
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v", err)
	}
	return strings.TrimSpace(line)
}

func fetched(t *testing.T, address string) string {
	t.Helper()
	answer, err := http.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	if err != nil || answer.StatusCode != http.StatusOK {
		t.Fatalf("%s: got %s, %v", address, answer.Status, err)
	}
	return string(body)
}
