package requests_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, "../../../cmd/git-jp", nil) }
