package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of scripts")

// TestMain puts this binary on the scripts' PATH as git-jp, so that real git calls
// it as subcommand and hook.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"git-jp": func() { os.Exit(mainCode()) },
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"conversation": writeConversation,
		},
	})
}

// setUpScript gives each script a home of its own, a fixed identity and date, and
// none of the machine's configuration.
func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"HOME", home},
		{"XDG_CONFIG_HOME", filepath.Join(home, ".config")},
		{"XDG_DATA_HOME", filepath.Join(home, ".local", "share")},
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_CONFIG_GLOBAL", os.DevNull},
		{"GIT_AUTHOR_NAME", "Ada"}, {"GIT_AUTHOR_EMAIL", "ada@example.com"},
		{"GIT_COMMITTER_NAME", "Ada"}, {"GIT_COMMITTER_EMAIL", "ada@example.com"},
		{"GIT_AUTHOR_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_COMMITTER_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir)},
		{"JP_SESSION", "script"}, {"LC_ALL", "C"}, {"TERM", "dumb"},
	} {
		env.Setenv(kv[0], kv[1])
	}
	return nil
}

// writeConversation is the script command
//
//	conversation DIR ID TITLE [RESULT...]
//
// It writes a conversation in the form of today's jp below DIR/.jp, with one turn
// in which a tool is called once for each RESULT.
func writeConversation(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 3 {
		ts.Fatalf("usage: conversation DIR ID TITLE [RESULT...]")
	}
	c := legacyConversation(args[2], args[3:])
	slug := args[1]
	dir := ts.MkAbs(filepath.Join(args[0], ".jp", "conversations", slug))
	ts.Check(os.MkdirAll(dir, 0o755))
	for name, data := range c {
		ts.Check(os.WriteFile(filepath.Join(dir, name), []byte(data), 0o644))
	}
}

// legacyConversation returns the files of a conversation as today's jp writes it.
func legacyConversation(title string, results []string) map[string]string {
	stream := `[
  {
    "timestamp": "2026-01-01 00:00:00.0",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-01-01 00:00:00.1",
    "type": "chat_request",
    "content": "What is in the files?"
  }`
	for i, result := range results {
		stream += fmt.Sprintf(`,
  {
    "timestamp": "2026-01-01 00:00:0%[1]d.0",
    "type": "tool_call_request",
    "id": "call_%[1]d",
    "name": "fs_read_file",
    "arguments": {
      "path": %[2]q
    }
  },
  {
    "timestamp": "2026-01-01 00:00:0%[1]d.5",
    "type": "tool_call_response",
    "id": "call_%[1]d",
    "content": %[3]q,
    "is_error": false
  }`, i+1, base64Text(fmt.Sprintf("file%d.txt", i+1)), base64Text(result))
	}
	stream += `,
  {
    "timestamp": "2026-01-01 00:00:30.0",
    "type": "chat_response",
    "message": "They hold **text**."
  }
]
`
	metadata := fmt.Sprintf("{\n  \"title\": %q,\n  \"last_activated_at\": \"2026-01-01 00:00:30.0\"\n}\n", title)
	return map[string]string{
		"metadata.json": metadata, "base_config.json": "{}\n", "events.json": stream,
	}
}
