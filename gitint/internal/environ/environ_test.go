package environ

import (
	"os"
	"slices"
	"strings"
	"testing"
)

// TestEveryVariableHasATreatment compares the table with the variables in git's sources.
func TestEveryVariableHasATreatment(t *testing.T) {
	data, err := os.ReadFile("testdata/environment.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name, version, ok := strings.Cut(strings.TrimSpace(line), " ")
		if !ok || !strings.HasPrefix(version, "2.") {
			t.Fatalf("line %q", line)
		}
		count++
		if treatmentOf(name) == unknown {
			t.Errorf("%s, of git %s, has no treatment", name, version)
		}
	}
	if count < 200 {
		t.Errorf("only %d variables", count)
	}
}

func TestTreatments(t *testing.T) {
	for name, want := range map[string]treatment{
		"GIT_DIR": honoured, "GIT_REFERENCE_BACKEND": refused, "GIT_SHALLOW_FILE": refused,
		"GIT_REPLACE_REF_BASE": refused, "GIT_CONFIG": dropped, "GIT_BRANCH": harmless,
		"GIT_CONFIG_KEY_17": harmless, "GIT_JP_SOAK": harmless, "GIT_REF_BACKEND": unknown,
		"GIT_DIRECTORY": unknown, "GIT_": unknown, "GIT_CONFIG_": unknown,
	} {
		if got := treatmentOf(name); got != want {
			t.Errorf("%s is treated as %d, want %d", name, got, want)
		}
	}
	seen := make(map[string]bool)
	for _, row := range environment {
		for name := range strings.FieldsSeq(row.names) {
			if seen[name] || !strings.HasPrefix(name, prefix) {
				t.Errorf("%s stands there twice, or is none of git", name)
			}
			seen[name] = true
		}
	}
}

func TestStrangeEnvironment(t *testing.T) {
	l := List{
		"GITHUB_SHA=1", "GITLAB_CI=1", "GITEA_ACTIONS=1", "PATH=/bin", "GIT_BRANCH=main",
		"GIT_FUTURE=", "GIT_SHALLOW_FILE=", "GIT_CONFIG=x", "GIT_FUTURE=",
	}.Clean()
	if slices.Contains(l, "GIT_CONFIG=x") {
		t.Error("GIT_CONFIG is still there")
	}
	details := l.Strange()
	want := []string{
		"GIT_FUTURE= is a variable that this version does not know",
		"GIT_SHALLOW_FILE= makes git read something else",
	}
	if !slices.Equal(details, want) {
		t.Errorf("strange: %q", details)
	}
}

// TestExtensionsOfGit compares the table with the extensions in git's sources.
func TestExtensionsOfGit(t *testing.T) {
	data, err := os.ReadFile("testdata/extensions.txt")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for line := range strings.Lines(string(data)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		name := strings.TrimSpace(line)
		if count++; extensions["extensions."+strings.ToLower(name)] == unknown {
			t.Errorf("%s has no treatment", name)
		}
	}
	if count != len(extensions) {
		t.Errorf("git has %d extensions, the table %d", count, len(extensions))
	}
}
