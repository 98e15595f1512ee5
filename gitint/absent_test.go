package gitint_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestAbsentFromAPartialClone asks for many objects, some packed, some loose and most missing: the
// answers for all together equal those for each.
func TestAbsentFromAPartialClone(t *testing.T) {
	const n = 300
	r := gittest.Repo(t)
	var ids []gitint.OID
	add := func(name string) gitint.OID {
		id, err := gitint.ParseOID(name)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
		return id
	}
	for i := range n {
		r.WriteFile(fmt.Sprint("packed ", i), fmt.Sprint(i))
	}
	r.Run("add", ".")
	r.Run("commit", "-qm", "all")
	r.Run("repack", "-adq")
	for i, name := range strings.Fields(r.Run("ls-tree", "--format=%(objectname)", "HEAD")) {
		add(name)
		add(fmt.Sprintf("%040x", i+1))
	}
	loose := add(r.RunInput("loose", "hash-object", "-w", "--stdin"))
	r.Run("config", "remote.origin.promisor", "true")
	r.Run("config", "remote.origin.url", "nowhere")
	check := func(gone gitint.OID) {
		t.Helper()
		repo := open(t, r)
		missing, err := repo.HasObject(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		sizes, err := repo.ObjectSizes(t.Context(), ids)
		if err != nil {
			t.Fatal(err)
		}
		for i, id := range ids {
			alone, err := repo.HasObject(t.Context(), []gitint.OID{id})
			if err != nil {
				t.Fatal(err)
			}
			absent := len(alone) > 0
			if slices.Contains(missing, id) != absent || (sizes[i] < 0) != absent {
				t.Errorf("%s is absent: %t alone, %t of many; size %d",
					id, absent, slices.Contains(missing, id), sizes[i])
			}
			if id == gone && !absent {
				t.Errorf("%s is here", id)
			}
		}
		want := n
		if !gone.IsZero() {
			want++
		}
		if len(missing) != want {
			t.Errorf("%d objects are not here, want %d", len(missing), want)
		}
	}
	check(gitint.OID{})
	name := loose.String()
	if err := os.Remove(r.Path(".git/objects/" + name[:2] + "/" + name[2:])); err != nil {
		t.Fatal(err)
	}
	check(loose)
}
