package checks_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/report"
	"go.yaml.in/yaml/v3"
)

// noteJob returns what the snippet for GitLab runs after its check.
func noteJob(t *testing.T) string {
	t.Helper()
	_, snippet, ok := strings.Cut(string(readRoot(t, filepath.Join("docs", "ci.md"))),
		"\nconversations:\n")
	snippet, _, end := strings.Cut(snippet, "```")
	if !ok || !end {
		t.Fatal("docs/ci.md has no such job")
	}
	var job struct {
		After []string `yaml:"after_script"`
	}
	if err := yaml.Unmarshal([]byte(snippet), &job); err != nil {
		t.Fatal(err)
	}
	return strings.Join(job.After, "\n")
}

// A noteServer answers like GitLab for the notes of merge request 7 of project 3.
type noteServer struct {
	t     *testing.T
	mu    sync.Mutex
	notes []string // the note of id 100+i
	calls []string // all requests that changed something
	fails bool
}

const notesPath = "/api/v4/projects/3/merge_requests/7/notes"

// held lets the test read and change the server's state.
func (s *noteServer) held(f func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f()
}

func (s *noteServer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Header.Get("PRIVATE-TOKEN") != "secret" || s.fails {
		http.Error(w, `{"message":"401 Unauthorized"}`, http.StatusUnauthorized)
		return
	}
	var id int
	switch {
	case r.Method == http.MethodGet && r.URL.Path == notesPath:
		if q := r.URL.Query(); q.Get("per_page") != "100" || q.Get("sort") != "desc" {
			s.t.Errorf("asked with %v", q)
		}
		s.list(w)
	case r.Method == http.MethodPost && r.URL.Path == notesPath:
		s.calls = append(s.calls, "post")
		s.notes = append(s.notes, r.PostFormValue("body"))
		w.WriteHeader(http.StatusCreated)
	case r.Method == http.MethodPut:
		if _, err := fmt.Sscanf(r.URL.Path, notesPath+"/%d", &id); err != nil {
			s.t.Error(err)
		}
		s.calls = append(s.calls, "put")
		s.notes[id-100] = r.PostFormValue("body")
	default:
		s.t.Errorf("%s %s", r.Method, r.URL)
	}
}

// list writes the notes, the latest first, with members in the order of GitLab.
func (s *noteServer) list(w http.ResponseWriter) {
	type author struct {
		ID       int    `json:"id"`
		Username string `json:"username"`
	}
	type note struct {
		ID     int     `json:"id"`
		Type   *string `json:"type"`
		Body   string  `json:"body"`
		Author author  `json:"author"`
	}
	all := []note{}
	for i := len(s.notes) - 1; i >= 0; i-- {
		all = append(all, note{100 + i, nil, s.notes[i], author{9, "git jp: "}})
	}
	data, err := json.Marshal(all)
	if err == nil {
		_, err = w.Write(data)
	}
	if err != nil {
		s.t.Error(err)
	}
}

// TestGitLabNote runs the snippet's note against a server: one note, which is kept up to date.
func TestGitLabNote(t *testing.T) {
	if _, err := exec.LookPath("curl"); err != nil {
		t.Skip(err)
	}
	script := noteJob(t)
	server := &noteServer{t: t, notes: []string{"Hello", "I say: git jp: is fine"}}
	web := httptest.NewServer(server)
	defer web.Close()
	r := danglingRepository(t)
	base := strings.TrimSpace(r.Run("rev-parse", "HEAD~1"))
	run := func(r *gittest.Repository, env ...string) {
		t.Helper()
		in := r.With(append([]string{
			"CI_API_V4_URL=" + web.URL + "/api/v4", "CI_PROJECT_ID=3", "CI_MERGE_REQUEST_IID=7",
			"CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base, "CI_COMMIT_SHORT_SHA=abc",
		}, env...)...)
		if out, code := runIn(t, in, "sh", "-e", "-c", script); code != report.ExitDone {
			t.Errorf("it ends with %d:\n%s", code, out)
		}
	}
	want := func(calls string, note string) {
		t.Helper()
		server.held(func() {
			if got := strings.Join(server.calls, " "); got != calls {
				t.Errorf("it called %q, want %q", got, calls)
			}
			if len(server.notes) > 2 && !strings.Contains(server.notes[2], note) {
				t.Errorf("the note is\n%s", server.notes[2])
			}
		})
	}
	run(r)
	want("", "")
	run(r, "GIT_JP_TOKEN=secret", "CI_MERGE_REQUEST_IID=")
	want("", "")
	run(r, "GIT_JP_TOKEN=secret")
	want("post", "1 reference without content")
	run(r, "GIT_JP_TOKEN=secret")
	want("post put", "as of abc")
	server.held(func() {
		for line := range strings.Lines(strings.SplitN(server.notes[2], "\n", 2)[1]) {
			if line != "\n" && !strings.HasPrefix(line, "    ") {
				t.Errorf("%q is not code", line)
			}
		}
	})
	r.Run("checkout", "-q", base)
	run(r, "GIT_JP_TOKEN=secret")
	want("post put put", "no problems found")
	server.held(func() { server.fails = true })
	run(r, "GIT_JP_TOKEN=secret")
	want("post put put", "no problems found")
	server.held(func() { server.fails, server.notes = false, server.notes[:2] })
	run(r, "GIT_JP_TOKEN=secret")
	want("post put put", "")
	server.held(func() {
		if len(server.notes) != 2 {
			t.Errorf("a note though nothing is wrong: %q", server.notes[2])
		}
	})
}

// TestForgesSayTheSame: the note, the annotations of GitHub and the report of GitLab have the same
// findings with the same words and the same advice.
func TestForgesSayTheSame(t *testing.T) {
	r := danglingRepository(t)
	for _, format := range []string{"text", "github", "gitlab"} {
		out, code := runIn(t, r, "git-jp", "check", "--format", format, "HEAD~1..HEAD")
		if code != report.ExitProblems {
			t.Errorf("%s ends with %d", format, code)
		}
		for _, word := range []string{
			"17800000000-x/events.json", "turn 1, call a (t): sha256:abababababab",
			" (3 bytes) is not in the commit", "run 'git jp stage jp-c17800000000' and to commit",
		} {
			if strings.Count(out, word) != 1 {
				t.Errorf("%s does not say %q:\n%s", format, word, out)
			}
		}
	}
}
