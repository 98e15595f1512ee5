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
