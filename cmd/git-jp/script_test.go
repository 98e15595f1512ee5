package main

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/rogpeppe/go-internal/testscript"
)

var update = flag.Bool("update", false, "rewrite the golden parts of scripts")

// TestMain puts this binary on the scripts' PATH as git-jp, so that real git calls
// it as subcommand and hook.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"git-jp":     func() { os.Exit(mainCode()) },
		"mcp-server": mcpServer,
	})
}

func TestScript(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 filepath.Join("..", "..", "testdata", "script"),
		UpdateScripts:       *update,
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		Setup:               setUpScript,
		Condition:           condition,
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"conforms":     conforms,
			"conversation": writeConversation,
			"dialogue":     dialogue,
			"eventually":   eventually,
			"exits":        exits,
			"is-json":      isJSON,
			"serve-mcp":    serveMCP,
			"serve-model":  serveModel,
		},
	})
}

// condition knows [realdata], whether the real conversations are there, and
// [unprivileged], whether permissions of files mean something.
func condition(cond string) (bool, error) {
	switch cond {
	case "realdata":
		_, ok := realdata.Find()
		return ok, nil
	case "unprivileged":
		return os.Geteuid() != 0, nil
	default:
		return false, fmt.Errorf("unknown condition %q", cond)
	}
}

// setUpScript gives each script a home of its own, a fixed identity and date, and
// none of the machine's configuration.
func setUpScript(env *testscript.Env) error {
	home := filepath.Join(env.WorkDir, ".home")
	data, _ := realdata.Find()
	if err := os.MkdirAll(home, 0o755); err != nil {
		return err
	}
	for _, kv := range [][2]string{
		{"HOME", home},
		{"REALDATA", data},
		{"XDG_CONFIG_HOME", filepath.Join(home, ".config")},
		{"XDG_DATA_HOME", filepath.Join(home, ".local", "share")},
		// A program built for the race detector sleeps for a second when it ends.
		{"GORACE", "atexit_sleep_ms=0"},
		{"GIT_CONFIG_NOSYSTEM", "1"},
		{"GIT_CONFIG_GLOBAL", os.DevNull},
		{"GIT_AUTHOR_NAME", "Ada"},
		{"GIT_AUTHOR_EMAIL", "ada@example.com"},
		{"GIT_COMMITTER_NAME", "Ada"},
		{"GIT_COMMITTER_EMAIL", "ada@example.com"},
		{"GIT_AUTHOR_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_COMMITTER_DATE", "2026-06-01T12:00:00Z"},
		{"GIT_CEILING_DIRECTORIES", filepath.Dir(env.WorkDir)},
		{"JP_SESSION", "script"},
		{"GIT_TERMINAL_PROMPT", "0"},
		{"LC_ALL", "C"},
		{"TERM", "dumb"},
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
// in which a tool is called once for each RESULT. A RESULT "7*text" stands for seven
// different ones. ID is the name of the directory, and may begin with .archive/.
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
