package checks_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/scripts"
	"go.yaml.in/yaml/v3"
)

// readRoot returns a file of the repository's root.
func readRoot(t *testing.T, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// onPath returns a directory that has git-jp.
func onPath(t *testing.T) string {
	t.Helper()
	scripts.DependOnSources(t)
	self, err := exec.LookPath("git-jp")
	if err != nil {
		t.Fatal(err) // TestMain has put it there
	}
	return filepath.Dir(self)
}

// danglingRepository has a commit whose conversation lacks its content, after one that is complete.
func danglingRepository(t *testing.T) *gittest.Repository {
	t.Helper()
	r := gittest.Repo(t)
	const dir = ".jp/conversations/17800000000-x/"
	write := func(content string) {
		r.WriteFile(dir+"metadata.json", `{"last_activated_at":"2026-01-01 00:00:00.0"}`+"\n")
		r.WriteFile(dir+"base_config.json", "{}\n")
		r.WriteFile(dir+"events.json", `[{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"q"},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_request","id":"a","name":"t","arguments":{}},
{"timestamp":"2026-01-01 00:00:00.0","type":"tool_call_response","id":"a","is_error":false,"content":`+
			content+`}]`+"\n")
	}
	write(`""`)
	r.Commit("whole")
	write(`[{"type":"text","content":{"$blob":"` + strings.Repeat("ab", 32) + `","size":3}}]`)
	r.Commit("dangling")
	return r
}

// TestPreCommitFrameworkHooks runs what .pre-commit-hooks.yaml tells pre-commit to run. A push need
// not be one of what is checked out.
func TestPreCommitFrameworkHooks(t *testing.T) {
	var hooks []struct {
		ID, Entry string
		Stages    []string
	}
	if err := yaml.Unmarshal(readRoot(t, ".pre-commit-hooks.yaml"), &hooks); err != nil {
		t.Fatal(err)
	}
	if len(hooks) == 0 {
		t.Fatal("no hooks")
	}
	r := danglingRepository(t)
	r.Run("branch", "pushed")
	for _, h := range hooks {
		if slices.Contains(h.Stages, "pre-push") {
			r.Run("checkout", "-q", "-f", "--detach", "HEAD~1")
		}
		in := r.With("PRE_COMMIT=1", "PRE_COMMIT_REMOTE_NAME=origin", "PRE_COMMIT_REMOTE_URL=x",
			"PRE_COMMIT_LOCAL_BRANCH=refs/heads/pushed")
		out, code := runIn(t, in, strings.Fields(h.Entry)...)
		if code != report.ExitProblems || !strings.Contains(out, "1 reference without content") {
			t.Errorf("%s: %q ends with %d:\n%s", h.ID, h.Entry, code, out)
		}
	}
}

// checkStep returns the last step of action.yml, and a directory with the program for it.
func checkStep(t *testing.T) (script, temp string) {
	t.Helper()
	var action struct {
		Runs struct {
			Steps []struct{ Name, Run string }
		}
	}
	if err := yaml.Unmarshal(readRoot(t, "action.yml"), &action); err != nil {
		t.Fatal(err)
	}
	temp = t.TempDir()
	if err := os.Symlink(onPath(t), filepath.Join(temp, "git-jp")); err != nil {
		t.Fatal(err)
	}
	return action.Runs.Steps[len(action.Runs.Steps)-1].Run, temp
}

// unregisteredClone returns a clone, as a forge makes one, of a repository whose attributes ask for
// drivers. It is on a branch of one commit beside main.
func unregisteredClone(t *testing.T) *gittest.Repository {
	t.Helper()
	origin := gittest.Repo(t)
	origin.WriteFile(".jp/.gitignore", "")
	if out, code := runIn(t, origin, "git-jp", "install", "-q", "--drivers"); code != report.ExitDone {
		t.Fatal(out)
	}
	origin.Commit("attributes")
	origin.Run("branch", "-M", "main")
	origin.Run("switch", "-q", "-c", "topic")
	origin.WriteFile("a", "a")
	origin.Commit("topic")
	clone := gittest.Repo(t)
	clone.Run("fetch", "-q", origin.Dir, "+refs/heads/*:refs/remotes/origin/*")
	clone.Run("checkout", "-q", "--detach", "refs/remotes/origin/topic")
	return clone
}

// TestActionNeedsNoDrivers runs the check in a clone whose attributes ask for drivers: that they
// are not registered is not a fault of the commits.
func TestActionNeedsNoDrivers(t *testing.T) {
	script, temp := checkStep(t)
	r := unregisteredClone(t)
	in := r.With("RANGE=HEAD", "RUNNER_TEMP="+temp)
	if out, code := runIn(t, in, "bash", "-e", "-c", script); code != report.ExitDone {
		t.Errorf("the action ends with %d:\n%s", code, out)
	}
	if set := r.Run("config", "--local", "--list"); strings.Contains(set, "merge.jp") {
		t.Errorf("the action registered drivers:\n%s", set)
	}
}

// TestActionChecksWhatAQueueBrings: the workflow that docs/ci.md shows runs in a merge queue, and the
// check then has a range, like that of a pull request.
func TestActionChecksWhatAQueueBrings(t *testing.T) {
	const event = "merge_group"
	if !strings.Contains(string(readRoot(t, "docs/ci.md")), "on: [pull_request, "+event) {
		t.Errorf("the workflow of docs/ci.md has no %s", event)
	}
	if !strings.Contains(string(readRoot(t, "action.yml")), "|| github.event."+event+".base_sha }}") {
		t.Errorf("action.yml takes no range from %s", event)
	}
}

// TestReadmeInCI runs the lines of README's section on CI in a clone as CI makes it.
func TestReadmeInCI(t *testing.T) {
	_, section, ok := strings.Cut(string(readRoot(t, "README.md")), "\n## In CI\n")
	section, _, end := strings.Cut(section, "\n## ")
	if !ok || !end {
		t.Fatal("README.md has no such section")
	}
	r, n := unregisteredClone(t), 0
	for line := range strings.Lines(section) {
		command, ok := strings.CutPrefix(line, "    ")
		if !ok {
			continue
		}
		n++
		if out, code := runIn(t, r, "bash", "-e", "-c", command); code != report.ExitDone {
			t.Errorf("%s ends with %d:\n%s", command, code, out)
		}
	}
	if n == 0 {
		t.Error("the section has no commands")
	}
}

// TestActionRunsTheCheck runs the last step of action.yml as a forge would.
func TestActionRunsTheCheck(t *testing.T) {
	script, temp := checkStep(t)
	r := danglingRepository(t)
	annotation := regexp.MustCompile(`(?m)^::error file=\.jp/conversations/17800000000-x/events\.json`)
	for _, tt := range []struct {
		env  []string
		code int
	}{
		{[]string{"RANGE=HEAD~1", "CONTENT=true"}, report.ExitDone},
		{[]string{"RANGE=HEAD~1..HEAD", "CONTENT=false"}, report.ExitProblems},
		{[]string{"BASE=" + strings.TrimSpace(r.Run("rev-parse", "HEAD~1"))}, report.ExitProblems},
		{[]string{"ARGS=--strict"}, report.ExitProblems},
	} {
		in := r.With(append(tt.env, "RUNNER_TEMP="+temp)...)
		out, code := runIn(t, in, "bash", "-e", "-c", script)
		if code != tt.code || annotation.MatchString(out) != (tt.code != report.ExitDone) {
			t.Errorf("the check with %q ends with %d:\n%s", tt.env, code, out)
		}
	}
}

// TestGitLabSnippet runs the check of the snippet in docs/ci.md: for a merge request, and for the
// first commit of a repository.
func TestGitLabSnippet(t *testing.T) {
	line := regexp.MustCompile(`(?m)^ +- (git jp check --format gitlab .*)$`).
		FindSubmatch(readRoot(t, filepath.Join("docs", "ci.md")))
	if line == nil {
		t.Fatal("docs/ci.md has no such line")
	}
	r := danglingRepository(t)
	for _, base := range []string{r.Run("rev-parse", "HEAD~1"), ""} {
		if base == "" {
			r.Run("checkout", "-q", "--orphan", "first")
			r.Run("commit", "-q", "--no-verify", "-m", "First")
		}
		in := r.With("CI_MERGE_REQUEST_DIFF_BASE_SHA=" + base)
		_, code := runIn(t, in, "sh", "-c", string(line[1]))
		if got := r.ReadFile("gl-code-quality-report.json"); code != report.ExitProblems ||
			!strings.Contains(got, "17800000000-x/events.json") {
			t.Errorf("after %q it ends with %d and reports\n%s", base, code, got)
		}
	}
}

// behindRepository is on a branch whose conversation was continued, as it was on main, with a
// remote that has both. With conflict set, both rewrote the same question.
func behindRepository(t *testing.T, conflict bool) *gittest.Repository {
	t.Helper()
	r := gittest.Repo(t)
	const dir = ".jp/conversations/17800000000-x/"
	turn := func(day, question string) string {
		at := `{"timestamp":"2026-01-` + day + ` 00:00:0`
		return at + `0.0","type":"turn_start"},` + "\n" +
			at + `1.0","type":"chat_request","content":"` + question + `"},` + "\n" +
			at + `2.0","type":"chat_response","message":"yes"}`
	}
	write := func(turns ...string) {
		r.WriteFile(dir+"metadata.json", `{"last_activated_at":"2026-01-01 00:00:00.0"}`+"\n")
		r.WriteFile(dir+"base_config.json", "{}\n")
		r.WriteFile(dir+"events.json", "[\n"+strings.Join(turns, ",\n")+"\n]\n")
		r.Commit(turns[len(turns)-1])
	}
	first := turn("01", "First?")
	write(first)
	r.Run("checkout", "-q", "-b", "topic")
	ours, theirs := []string{first, turn("03", "Ours?")}, []string{first, turn("02", "Theirs?")}
	if conflict {
		ours, theirs = []string{turn("01", "Ours?")}, []string{turn("01", "Theirs?")}
	}
	write(ours...)
	r.Run("checkout", "-q", "main")
	write(theirs...)
	server := filepath.Join(gittest.TempDir(t), "server.git")
	r.Run("clone", "-q", "--bare", r.Dir, server)
	r.Run("remote", "add", "origin", server)
	r.Run("checkout", "-q", "--detach", "topic")
	return r
}

// tryUpdate runs commands that bring a branch up to date, with a gh that records its calls, and
// checks the remote afterwards.
func tryUpdate(t *testing.T, commands string, env ...string) {
	t.Helper()
	temp := t.TempDir()
	gh := "#!/bin/sh\necho \"$@\" >> " + filepath.Join(temp, "called") + "\n"
	gittest.WriteProgram(t, filepath.Join(temp, "gh"), gh)
	if err := os.Symlink(onPath(t), filepath.Join(temp, "git-jp")); err != nil {
		t.Fatal(err)
	}
	for _, conflict := range []bool{false, true} {
		r := behindRepository(t, conflict)
		before := r.Run("ls-remote", "origin", "refs/heads/topic")
		in := r.With(append(env, "RUNNER_TEMP="+temp)...)
		out, code := runIn(t, in, "bash", "-e", "-c", `PATH="`+temp+`:$PATH"; `+commands)
		pushed := r.Run("ls-remote", "origin", "refs/heads/topic") != before
		if pushed == conflict || (code == report.ExitDone) == conflict {
			t.Errorf("conflict %v: it ends with %d, pushed %v:\n%s", conflict, code, pushed, out)
		}
		if data := r.ReadFile(".jp/conversations/17800000000-x/events.json"); !conflict &&
			(!strings.Contains(data, "Ours?") || !strings.Contains(data, "Theirs?")) {
			t.Errorf("the branch has not both:\n%s", data)
		}
	}
	if called, _ := os.ReadFile(filepath.Join(temp, "called")); strings.Contains(commands, "gh pr") &&
		strings.Count(string(called), "pr comment 7 --body-file") != 1 {
		t.Errorf("gh was called with %q", called)
	}
}

// TestActionUpdatesTheBranch runs that step of action.yml as a forge would.
func TestActionUpdatesTheBranch(t *testing.T) {
	var action struct {
		Runs struct {
			Steps []struct{ Name, Run, If string }
		}
	}
	if err := yaml.Unmarshal(readRoot(t, "action.yml"), &action); err != nil {
		t.Fatal(err)
	}
	for _, step := range action.Runs.Steps {
		if step.Name == "Update the branch" {
			// A fork names its branches as it likes, also like one that the step would push to.
			const own = "github.event.pull_request.head.repo.full_name == github.repository"
			if !strings.Contains(step.If, own) {
				t.Errorf("the step runs for forks: %s", step.If)
			}
			tryUpdate(t, step.Run, "BASE_REF=main", "HEAD_REF=topic", "NUMBER=7")
			return
		}
	}
	t.Error("there is no such step")
}

// TestGitLabUpdatesTheBranch runs the commands of the snippet in docs/ci.md.
func TestGitLabUpdatesTheBranch(t *testing.T) {
	_, snippet, ok := strings.Cut(string(readRoot(t, filepath.Join("docs", "ci.md"))),
		"\nupdate-branch:\n")
	snippet, _, end := strings.Cut(snippet, "```")
	if !ok || !end {
		t.Fatal("docs/ci.md has no such job")
	}
	var job struct {
		Script []string
		Rules  []struct{ If string }
	}
	if err := yaml.Unmarshal([]byte(snippet), &job); err != nil {
		t.Fatal(err)
	}
	const own = "$CI_MERGE_REQUEST_SOURCE_PROJECT_ID == $CI_PROJECT_ID"
	if len(job.Rules) != 1 || !strings.Contains(job.Rules[0].If, own) {
		t.Errorf("the job runs for forks: %v", job.Rules)
	}
	commands := slices.DeleteFunc(job.Script, func(line string) bool {
		return strings.HasPrefix(line, "go install") || strings.Contains(line, "set-url")
	})
	tryUpdate(t, strings.Join(commands, "\n"), "CI_MERGE_REQUEST_SOURCE_BRANCH_NAME=topic",
		"CI_MERGE_REQUEST_TARGET_BRANCH_NAME=main")
}

// runIn runs a program in a repository with git-jp on its path.
func runIn(t *testing.T, r *gittest.Repository, args ...string) (out string, code int) {
	t.Helper()
	env := append(slices.Clone(r.Env), "PATH="+onPath(t)+":"+os.Getenv("PATH"))
	cmd := exec.Command("env", args...)
	cmd.Dir, cmd.Env = r.Dir, env
	data, err := cmd.CombinedOutput()
	if cmd.ProcessState == nil {
		t.Fatal(err)
	}
	return string(data), cmd.ProcessState.ExitCode()
}
