package install

import (
	"os/exec"
	"slices"
	"strings"
	"testing"
)

func TestCallsHook(t *testing.T) {
	for text, want := range map[string]bool{
		"git jp hook pre-commit":                 true,
		"git-jp hook pre-commit \"$@\"\n":        true,
		"  - run: git jp hook pre-commit {0}":    true,
		"x || git jp hook pre-commit; y":         true,
		"# git jp hook pre-commit":               false,
		"git jp hook pre-commit-msg":             false,
		"echo\ngit jp hook post-commit\n":        false,
		`"pre-commit": "git jp hook pre-commit"`: true,
	} {
		if got := callsHook(text, "pre-commit"); got != want {
			t.Errorf("callsHook(%q) = %v, want %v", text, got, want)
		}
	}
}

func TestIsShell(t *testing.T) {
	for line, want := range map[string]bool{
		"#!/bin/sh\n": true, "#!/usr/bin/env bash\n": true, "#! /bin/sh -e\n": true,
		"#!/usr/bin/env -S bash -e\n": true, "#!/usr/bin/zsh\n": true,
		"#!/bin/sh\r\n": false, "#!/usr/bin/fish\n": false, "#!/usr/bin/env python3\n": false,
		"echo\n": false, "\n": false, "": false,
	} {
		if got := isShell(line); got != want {
			t.Errorf("isShell(%q) = %v, want %v", line, got, want)
		}
	}
}

// Every text is a script that the shell can read, and only the newest is written.
func TestTexts(t *testing.T) {
	for _, name := range AllNames() {
		known := knownTexts()
		for _, text := range []string{
			known.scripts[0](name), known.blocks[0](name), known.commands[0](name),
		} {
			if out, err := exec.Command("sh", "-n", "-c", text).CombinedOutput(); err != nil {
				t.Errorf("%s: %v: %s\n%s", name, err, out, text)
			}
		}
	}
}

// A text of an older release is recognised, and an installation brings the newest.
func TestOlderTexts(t *testing.T) {
	older := func(name string) string { return "#!/bin/sh\n# old " + name + "\n" }
	in := &Installer{texts: knownTexts()}
	in.texts.scripts = append(in.texts.scripts, older)
	f := found{
		name: "pre-commit", site: site{dir: "d", rel: "hooks"},
		text: older("pre-commit"), perm: 0o755,
	}
	in.classify(&f)
	p := &Plan{}
	in.installFile(p, f)
	if len(p.steps) != 1 || p.Actions[0].Do != Update || p.steps[0].new != in.texts.scripts[0]("pre-commit") {
		t.Errorf("plan %+v", p)
	}
	block := func(name string) string { return "# old block " + name + "\n" }
	in.texts.blocks = append(in.texts.blocks, block)
	f.text = "#!/bin/sh\n" + block("pre-commit") + "echo\n"
	in.classify(&f)
	p = &Plan{}
	in.installFile(p, f)
	if len(p.steps) != 1 || p.steps[0].new != "#!/bin/sh\n"+in.texts.blocks[0]("pre-commit")+"echo\n" {
		t.Errorf("plan %+v", p)
	}
}

// A commit on a machine without the program prints one line, not one for each hook.
func TestOneHookOfACommitComplains(t *testing.T) {
	known := knownTexts()
	for _, text := range slices.Concat(known.scripts, known.blocks, known.commands) {
		if !strings.Contains(text("pre-commit"), "is not installed") {
			t.Errorf("pre-commit is silent:\n%s", text("pre-commit"))
		}
		if strings.Contains(text("post-commit"), "is not installed") {
			t.Errorf("post-commit says it again:\n%s", text("post-commit"))
		}
	}
}

// Git starts a hook for each commit; a hook that starts git to start the program takes longer.
func TestTextsCallTheProgramItself(t *testing.T) {
	known := knownTexts()
	for _, texts := range [][]template{known.scripts, known.besides, known.blocks, known.commands} {
		for _, name := range []string{"pre-commit", "pre-push"} {
			text := texts[0](name)
			if strings.Contains(text, "git jp hook") || !strings.Contains(text, "git-jp hook "+name) {
				t.Errorf("git is started once more:\n%s", text)
			}
		}
	}
}
