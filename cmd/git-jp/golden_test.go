package main

import (
	"bytes"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

// mistakesFile has the answers to typical mistakes. It is also the list of them: a test types each
// line that begins with $, below the heading that says where, and writes the output when it runs
// with -update.
const mistakesFile = "testdata/mistakes.golden"

// TestGoldenMistakes makes mistakes and compares the messages.
func TestGoldenMistakes(t *testing.T) {
	want, err := os.ReadFile(mistakesFile)
	if err != nil {
		t.Fatal(err)
	}
	s := scripts.NewShell(t)
	url := serveTrouble(t)
	s.Write(filepath.Join(s.Env.Getenv("XDG_CONFIG_HOME"), "jp/config.toml"), troubled(url))
	hide := strings.NewReplacer(s.Env.WorkDir+"/.home", "/home/ada", s.Env.WorkDir, "/work",
		strings.TrimPrefix(url, "http://"), "127.0.0.1:PORT")
	var got strings.Builder
	made := 0
	for line := range strings.Lines(string(want)) {
		line = strings.TrimSuffix(line, "\n")
		heading, isHeading := strings.CutPrefix(line, "# ")
		command, isCommand := strings.CutPrefix(line, "$ ")
		switch {
		case isHeading:
			enter(s, heading)
			got.WriteString("\n" + line + "\n")
		case isCommand:
			made++
			out, code := s.Run(command)
			fmt.Fprintf(&got, "\n%s\n%s[exit %d]\n", line, hide.Replace(out), code)
		}
	}
	if made < 60 {
		t.Errorf("only %d mistakes", made)
	}
	compareGolden(t, mistakesFile, strings.TrimPrefix(got.String(), "\n"))
}

// compareGolden compares a text with a file, or writes the file when the test runs with -update.
func compareGolden(t *testing.T, name, got string) {
	t.Helper()
	if scripts.Updating() {
		if err := os.WriteFile(name, []byte(got), 0o600); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	have := bytes.Split(want, []byte("\n"))
	for i, line := range strings.Split(got, "\n") {
		if i >= len(have) || line != string(have[i]) {
			t.Fatalf("%s:%d: got\n%s\nwant\n%s\n('go test ./cmd/git-jp -run Golden -update' writes it)",
				name, i+1, line, bytes.Join(have[min(i, len(have)):min(i+1, len(have))], nil))
		}
	}
}

// enter goes to the place where the mistakes below a heading are made.
func enter(s *scripts.Shell, heading string) {
	s.Helper()
	conversations := func() {
		s.Must("git jp init -q --no-hooks")
		for i, title := range []string{"Locks of the index", "Locks of refs", "Release notes"} {
			for name, text := range scripts.Conversation(title, []string{"one result", "another"}) {
				s.Write(filepath.Join(s.Dir, fmt.Sprintf(".jp/conversations/1773839946%d-x", i), name), text)
			}
		}
		s.Must("git add . && git commit -qm 'Conversations'")
	}
	s.Env.Setenv("JP_SESSION", heading)
	switch heading {
	case "Outside of a repository":
		s.Dir = filepath.Join(s.Env.WorkDir, "elsewhere")
		s.Must("mkdir -p " + s.Dir)
	case "In a bare repository":
		s.Dir = filepath.Join(s.Env.WorkDir, "bare.git")
		s.Must("git init -q --bare -b main " + s.Dir)
	case "In a repository without a workspace":
		s.Repository("plain", map[string]string{"sub/a.go": "package a\n"})
		s.Dir = filepath.Join(s.Dir, "sub")
	case "Files that are broken":
		s.Repository("broken", nil)
		conversations()
		s.Write(filepath.Join(s.Dir, ".jp/conversations/17738399460-x/events.json"), "oops")
		s.Write(filepath.Join(s.Dir, "latin1.txt"), "caf\xe9\n")
		s.Write(filepath.Join(s.Dir, "cut.json"), `{"type": "object", `)
	case "Configurations that are broken":
		s.Repository("configured", nil)
		conversations()
		s.Write(filepath.Join(s.Dir, ".jp/git-jp.toml"), "gc.grase = \"2w\"\n")
		s.Write(filepath.Join(s.Dir, "sub/.jp.toml"), "[assistant\n")
	default:
		if s.Dir = filepath.Join(s.Env.WorkDir, "project"); !exists(s.Dir) {
			s.Repository("project", map[string]string{"a.go": "package a\n"})
			conversations()
		}
	}
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// troubled configures providers that are named after their fault.
func troubled(url string) string {
	text := "assistant.request.max_retries = 0\n"
	for _, name := range []string{"anthropic", "openai", "google", "page", "busy", "down", "other", "cut"} {
		text += fmt.Sprintf("providers.llm.%s.base_url = %q\n", name, url+"/"+name)
	}
	for _, name := range []string{"ollama", "llamacpp", "nobody"} {
		text += fmt.Sprintf("providers.llm.%s.base_url = \"http://127.0.0.1:1\"\n", name)
	}
	return text
}

// serveTrouble starts a server that answers each provider with its own fault.
func serveTrouble(t *testing.T) string {
	t.Helper()
	answers := map[string]struct {
		status int
		body   string
	}{
		"anthropic": {401, `{"type":"error","error":{"type":"authentication_error","message":"invalid x-api-key"}}`},
		"openai":    {404, `{"error":{"message":"The model ` + "`gpt-9`" + ` does not exist or you do not have access to it.","code":"model_not_found"}}`},
		"google":    {400, `{"error":{"code":400,"message":"The input token count (2097153) exceeds the maximum number of tokens allowed (1048576).","status":"INVALID_ARGUMENT"}}`},
		"busy":      {429, `{"error":{"message":"Rate limit reached"}}`},
		"down":      {500, `{"error":{"message":"Internal server error"}}`},
		"page":      {200, "<!doctype html><title>Sign in</title>"},
		"other":     {200, `{"hello":"world"}`},
		"cut":       {200, "data: {\"model\":\"m\",\"choices\":[{\"index\":0,\"delta\":{\"content\":\"Half a\"}}]}\n\n"},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		a := answers[strings.Split(r.URL.Path, "/")[1]]
		w.WriteHeader(a.status)
		_, _ = w.Write([]byte(a.body))
	}))
	t.Cleanup(server.Close)
	return server.URL
}
