package readings_test

import (
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/scripts"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// agentOn starts the server in a repository, and returns a function that calls a tool.
func agentOn(t *testing.T, r *gittest.Repository) func(tool string, args map[string]any) string {
	t.Helper()
	scripts.DependOnSources(t)
	cmd := exec.Command("git-jp", "mcp")
	cmd.Dir, cmd.Env = r.Dir, append(r.Env, "XDG_DATA_HOME="+t.TempDir())
	session, err := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil).
		Connect(t.Context(), &mcp.CommandTransport{Command: cmd}, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := session.Close(); err != nil {
			t.Error(err)
		}
	})
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range tools.Tools {
		if tool.Annotations == nil || !tool.Annotations.ReadOnlyHint {
			t.Errorf("%s does not say that it only reads", tool.Name)
		}
	}
	return func(tool string, args map[string]any) string {
		t.Helper()
		result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
			Name: tool, Arguments: args,
		})
		if err != nil {
			t.Fatal(err)
		}
		text := result.Content[0].(*mcp.TextContent).Text
		if result.IsError {
			return "error: " + text
		}
		return text
	}
}

// TestAgentsRead makes an agent find, read and ask, in a repository whose conversation was
// committed with the line that it wrote. Each line of a conversation's text is quoted.
func TestAgentsRead(t *testing.T) {
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("A title", []string{"alpha needle"}) {
		r.WriteFile(".jp/conversations/17000000001/"+name, text)
	}
	r.WriteFile("main.go", "package main\n")
	first := r.Commit("one")
	r.Run("branch", "-f", "base")
	r.WriteFile(".jp/conversations/17000000002/metadata.json",
		`{"title":"Other","last_activated_at":"2026-01-01 00:00:00.0"}`)
	r.WriteFile(".jp/conversations/17000000002/base_config.json", "{}")
	r.WriteFile(".jp/conversations/17000000002/events.json", `[
{"timestamp":"2026-01-01 00:00:00.0","type":"turn_start"},
{"timestamp":"2026-01-01 00:00:00.0","type":"chat_request","content":"please obey\n`+
		strings.Repeat("long ", 9000)+`"},
{"timestamp":"2026-01-01 00:00:01.0","type":"tool_call_request","id":"a","name":"Write",`+
		`"arguments":{"path":"bWFpbi5nbw==","content":"dmFyIHdyaXR0ZW4gPSB0cnVlCg=="}},
{"timestamp":"2026-01-01 00:00:02.0","type":"tool_call_response","id":"a","content":"","is_error":false},
{"timestamp":"2026-01-01 00:00:03.0","type":"chat_response","message":"it is written"}]`)
	r.WriteFile("main.go", "package main\nvar written = true\n")
	r.Commit("two")
	ask := agentOn(t, r)
	for _, c := range []struct {
		name, tool string
		args       map[string]any
		want, not  []string
	}{
		{
			"words", "find_conversations",
			map[string]any{"words": "needle"},
			[]string{"jp-c17000000001", "> A title", "17000000001.html#e-", "alpha needle"},
			[]string{"jp-c17000000002"},
		},
		{
			"file", "find_conversations",
			map[string]any{"file": "main.go"},
			[]string{"jp-c17000000002", "turn 1", "    > var written = true"},
			[]string{"jp-c17000000001"},
		},
		{
			"day", "find_conversations",
			map[string]any{"until": "2025-12-31"},
			nil,
			[]string{"jp-c17000000002"},
		},
		{
			"commit", "find_conversations",
			map[string]any{"commit": strings.TrimSpace(first)},
			[]string{"jp-c17000000001"},
			[]string{"jp-c17000000002"},
		},
		{
			"focused", "read_turns",
			map[string]any{"conversation": "jp-c17000000001"},
			[]string{"turn 1, 17000000001.html#e-"},
			[]string{"alpha needle"},
		},
		{
			"full", "read_turns",
			map[string]any{"conversation": "jp-c17000000001", "full": true},
			[]string{"alpha needle"},
			nil,
		},
		{
			"bounded", "read_turns",
			map[string]any{"conversation": "jp-c17000000002"},
			[]string{"please obey", "read turns from offset 30000"},
			[]string{"it is written"},
		},
		{
			"the rest", "read_turns",
			map[string]any{
				"conversation": "jp-c17000000002", "offset": 29_900,
			},
			[]string{"> it is written"},
			[]string{"please obey", "offset"},
		},
		{
			"lines", "lines_origin",
			map[string]any{"file": "main.go", "from": 2},
			[]string{"lines 2 to 2, commit ", "recorded, wrote 1 of them: jp-c17000000002 turn 1"},
			[]string{"jp-c17000000001"},
		},
		{
			"branch", "branch_turns",
			map[string]any{"base": "base"},
			[]string{"jp-c17000000002"},
			[]string{"jp-c17000000001"},
		},
		{
			"outside", "lines_origin",
			map[string]any{"file": "../../etc/passwd"},
			[]string{"error: ", "is not in the repository"},
			nil,
		},
		{
			"unknown", "read_turns",
			map[string]any{"conversation": "jp-c17000000009"},
			[]string{"error: no conversation"},
			nil,
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			got := ask(c.tool, c.args)
			for _, w := range c.want {
				if !strings.Contains(got, w) {
					t.Errorf("%q is not in\n%.2000s", w, got)
				}
			}
			for _, w := range c.not {
				if strings.Contains(got, w) {
					t.Errorf("%q is in\n%.2000s", w, got)
				}
			}
			for line := range strings.Lines(got) {
				if strings.Contains(line, "obey") && !strings.HasPrefix(line, "    > ") {
					t.Errorf("%q is not quoted", line)
				}
			}
			if len(got) > 31_000 {
				t.Errorf("%d bytes", len(got))
			}
		})
	}
}

// TestAgentsStartItAnywhere verifies that the server starts without a workspace, and says so when
// it is called.
func TestAgentsStartItAnywhere(t *testing.T) {
	ask := agentOn(t, gittest.Repo(t))
	got := ask("find_conversations", nil)
	if !strings.HasPrefix(got, "error: ") || !strings.Contains(got, "workspace") {
		t.Errorf("it says %q", got)
	}
}

// TestAgentsFindEmptyConversations verifies that a conversation without events, such as a fork of
// only the configuration, is found by its title and in no time, and ends no server.
func TestAgentsFindEmptyConversations(t *testing.T) {
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("A needle", nil) {
		r.WriteFile(".jp/conversations/17000000001/"+name, text)
	}
	r.WriteFile(".jp/conversations/17000000001/events.json", "[]")
	r.Commit("one")
	ask := agentOn(t, r)
	for _, time := range []string{"", "since", "until"} {
		args := map[string]any{"words": "needle"}
		if time != "" {
			args[time] = "2020-01-01"
		}
		got := ask("find_conversations", args)
		found := strings.Contains(got, "jp-c17000000001")
		if found != (time == "") || strings.HasPrefix(got, "error: ") {
			t.Errorf("%v: it says %q", args, got)
		}
	}
}

// TestAgentsNamePermalinks verifies that the links that agents are shown lead to anchors of a site,
// whichever tool returns them.
func TestAgentsNamePermalinks(t *testing.T) {
	r := gittest.Repo(t)
	for name, text := range scripts.Conversation("A title", []string{"alpha needle"}) {
		r.WriteFile(".jp/conversations/17000000001/"+name, text)
	}
	r.WriteFile("main.go", "package main\n")
	r.Commit("one")
	ask := agentOn(t, r)
	out := filepath.Join(t.TempDir(), "site")
	cmd := exec.Command("git-jp", "site", out)
	cmd.Dir, cmd.Env = r.Dir, append(r.Env, "XDG_DATA_HOME="+t.TempDir())
	if said, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	link := regexp.MustCompile(`\d+\.html#e-[^\s:]+`)
	for tool, args := range map[string]map[string]any{
		"find_conversations": {"words": "needle"},
		"read_turns":         {"conversation": "jp-c17000000001"},
		"lines_origin":       {"file": "main.go"},
	} {
		links := link.FindAllString(ask(tool, args), -1)
		if len(links) == 0 {
			t.Errorf("%s names no link", tool)
		}
		for _, l := range links {
			page, at, _ := strings.Cut(l, "#")
			text, err := os.ReadFile(filepath.Join(out, page))
			if err != nil || !strings.Contains(string(text), `id="`+at+`"`) {
				t.Errorf("%s: %s leads nowhere: %v", tool, l, err)
			}
		}
	}
}

// TestAgentsChangeNothing verifies that no call changes a file of the repository, and that a commit
// at which history is cut off is marked.
func TestAgentsChangeNothing(t *testing.T) {
	origin := gittest.Repo(t)
	for name, text := range scripts.Conversation("A title", []string{"alpha"}) {
		origin.WriteFile(".jp/conversations/17000000001/"+name, text)
	}
	origin.Commit("one")
	origin.WriteFile("main.go", "package main\n")
	origin.Commit("two")
	r := gittest.Repo(t)
	r.Run("fetch", "-q", "--depth=1", "file://"+origin.Dir, "HEAD")
	r.Run("reset", "-q", "--hard", "FETCH_HEAD")
	files := func() (all string) {
		err := filepath.WalkDir(r.Dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := d.Info()
			all += fmt.Sprintln(name, info.Size(), info.ModTime())
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
		return all
	}
	was := files()
	ask := agentOn(t, r)
	ask("find_conversations", map[string]any{"words": "alpha"})
	ask("read_turns", map[string]any{"conversation": "jp-c17000000001", "full": true})
	ask("branch_turns", map[string]any{"base": "HEAD"})
	if got := ask("find_conversations", map[string]any{"commit": "HEAD"}); !strings.Contains(got, "history is cut off") {
		t.Errorf("the commit: got %q", got)
	}
	got := ask("lines_origin", map[string]any{"file": "main.go"})
	if !strings.Contains(got, "with which the history that is here begins") || strings.Contains(got, "recorded") {
		t.Errorf("the lines: got %q", got)
	}
	if is := files(); is != was {
		t.Errorf("files changed:\n%s\n%s", was, is)
	}
}
