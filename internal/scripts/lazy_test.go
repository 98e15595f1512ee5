package scripts

import (
	"os"
	"path/filepath"
	"testing"
)

func TestScriptsLeftOutAreThere(t *testing.T) {
	for reason, names := range notLazy {
		for _, name := range names {
			script := filepath.Join("..", "..", "testdata", "script", name+".txtar")
			if _, err := os.Stat(script); err != nil {
				t.Errorf("left out since %s: %v", reason, err)
			}
		}
	}
}
