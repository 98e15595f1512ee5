package workspace

import (
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// TestSearchesAgree checks on random trees that the search upwards from any directory and the
// search downwards from the root of a working tree find the same workspaces. If they differed, the
// collector would not see what a command has just written.
func TestSearchesAgree(t *testing.T) {
	const trees = 20
	seed := rand.Uint64()
	found := 0
	for n := range uint64(trees) {
		found += searchesAgree(t, rand.New(rand.NewPCG(seed, n)))
		if t.Failed() {
			t.Fatalf("with the seed %d, tree %d", seed, n)
		}
	}
	if found < trees {
		t.Errorf("with the seed %d: %d workspaces are hardly any", seed, found)
	}
}

func searchesAgree(t *testing.T, r *rand.Rand) (found int) {
	repo := gittest.Repo(t)
	repo.WriteFile("x", "")
	repo.Commit("x")
	repo.Run("init", "-q", "../other")
	grow(t, r, repo, "")
	down, err := FindAll(repo.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range down {
		if up, err := Find(dir); up != dir || err != nil {
			t.Errorf("%s was found downwards; upwards from it %s, %v", dir, up, err)
		}
	}
	asked := make(map[string]bool)
	for _, dir := range directories(t, repo.Dir) {
		up, err := Find(dir)
		if err != nil || asked[up] {
			continue
		}
		asked[up] = true
		top, err := repo.In(up).Try("rev-parse", "--show-toplevel")
		if err == nil && strings.TrimSpace(top) == repo.Dir && !slices.Contains(down, up) {
			t.Errorf("%s was found upwards from %s, and not downwards", up, dir)
		}
	}
	return len(down)
}

func directories(t *testing.T, root string) (all []string) {
	err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
		if err == nil && d.IsDir() {
			all = append(all, name)
		}
		if name == filepath.Join(root, gitName) {
			return fs.SkipDir
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// grow creates directories of all kinds below dir.
func grow(t *testing.T, r *rand.Rand, repo *gittest.Repository, dir string) {
	t.Helper()
	names := []string{
		"a", "b", "node_modules", ".jp", ".jp/blobs", ".jp/conversations", ".hidden", "vendor",
	}
	for range 1 + r.IntN(4) {
		name := filepath.Join(dir, names[r.IntN(len(names))])
		if info, err := os.Lstat(repo.Path(name)); err == nil && !info.IsDir() {
			continue
		}
		if err := os.MkdirAll(repo.Path(name), 0o755); err != nil {
			continue // there is a file or a symlink above
		}
		plant(t, r, repo, name)
		if strings.Count(name, "/") < 3 {
			grow(t, r, repo, name)
		}
	}
}

// plant creates something in a directory that may confuse a search.
func plant(t *testing.T, r *rand.Rand, repo *gittest.Repository, dir string) {
	t.Helper()
	var err error
	at := func(name string) string { return repo.Path(filepath.Join(dir, name)) }
	write := func(name, text string) { err = os.WriteFile(at(name), []byte(text), 0o600) }
	switch r.IntN(16) {
	case 0, 1, 2, 3:
		err = os.MkdirAll(at(".jp/conversations"), 0o755)
	case 4:
		write(".jp", "a file")
	case 5:
		err = os.Symlink(repo.Dir, at(".jp"))
	case 6:
		err = os.MkdirAll(at(".git"), 0o755)
	case 7:
		write(".git", "gitdir: "+repo.Path("../nowhere")+"\n")
	case 8:
		write(".git", "no file of git")
	case 9:
		write(".git", "gitdir: "+repo.Path("../other/.git")+"\n")
	case 10:
		_, err = repo.In(dir).Try("init", "-q")
	case 11:
		err = os.MkdirAll(at(".git/refs"), 0o755)
		write(".git/HEAD", "ref: refs/heads/main\n")
	case 12:
		_, err = repo.Try("worktree", "add", "-q", "-f", "--detach", at("linked"))
	case 13:
		err = os.Symlink(repo.Dir, at("link"))
	case 14:
		_, err = repo.Try("init", "-q", "--bare", at(""))
	}
	if err != nil && !os.IsExist(err) {
		t.Logf("%s: %v", dir, err) // the name exists already
	}
}
