package edits_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/edits"
)

// TestEdits verifies that the changes by the agents' tools are found.
func TestEdits(t *testing.T) {
	const diff = " one\n-two\n+2"
	for tool, args := range map[string]string{
		"Claude Code":            `{"file_path":"a","old_string":"one\ntwo","new_string":"one\n2"}`,
		"Claude Code, MultiEdit": `{"file_path":"a","edits":[{"old_string":"one\ntwo","new_string":"one\n2"}]}`,
		"Gemini CLI":             `{"file_path":"a","old_string":"one\ntwo","new_string":"one\n2","instruction":"x"}`,
		"Copilot CLI":            `{"path":"a","old_str":"one\ntwo","new_str":"one\n2"}`,
		"opencode":               `{"filePath":"a","oldString":"one\ntwo","newString":"one\n2"}`,
		"jp":                     `{"path":"a","patterns":[{"old":"one\ntwo","new":"one\n2"}]}`,
	} {
		all := edits.Parse([]byte(args)).Edits()
		if len(all) != 1 || all[0].File != "a" || all[0].Diff() != diff {
			t.Errorf("%s: %+v", tool, all)
		}
	}
	patch := "*** Begin Patch\n*** Update File: a\n one\n-two\n+2\n*** End Patch"
	for tool, args := range map[string]string{
		"Codex":          `{"input":PATCH}`,
		"Codex, a shell": `{"command":["bash","-lc",PATCH]}`,
		"opencode":       `{"patchText":PATCH}`,
	} {
		quoted := `"` + strings.ReplaceAll(patch, "\n", `\n`) + `"`
		all := edits.Parse([]byte(strings.ReplaceAll(args, "PATCH", quoted))).Edits()
		if len(all) != 1 || all[0].File != "" || all[0].Diff() != patch {
			t.Errorf("%s: %+v", tool, all)
		}
	}
	for _, none := range []string{
		``, `[1]`, `{"command":"ls"}`, `{"edits":[1,{"old":1}]}`, `{"path":"a","content":"x"}`,
		`{"old_string":"a","new_string":1}`,
	} {
		if all := edits.Parse([]byte(none)).Edits(); all != nil {
			t.Errorf("%s: %+v", none, all)
		}
	}
}

// TestCommands verifies that the script of a shell is the command, and that the shell is beside it;
// another interpreter is part of the command, and what is no text is none.
func TestCommands(t *testing.T) {
	for args, want := range map[string][2]string{
		`{"command":"ls -l","why":"x"}`:                {"ls -l", `{"why":"x"}`},
		`{"command":["bash","-lc","ls -l"]}`:           {"ls -l", `{"command":["bash","-lc"]}`},
		`{"cmd":["/x/zsh","-c","ls"],"why":"x"}`:       {"ls", `{"cmd":["/x/zsh","-c"],"why":"x"}`},
		`{"command":["python3","-c","print(1)"]}`:      {"python3 -c print(1)", ``},
		`{"command":["kill","-9",7]}`:                  {"kill -9 7", ``},
		`{"command":["bash","-lc",{"script":"rm"}]}`:   {"", `{"command":["bash","-lc",{"script":"rm"}]}`},
		`{"command":["ls",["-l"]],"command_line":"a"}`: {"a", `{"command":["ls",["-l"]]}`},
	} {
		a := edits.Parse([]byte(args))
		if line, beside := a.Command(), string(a.BesideCommand()); line != want[0] || beside != want[1] {
			t.Errorf("%s: %q, %s beside", args, line, beside)
		}
	}
}

// TestEditsLeaveNothingOut verifies that what is not in a change is beside it.
func TestEditsLeaveNothingOut(t *testing.T) {
	for args, want := range map[string]string{
		`{"file_path":"a","old_string":"b","new_string":"c"}`:                                           ``,
		`{"file_path":"a","old_string":"b","new_string":"c","replace_all":true}`:                        `{"replace_all":true}`,
		`{"path":"a","edits":[{"old":"b","new":"c"}],"why":"<x>"}`:                                      `{"why":"<x>"}`,
		`{"path":"a","edits":[{"old":"b","new":"c"},{"old":"d","new":"e","all":12345678901234567890}]}`: `{"edits":[{"all":12345678901234567890}]}`,
		`{"path":"z","patterns":[{"old":"b","new":"c","paths":["a"]}]}`:                                 `{"path":"z"}`,
		`{"input":"*** Begin Patch\nx","explanation":"tidy"}`:                                           `{"explanation":"tidy"}`,
		`{"command":"--- a\n+++ b","timeout":5,"path":"w"}`:                                             `{"path":"w","timeout":5}`,
		`{"command":["/x/sh","-c","--- a\n+++ b"]}`:                                                     `{"command":["/x/sh","-c"]}`,
		`{"path":"z","patterns":[{"old":"b","new":"c","paths":["a",{"b":1}]}]}`:                         `{"patterns":[{"paths":["a",{"b":1}]}]}`,
	} {
		all, beside := edits.Parse([]byte(args)).EditsBeside()
		if len(all) == 0 || string(beside) != want {
			t.Errorf("%s: %+v, %s beside, want %s", args, all, beside, want)
		}
	}
	for _, args := range []string{
		`{"path":"a","edits":[{"old":"b","new":"c"},{"run":"d"}]}`, `{"command":"ls","timeout":5}`,
	} {
		if all, _ := edits.Parse([]byte(args)).EditsBeside(); len(all) > 0 {
			t.Errorf("%s: %+v", args, all)
		}
	}
	const before = "sh pwn; apply_patch <<'*** Begin Patch'"
	all := edits.Parse([]byte(`{"command":"` + before + `"}`)).Edits()
	if len(all) != 1 || all[0].Diff() != before {
		t.Errorf("got %+v, want the whole command", all)
	}
}
