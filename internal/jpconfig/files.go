package jpconfig

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// maxRun is how much is read of a file that a command runs.
const maxRun = 64 << 20

// filesOf returns the files of the workspace that a command line runs, with what they hold.
// Those that are not there are left out: when one appears, it is another claim.
func (c *Config) filesOf(words []string, shell bool) map[string]string {
	if c.workspace == "" {
		return nil
	}
	if shell {
		words = strings.Fields(strings.Join(words, " "))
	}
	files := map[string]string{}
	for _, name := range command.Files(words) {
		sum, ok := c.sums[name]
		if !ok {
			sum = sumOf(c.workspace, name)
			if c.sums == nil {
				c.sums = map[string]string{}
			}
			c.sums[name] = sum
		}
		if sum != "" {
			files[name] = sum
		}
	}
	return files
}

// sumOf returns the hash of a file, "" for one that is not there. What cannot be read whole, or
// leads out of the workspace, has no hash that anything else has.
func sumOf(dir, name string) string {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return ""
	}
	defer func() { _ = root.Close() }() // opened for reading
	f, err := regular.OpenIn(root, name)
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, regular.ErrNot):
		return ""
	case err != nil:
		return "unreadable"
	}
	defer func() { _ = f.Close() }()
	h := sha256.New()
	n, err := io.Copy(h, io.LimitReader(f, maxRun+1))
	if err != nil || n > maxRun {
		return "unreadable"
	}
	return hex.EncodeToString(h.Sum(nil))
}

// server guards the process of an MCP server, with the files of the workspace that it runs.
func (c *Config) server(raw []byte, path []string) Process {
	if c.has(path...) {
		return Process{trust.Own(Command(raw))}
	}
	var line struct {
		Command   string   `json:"command"`
		Arguments []string `json:"arguments"`
	}
	var table map[string]json.RawMessage
	value := raw
	_ = json.Unmarshal(raw, &line) // what is no command line runs no file
	files := c.filesOf(append([]string{line.Command}, line.Arguments...), false)
	if len(files) > 0 && json.Unmarshal(raw, &table) == nil {
		table["files"] = marshal(files)
		value = marshal(table)
	}
	return Process{trust.Foreign(Command(raw), c.claim(trust.Process, value, path...))}
}
