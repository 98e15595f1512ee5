package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/handover"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// handedRecord is what `export --json` says of a session that was written for an agent.
type handedRecord struct {
	Agent   string         `json:"agent"`
	Session string         `json:"session"`
	Path    string         `json:"path"`
	Command []string       `json:"command"`
	Left    map[string]int `json:"left_out,omitempty"`
}

// handOver writes a conversation as a session of an agent.
func (c exportCmd) handOver(a *app, agent sessions.Agent, e workspace.Entry) error {
	conv, err := a.openWorkspace.Load(e)
	if err != nil {
		return err
	}
	s, err := handover.Write(agent, handover.Conversation{
		ID: e.ID, Stream: conv.Stream, Details: conv.Details, BaseConfig: conv.BaseConfig,
		Contents: a.openWorkspace.BlobsOf(e), Root: a.openWorkspace.Root(), Places: placesOf(a),
	})
	if err != nil {
		return err
	}
	for _, what := range slices.Sorted(maps.Keys(s.Left)) {
		a.note("left out, since %s has no form for it: %s (%d)", agent, what, s.Left[what])
	}
	if c.Output != "" {
		return c.write(a, func(out io.Writer) error {
			_, err := out.Write(s.Data)
			return err
		})
	}
	if err := keepSession(s); err != nil {
		return fmt.Errorf("export %s: %w", e.ID, err)
	}
	if a.JSON {
		return a.printJSON(handedRecord{string(agent), s.ID, s.Path, s.Command, s.Left})
	}
	_, err = fmt.Fprintln(a.stdout, strings.Join(s.Command, " "))
	return err
}

// errOtherSession is for a file in the place of a session that does not begin with it.
var errOtherSession = errors.New("there is another file in its place")

// keepSession puts a session where its agent looks for it. One that is there stays: the agent has
// gone on with it since.
func keepSession(s *handover.Session) error {
	if err := atomicfile.MkdirPrivate(filepath.Dir(s.Path)); err != nil {
		return err
	}
	there, err := beginning(s.Path, len(s.Data))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return writeSession(s)
	case err != nil:
		return err
	case !bytes.Equal(there, s.Data):
		return fmt.Errorf("write %s: %w", s.Path, errOtherSession)
	}
	return nil
}

// beginning returns the first n bytes of a file, or all where it has fewer.
func beginning(name string, n int) ([]byte, error) {
	f, err := regular.OpenFile(name)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // only read
	return io.ReadAll(io.LimitReader(f, int64(n)))
}

func writeSession(s *handover.Session) error {
	dir, err := os.OpenRoot(filepath.Dir(s.Path))
	if err != nil {
		return err
	}
	err = atomicfile.Write(dir, filepath.Base(s.Path), s.Data, atomicfile.Options{
		TempDir: ".", Private: true,
	})
	return errors.Join(err, dir.Close())
}
