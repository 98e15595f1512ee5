package hooks

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/git-jp/git-jp/gitint"
)

// A PushedRef is one line that git gives to pre-push: a ref that is about to be
// updated on the remote side.
type PushedRef struct {
	Local     string     // "(delete)" when the remote ref is deleted
	LocalOID  gitint.OID // zero when it is deleted
	Remote    string
	RemoteOID gitint.OID // zero when it is new
}

// ReadPrePush reads the standard input of a pre-push hook.
func ReadPrePush(r io.Reader) ([]PushedRef, error) {
	var refs []PushedRef
	err := eachLine(r, "pre-push", 4, func(f []string) (err error) {
		p := PushedRef{Local: f[0], Remote: f[2]}
		if p.LocalOID, err = gitint.ParseOID(f[1]); err != nil {
			return err
		}
		if p.RemoteOID, err = gitint.ParseOID(f[3]); err != nil {
			return err
		}
		refs = append(refs, p)
		return nil
	})
	return refs, err
}

// A ReceivedRef is one line that git gives to pre-receive: a ref that is being pushed.
type ReceivedRef struct {
	Old, New gitint.OID // zero if the ref does not exist
	Name     string
}

// ReadPreReceive reads the standard input of a pre-receive hook.
func ReadPreReceive(r io.Reader) ([]ReceivedRef, error) {
	var refs []ReceivedRef
	err := eachLine(r, "pre-receive", 3, func(f []string) (err error) {
		p := ReceivedRef{Name: f[2]}
		if p.Old, err = gitint.ParseOID(f[0]); err != nil {
			return err
		}
		if p.New, err = gitint.ParseOID(f[1]); err != nil {
			return err
		}
		refs = append(refs, p)
		return nil
	})
	return refs, err
}

// A Rewrite is one line that git gives to post-rewrite: a commit and what it became.
type Rewrite struct {
	Old, New gitint.OID
}

// ReadPostRewrite reads the standard input of a post-rewrite hook.
func ReadPostRewrite(r io.Reader) ([]Rewrite, error) {
	var all []Rewrite
	err := eachLine(r, "post-rewrite", 2, func(f []string) (err error) {
		var w Rewrite
		if w.Old, err = gitint.ParseOID(f[0]); err != nil {
			return err
		}
		if w.New, err = gitint.ParseOID(f[1]); err != nil {
			return err
		}
		all = append(all, w)
		return nil
	})
	return all, err
}

// eachLine calls f with the fields of each line. A line with fewer than n is an error; git may add
// more.
func eachLine(r io.Reader, hook string, n int, f func(fields []string) error) error {
	lines := bufio.NewScanner(r)
	for lines.Scan() {
		fields := strings.Split(lines.Text(), " ")
		if len(fields) < n {
			return fmt.Errorf("read input of %s: %q has fewer than %d fields",
				hook, lines.Text(), n)
		}
		if err := f(fields); err != nil {
			return fmt.Errorf("read input of %s: %w", hook, err)
		}
	}
	if err := lines.Err(); err != nil {
		return fmt.Errorf("read input of %s: %w", hook, err)
	}
	return nil
}

// A Checkout is what git passes to post-checkout.
type Checkout struct {
	Previous, Next gitint.OID // the same when files were checked out
	Branch         bool       // the branch changed; otherwise only files
}

// ParsePostCheckout reads the arguments of a post-checkout hook.
func ParsePostCheckout(args []string) (Checkout, error) {
	if len(args) != 3 {
		return Checkout{}, fmt.Errorf("post-checkout has %d arguments, want 3", len(args))
	}
	previous, err := gitint.ParseOID(args[0])
	if err != nil {
		return Checkout{}, fmt.Errorf("read arguments of post-checkout: %w", err)
	}
	next, err := gitint.ParseOID(args[1])
	if err != nil {
		return Checkout{}, fmt.Errorf("read arguments of post-checkout: %w", err)
	}
	return Checkout{Previous: previous, Next: next, Branch: args[2] == "1"}, nil
}
