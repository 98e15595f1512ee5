package realdata

import (
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// Find returns the absolute path of the data folder, which is $GIT_JP_DATA or, when
// that is unset, shared/data beside the checkout; false when it is not there.
func Find() (string, bool) {
	base := os.Getenv("GIT_JP_DATA")
	if base == "" {
		_, self, _, _ := runtime.Caller(0)
		base = filepath.Join(filepath.Dir(self), "..", "..", "..", "shared", "data")
	}
	_, err := os.Stat(base)
	return base, err == nil
}

// Dir returns the absolute path of elem below the data folder. It skips the test
// when the path does not exist.
func Dir(tb testing.TB, elem ...string) string {
	tb.Helper()
	base, _ := Find()
	path := filepath.Join(append([]string{base}, elem...)...)
	if _, err := os.Stat(path); err != nil {
		tb.Skipf("real data is absent: set GIT_JP_DATA to its folder (%v)", err)
	}
	return path
}
