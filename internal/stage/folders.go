package stage

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"runtime"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/parallel"
	"github.com/git-jp/git-jp/internal/refs"
	"github.com/git-jp/git-jp/internal/regular"
	"github.com/git-jp/git-jp/internal/workspace"
)

// folders is the working tree as a survey sees it: the directory of a conversation is opened and
// listed once, and its files are read once, for every caller. Opening each again for each question
// costs more than reading it. The cache keeps the references of files, by their ids.
type folders struct {
	regular.RootFS
	root  *os.Root
	cache *refs.Cache
	repo  *gitint.Repo
	large regular.Turn
	known map[string]*folder // by path
	ahead map[string]*folder // the same, read before git said what changed
}

// A folder is what a directory had.
type folder struct {
	entries []fs.DirEntry
	files   map[string]held // that were read
	title   string
}

// held is a file that was read.
type held struct {
	id     gitint.OID
	object gitint.OID // of a stream
}

// kinds are the files of a conversation that are read.
var kinds = map[string]refs.File{
	workspace.EventsFile:     refs.StreamFile,
	workspace.MetadataFile:   refs.DetailsFile,
	workspace.BaseConfigFile: refs.DocumentFile,
}

func openFolders(repo *gitint.Repo, cache *refs.Cache) (*folders, error) {
	root, err := regular.OpenRoot(repo.Root())
	if err != nil {
		return nil, fmt.Errorf("open working tree: %w", err)
	}
	return &folders{RootFS: regular.In(root), root: root, cache: cache, repo: repo}, nil
}

// ReadDir implements [fs.ReadDirFS].
func (f *folders) ReadDir(name string) ([]fs.DirEntry, error) {
	if d, ok := f.known[name]; ok {
		return d.entries, nil
	}
	return f.RootFS.ReadDir(name)
}

// look lists the wanted conversations below jpDir, several at a time, and reads the files for which
// changed is true. Errors of listing and reading are left to later callers, which report them.
func (f *folders) look(
	ctx context.Context, jpDir string, wanted func(events.ID) bool, changed func(name string) bool,
) error {
	f.known = map[string]*folder{}
	for _, p := range []workspace.Partition{workspace.Live, workspace.Archive} {
		if err := f.lookIn(ctx, path.Join(jpDir, p.Dir()), wanted, changed); err != nil {
			return err
		}
	}
	return nil
}

// lookAhead runs look while git computes what changed, for directories that are known to have
// changed: later calls find the results. It returns a function that waits for it.
func (f *folders) lookAhead(
	ctx context.Context, jpDir string, wanted func(events.ID) bool,
) (wait func() error) {
	early := &folders{RootFS: f.RootFS, root: f.root, cache: f.cache, repo: f.repo}
	done := make(chan error, 1)
	go func() {
		done <- early.look(ctx, jpDir, wanted, func(string) bool { return true })
	}()
	return func() error {
		err := <-done
		f.ahead = early.known
		return err
	}
}

func (f *folders) lookIn(
	ctx context.Context, dir string, wanted func(events.ID) bool, changed func(name string) bool,
) error {
	if info, err := f.Lstat(dir); err != nil || !info.IsDir() {
		return nil //nolint:nilerr // says who lists it
	}
	top, err := regular.OpenFolder(f.root, dir)
	if err != nil {
		return nil //nolint:nilerr // the same
	}
	f.known[dir] = &folder{entries: top.Entries()}
	var names []string
	for _, e := range top.Entries() {
		if id, ok := events.ParseDirname(e.Name()); ok && e.IsDir() && wanted(id) {
			names = append(names, e.Name())
		}
	}
	found := make([]*folder, len(names))
	parallel.Each(len(names), runtime.GOMAXPROCS(0), func(i int) {
		if ctx.Err() == nil {
			found[i] = f.folder(top, dir+"/"+names[i], names[i], changed)
		}
	})
	for i, d := range found {
		if d != nil {
			f.known[dir+"/"+names[i]] = d
		}
	}
	return errors.Join(ctx.Err(), top.Close())
}

// folder reads one of the directories of top, nil if it cannot be listed.
func (f *folders) folder(
	top *regular.Folder, dir, name string, changed func(name string) bool,
) *folder {
	if d := f.ahead[dir]; d != nil {
		same := func(name string, _ held) bool { return !changed(dir + "/" + name) }
		maps.DeleteFunc(d.files, same)
		return d
	}
	open, err := top.Open(name)
	if err != nil {
		return nil
	}
	d := &folder{entries: open.Entries(), files: make(map[string]held, len(kinds))}
	for _, e := range d.entries {
		kind, ok := kinds[e.Name()]
		if ok && e.Type().IsRegular() && changed(dir+"/"+e.Name()) {
			f.read(open, d, e, kind)
		}
	}
	_ = open.Close() // was only read
	return d
}

// read records what is in a file, unless it cannot be read.
func (f *folders) read(open *regular.Folder, d *folder, e fs.DirEntry, kind refs.File) {
	data, done, err := open.Read(e.Name(), f.repo.Limits().Of(e.Name()), &f.large)
	defer done()
	if err != nil {
		return
	}
	is := held{id: refs.Sum(data)}
	switch kind {
	case refs.StreamFile:
		is.object = f.repo.HashBlob(data)
	case refs.DetailsFile:
		details, _ := events.DecodeDetails(data)
		d.title = details.Name()
	default:
	}
	f.cache.Learn(kind, is.id, data)
	d.files[e.Name()] = is
}

// title returns the title of a conversation, "" if it has none or cannot be read.
func (f *folders) title(e workspace.Entry) string {
	if _, ok := f.file(path.Join(e.Path, workspace.MetadataFile)); ok {
		return f.known[e.Path].title
	}
	d, _ := workspace.ReadDetails(f, e)
	return d.Name()
}

// file returns the record of a file that was read.
func (f *folders) file(name string) (held, bool) {
	d, ok := f.known[path.Dir(name)]
	if !ok {
		return held{}, false
	}
	is, ok := d.files[path.Base(name)]
	return is, ok
}

// again reads a file, which may have been read before. It is an error if the file has changed
// since: the cache would store the references of one version under the id of the other.
func (f *folders) again(name string) ([]byte, error) {
	data, err := regular.Read(f, name, f.repo.Limits().Of(name))
	if was, ok := f.file(name); ok && err == nil && refs.Sum(data) != was.id {
		return nil, fmt.Errorf("read %s: %w", name, errChanged)
	}
	return data, err
}

var errChanged = errors.New("it changed in the meantime")
