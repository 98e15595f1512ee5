package gitint_test

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// hundredsOfRefs creates enough refs for several blocks and an index.
func hundredsOfRefs(r *gittest.Repository) {
	var in strings.Builder
	for n := range 700 {
		fmt.Fprintf(&in, "create refs/heads/many/%d HEAD\n", n)
	}
	r.RunInput(in.String(), "update-ref", "--stdin", "--create-reflog", "-m", "made")
}

func tableShapes() []repositoryShape {
	reftable := func(more func(r *gittest.Repository) *gittest.Repository,
		initArgs ...string,
	) func(*testing.T) *gittest.Repository {
		return func(t *testing.T) *gittest.Repository {
			return more(populated(t, append(gittest.RefTables(t), initArgs...)...))
		}
	}
	return []repositoryShape{
		{name: "reftable", make: reftable(func(r *gittest.Repository) *gittest.Repository {
			return r
		})},
		{name: "reftable of sha256", make: reftable(
			func(r *gittest.Repository) *gittest.Repository { return r }, "--object-format=sha256")},
		{name: "several reftables", make: reftable(func(r *gittest.Repository) *gittest.Repository {
			s := r.With("GIT_TEST_REFTABLE_AUTOCOMPACTION=false")
			for n := range 5 {
				s.Run("update-ref", fmt.Sprintf("refs/heads/%d", n), "HEAD")
			}
			s.Run("update-ref", "-d", "refs/heads/3")
			s.Run("symbolic-ref", "refs/heads/sym", "refs/heads/2")
			s.Run("update-ref", "-d", "refs/heads/side")
			return r
		})},
		{name: "large reftable", make: reftable(func(r *gittest.Repository) *gittest.Repository {
			hundredsOfRefs(r)
			r.Run("pack-refs", "--all")
			return r
		})},
		{name: "reftable of another block size", make: reftable(
			func(r *gittest.Repository) *gittest.Repository {
				r.Run("config", "reftable.blockSize", "512")
				r.Run("config", "reftable.restartInterval", "3")
				hundredsOfRefs(r)
				r.Run("pack-refs", "--all")
				return r
			})},
		{name: "reftable of a linked worktree", make: reftable(
			func(r *gittest.Repository) *gittest.Repository {
				r.Run("worktree", "add", "-q", "--detach", "../linked", "side")
				l := r.In("../linked")
				l.Run("update-ref", "refs/worktree/own", "HEAD")
				l.Run("update-ref", "refs/bisect/bad", "HEAD")
				return l
			})},
	}
}

// TestReflogsOfTables compares entries with those that git shows, which has the old value of an
// entry from the one before.
func TestReflogsOfTables(t *testing.T) {
	r := gittest.Repo(t, gittest.RefTables(t)...)
	for n := range 4 {
		r.WriteFile("a", fmt.Sprint(n))
		r.Commit("c")
	}
	old := r.Run("commit-tree", "-m", "known of no more", "HEAD^{tree}")
	r.With("GIT_CONFIG_COUNT=0").Run("-c", "core.logAllRefUpdates=false",
		"update-ref", "refs/heads/late", old)
	r.Run("update-ref", "-m", "moved", "refs/heads/late", "HEAD")
	hundredsOfRefs(r)
	r.Run("reflog", "delete", "HEAD@{2}")
	names := rootNames(t, open(t, r))
	shown := r.Run("reflog", "show", "--all", "--format=%H %gD")
	for line := range strings.Lines(shown) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), " ")
		name = strings.TrimPrefix(name, "refs/heads/")
		if got := names[name].OID.String(); got != id && got != r.Run("rev-parse", name) {
			t.Errorf("%s is %s, want %s", name, got, id)
		}
	}
	if strings.Count(shown, "\n") < 700 {
		t.Errorf("git shows\n%s", shown)
	}
	if got := names["late@{0} (before)"].OID.String(); got != old {
		t.Errorf("before the first entry was %s, want %s", got, old)
	}
}

// TestDamagedTables changes and truncates the files of a stack: either the same is read as before,
// or a fault is reported.
func TestDamagedTables(t *testing.T) {
	r := gittest.Repo(t, append(gittest.RefTables(t), "--template=")...)
	s := r.With("GIT_TEST_REFTABLE_AUTOCOMPACTION=false")
	s.WriteFile("a", "1")
	s.Commit("first")
	s.Run("branch", "one")
	s.Run("tag", "-a", "-m", "x", "v1")
	s.Run("worktree", "add", "-q", "--detach", "../linked")
	want := everyID(open(t, r))
	if len(want) < 2 {
		t.Fatalf("read %q", want)
	}
	files, err := filepath.Glob(r.Path(".git/reftable/*"))
	if err != nil || len(files) < 4 {
		t.Fatalf("%q, %v", files, err)
	}
	more, err := filepath.Glob(r.Path(".git/worktrees/*/reftable/*"))
	if err != nil || len(more) < 2 {
		t.Fatalf("%q, %v", more, err)
	}
	repo := open(t, r)
	for _, file := range slices.Concat(files, more) {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, damaged := range damages(data) {
			if err := os.WriteFile(file, damaged, 0o600); err != nil {
				t.Fatal(err)
			}
			got := everyID(repo)
			if !slices.Contains(got, "damage") && !slices.Equal(got, want) {
				t.Fatalf("%s as %q: read %q, want %q", file, damaged, got, want)
			}
		}
		if err := os.Remove(file); err != nil {
			t.Fatal(err)
		}
		if got := everyID(repo); !slices.Contains(got, "damage") {
			t.Errorf("without %s: read %q", file, got)
		}
		if err := os.WriteFile(file, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// damages returns damaged versions of a file.
func damages(data []byte) [][]byte {
	all := [][]byte{{}, make([]byte, len(data)), data[:len(data)/2], data[:len(data)-1]}
	for at := 0; at < len(data); at += 2 {
		one := slices.Clone(data)
		one[at] ^= []byte{0x01, 0x80, 0xff}[at%3]
		all = append(all, one)
	}
	if list := strings.SplitAfter(string(data), "\n"); strings.HasSuffix(list[0], ".ref\n") {
		for n := range len(list) - 1 {
			all = append(all, []byte(strings.Join(slices.Delete(slices.Clone(list), n, n+1), "")))
		}
	}
	return all
}

// everyID returns the objects that roots name, or that something is damaged.
func everyID(repo *gitint.Repo) []string {
	roots, err := repo.Roots(context.Background())
	if err != nil || len(roots.Incomplete) > 0 {
		return []string{"damage"}
	}
	ids := map[string]bool{}
	for _, root := range roots.Names {
		kinds, err := repo.ObjectKinds(context.Background(), []gitint.OID{root.OID})
		if err != nil || kinds[0] == "" && root.Needed {
			return []string{"damage"}
		}
		if kinds[0] != "" {
			ids[root.OID.String()] = true
		}
	}
	return slices.Sorted(maps.Keys(ids))
}

// TestTablesNeedNoProcess checks that refs and reflogs are read in this process: git is only asked
// for the location, the configuration and the places of working trees.
func TestTablesNeedNoProcess(t *testing.T) {
	r := gittest.Repo(t, gittest.RefTables(t)...)
	r.Commit("first")
	repo := open(t, r)
	if names := rootNames(t, repo); names["HEAD"].OID.IsZero() || names["main@{0}"].OID.IsZero() {
		t.Errorf("read %v", names)
	}
	if got := repo.Processes(); got != 3 {
		t.Errorf("%d processes, want 3", got)
	}
}
