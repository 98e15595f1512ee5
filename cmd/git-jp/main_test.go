package main

import (
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

func TestMain(m *testing.M) {
	scripts.Main(m, ".", map[string]func(){"confined": confined})
}
