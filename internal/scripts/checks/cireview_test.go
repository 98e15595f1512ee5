package checks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/scripts"
	"go.yaml.in/yaml/v3"
)

// actionStep returns a step of action.yml by its name.
func actionStep(t *testing.T, name string) string {
	t.Helper()
	var action struct {
		Runs struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(readRoot(t, "action.yml"), &action); err != nil {
		t.Fatal(err)
	}
	for _, s := range action.Runs.Steps {
		if s.Name == name {
			return s.Run
		}
	}
	t.Fatalf("action.yml has no step %s", name)
	return ""
}

// gitlabJob returns what a job of the snippets for GitLab runs after it has the program.
func gitlabJob(t *testing.T, name string) string {
	t.Helper()
	_, snippet, ok := strings.Cut(string(readRoot(t, filepath.Join("docs", "ci.md"))), "\n"+name+":\n")
	snippet, _, _ = strings.Cut(snippet, "\n\n")
	snippet, _, _ = strings.Cut(snippet, "```")
	var job struct{ Script []string }
	if err := yaml.Unmarshal([]byte(snippet), &job); err != nil || !ok || len(job.Script) < 2 {
		t.Fatalf("docs/ci.md has no job %s: %v", name, err)
	}
	return strings.Join(job.Script[1:], "\n")
}

// A commentServer answers like GitHub for the comments of pull request 7.
type commentServer struct {
	t        *testing.T
	mu       sync.Mutex
	address  string
	comments []comment
	calls    []string // all requests that changed something
	reads    int
	refuses  bool // changes, like a read-only token
}

type comment struct {
	URL     string            `json:"url"`
	HTMLURL string            `json:"html_url"`
	ID      int               `json:"id"`
	User    map[string]any    `json:"user"`
	Body    string            `json:"body"`
	React   map[string]string `json:"reactions"`
}

const commentsPath = "/repos/o/r/issues/7/comments"

func (s *commentServer) add(login, body string) {
	at := fmt.Sprintf("%s/repos/o/r/issues/comments/%d", s.address, len(s.comments))
	s.comments = append(s.comments, comment{
		URL: at, HTMLURL: at, ID: len(s.comments), User: map[string]any{"login": login, "id": 9},
		Body: body, React: map[string]string{"url": at + "/reactions"},
	})
}

func (s *commentServer) refuse(changes bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.refuses = changes
}

func (s *commentServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	var sent struct{ Body string }
	if r.Method != http.MethodGet {
		if s.refuses {
			http.Error(w, "{}", http.StatusForbidden)
			return
		}
		if err := json.NewDecoder(r.Body).Decode(&sent); err != nil {
			s.t.Errorf("%s %s: %v", r.Method, r.URL, err)
		}
		s.calls = append(s.calls, r.Method)
	}
	var id int
	switch {
	case r.Header.Get("Authorization") != "Bearer secret":
		s.t.Error("no token")
	case r.Method == http.MethodGet && r.URL.Path == commentsPath:
		s.reads++
		enc := json.NewEncoder(w)
		enc.SetEscapeHTML(s.reads%2 == 0) // a forge may do either
		enc.SetIndent("", "  ")
		if err := enc.Encode(s.comments); err != nil {
			s.t.Error(err)
		}
	case r.Method == http.MethodPost && r.URL.Path == commentsPath:
		s.add("github-actions[bot]", sent.Body)
	case r.Method == http.MethodPatch:
		if _, err := fmt.Sscanf(r.URL.Path, "/repos/o/r/issues/comments/%d", &id); err != nil {
			s.t.Error(err)
		}
		s.comments[id].Body = sent.Body
	default:
		s.t.Errorf("%s %s", r.Method, r.URL)
	}
}

// askedRepository has a branch on which a question was asked, with characters that are special in
// JSON and shells.
func askedRepository(t *testing.T) (r *gittest.Repository, base string) {
	t.Helper()
	r = gittest.Repo(t)
	r.WriteFile("a", "a")
	r.Commit("base")
	base = strings.TrimSpace(r.Run("rev-parse", "HEAD"))
	for name, text := range scripts.Conversation(`A "title" \ $(x)`, []string{"alpha"}) {
		r.WriteFile(".jp/conversations/17000000001/"+name, text)
	}
	r.Commit("asked")
	return r, base
}

// TestActionComments runs the action's step: one comment, which the next run replaces, and never a
// user's.
func TestActionComments(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	_, temp := checkStep(t)
	step := actionStep(t, "Review")
	server := &commentServer{t: t}
	web := httptest.NewServer(server)
	defer web.Close()
	server.address = web.URL
	server.add("mallory", `<!-- git-jp review -->"url": "`+web.URL+`/repos/o/r/issues/comments/0"`)
	r, base := askedRepository(t)
	run := func(base, calls, says string) {
		t.Helper()
		in := r.With("RUNNER_TEMP="+temp, "BASE="+base, "COMMENTS="+web.URL+commentsPath,
			"TOKEN=secret", "GITHUB_WORKSPACE=")
		out, code := runIn(t, in, "bash", "-e", "-c", step)
		if code != report.ExitDone || !strings.Contains(out, says) {
			t.Errorf("it ends with %d:\n%s", code, out)
		}
		server.mu.Lock()
		defer server.mu.Unlock()
		if got := strings.Join(server.calls, " "); got != calls {
			t.Errorf("it called %q, want %q", got, calls)
		}
	}
	run("HEAD", "", "")
	server.refuse(true)
	run(base, "", "::warning::")
	server.refuse(false)
	run(base, "POST", "")
	run(base, "POST PATCH", "")
	run("HEAD", "POST PATCH PATCH", "")
	server.mu.Lock()
	defer server.mu.Unlock()
	if len(server.comments) != 2 || strings.Contains(server.comments[0].Body, "asked on") ||
		!strings.Contains(server.comments[1].Body, "No conversation was added to.\n") {
		t.Errorf("the comments are %+v", server.comments)
	}
}

// TestGitLabReview runs the snippet: one note, which the next pipeline replaces.
func TestGitLabReview(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	server := &noteServer{t: t, notes: []string{"Hello"}}
	web := httptest.NewServer(server)
	defer web.Close()
	r, base := askedRepository(t)
	job := gitlabJob(t, "review")
	run := func(base, calls string) {
		t.Helper()
		in := r.With("CI_API_V4_URL="+web.URL+"/api/v4", "CI_PROJECT_ID=3",
			"CI_MERGE_REQUEST_IID=7", "CI_MERGE_REQUEST_DIFF_BASE_SHA="+base, "GIT_JP_TOKEN=secret")
		if out, code := runIn(t, in, "sh", "-e", "-c", job); code != report.ExitDone {
			t.Errorf("it ends with %d:\n%s", code, out)
		}
		server.held(func() {
			if got := strings.Join(server.calls, " "); got != calls {
				t.Errorf("it called %q, want %q", got, calls)
			}
		})
	}
	run("HEAD", "")
	run(base, "post")
	server.held(func() {
		if !strings.Contains(server.notes[1], `title`) {
			t.Errorf("the note is %s", server.notes[1])
		}
	})
	run(base, "post put")
}

// TestForgesPublishPages runs the commands whose output both forges publish: each folder has a list
// and a page.
func TestForgesPublishPages(t *testing.T) {
	_, temp := checkStep(t)
	r, _ := askedRepository(t)
	for name, script := range map[string]string{
		"hub": actionStep(t, "Site"), "public": gitlabJob(t, "pages"),
	} {
		in := r.With("RUNNER_TEMP="+temp, "SITE="+name)
		if out, code := runIn(t, in, "bash", "-e", "-c", script); code != report.ExitDone {
			t.Errorf("it ends with %d:\n%s", code, out)
		}
		for _, file := range []string{"index.html", "17000000001.html"} {
			if _, err := os.Stat(filepath.Join(r.Dir, name, file)); err != nil {
				t.Error(err)
			}
		}
	}
}
