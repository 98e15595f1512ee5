package file

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/regular"
)

// TempDir is the directory for temporary files before they are renamed: git ignores it, and it is
// on the file system of the workspace.
const TempDir = ".jp/blobs/.tmp"

// Reasons that an [AccessError] can wrap.
var (
	ErrOutside    = errors.New("it is outside of the workspace")
	ErrForbidden  = errors.New("it belongs to git or jp")
	ErrNotRegular = errors.New("it is not a regular file")
	ErrTooLarge   = errors.New("it is too large")
	ErrControl    = errors.New("its name contains an invisible character")
	ErrURI        = errors.New("it is a URI, not a path")
)

// An AccessError says that tools must not access a file.
type AccessError struct {
	Path string
	Err  error // one of the reasons
}

// Error implements error.
func (e *AccessError) Error() string { return fmt.Sprintf("file %q: %v", e.Path, e.Err) }

// Unwrap returns the reason.
func (e *AccessError) Unwrap() error { return e.Err }

// A Tree gives access to the files of a workspace only.
type Tree struct {
	*Space
	root  *os.Root
	deny  []string // resolved
	rules []rule   // of access.fs; nil grants everything
}

// Open opens the workspace whose root is dir. The directories of deny, such as that of a repository
// with an unusual name, are forbidden like .git and .jp.
func Open(dir string, deny ...string) (*Tree, error) {
	space, err := NewSpace(dir)
	if err != nil {
		return nil, err
	}
	root, err := regular.OpenRoot(space.root)
	if err != nil {
		return nil, fmt.Errorf("open workspace %q: %w", dir, err)
	}
	t := &Tree{Space: space, root: root}
	for _, d := range deny {
		if real, err := resolve(d); err == nil && real != space.root {
			t.deny = append(t.deny, real)
		}
	}
	return t, nil
}

// Close releases the directory.
func (t *Tree) Close() error { return t.root.Close() }

// Rel converts path to a slash path relative to the root, with all links resolved. The error is an
// *[AccessError] if tools must not access it.
func (t *Tree) Rel(path string) (string, error) {
	real, err := t.resolve(path)
	if err != nil {
		return "", fmt.Errorf("file %q: %w", path, err)
	}
	rel, inside := t.Below(real)
	if !inside {
		return "", &AccessError{Path: path, Err: ErrOutside}
	}
	if t.Forbidden(rel) {
		return "", &AccessError{Path: path, Err: ErrForbidden}
	}
	return rel, nil
}

// Forbidden reports whether a slash path from the root belongs to git or jp.
func (t *Tree) Forbidden(rel string) bool {
	for name := range strings.SplitSeq(rel, "/") {
		if isReserved(name) {
			return true
		}
	}
	real := filepath.Join(t.Space.root, filepath.FromSlash(rel))
	return slices.ContainsFunc(t.deny, func(d string) bool {
		return real == d || strings.HasPrefix(real, d+string(filepath.Separator))
	})
}

// isReserved recognizes .git and .jp in every spelling that some file system treats as these names,
// including short names of Windows.
func isReserved(name string) bool {
	name = foldName(name)
	short, _, isShort := strings.Cut(name, "~")
	return name == ".git" || name == ".jp" || isShort && (short == "git" || short == "jp")
}

// A File is a file that was read.
type File struct {
	Rel  string // slash path relative to the root, links resolved
	URI  string
	Data []byte
}

// Read reads a regular file of at most limit bytes; 0 is no limit. Who reads it to change or to
// delete it needs the right to that instead of that to read it.
func (t *Tree) Read(path string, limit int64, c Capability) (File, error) {
	rel, info, err := t.existing(path, c)
	if err != nil {
		return File{}, err
	}
	if limit > 0 && info.Size() > limit {
		return File{}, &AccessError{Path: path, Err: tooLarge(info.Size(), limit)}
	}
	f, err := regular.OpenIn(t.root, filepath.FromSlash(rel))
	if err != nil {
		return File{}, fmt.Errorf("file %q: %w", path, regular.Cause(err))
	}
	data, err := readAll(f, limit)
	err = errors.Join(err, f.Close())
	if err != nil {
		return File{}, fmt.Errorf("read file %q: %w", path, regular.Cause(err))
	}
	// If a directory was replaced by a link meanwhile, this is another file than requested, and
	// perhaps a forbidden one.
	if again, err := t.Rel(path); err != nil || again != rel {
		return File{}, &AccessError{Path: path, Err: ErrForbidden}
	}
	return File{Rel: rel, URI: t.name(t.abs(rel)), Data: data}, nil
}

func readAll(r io.Reader, limit int64) ([]byte, error) {
	if limit <= 0 {
		limit = regular.MaxOwn
	}
	data, err := regular.ReadAll(r, limit)
	if over, ok := errors.AsType[*regular.SizeError](err); ok {
		err = tooLarge(over.Size, over.Max)
	}
	return data, err
}

func tooLarge(size, limit int64) error {
	return fmt.Errorf("%w: %d bytes, and %d are allowed", ErrTooLarge, size, limit)
}

// Resource returns the file as a resource with its content at the time of reading. The URI has the
// name byte for byte; Name is valid UTF-8.
func (f File) Resource() events.Resource {
	return events.Resource{
		URI: f.URI, MIMEType: Type(f.Rel, f.Data), Name: strings.ToValidUTF8(f.Rel, "\uFFFD"),
		Content: blobs.Loaded(f.Data),
	}
}

// Stat returns the rel of path, with links resolved, and the file's information.
func (t *Tree) Stat(path string) (rel string, info fs.FileInfo, err error) {
	rel, err = t.Rel(path)
	if err != nil {
		return "", nil, err
	}
	info, err = t.root.Lstat(filepath.FromSlash(rel))
	if err != nil {
		return rel, nil, fmt.Errorf("file %q: %w", path, regular.Cause(err))
	}
	return rel, info, nil
}

// existing is [Tree.Stat] for a regular file and with a right to it. The type of a file is checked
// before it is opened: opening a pipe would wait for a writer.
func (t *Tree) existing(path string, c Capability) (rel string, info fs.FileInfo, err error) {
	if rel, err = t.Rel(path); err != nil {
		return "", nil, err
	}
	if err := t.granted(path, rel, c); err != nil {
		return rel, nil, err
	}
	info, err = t.root.Lstat(filepath.FromSlash(rel))
	switch {
	case err != nil:
		return rel, nil, fmt.Errorf("file %q: %w", path, regular.Cause(err))
	case !info.Mode().IsRegular():
		return rel, nil, &AccessError{Path: path, Err: ErrNotRegular}
	}
	return rel, info, nil
}

// IsFile reports whether a slash path from the root is a regular file that may be read. A link is
// not.
func (t *Tree) IsFile(rel string) bool {
	if t.Forbidden(rel) || !t.may(rel, CanRead) {
		return false
	}
	info, err := t.root.Lstat(filepath.FromSlash(rel))
	return err == nil && info.Mode().IsRegular()
}

// Create creates a file, and its directories. The error wraps fs.ErrExist if the file exists.
func (t *Tree) Create(path string, data []byte) (File, error) {
	rel, err := t.Creatable(path)
	if err != nil {
		return File{}, err
	}
	if _, err := t.root.Lstat(filepath.FromSlash(rel)); err == nil {
		return File{}, fmt.Errorf("create file %q: %w", path, fs.ErrExist)
	}
	return t.write("create", path, rel, nil, data)
}

// Creatable is [Tree.Rel] for a file that is to be created. The error says why it may not be.
func (t *Tree) Creatable(path string) (rel string, err error) {
	if err := nameable(path); err != nil {
		return "", &AccessError{Path: path, Err: err}
	}
	if rel, err = t.Rel(path); err != nil {
		return "", err
	}
	return rel, t.granted(path, rel, CanCreate)
}

// nameable returns an error if no file with that name should be created: one with characters that a
// terminal or a list does not show, or a URI, whose scheme would become a directory.
func nameable(path string) error {
	switch scheme, _, _ := strings.Cut(path, "://"); {
	case IsURI(path), len(scheme) < len(path) && !strings.Contains(scheme, "/"):
		return ErrURI
	case strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsGraphic(r) }):
		return ErrControl
	}
	return nil
}

// Replace replaces the content of an existing regular file, unless it differs from was. Its mode
// stays. Hard links to the same file, which may be anywhere, keep the old content.
func (t *Tree) Replace(path string, was, data []byte) (File, error) {
	rel, _, err := t.existing(path, CanUpdate)
	if err != nil {
		return File{}, err
	}
	return t.write("replace", path, rel, was, data)
}

// write writes a file whose content was was, nil for none.
func (t *Tree) write(verb, path, rel string, was, data []byte) (File, error) {
	if strings.HasSuffix(path, "/") || rel == "." {
		return File{}, &AccessError{Path: path, Err: ErrNotRegular}
	}
	err := atomicfile.Replace(t.root, rel, was, data, atomicfile.Options{TempDir: TempDir})
	if err != nil {
		return File{}, fmt.Errorf("%s file %q: %w", verb, path, regular.Cause(err))
	}
	return File{Rel: rel, URI: t.name(t.abs(rel)), Data: data}, nil
}

// Remove deletes a regular file. If path is a link, it deletes the target.
func (t *Tree) Remove(path string) (rel string, err error) {
	if rel, _, err = t.existing(path, CanDelete); err != nil {
		return rel, err
	}
	if err := t.root.Remove(filepath.FromSlash(rel)); err != nil {
		return rel, fmt.Errorf("delete file %q: %w", path, regular.Cause(err))
	}
	return rel, nil
}

func (t *Tree) abs(rel string) string {
	return filepath.Join(t.Space.root, filepath.FromSlash(rel))
}

// FS returns the tree for reading by slash paths. A caller that walks it must skip files that are
// [Tree.Forbidden], and not follow links.
func (t *Tree) FS() fs.FS { return regular.In(t.root) }

// Walk returns the regular files below a slash path from the root, sorted, without forbidden ones.
// It does not follow links. A file is below itself.
func (t *Tree) Walk(rel string) ([]string, error) {
	var found []string
	err := fs.WalkDir(t.FS(), path.Clean(rel), func(p string, d fs.DirEntry, err error) error {
		switch {
		case err != nil && d == nil:
			return err
		case p != "." && t.Forbidden(p):
			if d.IsDir() {
				return fs.SkipDir
			}
		case err == nil && d.Type().IsRegular() && t.may(p, CanRead):
			found = append(found, p)
		}
		return nil // an unreadable directory is skipped
	})
	if err != nil {
		return nil, fmt.Errorf("list %q: %w", rel, regular.Cause(err))
	}
	return found, nil
}
