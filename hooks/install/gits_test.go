package install_test

import (
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// Switching between gits of different versions never leaves a hook that runs twice.
func TestUpgradeAndDowngradeOfGit(t *testing.T) {
	r := gittest.Repo(t)
	before := listing(t, r.Dir)
	older, newer := open(t, r, r.Dir, oldGit), open(t, r, r.Dir, newGit)
	one := install.Options{Names: []string{"pre-commit"}}
	wantDeeds(t, installIn(t, older, one), "create pre-commit")
	alone := r.ReadFile(".git/hooks/pre-commit")
	wantDeeds(t, installIn(t, newer, one), "create pre-commit")
	if r.ReadFile(".git/hooks/pre-commit") == alone {
		t.Error("the file is that of a git that knows no hooks of the configuration")
	}
	wantDeeds(t, installIn(t, older, one), "remove pre-commit", "update pre-commit")
	if r.ReadFile(".git/hooks/pre-commit") != alone {
		t.Error("the file is not that of a git that knows no hooks of the configuration")
	}
	if text := r.ReadFile(".git/config"); strings.Contains(text, "hook") {
		t.Errorf("the configuration is\n%s", text)
	}
	uninstall(t, older)
	if diff := cmp.Diff(before, listing(t, r.Dir)); diff != "" {
		t.Errorf("(-before +after)\n%s", diff)
	}
}

// TestDowngradeOfGitKeepsWhatRuns: while a hook of the user is in the way of the file, a newer git,
// in an editor or a container, still runs ours from the configuration.
func TestDowngradeOfGitKeepsWhatRuns(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile(".git/hooks/pre-commit", "#!/usr/bin/env python3\n")
	if err := os.Chmod(r.Path(".git/hooks/pre-commit"), 0o755); err != nil {
		t.Fatal(err)
	}
	older, newer := open(t, r, r.Dir, oldGit), open(t, r, r.Dir, newGit)
	one := install.Options{Names: []string{"pre-commit"}}
	wantDeeds(t, installIn(t, newer, one), "create pre-commit")
	wantDeeds(t, installIn(t, older, one), "manual pre-commit")
	if text := r.ReadFile(".git/config"); !strings.Contains(text, "jp-pre-commit") {
		t.Errorf("the configuration is\n%s", text)
	}
	r.WriteFile(".git/hooks/pre-commit", "#!/bin/sh\ngit-jp hook pre-commit\n")
	wantDeeds(t, installIn(t, older, one), "remove pre-commit", "keep pre-commit")
}
