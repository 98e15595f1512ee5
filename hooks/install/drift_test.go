package install_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/hooks/install"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestUrgentDriftsNameAWorkspaceOnce verifies that only one missing driver of a workspace is
// reported, and nothing for a workspace that asks for no drivers.
func TestUrgentDriftsNameAWorkspaceOnce(t *testing.T) {
	r := gittest.Repo(t)
	var attributes strings.Builder
	for _, d := range install.Drivers() {
		attributes.WriteString(d.Pattern + " merge=" + d.Name + "\n")
	}
	r.WriteFile("one/.jp/.gitattributes", attributes.String())
	r.WriteFile("two/.jp/.gitattributes", "*.txt text\n")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close()
	dirs := []string{"one/.jp", "two/.jp"}
	all, err := install.Drifts(t.Context(), repo, dirs)
	if err != nil || len(all) != len(install.Drivers()) {
		t.Fatalf("%+v, %v", all, err)
	}
	urgent, err := install.UrgentDrifts(t.Context(), repo, dirs)
	if err != nil || len(urgent) != 1 || urgent[0].Workspace != "one/.jp" {
		t.Errorf("%+v, %v", urgent, err)
	}
}
