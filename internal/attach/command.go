package attach

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
)

const (
	maxOutput = 10 << 20
	maxStderr = 64 << 10
)

// A cmdline is a parsed cmd: attachment.
type cmdline struct {
	program     string
	args        []string
	description string
}

// parseCommand parses cmd://program?arg=a&arg=b and cmd:program a b, both with an optional
// description. Arguments are decoded twice, as in jp.
func parseCommand(a string) (cmdline, error) {
	rest := a[len(schemeCmd)+1:]
	if after, ok := strings.CutPrefix(rest, "//"); ok {
		return commandURL(after)
	}
	line, description := rest, ""
	if i := strings.LastIndex(rest, "?description="); i >= 0 {
		line, description = rest[:i], strings.ReplaceAll(rest[i+len("?description="):], "+", " ")
	}
	words, err := tool.Words(unescape(line))
	if err != nil {
		return cmdline{}, err
	}
	if len(words) == 0 || words[0] == "" {
		return cmdline{}, errNoProgram
	}
	return cmdline{words[0], words[1:], unescape(description)}, nil
}

var errNoProgram = errors.New("it names no program")

func commandURL(s string) (cmdline, error) {
	program, raw, _ := strings.Cut(s, "?")
	c := cmdline{program: unescape(strings.TrimSuffix(program, "/"))}
	if c.program == "" {
		return c, errNoProgram
	}
	// In order: a map of parameters would lose the order of arguments in different spellings.
	for pair := range strings.SplitSeq(raw, "&") {
		if pair == "" {
			continue
		}
		q, err := query(pair, "arg", "args", "arg[]", "args[]", "description")
		if err != nil {
			return c, err
		}
		for name, values := range q {
			if name == "description" {
				c.description = values[0]
			} else {
				c.args = append(c.args, unescape(values[0]))
			}
		}
	}
	return c, nil
}

// uri returns the canonical form of the attachment.
func (c cmdline) uri() string {
	u := "cmd://" + url.PathEscape(c.program)
	sep := "?"
	for _, a := range c.args {
		// Encoded twice, since it is decoded twice.
		u += sep + "arg=" + url.QueryEscape(strings.ReplaceAll(a, "%", "%25"))
		sep = "&"
	}
	if c.description != "" {
		u += sep + "description=" + url.QueryEscape(c.description)
	}
	return u
}

func (c cmdline) String() string {
	return strings.Join(append([]string{c.program}, c.args...), " ")
}

// command resolves a cmd: attachment by running the program, if it is approved.
func (r *Resolver) command(ctx context.Context, a string) (events.Resource, error) {
	c, err := parseCommand(a)
	if err != nil {
		return events.Resource{}, err
	}
	if r.o.Permit != nil {
		if err := r.o.Permit(a); err != nil {
			return events.Resource{}, err
		}
	}
	stdout, stderr := tool.NewCapture(maxOutput), tool.NewCapture(maxStderr)
	p, err := r.o.Starter.Start(ctx, tool.Command{
		Program: c.program, Args: c.args, Dir: r.o.Files.Tree.Root(),
		Stdout: stdout, Stderr: stderr,
	})
	if err != nil {
		return events.Resource{}, err
	}
	err = p.Wait()
	code := 0
	if ee, ok := errors.AsType[*tool.ExitError](err); ok {
		code, err = ee.Code, nil
	}
	if err == nil && stdout.Lost() > 0 {
		err = fmt.Errorf("its output is larger than %d bytes", maxOutput)
	}
	return events.Resource{
		URI: c.uri(), MIMEType: "text/plain", Name: strings.ToValidUTF8(c.String(), "\uFFFD"),
		Description: strings.ToValidUTF8(c.description, "\uFFFD"),
		Content:     blobs.Loaded(output(stdout.Bytes(), stderr.Bytes(), code)),
	}, err
}

// output returns the standard output of a program. Unless the program succeeded and wrote nothing
// to standard error, it also has that and the exit code.
func output(stdout, stderr []byte, code int) []byte {
	if code == 0 && len(stderr) == 0 {
		return stdout
	}
	const form = "<Output>\n<stdout>\n%s</stdout>\n" +
		"<stderr>\n%s</stderr>\n<code>%d</code>\n</Output>\n"
	return fmt.Appendf(nil, form, stdout, stderr, code)
}

// server resolves mcp+<server>+<URI>. The resources keep the server's URIs, like those in the
// results of its tools.
func (r *Resolver) server(ctx context.Context, a string) ([]events.Resource, error) {
	id, uri, ok := inner(a)
	if !ok {
		return nil, errors.New("it is not mcp+<server>+<URI>")
	}
	s, err := r.o.Server(ctx, id)
	if err != nil {
		return nil, err
	}
	found, err := s.Read(ctx, uri)
	for i := range found {
		if found[i].Name == "" {
			found[i].Name = found[i].URI
		}
	}
	return found, err
}

// inner returns the server and the URI of an MCP attachment.
func inner(a string) (id, uri string, ok bool) {
	id, uri, ok = strings.Cut(a[len(mcpPrefix):], "+")
	return id, uri, ok && id != "" && uri != ""
}
