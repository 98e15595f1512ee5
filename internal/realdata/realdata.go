package realdata

import (
	"os"
	"path/filepath"
	"sync"
	"testing"
)

// Find returns the absolute path of the data folder, which is $GIT_JP_DATA or, when
// that is unset, shared/data beside the checkout; false when it is not there.
func Find() (string, bool) {
	base := os.Getenv("GIT_JP_DATA")
	if base == "" {
		base = filepath.Join(checkout(), "..", "shared", "data")
	}
	_, err := os.Stat(base)
	return base, err == nil
}

// checkout returns the directory of the module, if a test runs below it. With -trimpath the
// compiler's paths of the sources are not paths of this machine.
var checkout = sync.OnceValue(func() string {
	dir, err := os.Getwd()
	for err == nil && dir != filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		dir = filepath.Dir(dir)
	}
	return ""
})

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
