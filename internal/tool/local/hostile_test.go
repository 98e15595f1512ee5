//go:build unix

package local

import (
	"context"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/process"
	"pgregory.net/rapid"
)

// TestHostileTemplates inserts values from a model into shell templates at every possible position:
// the program gets the complete value as a part of one argument, or the template is refused; and no
// value is run. The shells that are called sh differ in their syntax.
func TestHostileTemplates(t *testing.T) {
	tried := map[string]bool{}
	for _, shell := range []string{"bash", "dash", "ksh", "mksh", "yash", "zsh", "sh"} {
		path, err := exec.LookPath(shell)
		if err == nil {
			path, err = filepath.EvalSymlinks(path)
		}
		if err != nil || tried[path] {
			continue // missing, or tested under another name
		}
		tried[path] = true
		t.Run(shell, func(t *testing.T) { hostileTemplates(t, path) })
	}
	if len(tried) == 0 {
		t.Error("no shell was tried")
	}
}

func hostileTemplates(t *testing.T, shell string) {
	env, _ := environment(t)
	bin := t.TempDir()
	gittest.WriteProgram(t, filepath.Join(bin, "rec"),
		"#!/bin/sh\nfor a; do printf '%s\\0' \"$a\"; done >>\"$REC\"\n")
	path := bin + ":" + os.Getenv("PATH")
	if err := os.Symlink(shell, filepath.Join(bin, "sh")); err != nil {
		t.Fatal(err)
	}
	record := filepath.Join(t.TempDir(), "record")
	env.Starter = process.Launcher{Env: []string{"PATH=" + path, "REC=" + record}}
	fragments := []string{
		"{{tool.arguments.x}}", "{{tool.arguments.x}}", "rec ", "rec ", " rec a", "'", `"`, `"`, "`",
		"$(", ")", "(", "; ", " && ", " | ", "\n", " ", " ", "<<E\n", "\nE\n", "#", "eval ", `\`, "$",
		"${", "}", "{ ", "; }", "if true; then ", "; fi", "for i in ", "; do ", "; done", "x=", "[ -n ",
		" ]", "printf ", "'%s' ", "sh -c ", "rec -- ", "$((", "))", "<<<", "case a in ", " esac", "f() ",
		"unset ", "read ", "test ", "set -- ", "command ", "a[", "]", "=", "~", "*",
	}
	hostile := []string{
		"; touch pwned;", "$(touch pwned)", "`touch pwned`", "' ; touch pwned; '", `" ; touch pwned; "`,
		"\nE\ntouch pwned\n", "a[$(touch pwned)]", "touch pwned", "-v", "*", "{a,b}", `\`, "'", `"`, ")",
		"}", "\n", "#", "$x", " ", "&& touch pwned", "| touch pwned", "{{context.root}}", "-c", "%s%n",
	}
	ran, refused := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		script := "rec " + strings.Join(rapid.SliceOfN(rapid.SampledFrom(fragments), 1, 7).Draw(t, "template"), "")
		if !strings.Contains(script, "{{") {
			script += "{{tool.arguments.x}}"
		}
		value := "S7" + strings.Join(rapid.SliceOfN(rapid.SampledFrom(hostile), 1, 3).Draw(t, "value"), "") + "E7"
		c := tool.Config{Name: "t", Command: tool.CommandConfig{Program: script, Shell: true}}
		if strings.Contains(strings.Join(strings.Fields(script), " "), "sh -c {{") {
			t.Skip("the author of this template asks the model for a script")
		}
		it, err := New(c, env)
		if err != nil {
			refused++
			return
		}
		ran++
		args, err := json.Marshal(map[string]string{"x": value})
		if err != nil {
			t.Fatal(err)
		}
		_, _ = it.Tool.Run(context.Background(), tool.Call{Name: "t", Arguments: args}) // the template may be invalid in this shell
		if os.Remove(filepath.Join(env.Root, "pwned")) == nil {
			t.Fatalf("%q ran %q", script, value)
		}
		got, _ := os.ReadFile(record) // missing if nothing ran
		_ = os.Remove(record)
		for arg := range strings.SplitSeq(string(got), "\x00") {
			if (strings.Contains(arg, "S7") || strings.Contains(arg, "E7")) && !strings.Contains(arg, value) {
				t.Fatalf("%q gives %q of %q", script, arg, value)
			}
		}
	})
	if ran == 0 || refused == 0 {
		t.Errorf("%d templates ran, %d were refused", ran, refused)
	}
}
