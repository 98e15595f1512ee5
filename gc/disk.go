package gc

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A disk reads the conversations of one directory .jp, or of a user-local one, as they lie in
// the file system.
type disk struct {
	root    string // what the obstacles call the place
	prefix  string // of the paths in it
	lenient bool   // what is no stream is no obstacle
	library *library

	files     []diskFile
	obstacles []Obstacle
}

// A diskFile is a file that may refer to content.
type diskFile struct {
	path string
	mentions
}

const (
	// settles is how often a directory is read again in which names change meanwhile.
	settles  = 16
	tempName = blobsName + "/.tmp"
)

// read reads everything below dir that may refer to content: conversations wherever they lie,
// what jp put away, and what is being built. Directories are renamed while we read, from one
// place into another that was read before. So the names are listed before and after, and
// only a reading between two equal lists counts.
func (d *disk) read(ctx context.Context, dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // was only read
	for range settles {
		d.files, d.obstacles = nil, nil
		before, err := d.names(ctx, root)
		if err != nil {
			return err
		}
		for _, name := range before {
			if err := ctx.Err(); err != nil {
				return err
			}
			d.file(root, name)
		}
		after, err := d.names(ctx, root)
		if err != nil {
			return err
		}
		if slices.Equal(before, after) {
			return nil
		}
	}
	d.obstruct(ReasonFiles, "", "its directories keep changing while they are read")
	return nil
}

func (d *disk) obstruct(reason, name, detail string) {
	if name != "" {
		name = path.Join(d.prefix, name)
	}
	d.obstacles = append(d.obstacles, Obstacle{
		Reason: reason, Root: d.root, Path: name, Detail: detail,
	})
}

// names lists the files, sorted.
func (d *disk) names(ctx context.Context, root *os.Root) ([]string, error) {
	var all []string
	d.obstacles = slices.DeleteFunc(d.obstacles, func(o Obstacle) bool {
		return o.Reason == ReasonLinked || o.Reason == ReasonFiles
	})
	for _, top := range []string{conversationsName, tempName} {
		err := fs.WalkDir(root.FS(), top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist):
				return ctx.Err()
			case err != nil:
				d.obstruct(ReasonFiles, name, err.Error())
			case e.IsDir():
				if name == tempName+"/trash" {
					return fs.SkipDir
				}
			case e.Type()&fs.ModeSymlink != 0:
				d.link(root, name)
			case e.Type().IsRegular() && !isStreamless(e.Name()) && !isTempBlob(name):
				all = append(all, name)
			}
			return ctx.Err()
		})
		if err != nil {
			return nil, err
		}
	}
	slices.Sort(all)
	return all, nil
}

// link makes an obstacle of a link behind which conversations may be. jp follows it or not.
func (d *disk) link(root *os.Root, name string) {
	info, err := os.Stat(path.Join(root.Name(), name))
	isDir := err == nil && info.IsDir()
	if isDir || path.Base(name) == workspace.EventsFile {
		d.obstruct(ReasonLinked, name, "is a symbolic link: what is behind it is not looked at")
	}
}

// isTempBlob reports whether a name is that of content being written.
func isTempBlob(name string) bool {
	return strings.HasPrefix(name, tempName+"/") && strings.Contains(path.Base(name), ".blob.gz.")
}

func (d *disk) file(root *os.Root, name string) {
	data, err := fs.ReadFile(root.FS(), name)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return // the second list shows whether it is elsewhere
	case err != nil:
		d.obstruct(ReasonFiles, name, err.Error())
		return
	}
	m := refs.Mentions{}
	if d.isStream(name) {
		m = refs.MentionsIn(data)
		if m.Err != nil {
			d.obstruct(streamReason(m.Opaque), name, m.Err.Error())
		}
	} else {
		m.Loose = refs.HashesIn(data)
	}
	d.files = append(d.files, diskFile{path.Join(d.prefix, name), d.library.number(m)})
}

func streamReason(dark bool) string {
	if dark {
		return ReasonOpaque
	}
	return ReasonStream
}

func (d *disk) isStream(name string) bool {
	return !d.lenient && path.Base(name) == workspace.EventsFile &&
		strings.HasPrefix(name, conversationsName+"/") &&
		!strings.HasPrefix(name, conversationsName+"/"+trashName+"/")
}

// workTrees reads the workspaces of every work tree.
func (m *marker) workTrees(ctx context.Context) error {
	for _, w := range m.roots.Worktrees {
		if w.Root == "" || w.Gone || w.Unknown != "" {
			continue
		}
		found, err := workspace.FindAll(w.Root)
		if err != nil {
			m.obstruct(Obstacle{Reason: ReasonFiles, Root: w.Title(), Detail: err.Error()})
		}
		for _, dir := range found {
			rel := strings.TrimPrefix(strings.TrimPrefix(dir, w.Root), "/")
			d := disk{
				root: w.Title(), prefix: path.Join(rel, workspace.DirName), library: m.library,
			}
			jp := path.Join(dir, workspace.DirName)
			if err := d.read(ctx, jp); err != nil {
				if ctx.Err() != nil {
					return ctx.Err()
				}
				d.obstruct(ReasonFiles, "", err.Error())
			}
			m.onDisk(d, jp)
		}
	}
	return nil
}

// onDisk takes what a disk has read as a tip.
func (m *marker) onDisk(d disk, dir string) {
	for _, o := range d.obstacles {
		m.obstruct(o)
	}
	t := &tip{title: d.root, disk: d.files, kind: tipWorkTree}
	if !d.lenient {
		t.store = path.Join(dir, blobsName)
	}
	m.tips = append(m.tips, t)
}

// siloCopies reads the user's own copies of conversations, which jp may bring back. They are
// jp's, and what it cannot read there stops nobody.
func (m *marker) siloCopies(ctx context.Context) error {
	dir := m.o.Workspace.UserDir()
	if dir == "" {
		return nil
	}
	d := disk{root: "user-local copies", lenient: !m.o.UserLocal, library: m.library}
	if err := d.read(ctx, dir); err != nil {
		return fmt.Errorf("read %s: %w", d.root, err)
	}
	m.onDisk(d, dir)
	return nil
}
