package realdata

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Dir returns the absolute path of elem below the data folder, which is
// $GIT_JP_DATA or, when that is unset, shared/data beside the checkout. It skips
// the test when the path does not exist.
func Dir(tb testing.TB, elem ...string) string {
	tb.Helper()
	base := os.Getenv("GIT_JP_DATA")
	if base == "" {
		_, self, _, _ := runtime.Caller(0)
		base = filepath.Join(filepath.Dir(self), "..", "..", "..", "shared", "data")
	}
	path := filepath.Join(append([]string{base}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("real data is absent: set GIT_JP_DATA to its folder (%v)", err)
	}
	return path
}
