package gitint_test

import (
	"errors"
	"io"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
	"github.com/git-jp/git-jp/internal/regular"
)

// TestLimits reads objects that exceed the limit, one by one and many at once, loose and packed,
// and then in portions.
func TestLimits(t *testing.T) {
	git := gittest.Repo(t)
	ids := make([]gitint.OID, 0, 300)
	add := func(text string) {
		id, err := gitint.ParseOID(git.Blob(text))
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	huge := strings.Repeat("x", regular.MaxOther+1)
	add(huge)
	for i := range 299 {
		add(strconv.Itoa(i))
	}
	git.WriteFile(".jp/events.json", strings.Repeat("y", 101))
	git.Run("add", "-A")
	head := git.Commit("one")
	for _, state := range []string{"loose", "packed"} {
		if state == "packed" {
			git.Run("tag", "huge", ids[0].String())
			git.Run("-c", "core.compression=1", "repack", "-adq")
		}
		repo, err := gitint.Open(t.Context(), gitint.Options{
			Dir: git.Dir, Env: git.Env, Limits: regular.Limits{Stream: 100},
		})
		if err != nil {
			t.Fatal(err)
		}
		over := new(gitint.ObjectSizeError)
		if _, err := repo.ReadObject(t.Context(), ids[0], 0); !errors.As(err, &over) {
			t.Errorf("%s: one: error is %v", state, err)
		}
		told := 0
		err = repo.ReadObjects(t.Context(), ids, func(i int, data []byte, err error) error {
			told++
			if isOver := errors.As(err, &over); isOver != (i == 0) || isOver && data != nil {
				t.Errorf("%s: object %d: %d bytes, error is %v", state, i, len(data), err)
			}
			return nil
		})
		if err != nil || told != len(ids) && state == "loose" {
			t.Errorf("%s: told of %d of %d: %v", state, told, len(ids), err)
		}
		tree, err := repo.Tree(t.Context(), head)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tree.ReadFile(".jp/events.json"); !errors.As(err, &over) || over.Max != 100 {
			t.Errorf("%s: a stream: error is %v", state, err)
		}
		var n int64
		err = repo.StreamBlob(t.Context(), ids[0], func(r io.Reader) (err error) {
			n, err = io.Copy(io.Discard, r)
			return err
		})
		if err != nil || n != int64(len(huge)) {
			t.Errorf("%s: %d bytes in portions, %v", state, n, err)
		}
		if head, err := repo.BlobHead(t.Context(), ids[0], 3); string(head) != "xxx" || err != nil {
			t.Errorf("%s: begins with %q, %v", state, head, err)
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}
