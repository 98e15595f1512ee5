package gc

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A disk reads the conversations of one directory .jp, or of a user-local one, in the file system.
type disk struct {
	root       string // name of the place in obstacles
	prefix     string // of the paths in it
	base       string // the directory to which these paths are relative, "" if they are absolute
	lenient    bool   // an invalid stream is no obstacle
	references *referenceCache
	behind     func(name string) (fs.FileInfo, error) // stats the target of a symlink

	files     []diskFile
	obstacles []Obstacle
	moved     bool // something was removed while it was read
}

// A diskFile is a file that may refer to content.
type diskFile struct {
	path string
	mentions
}

const (
	// settles limits how often a directory is read again because names in it changed meanwhile.
	settles  = 16
	tempName = blobsName + "/.tmp"
	gitName  = ".git"
)

// read reads everything below dir that may refer to content: conversations anywhere, those that jp
// moved to its trash, and unfinished ones. A directory may be renamed during a reading, from a
// place that was not read yet to one that was. So the names are listed before and after, and a
// reading counts only if both lists are equal and no file was missing meanwhile.
func (d *disk) read(ctx context.Context, dir string) error {
	root, err := regular.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() //nolint:errcheck // was only read
	d.behind = func(name string) (fs.FileInfo, error) { return os.Stat(path.Join(dir, name)) }
	return d.readFS(ctx, regular.In(root))
}

func (d *disk) readFS(ctx context.Context, files fs.FS) error {
	for range settles {
		settled, err := d.pass(ctx, files)
		if settled || err != nil {
			return err
		}
	}
	d.obstruct(ReasonFiles, "", "its directories keep changing while they are read")
	return nil
}

// pass is one reading. It discards the results of an earlier one, including obstacles; what this
// one cannot read remains an obstacle, even if it can be read a moment later.
func (d *disk) pass(ctx context.Context, files fs.FS) (settled bool, err error) {
	d.files, d.obstacles, d.moved = nil, nil, false
	before, err := d.names(ctx, files)
	if err != nil {
		return false, err
	}
	for _, name := range before {
		if err := ctx.Err(); err != nil {
			return false, err
		}
		d.file(files, name)
	}
	after, err := d.names(ctx, files)
	return !d.moved && slices.Equal(before, after), err
}

// obstruct records an obstacle once, since names are listed twice.
func (d *disk) obstruct(reason, name, detail string) {
	if name != "" {
		name = path.Join(d.prefix, name)
	}
	o := Obstacle{Reason: reason, Root: d.root, Path: name, Detail: detail}
	if !slices.Contains(d.obstacles, o) {
		d.obstacles = append(d.obstacles, o)
	}
}

// names lists the files, sorted.
func (d *disk) names(ctx context.Context, files fs.FS) ([]string, error) {
	var all []string
	for _, top := range []string{conversationsName, tempName} {
		err := fs.WalkDir(files, top, func(name string, e fs.DirEntry, err error) error {
			switch {
			case err != nil && name == top && isLink(files, top): // to nothing, or elsewhere
				d.link(top)
			case errors.Is(err, fs.ErrNotExist):
				// A directory that was listed and is missing may be back at the next reading.
				d.moved = d.moved || name != top
			case err != nil:
				d.obstruct(ReasonFiles, name, regular.Cause(err).Error())
			case e.Name() == gitName && !d.lenient:
				d.obstruct(ReasonNested, name, nestedObstacle(name).Detail)
			case e.Type()&fs.ModeSymlink != 0:
				d.link(name)
			case d.misplaced(name, e.Type()) != "":
				d.obstruct(ReasonIrregular, name, d.misplaced(name, e.Type()))
			case e.IsDir():
				return d.enter(ctx, files, name)
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

// enter skips the collector's own runs in the quarantine of user-local content. Quarantined data of
// other commands is read.
func (d *disk) enter(ctx context.Context, files fs.FS, dir string) error {
	if path.Dir(dir) != tempName+"/trash" {
		return ctx.Err()
	}
	ours, err := isRun(files, dir)
	if err != nil {
		d.obstruct(ReasonFiles, dir, regular.Cause(err).Error())
	}
	if ours {
		return fs.SkipDir
	}
	return ctx.Err()
}

func isLink(files fs.FS, name string) bool {
	info, err := fs.Lstat(files, name)
	return err == nil && info.Mode()&fs.ModeSymlink != 0
}

// link makes an obstacle of a symlink behind which conversations may be: jp may follow it or not.
// One in the place of a conversation is an obstacle even if it leads nowhere now.
func (d *disk) link(name string) {
	info, err := d.behind(name)
	switch {
	case err == nil && info.IsDir(), d.misplaced(name, fs.ModeSymlink) != "":
		d.obstruct(ReasonLinked, name, "is a symbolic link: what is behind it is not looked at")
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		d.obstruct(ReasonFiles, name, regular.Cause(err).Error())
	}
}

// isTempBlob reports whether a name is that of a blob being written.
func isTempBlob(name string) bool {
	return strings.HasPrefix(name, tempName+"/") && strings.Contains(path.Base(name), ".blob.gz.")
}

func (d *disk) file(files fs.FS, name string) {
	var m refs.Mentions
	var err error
	if d.isStream(name) {
		var data []byte
		if data, err = readAll(files, name, d.references.trees.limits().OfStream()); err == nil {
			m = refs.MentionsIn(data)
		}
	} else {
		m.Loose, err = hashesIn(files, name)
	}
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errChanging):
		d.moved = true // the next reading shows where it is, or its content
		return
	case isLarge(err):
		d.obstruct(ReasonLarge, name, regular.Cause(err).Error())
		return
	case err != nil:
		d.obstruct(ReasonFiles, name, regular.Cause(err).Error())
		return
	case m.Err != nil:
		d.obstruct(streamReason(m.Opaque, m.Err), name, m.Err.Error())
	}
	d.files = append(d.files, diskFile{path.Join(d.prefix, name), d.references.number(m)})
}

// errChanging reports a file whose size differs from what was read of it.
var errChanging = errors.New("it changed while it was read")

// readWhole is readAll for a file with a name or a few lines, by its path.
func readWhole(name string) ([]byte, error) {
	return readAll(regular.Dir(filepath.Dir(name)), filepath.Base(name), regular.MaxNote)
}

// readAll reads a file that may be truncated, or not completely written yet, while it is read.
func readAll(files fs.FS, name string, limit int64) (data []byte, err error) {
	err = through(files, name, limit, func(r io.Reader) error {
		data, err = regular.ReadAll(r, limit)
		return err
	})
	return data, err
}

// hashesIn returns everything in the form of a hash in a file of any size.
func hashesIn(files fs.FS, name string) (all []blobs.Hash, err error) {
	err = through(files, name, regular.Unbounded, func(r io.Reader) error {
		all, err = refs.HashesFrom(r, nil)
		return err
	})
	return all, err
}

// through calls f with a file of at most limit bytes, which f must read to its end, and verifies
// that it was the complete file.
func through(files fs.FS, name string, limit int64, f func(io.Reader) error) error {
	file, err := regular.Open(files, name)
	if err != nil {
		return err
	}
	defer file.Close() //nolint:errcheck // was only read
	info, err := file.Stat()
	if err != nil {
		return err
	}
	if size := info.Size(); size > limit {
		return &regular.SizeError{Size: size, Max: limit}
	}
	var n counter
	if err := f(io.TeeReader(file, &n)); err != nil {
		return err
	}
	info, err = file.Stat()
	if err == nil && info.Size() != int64(n) {
		err = errChanging
	}
	return err
}

// A counter counts the bytes written to it.
type counter int64

func (n *counter) Write(data []byte) (int, error) {
	*n += counter(len(data))
	return len(data), nil
}

// streamReason returns the reason for a stream that is invalid, or whose references are unknown. A
// stream whose beginning can be read is damaged, even if the rest is not text: neither a Git LFS
// pointer nor an encrypted file begins like one.
func streamReason(dark bool, err *events.SyntaxError) string {
	switch {
	case dark && err.Offset == 0:
		return ReasonOpaque
	case isLarge(err):
		return ReasonLarge
	}
	return ReasonStream
}

func isLarge(err error) bool {
	_, ok := errors.AsType[*regular.SizeError](err)
	return ok
}

func (d *disk) isStream(name string) bool {
	return !d.lenient && path.Base(name) == workspace.EventsFile &&
		strings.HasPrefix(name, conversationsName+"/") &&
		!strings.HasPrefix(name, conversationsName+"/"+trashName+"/")
}

// onDisk adds the files that a disk has read as a tip.
func (m *marker) onDisk(d disk, dir string) {
	for _, o := range d.obstacles {
		m.obstruct(o)
	}
	t := &tip{title: d.root, disk: d.files, kind: tipWorkTree, base: d.base}
	if !d.lenient {
		t.store = path.Join(dir, blobsName)
	}
	m.tips = append(m.tips, t)
}
