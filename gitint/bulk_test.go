package gitint_test

import (
	"bytes"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// bulk checks that reading many objects at once gives the same as reading each. The ids are
// repeated until there are enough.
func (o oracle) bulk(repo *gitint.Repo, ids []gitint.OID) {
	o.tb.Helper()
	ids = append(slices.Clone(ids), gitint.OID{})
	for len(ids) < 300 {
		ids = append(ids, ids...)
	}
	sizes, err := repo.ObjectSizes(o.tb.Context(), ids)
	if err != nil {
		o.tb.Fatal(err)
	}
	answers := 0
	err = repo.ReadObjects(o.tb.Context(), ids, func(i int, content []byte, err error) error {
		answers++
		want, wantErr := repo.ReadObject(o.tb.Context(), ids[i], 0)
		if !bytes.Equal(want, content) || (wantErr == nil) != (err == nil) {
			o.tb.Errorf("object %s: %d bytes, %v; alone %d, %v", ids[i], len(content), err, len(want), wantErr)
		}
		size := int64(len(want))
		if wantErr != nil {
			size = -1
		}
		if sizes[i] != size {
			o.tb.Errorf("object %s: size %d, want %d", ids[i], sizes[i], size)
		}
		return nil
	})
	if err != nil || answers != len(ids) {
		o.tb.Errorf("%d answers for %d objects, %v", answers, len(ids), err)
	}
	o.bulkOf(repo, ids, sizes)
}

// bulkOf is bulk for the objects of some sizes.
func (o oracle) bulkOf(repo *gitint.Repo, ids []gitint.OID, sizes []int64) {
	o.tb.Helper()
	answers := 0
	even := func(size int64) bool { return size%2 == 0 }
	err := repo.ReadObjectsOf(o.tb.Context(), ids, even,
		func(i int, size int64, content []byte, err error) error {
			answers++
			var want []byte
			var wantErr error
			if even(sizes[i]) {
				want, wantErr = repo.ReadObject(o.tb.Context(), ids[i], 0)
			}
			if size != sizes[i] || !bytes.Equal(want, content) || (wantErr == nil) != (err == nil) {
				o.tb.Errorf("object %s of %d bytes: %d, %d bytes, %v", ids[i], sizes[i], size, len(content), err)
			}
			return nil
		})
	if err != nil || answers != len(ids) {
		o.tb.Errorf("%d answers for %d objects of some sizes, %v", answers, len(ids), err)
	}
}

// looseBlobs returns a repository with n loose blobs, and their ids.
func looseBlobs(t *testing.T, n int, initArgs ...string) (*gittest.Repository, []gitint.OID) {
	t.Helper()
	r := gittest.Repo(t, initArgs...)
	var names strings.Builder
	for i := range n {
		name := fmt.Sprintf("content-%d", i)
		r.WriteFile(name, fmt.Sprintf("content %d\n", i))
		names.WriteString(name + "\n")
	}
	ids := make([]gitint.OID, 0, n)
	for text := range strings.FieldsSeq(r.RunInput(names.String(), "hash-object", "-w", "--stdin-paths")) {
		id, err := gitint.ParseOID(text)
		if err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	return r, ids
}

// TestBulkOfDamagedObjects checks that an object on which git dies, or that is missing, changes no
// other answer.
func TestBulkOfDamagedObjects(t *testing.T) {
	for _, format := range []string{"sha1", "sha256"} {
		t.Run(format, func(t *testing.T) {
			r, ids := looseBlobs(t, 400, "--object-format="+format)
			loose := func(i int) string {
				name := ids[i].String()
				return ".git/objects/" + name[:2] + "/" + name[2:]
			}
			other := r.ReadFile(loose(7))
			r.Remove(loose(100))
			for i, content := range map[int]string{150: "garbage", 200: other, 250: ""} {
				r.Remove(loose(i))
				r.WriteFile(loose(i), content)
			}
			repo := open(t, r)
			answers := map[int]error{}
			err := repo.ReadObjects(t.Context(), ids, func(i int, content []byte, err error) error {
				answers[i] = err
				if want := fmt.Sprintf("content %d\n", i); err == nil && string(content) != want {
					t.Errorf("object %d is %q", i, content)
				}
				return nil
			})
			if err != nil || len(answers) != len(ids) {
				t.Fatalf("%d answers, %v", len(answers), err)
			}
			for i, err := range answers {
				switch i {
				case 100:
					if !errors.Is(err, fs.ErrNotExist) {
						t.Errorf("the absent object: %v", err)
					}
				case 150, 200, 250:
					// If only git reads, it reports an unreadable object as missing.
					if !isCorrupt(err) && (format == "sha1" || !errors.Is(err, fs.ErrNotExist)) {
						t.Errorf("damaged object %d: %v", i, err)
					}
				default:
					if err != nil {
						t.Errorf("sound object %d: %v", i, err)
					}
				}
			}
			for _, i := range []int{150, 250} {
				r.Remove(loose(i))
			}
			sizes, err := repo.ObjectSizes(t.Context(), ids)
			if err != nil {
				t.Fatal(err)
			}
			for i, n := range sizes {
				if gone := i == 100 || i == 150 || i == 250; gone != (n < 0) {
					t.Errorf("object %d has %d bytes", i, n)
				}
			}
		})
	}
}

// TestBulkEnds checks that an error of the caller, and the end of its context, are returned.
func TestBulkEnds(t *testing.T) {
	r, ids := looseBlobs(t, 400)
	repo := open(t, r)
	stop := errors.New("stop")
	n := 0
	err := repo.ReadObjects(t.Context(), ids, func(int, []byte, error) error {
		n++
		return stop
	})
	if !errors.Is(err, stop) || n != 1 {
		t.Errorf("%v after %d answers, want the caller's error after one", err, n)
	}
	ctx, cancel := context.WithCancel(t.Context())
	err = repo.ReadObjects(ctx, ids, func(int, []byte, error) error {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("%v, want the end of the context", err)
	}
}

// TestManyDirectoriesAtOnce counts processes: one for each level, in addition to those that every
// reader needs.
func TestManyDirectoriesAtOnce(t *testing.T) {
	r := manyBlobs(t, 5_000)
	repo := open(t, r)
	tree, err := repo.Tree(t.Context(), r.Run("rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	before := repo.Processes()
	entries, err := tree.Entries(".")
	if err != nil {
		t.Fatal(err)
	}
	want := strings.Split(r.Run("ls-tree", "-r", "--full-tree", "HEAD"), "\n")
	var got []string
	for _, e := range entries {
		got = append(got, fmt.Sprintf("%o blob %s\t%s", e.Mode, e.OID, e.Path))
	}
	if !slices.Equal(got, want) {
		t.Errorf("%d entries, want the %d of git", len(got), len(want))
	}
	if n := repo.Processes() - before; n > 2 {
		t.Errorf("%d processes for the two levels of a store", n)
	}
	lists, err := tree.EntriesOf(t.Context(), ".jp/blobs/00", "no/such", ".jp/blobs/ff")
	if err != nil || len(lists[1]) != 0 {
		t.Fatalf("%v, %v", lists[1], err)
	}
	for i, prefix := range map[int]string{0: ".jp/blobs/00/", 2: ".jp/blobs/ff/"} {
		for _, e := range entries {
			if strings.HasPrefix(e.Path, prefix) != slices.Contains(lists[i], e) {
				t.Errorf("%s: wrong about %s", prefix, e.Path)
			}
		}
	}
}

// TestUnsortedTree checks that files in an unsorted tree are found. Git's own commands write none,
// but read them.
func TestUnsortedTree(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile("a", "a\n")
	r.Commit("first")
	blob, err := gitint.ParseOID(r.Run("rev-parse", "HEAD:a"))
	if err != nil {
		t.Fatal(err)
	}
	raw, err := hex.DecodeString(blob.String())
	if err != nil {
		t.Fatal(err)
	}
	var data []byte
	names := []string{"z", "a", "m", "b", "q"}
	for _, name := range names {
		data = append(append(data, "100644 "+name+"\x00"...), raw...)
	}
	id := r.RunInput(string(data), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")
	tree, err := open(t, r).Tree(t.Context(), strings.TrimSpace(id))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		if got, ok := tree.OID(name); !ok || got != blob {
			t.Errorf("%s is %s, %v", name, got, ok)
		}
	}
	if _, ok := tree.OID("c"); ok {
		t.Error("c was found")
	}
}

// TestCommitsOfABranchStandTogether checks commits of two branches that would alternate by date.
func TestCommitsOfABranchStandTogether(t *testing.T) {
	r := gittest.Repo(t)
	var in strings.Builder
	for i := range 6 {
		branch := []string{"left", "right"}[i%2]
		fmt.Fprintf(&in, "commit refs/heads/%s\ncommitter A <a@example.org> %d +0000\ndata %d\n%s\n",
			branch, 1700000000+i, len(branch), branch)
	}
	r.RunInput(in.String(), "fast-import", "--quiet")
	commits, err := open(t, r).Commits(t.Context(), "left", "right")
	if err != nil || len(commits) != 6 {
		t.Fatalf("%v, %v", commits, err)
	}
	subject := func(c gitint.Commit) string { return r.Run("log", "-1", "--format=%s", c.OID.String()) }
	changes := 0
	for i, c := range commits[1:] {
		if subject(c) != subject(commits[i]) {
			changes++
		}
	}
	if changes != 1 {
		t.Errorf("%d changes of branch among %+v", changes, commits)
	}
}

// TestLargeIndexIsLeftToGit checks that git answers from one process, and that errors are the same
// as when it is not asked first.
func TestLargeIndexIsLeftToGit(t *testing.T) {
	r := manyBlobs(t, 25_000)
	loose := func(content string) (string, gitint.OID) {
		id, err := gitint.ParseOID(r.RunInput(content, "hash-object", "-w", "--stdin"))
		if err != nil {
			t.Fatal(err)
		}
		return ".git/objects/" + id.String()[:2] + "/" + id.String()[2:], id
	}
	_, sound := loose("sound")
	file, damaged := loose("damaged")
	r.Remove(file)
	r.WriteFile(file, "garbage")
	file, gone := loose("gone")
	r.Remove(file)
	repo := open(t, r)
	tree, err := repo.Tree(t.Context(), r.Run("rev-parse", "HEAD"))
	if err != nil {
		t.Fatal(err)
	}
	entries, err := tree.Children(".jp/blobs")
	if err != nil || len(entries) != 256 {
		t.Fatalf("%d directories, %v", len(entries), err)
	}
	if data, err := repo.ReadObject(t.Context(), sound, 0); err != nil || string(data) != "sound" {
		t.Errorf("%q, %v", data, err)
	}
	if n := repo.Processes(); n != 2 {
		t.Errorf("%d processes, want those for the configuration and for objects", n)
	}
	if _, err := repo.ReadObject(t.Context(), sound, 2); !isTooLarge(err) {
		t.Errorf("too large: %v", err)
	}
	if _, err := repo.ReadObject(t.Context(), damaged, 0); !isCorrupt(err) {
		t.Errorf("damaged: %v", err)
	}
	if _, err := repo.ReadObject(t.Context(), gone, 0); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("gone: %v", err)
	}
	if n, err := repo.ObjectSize(t.Context(), sound); n != 5 || err != nil {
		t.Errorf("size %d, %v", n, err)
	}
	missing, err := repo.HasObject(t.Context(), []gitint.OID{sound, gone})
	if err != nil || !slices.Equal(missing, []gitint.OID{gone}) {
		t.Errorf("missing %v, %v", missing, err)
	}
}

func isTooLarge(err error) bool {
	tooLarge := new(gitint.ObjectSizeError)
	return errors.As(err, &tooLarge)
}
