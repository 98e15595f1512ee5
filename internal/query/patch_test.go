package query_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
)

// TestHugeChange checks that a text too long to read is neither compared nor shown in full.
func TestHugeChange(t *testing.T) {
	huge, stub := strings.Repeat("a line that is gone\n", 1<<20/20+1), "[compacted]"
	patch := render.Abridge(query.Change{Was: &huge, Is: &stub}.Patch())
	if len(patch) > 10_000 || !strings.Contains(patch, "more lines") ||
		!strings.HasSuffix(patch, "\n+[compacted]\n") {
		t.Errorf("%d bytes: …%s", len(patch), patch[max(0, len(patch)-200):])
	}
}
