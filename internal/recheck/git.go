package recheck

import (
	"bytes"
	"context"
	"crypto/sha1" // what git names objects by
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"hash"
	"io"
	"os/exec"
	"strings"
	"time"
)

// readEnv is added to the environment of every git: no locks, no replaced objects, no network, no
// prompts, and untranslated messages.
var readEnv = [...]string{
	"GIT_OPTIONAL_LOCKS=0", "GIT_NO_REPLACE_OBJECTS=1", "GIT_NO_LAZY_FETCH=1",
	"GIT_ALLOW_PROTOCOL=none", "GIT_TERMINAL_PROMPT=0", "GIT_LITERAL_PATHSPECS=1", "LC_ALL=C",
}

// An oid is the name of an object, as bytes.
type oid string

// hex returns an oid as hexadecimal digits.
func (id oid) hex() string { return hex.EncodeToString([]byte(id)) }

func (id oid) isZero() bool { return strings.Trim(string(id), "\x00") == "" }

func parseOID(digits string) (oid, error) {
	raw, err := hex.DecodeString(digits)
	return oid(raw), err
}

// A git runs git commands in a repository.
type git struct {
	dir    string
	env    []string
	format string // of object names
}

// idSize returns the number of bytes in an oid.
func (g *git) idSize() int { return g.newHash().Size() }

func (g *git) newHash() hash.Hash {
	if g.format == "sha256" {
		return sha256.New()
	}
	return sha1.New() // as above
}

// in returns a git that runs in one part of the repository. The git directory of the part is also
// its working tree, so that git leaves out no path as outside of the working tree.
func (g *git) in(gitDir string) *git {
	one := *g
	one.dir = gitDir
	one.env = append(append([]string(nil), g.env...),
		"GIT_DIR="+gitDir, "GIT_WORK_TREE="+gitDir, "GIT_INDEX_FILE="+gitDir+"/index")
	return &one
}

// A gitError reports a git command that failed, with its standard error.
type gitError struct {
	args   []string
	stderr string
	err    error
}

func (e *gitError) Error() string {
	text := fmt.Sprintf("git %s: %v", e.args[0], e.err)
	if line, _, _ := strings.Cut(strings.TrimSpace(e.stderr), "\n"); line != "" {
		text += ": " + line
	}
	return text
}

func (e *gitError) Unwrap() error { return e.err }

// command returns a git command that is not started yet and whose messages are kept.
func (g *git) command(ctx context.Context, args ...string) *exec.Cmd {
	// What git remembers of commits beside them may be wrong where they are right. It prints
	// them for the user's terminal, which may be one of another encoding.
	cmd := exec.CommandContext(ctx, "git", append([]string{
		"-c", "core.commitGraph=false", "-c", "i18n.logOutputEncoding=UTF-8",
	}, args...)...)
	cmd.Dir = g.dir
	cmd.Env = append(append([]string(nil), g.env...), readEnv[:]...)
	// Git starts nothing here that keeps its messages open. A shorter limit would be over when a
	// busy machine gives this process no time after git has ended.
	cmd.WaitDelay = time.Minute
	cmd.Stderr = new(bytes.Buffer)
	return cmd
}

// stderrOf returns what git wrote to its standard error. Git must have ended.
func stderrOf(cmd *exec.Cmd) string {
	text, _ := cmd.Stderr.(*bytes.Buffer)
	return text.String()
}

// run runs git with some input and gives its output to f. It returns what git wrote to its
// standard error. An error of f ends git.
func (g *git) run(
	ctx context.Context, input io.Reader, f func(io.Reader) error, args ...string,
) (string, error) {
	running, cancel := context.WithCancel(ctx)
	defer cancel()
	cmd := g.command(running, args...)
	cmd.Stdin = input
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", &gitError{args, "", err}
	}
	readErr := f(out)
	if readErr != nil {
		cancel()
	}
	err = cmd.Wait()
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case readErr != nil:
		err = readErr
	case err == nil:
		return stderrOf(cmd), nil
	}
	return stderrOf(cmd), &gitError{args, stderrOf(cmd), err}
}

// output runs git and returns its output.
func (g *git) output(ctx context.Context, args ...string) (out, stderr string, err error) {
	var all []byte
	stderr, err = g.run(ctx, nil, func(r io.Reader) (err error) {
		all, err = io.ReadAll(r)
		return err
	}, args...)
	return string(all), stderr, err
}
