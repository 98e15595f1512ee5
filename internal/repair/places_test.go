package repair_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/repair"
	"github.com/git-jp/git-jp/internal/workspace"
)

// faultIn returns the only fault of a state.
func faultIn(t *testing.T, o repair.Options, state check.State) *repair.Fault {
	t.Helper()
	plan, err := repair.MakePlan(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	var all []*repair.Fault
	for _, f := range plan.Faults {
		if f.State == state {
			all = append(all, f)
		}
	}
	if len(all) != 1 {
		t.Fatalf("%d faults are %s: %+v", len(all), state, plan.Faults)
	}
	return all[0]
}

// TestPlacesAreNamed checks what a plan says about lost content, by the place that has it.
func TestPlacesAreNamed(t *testing.T) {
	const id = 17000000000
	for put, want := range map[string]string{
		"index":      "restore it from the index",
		"head":       "restore it from commit ",
		"quarantine": "restore it from the quarantine, ",
		"user-local": "restore it from ",
		"lfs":        "restore it from Git LFS, ",
		"ref":        "restore it from a tree that a ref names",
		"nowhere":    "",
	} {
		t.Run(put, func(t *testing.T) {
			s := newSite(t)
			writeConversation(t, s.Dir, id, []string{secret})
			migrate(t, s.Dir, workspace.FormatBlobs, false)
			s.Remove(blobPath(secret))
			s.Commit("without it")
			s.put(put, id)
			state := check.Missing
			if put == "lfs" {
				state = check.LFSPointer
			}
			f := faultIn(t, s.options(), state)
			outcome := repair.Certain
			if want == "" {
				outcome = repair.Gone
			}
			if f.Outcome != outcome || !strings.HasPrefix(f.Remedy, want) || (f.Remedy == "") != (want == "") ||
				f.Command != "" || f.Conversation != id || f.Ref != blobs.RefTo([]byte(secret)) {
				t.Errorf("%+v", f)
			}
		})
	}
	t.Run("pointer", func(t *testing.T) {
		s := newSite(t)
		writeConversation(t, s.Dir, id, []string{secret})
		migrate(t, s.Dir, workspace.FormatBlobs, false)
		pointer, _ := lfsPointer(blobs.Encode([]byte(secret)))
		s.WriteFile(blobPath(secret), pointer)
		f := faultIn(t, s.options(), check.LFSPointer)
		if f.Outcome != repair.Offered || f.Command != "git lfs pull" || f.Remedy != "Git LFS may have it" {
			t.Errorf("%+v", f)
		}
	})
}

// TestVersionOfACopy checks that a file that cannot be loaded is completed from a user-local copy,
// also where no repository is, and that one that was not cut off is left to a person.
func TestVersionOfACopy(t *testing.T) {
	const name = ".jp/conversations/17000000000-x/events.json"
	for _, bare := range []bool{false, true} {
		s := newSite(t)
		writeConversation(t, s.Dir, 17000000000, []string{"content"})
		whole := s.ReadFile(name)
		kept := filepath.Join(s.data, "workspace", "repo-"+siteID, "conversations")
		if err := os.CopyFS(kept, os.DirFS(s.Path(".jp/conversations"))); err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(kept, "17000000000-x", "events.json")
		options := func() repair.Options {
			o := s.options()
			if bare {
				o.Repo = nil
			}
			return o
		}
		s.WriteFile(name, whole[:len(whole)/2])
		f := faultIn(t, options(), check.Malformed)
		if f.Outcome != repair.Certain || !strings.Contains(f.Remedy, file) || !f.Changes || f.Command != "" {
			t.Errorf("cut off, without a repository %v: %+v", bare, f)
		}
		if left := mend(t.Context(), t, options()); len(left) > 0 || s.ReadFile(name) != whole {
			t.Errorf("it is not restored: %+v", left)
		}
		s.WriteFile(name, `{"edited": true}`)
		f = faultIn(t, options(), check.Malformed)
		if f.Outcome != repair.Offered || f.Changes || f.Command != "git jp edit jp-c17000000000" {
			t.Errorf("edited: %+v", f)
		}
		s.WriteFile(name, "what is no stream")
		f = faultIn(t, options(), check.Malformed)
		if f.Outcome != repair.Offered || f.Command != "cp "+file+" "+name {
			t.Errorf("overwritten: %+v", f)
		}
	}
}
