package jpconfig

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// A bound is a claim with the files that its command runs. They are read again when the command is
// about to start: a query lasts long, and its tools may change them.
type bound struct {
	claim trust.Claim
	again func() trust.Claim
}

// bind returns the claim of command lines. Value returns its value with the hashes of the files.
func (c *Config) bind(
	lines []line, claim trust.Claim, value func(files map[string]string) []byte,
) bound {
	root, repo, programs := c.workspace, c.repo, c.programs
	with := func(files map[string]string) trust.Claim {
		now := claim
		now.Value = string(value(files))
		return now
	}
	if root == "" {
		b := with(nil)
		return bound{b, func() trust.Claim { return b }}
	}
	return bound{with(c.tree().files(lines)), func() trust.Claim {
		return with(newTree(root, repo, programs).files(lines))
	}}
}

// guard guards a value that the command of a claim is a part of.
func guard[T any](v T, b bound) trust.Guarded[T] {
	return trust.Foreign(v, b.claim).Renewed(b.again)
}

// lineIn returns the line of a setting or an attachment: its program, and, if that starts what its
// arguments name, these.
func lineIn(words []string, shell bool) []line {
	if len(words) > 0 && !shell && !command.Starts(words) {
		words = words[:1]
	}
	return []line{{words, shell}}
}

// withFiles returns a value with hashes of files, if there are any.
func withFiles(value []byte, files map[string]string) []byte {
	if len(files) == 0 {
		return value
	}
	return marshal(map[string]json.RawMessage{"command": value, "files": marshal(files)})
}

// process guards a command in a setting.
func (c *Config) process(raw, text []byte, path ...string) Process {
	if c.has(path...) {
		return Process{trust.Own(Command(raw))}
	}
	words, shell := wordsOf(text)
	b := c.bind(lineIn(words, shell), c.claim(trust.Process, raw, path...),
		func(files map[string]string) []byte { return canonical(withFiles(raw, files)) })
	return Process{guard(Command(raw), b)}
}

// server guards the process of an MCP server.
func (c *Config) server(raw []byte, path []string) Process {
	if c.has(path...) {
		return Process{trust.Own(Command(raw))}
	}
	var start struct {
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	}
	_ = exact.Unmarshal(raw, &start) // another type runs no file
	lines := []line{{append([]string{start.Command}, start.Arguments...), false}}
	b := c.bind(lines, c.claim(trust.Process, raw, path...), func(files map[string]string) []byte {
		var table map[string]json.RawMessage
		if len(files) == 0 || exact.Unmarshal(raw, &table) != nil {
			return canonical(raw)
		}
		table["files"] = marshal(files)
		return canonical(marshal(table))
	})
	return Process{guard(Command(raw), b)}
}
