package gitint_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestPacksThatCannotBeListed: objects of a directory of packs that may be entered and not listed
// are not taken for absent, since git finds them by its index of all packs.
func TestPacksThatCannotBeListed(t *testing.T) {
	if gittest.RanAsUser(t) {
		return
	}
	r := gittest.Repo(t)
	for i := range 300 {
		r.WriteFile(fmt.Sprint(i), fmt.Sprint("content ", i))
	}
	r.Run("add", ".")
	r.Run("commit", "-qm", "all")
	r.Run("repack", "-adq", "--write-midx")
	r.Run("config", "remote.origin.promisor", "true")
	r.Run("config", "remote.origin.url", "nowhere")
	var ids []gitint.OID
	for name := range strings.FieldsSeq(r.Run("ls-tree", "--format=%(objectname)", "HEAD")) {
		id, err := gitint.ParseOID(name)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	dir := r.Path(".git/objects/pack")
	if err := os.Chmod(dir, 0o311); err != nil {
		t.Fatal(err)
	}
	defer os.Chmod(dir, 0o755) // so that it can be removed
	missing, err := open(t, r).HasObject(t.Context(), ids)
	if err != nil || len(missing) > 0 {
		t.Errorf("%d objects are missing, %v", len(missing), err)
	}
	sizes, err := open(t, r).ObjectSizes(t.Context(), ids)
	if err != nil || sizes[0] < 0 {
		t.Errorf("sizes %v, %v", sizes[:1], err)
	}
}
