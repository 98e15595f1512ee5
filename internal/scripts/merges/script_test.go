package merges_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, "../../../cmd/git-jp", nil) }

func TestScript(t *testing.T) { scripts.Run(t, "merges") }

func TestScriptAsUser(t *testing.T) { scripts.RunAsUser(t, "merges") }
