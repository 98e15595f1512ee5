package gitint_test

import (
	"bufio"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/gittest"
)

// catFile is the oracle's git for objects: one process for all, because there are hundreds.
type catFile struct {
	tb  testing.TB
	r   *gittest.Repository
	in  io.WriteCloser
	out *bufio.Reader
}

// ask returns the id and the content of the object that an expression names, and whether git has
// it. Git ends at a damaged object; the next call then starts another one.
func (c *catFile) ask(expression string) (id, content string, ok bool) {
	c.tb.Helper()
	if c.in == nil {
		c.start()
	}
	if _, err := fmt.Fprintln(c.in, expression); err != nil {
		c.tb.Fatalf("ask git for %s: %v", expression, err)
	}
	head, err := c.out.ReadString('\n')
	if err != nil {
		c.in = nil
		return "", "", false
	}
	if strings.HasSuffix(head, " missing\n") {
		return "", "", false
	}
	var kind string
	var size int
	if _, err := fmt.Sscanf(head, "%s %s %d\n", &id, &kind, &size); err != nil {
		c.tb.Fatalf("git says %q of %s", head, expression)
	}
	data := make([]byte, size+1)
	if _, err := io.ReadFull(c.out, data); err != nil {
		c.in = nil
		return "", "", false
	}
	return id, string(data[:size]), true
}

func (c *catFile) start() {
	c.tb.Helper()
	cmd := exec.CommandContext(c.tb.Context(), "git", "cat-file", "--batch")
	cmd.Dir, cmd.Env = c.r.Dir, c.r.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		c.tb.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		c.tb.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		c.tb.Fatal(err)
	}
	c.in, c.out = in, bufio.NewReader(out)
	c.tb.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait() // it failed where an object is damaged
	})
}
