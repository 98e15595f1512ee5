package gitint_test

import (
	"encoding/hex"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestPropertyDiffTrees compares the differences with those of two listings, with names that git
// sorts by kind, and with unsorted trees.
func TestPropertyDiffTrees(t *testing.T) {
	r := gittest.Repo(t)
	for _, name := range []string{"a", "b", "d/a"} {
		r.WriteFile(name, name)
	}
	r.Commit("first")
	modes := []string{"100644 ", "100755 ", "40000 "}
	objects := [][]string{
		{r.Run("rev-parse", "HEAD:a"), r.Run("rev-parse", "HEAD:b")},
		{r.Run("rev-parse", "HEAD:a"), r.Run("rev-parse", "HEAD:b")},
		{r.Run("rev-parse", "HEAD:d"), r.Run("rev-parse", "HEAD^{tree}")},
	}
	repo := open(t, r)
	made := map[string]gitint.OID{}
	draw := func(rt *rapid.T, label string) gitint.OID {
		names := rapid.SliceOfDistinct(rapid.SampledFrom([]string{
			"x", "x-", "x.y", "x0", "xa", "a", "z",
		}), rapid.ID[string]).Draw(rt, label)
		var data strings.Builder
		for _, name := range names {
			kind := rapid.IntRange(0, 2).Draw(rt, "kind")
			raw, err := hex.DecodeString(rapid.SampledFrom(objects[kind]).Draw(rt, "object"))
			if err != nil {
				rt.Fatal(err)
			}
			data.WriteString(modes[kind] + name + "\x00" + string(raw))
		}
		if id, ok := made[data.String()]; ok {
			return id
		}
		id, err := gitint.ParseOID(strings.TrimSpace(
			r.RunInput(data.String(), "hash-object", "-t", "tree", "-w", "--stdin", "--literally")))
		if err != nil {
			rt.Fatal(err)
		}
		made[data.String()] = id
		return id
	}
	list := func(rt *rapid.T, id gitint.OID) map[string]gitint.Entry {
		found := map[string]gitint.Entry{}
		if id.IsZero() {
			return found
		}
		tree, err := repo.Tree(rt.Context(), id.String())
		if err != nil {
			rt.Fatal(err)
		}
		entries, err := tree.Children(".")
		if err != nil {
			rt.Fatal(err)
		}
		for _, e := range entries {
			found[e.Path] = e
		}
		return found
	}
	rapid.Check(t, func(rt *rapid.T) {
		was, is := draw(rt, "was"), draw(rt, "is")
		if rapid.IntRange(0, 9).Draw(rt, "none") == 0 {
			was = gitint.OID{}
		}
		var got, want []string
		err := repo.DiffTrees(rt.Context(), was, is, func(was, is gitint.Entry) {
			got = append(got, fmt.Sprint(was, is))
		})
		if err != nil {
			rt.Fatal(err)
		}
		before, now := list(rt, was), list(rt, is)
		names := maps.Clone(before)
		maps.Copy(names, now)
		for name := range names {
			if before[name] != now[name] {
				want = append(want, fmt.Sprint(before[name], now[name]))
			}
		}
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			rt.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
		}
	})
}
