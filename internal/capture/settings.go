package capture

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/sessions"
)

// maxSettings limits the size of a file of settings.
const maxSettings = 4 << 20

// A Change is a change of the file with an agent's hooks.
type Change struct {
	Agent         sessions.Agent
	Path          string
	Before, After []byte      // nil if there is no file
	perm          fs.FileMode // of a new file
	dirs          int         // how many parent directories are removed with it, if empty
	// Trust says what the agent asks before it runs the hooks.
	Trust string
}

// Changes reports whether anything changes.
func (c Change) Changes() bool {
	return !bytes.Equal(c.Before, c.After) || (c.Before == nil) != (c.After == nil)
}

// errForeign is for a file with our name that is not ours.
var errForeign = errors.New("a file with this name exists that git jp did not create")

// Install plans to install the hooks of an agent.
func Install(p Places, name sessions.Agent) (Change, error) {
	return plan(p, name, func(a agent, doc []byte) ([]byte, error) {
		if a.whole != "" {
			return []byte(a.whole), nil
		}
		if doc == nil {
			s := style{"\n", "  "}
			hooks := `"hooks": ` + s.wrap("{}", s.list(a.events[0], a.group()), 1)
			doc = []byte(s.wrap("{}", hooks, 0) + "\n")
		}
		missing, err := a.missing(doc)
		for _, event := range missing {
			if err == nil {
				doc, err = addHook(doc, event, a.group())
			}
		}
		return doc, err
	})
}

// Uninstall plans to remove the hooks of an agent. That restores the original bytes.
func Uninstall(p Places, name sessions.Agent) (Change, error) {
	return plan(p, name, func(a agent, doc []byte) ([]byte, error) {
		if doc == nil || a.whole != "" {
			return nil, nil
		}
		after, err := removeHooks(doc, isOurs)
		if err == nil && isMade(doc) && string(after) == "{}\n" {
			return nil, nil
		}
		return after, err
	})
}

// isMade reports whether a file may have been made for the hooks: it has nothing else, and the
// formatting of an object that we made.
func isMade(doc []byte) bool {
	root, err := top(doc)
	return err == nil && len(root.items) == 1 && root.items[0].Start > root.open+1
}

// Installed reports whether an agent has hooks of ours, even if only some or of another version.
func Installed(p Places, name sessions.Agent) (bool, error) {
	c, err := Uninstall(p, name)
	return err == nil && c.Changes(), err
}

// Old returns the file with the hooks of an agent if it has some of ours, and not those of this
// version: [Install] would change it. It is "" if that cannot be said.
func Old(p Places, name sessions.Agent) string {
	c, err := Install(p, name)
	if is, wrong := Installed(p, name); err != nil || wrong != nil || !is || !c.Changes() {
		return ""
	}
	return c.Path
}

func plan(
	p Places, name sessions.Agent, edit func(agent, []byte) ([]byte, error),
) (c Change, err error) {
	a, ok := agentOf(name)
	if !ok {
		return c, fmt.Errorf("%q has no known hooks", name)
	}
	c = Change{Agent: name, Path: a.file(p), Trust: a.trust, perm: 0o600}
	if c.Before, err = readOwn(c.Path); err != nil {
		return c, err
	}
	if a.whole != "" && c.Before != nil && !bytes.Contains(c.Before, []byte("git-jp")) {
		return c, fmt.Errorf("%s: %w", c.Path, errForeign)
	}
	if a.whole != "" {
		c.After, err = edit(a, c.Before)
		c.dirs = a.dirs
	} else {
		c.After, err = edited(c.Before, func(doc []byte) ([]byte, error) { return edit(a, doc) })
	}
	if err != nil {
		err = fmt.Errorf("%s: %w; it was left unchanged", c.Path, err)
	}
	return c, err
}

// errLinked is for a file that has several names: it is replaced, and the other names would keep
// the old file. errLink is for a link, which would be replaced in its place.
var (
	errLinked = errors.New("the file has other hard links, which would keep what it was" + byHand)
	errLink   = errors.New("it is a symbolic link, which would become a file" + byHand)
)

const byHand = "; --dry-run prints what to write"

// errOthers is for a file that would belong to this user after it is replaced.
var errOthers = errors.New("it belongs to another user; run the command as that user")

// ownerOf returns the id of the user who owns a file, or its nearest existing parent: files created
// there must belong to that user. It is -1 if the owner cannot be determined.
func ownerOf(path string) int {
	for {
		info, err := os.Lstat(path)
		switch up := filepath.Dir(path); {
		case err == nil && (info.IsDir() && os.Geteuid() != 0):
			return -1 // the system decides whether this user may write
		case err == nil:
			return regular.Owner(info)
		case up == path:
			return -1
		default:
			path = up
		}
	}
}

// Possible returns why a file cannot be changed. Such a change may still be printed.
func (c Change) Possible() error {
	if !c.Changes() {
		return nil
	}
	if owner := ownerOf(c.Path); owner >= 0 && owner != os.Geteuid() {
		return fmt.Errorf("%s: %w", c.Path, errOthers)
	}
	info, err := os.Lstat(c.Path)
	switch {
	case err != nil:
		return nil //nolint:nilerr // that it is not there is no reason, and Apply finds others
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s: %w", c.Path, errLink)
	case regular.Links(info) > 1:
		return fmt.Errorf("%s: %w", c.Path, errLinked)
	}
	return nil
}

// readOwn is readSettings for a file of the user, which may be a link into their dotfiles: an agent
// reads what it leads to.
func readOwn(path string) ([]byte, error) {
	if filepath.IsAbs(path) {
		path = regular.Resolved(path)
	}
	return readSettings(path)
}

// readSettings reads a regular file: a symbolic link would be replaced by its target's content.
func readSettings(path string) ([]byte, error) {
	if err := sessions.Absolute(path); err != nil {
		return nil, err
	}
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("read settings: %w", err)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("read settings %s: %w", path, regular.ErrNot)
	}
	data, err := regular.ReadFile(path, maxSettings)
	if err == nil && data == nil {
		data = []byte{}
	}
	return data, err
}

// group returns the group in the list of an event.
func (a agent) group() string {
	return `{"hooks": [{"type": "command", "command": ` + strconv.Quote(line(a.name)) +
		`, "timeout": ` + a.timeout + `}]}`
}

func isOurs(hook []byte) bool { return bytes.Contains(hook, []byte(command)) }

// missing returns the events that have no hook of ours.
func (a agent) missing(doc []byte) ([]string, error) {
	missing := slices.Clone(a.events)
	err := eachGroup(doc, func(event string, path []node, i int) bool {
		it := path[len(path)-1].items[i]
		if isOurs(doc[it.At:it.End]) {
			missing = slices.DeleteFunc(missing, func(e string) bool { return e == event })
		}
		return true
	})
	return missing, err
}

// Apply carries out the plan. A file that has changed since is left alone.
func (c Change) Apply() error {
	if !c.Changes() {
		return nil
	}
	if err := c.Possible(); err != nil {
		return err
	}
	now, err := readSettings(c.Path)
	if err == nil && (!bytes.Equal(now, c.Before) || (now == nil) != (c.Before == nil)) {
		err = fmt.Errorf("write %s: %w", c.Path, atomicfile.ErrChanged)
	}
	if err != nil {
		return err
	}
	dir, name := filepath.Split(c.Path)
	if c.After == nil {
		err := atomicfile.RemoveIn(dir, name, c.Before, atomicfile.Options{TempDir: "."})
		for range c.dirs {
			dir = filepath.Clean(dir)
			if err != nil || os.Remove(dir) != nil {
				break
			}
			dir = filepath.Dir(dir)
		}
		return err
	}
	if err := atomicfile.MkdirPrivate(dir); err != nil {
		return err
	}
	o := atomicfile.Options{TempDir: "."}
	if c.Before == nil {
		o.Perm = c.perm
	}
	return atomicfile.ReplaceIn(dir, name, c.Before, c.After, o)
}
