package secrets_test

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/secrets"
)

// realFiles returns the contents of the real data below a directory, by path.
func realFiles(tb testing.TB, elem ...string) map[string][]byte {
	tb.Helper()
	dir := realdata.Dir(tb, elem...)
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if err != nil || !d.Type().IsRegular() {
			return err
		}
		rel, err := filepath.Rel(dir, name)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(rel)], err = os.ReadFile(name)
		return err
	})
	if err != nil {
		tb.Fatal(err)
	}
	return files
}

// TestRealDataHaveNoFindings checks that the scanner finds no secret in 40 MB of real
// conversations, which were cleared of secrets. In particular their signatures, ciphertexts, IDs
// and hashes must not match; these are scanned here although they are exempt. A correct finding is
// added to golden.
func TestRealDataHaveNoFindings(t *testing.T) {
	rules := secrets.Builtin()
	var found []string
	bytes := 0
	for name, data := range realFiles(t) {
		bytes += len(data)
		for _, m := range rules.Scan(data) {
			found = append(found, fmt.Sprintf("%s:%d: %s, %d bytes", name, m.Start, m.Rule, m.End-m.Start))
		}
	}
	golden := []string{}
	slices.Sort(found)
	if !slices.Equal(found, golden) {
		t.Errorf("found %q, want %q", found, golden)
	}
	if bytes < 30<<20 {
		t.Errorf("only %d bytes were scanned", bytes)
	}
}
