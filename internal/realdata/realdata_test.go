package realdata

import (
	"os"
	"path/filepath"
	"testing"
)

// TestTheCheckoutIsFound verifies that real data is searched for beside the checkout however the
// test was built: with -trimpath the sources have no path, and each test that needs data was
// skipped.
func TestTheCheckoutIsFound(t *testing.T) {
	if _, err := os.Stat(filepath.Join(checkout(), "internal", "realdata", "realdata.go")); err != nil {
		t.Error(err)
	}
}
