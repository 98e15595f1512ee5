package update

import (
	"os"
	"strings"
	"testing"
)

// TestPatterns checks that no part of a name counts as the pattern of another file: git would
// replace that.
func TestPatterns(t *testing.T) {
	t.Parallel()
	names := []string{"a/.jp/blobs/x*?[\\", "b\nc/.jp/blobs/y", "d/.jp/blobs/z"}
	err := overwriting(names, func(settings ...string) error {
		file, _ := strings.CutPrefix(settings[0], "core.excludesFile=")
		is, err := os.ReadFile(file)
		const want = `/a/.jp/blobs/x\*\?\[\\` + "\n/d/.jp/blobs/z\n"
		if string(is) != want {
			t.Errorf("got %q, want %q", is, want)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
