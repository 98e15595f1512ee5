package gitint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/gitint/internal/git"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/regular"
)

const (
	// mostPromised limits the packs of promised objects: each request leaves one.
	mostPromised = 50

	promisorSuffix = ".promisor"
	indexSuffix    = ".idx"
	packSuffix     = ".pack"
)

// joinPromised joins the packs that requests have left into one, if there are many. It keeps the
// largest, which is that of the clone. Nothing is lost at any interruption: the joined packs are
// removed after the new one exists.
func (r *Repo) joinPromised(ctx context.Context) error {
	dir := filepath.Join(r.objectDir, "pack")
	all, err := promisedPacks(dir)
	if err != nil || len(all) <= mostPromised {
		return err
	}
	if err := r.joinPacks(ctx, dir, all[:len(all)-1]); err != nil {
		return fmt.Errorf("join %d packs of fetched objects: %w", len(all)-1, err)
	}
	return nil
}

// promisedPacks returns the names, without suffix, of packs of promised objects without a .keep
// file, the largest last.
func promisedPacks(dir string) ([]string, error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, fmt.Errorf("list packs: %w", err)
	}
	sizes := map[string]int64{}
	names := lists.Set(lists.Map(entries, os.DirEntry.Name))
	var all []string
	for _, e := range entries {
		base, ok := strings.CutSuffix(e.Name(), promisorSuffix)
		if !ok || names[base+".keep"] || !names[base+indexSuffix] {
			continue
		}
		info, err := os.Stat(filepath.Join(dir, base+packSuffix))
		if err != nil {
			continue // another process has removed it
		}
		all, sizes[base] = append(all, base), info.Size()
	}
	slices.SortFunc(all, func(a, b string) int {
		return cmp.Or(cmp.Compare(sizes[a], sizes[b]), cmp.Compare(a, b))
	})
	return all, nil
}

func (r *Repo) joinPacks(ctx context.Context, dir string, old []string) error {
	var ids strings.Builder
	for _, base := range old {
		names, err := r.packedNames(ctx, filepath.Join(dir, base+indexSuffix))
		if err != nil {
			return err
		}
		ids.WriteString(names)
	}
	temp, err := os.MkdirTemp(dir, "tmp_jp_") // git removes an old one with this prefix
	if err != nil {
		return err
	}
	defer os.RemoveAll(temp) //nolint:errcheck // what stays is harmless
	out, err := r.git.Run(ctx, git.Command{
		Args:  []string{"pack-objects", "--quiet", filepath.Join(temp, "pack")},
		Stdin: strings.NewReader(ids.String()), Write: true,
	})
	if err != nil {
		return err
	}
	base := "pack-" + strings.TrimSpace(string(out))
	if slices.Contains(old, base) {
		return nil
	}
	if err := os.WriteFile(filepath.Join(temp, base+promisorSuffix), nil, 0o444); err != nil {
		return err
	}
	return replacePacks(dir, temp, base, old)
}

// replacePacks moves a pack into place, the index last, which makes it visible, and removes the
// packs whose objects it has, the index first.
func replacePacks(dir, temp, base string, old []string) error {
	for _, suffix := range []string{packSuffix, promisorSuffix, ".rev", indexSuffix} {
		err := os.Rename(filepath.Join(temp, base+suffix), filepath.Join(dir, base+suffix))
		if err != nil && (suffix != ".rev" || !errors.Is(err, os.ErrNotExist)) {
			return err
		}
	}
	for _, name := range old {
		for _, suffix := range []string{indexSuffix, ".rev", packSuffix, promisorSuffix} {
			err := os.Remove(filepath.Join(dir, name+suffix))
			if err != nil && !errors.Is(err, os.ErrNotExist) {
				return err
			}
		}
	}
	return nil
}

// packedNames returns the names of the objects of a pack, one a line.
func (r *Repo) packedNames(ctx context.Context, index string) (string, error) {
	file, err := regular.OpenFile(index)
	if err != nil {
		return "", err
	}
	defer file.Close() //nolint:errcheck // nothing was written
	out, err := r.git.Run(ctx, git.Command{Args: []string{"show-index"}, Stdin: file})
	if err != nil {
		return "", err
	}
	var names strings.Builder
	for line := range strings.Lines(string(out)) { // "<offset> <id> (<crc>)"
		if fields := strings.Fields(line); len(fields) > 1 {
			names.WriteString(fields[1] + "\n")
		}
	}
	return names.String(), nil
}
