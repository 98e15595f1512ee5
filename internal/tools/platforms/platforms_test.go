package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestExamine verifies that code which does not compile on one system, or in which go vet finds a
// problem there, is found in programs, in tests and across packages, and on that system only. Few
// of the sources have imports or are tests: with them, half of the standard library is read.
func TestExamine(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"go.mod":         "module example.org/m\n\ngo 1.26\n",
		"a/a.go":         "package a\n\nfunc F() int { return 1 }\n",
		"a/a_windows.go": "package a\n\nvar s string = F()\n",
		"b/b.go":         "package b\n",

		"b/b_freebsd_test.go": "package b\n\nvar _ = missing\n",
		"c/c.go":              "package c\n",
		"c/c_darwin.go":       "package c\n\nimport \"fmt\"\n\nfunc Say(f string, a ...any) { fmt.Printf(f, a...) }\n",
		"c/c_darwin_test.go":  "package c\n\nimport \"testing\"\n\nfunc TestSay(*testing.T) { Say(\"%d\", 1) }\n",
		"d/d_darwin.go":       "package d\n\nimport \"example.org/m/c\"\n\nfunc D() { c.Say(\"%d\", \"x\") }\n",
		"d/d.go":              "package d\n",
		"e/e_openbsd.go":      "package e\n\nvar n int = \"\"\n",
		"e/e.go":              "package e\n",
		"e/testdata/x.go":     "package broken(\n",
	} {
		name = filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for system, want := range map[string]string{
		"windows": "cannot use F()", "freebsd": "undefined: missing",
		"darwin": "format %d has arg \"x\" of wrong type string", "openbsd": "cannot use \"\"",
	} {
		err := examine(dir, system)
		switch {
		case err == nil:
			t.Errorf("%s: nothing was found, want %q", system, want)
		case !strings.Contains(err.Error(), want):
			t.Errorf("%s: found %v, want %q", system, err, want)
		}
	}
	if err := examine(dir, "linux"); err != nil {
		t.Errorf("found %v, where nothing is wrong", err)
	}
}

func TestExamineNothing(t *testing.T) {
	if err := examine(filepath.Join(t.TempDir(), "none"), "linux"); err == nil {
		t.Error("a directory that is not there is as it should be")
	}
}
