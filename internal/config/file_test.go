package config_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/internal/config"
)

// TestManyEditOneFile checks that no writer's line is lost.
func TestManyEditOneFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "new", "git-jp.toml")
	const writers, lines = 8, 5
	var wg sync.WaitGroup
	for i := range writers {
		wg.Go(func() {
			for n := range lines {
				err := config.EditFile(file, ".", func(data []byte) ([]byte, error) {
					return fmt.Appendf(data[:len(data):len(data)], "# %d of %d\n", n, i), nil
				})
				if err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
	data, err := os.ReadFile(file)
	if got := strings.Count(string(data), "\n"); err != nil || got != writers*lines {
		t.Errorf("%d lines, %v, want %d", got, err, writers*lines)
	}
}
