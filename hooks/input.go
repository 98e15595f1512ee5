package hooks

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/git-jp/git-jp/gitint"
)

// A move is a commit and another one that takes its place. Either may be zero.
type move struct{ from, to gitint.OID }

// readPrePush reads the standard input of a pre-push hook: from where to where each ref of the
// remote is about to move. A line has the names and commits of the local and of the remote ref.
func readPrePush(r io.Reader) ([]move, error) { return readMoves(r, "pre-push", 4, 3) }

// readPreReceive reads the standard input of a pre-receive hook in the same way. A line has the old
// and the new commit and the name of a ref.
func readPreReceive(r io.Reader) ([]move, error) { return readMoves(r, "pre-receive", 3, 0) }

// readPostRewrite reads the standard input of a post-rewrite hook: commits and what they became.
func readPostRewrite(r io.Reader) ([]move, error) { return readMoves(r, "post-rewrite", 2, 0) }

// readMoves reads a move per line: from the field with an index to the second one. A line with
// fewer than n fields is an error; git may add more.
func readMoves(r io.Reader, hook string, n, from int) (all []move, err error) {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		if len(fields) < n {
			return nil, fmt.Errorf("read input of %s: %q has fewer than %d fields",
				hook, lines.Text(), n)
		}
		m, err := parseMove(fields[from], fields[1])
		if err != nil {
			return nil, fmt.Errorf("read input of %s: %w", hook, err)
		}
		all = append(all, m)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("read input of %s: %w", hook, err)
	}
	return all, nil
}

func parseMove(from, to string) (m move, err error) {
	if m.from, err = gitint.ParseOID(from); err == nil {
		m.to, err = gitint.ParseOID(to)
	}
	return m, err
}

// parsePostCheckout reads the arguments of a post-checkout hook: how HEAD moved, and whether the
// branch changed; otherwise only files did.
func parsePostCheckout(args []string) (m move, branch bool, err error) {
	if len(args) != 3 {
		return m, false, fmt.Errorf("post-checkout has %d arguments, expected 3", len(args))
	}
	m, err = parseMove(args[0], args[1])
	if err != nil {
		return m, false, fmt.Errorf("read arguments of post-checkout: %w", err)
	}
	return m, args[2] == "1", nil
}
