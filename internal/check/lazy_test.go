package check

import (
	"context"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/internal/regular"
)

// A leftSource is what a working tree leaves out. It counts the files that it is asked for by
// their paths alone.
type leftSource struct {
	*source
	byPath int
}

func (n *leftSource) Sizes(ctx context.Context, files []File) ([]int64, error) {
	for _, f := range files {
		if f.ID == "" {
			n.byPath++
		}
	}
	return n.source.Sizes(ctx, files)
}

func (*leftSource) IsLazy(context.Context) bool { return true }

func (n *leftSource) Lost(_ context.Context, files []File) ([]File, error) {
	for _, f := range files {
		if f.ID == "" {
			n.byPath++
		}
	}
	return nil, nil
}

// TestLeftOutIsAskedForByName: what a working tree leaves out is known by the objects that its
// listing names. To descend to each path again takes as many trees as there are blobs.
func TestLeftOutIsAskedForByName(t *testing.T) {
	f, tree := many(20), fstest.MapFS{}
	for name, file := range f {
		if !leftOut(name, 0) {
			tree[name] = file
		}
	}
	left := &leftSource{source: f.source("HEAD")}
	src := FS(WorkTreeName, tree, regular.Limits{})
	report, err := Tree(t.Context(), src, Options{LeftOut: []Source{left}})
	if err != nil || report.References != 20 || len(report.Findings) > 0 {
		t.Fatalf("%d references, %v, %v", report.References, report.Findings, err)
	}
	if left.byPath > 0 {
		t.Errorf("%d files were asked for by their paths", left.byPath)
	}
}
