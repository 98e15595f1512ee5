package trust_test

import (
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/scripts"
)

func TestMain(m *testing.M) { scripts.Main(m, "../../../cmd/git-jp", nil) }

// conversationDir is the conversation of each repository here.
const conversationDir = ".jp/conversations/17000000001-one/"

// hangs is how long a command may take.
const hangs = 5 * time.Minute

func must(err error) {
	if err != nil {
		panic(err)
	}
}
