package check

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing/fstest"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/regular"
)

// A forest is the files of a tree, which tests create and damage.
type forest map[string]*fstest.MapFile

func (f forest) clone() forest { return maps.Clone(f) }

func (f forest) write(name, content string) forest {
	f[name] = &fstest.MapFile{Data: []byte(content), Mode: 0o644}
	return f
}

func (f forest) remove(prefix string) forest {
	maps.DeleteFunc(f, func(name string, _ *fstest.MapFile) bool {
		return strings.HasPrefix(name, prefix)
	})
	return f
}

// blob adds the file of a blob.
func (f forest) blob(content string) forest {
	return f.write(blobPath(content), string(blobs.Encode([]byte(content))))
}

func blobPath(content string) string {
	return ".jp/blobs/" + blobs.Sum([]byte(content)).Path()
}

// conversation adds a conversation with these tool results, and their blobs.
func (f forest) conversation(dirname, title string, contents ...string) forest {
	for _, c := range contents {
		f.blob(c)
	}
	return f.bare(dirname, title, contents...)
}

// bare is conversation without the blobs.
func (f forest) bare(dirname, title string, contents ...string) forest {
	dir := ".jp/conversations/" + dirname + "/"
	details, err := json.MarshalIndent(map[string]any{
		"title": title, "last_activated_at": "2026-05-29 19:42:36.0",
	}, "", "  ")
	if err != nil {
		panic(err)
	}
	f.write(dir+"metadata.json", string(details)+"\n")
	f.write(dir+"base_config.json", "{}\n")
	return f.write(dir+"events.json", stream(contents...))
}

type object = map[string]any

const stamp = "2026-05-29 19:42:36.0"

// stream returns an events.json with one turn for each result.
func stream(contents ...string) string {
	var all []object
	for i, c := range contents {
		all = append(all, turn(i, int64(len(c)), c)...)
	}
	return encode(all...)
}

func turn(i int, size int64, content string) []object {
	id := fmt.Sprintf("toolu_%02d", i)
	return []object{
		{"timestamp": stamp, "type": "turn_start"},
		{"timestamp": stamp, "type": "chat_request", "content": "Go on"},
		{
			"timestamp": stamp, "type": "tool_call_request", "id": id, "name": "fs_read_file",
			"arguments": object{},
		},
		{
			"timestamp": stamp, "type": "tool_call_response", "id": id, "is_error": false,
			"content": []object{{"type": "text", "content": object{
				"$blob": blobs.Sum([]byte(content)).String(), "size": size,
			}}},
		},
		{"timestamp": stamp, "type": "chat_response", "message": "Done"},
	}
}

func encode(all ...object) string {
	if all == nil {
		return "[]\n"
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err)
	}
	return string(data) + "\n"
}

// source is a tree with object ids, as in git.
type source struct {
	fileSource
	tree  forest
	ids   map[string]gitint.OID
	reads *atomic.Int64
	asked *atomic.Int64 // how often sizes or existence were looked up
	sized *atomic.Int64 // for how many objects
}

func (f forest) source(name string) *source {
	s := &source{
		fileSource: fileSource{name: name, fsys: fstest.MapFS(f)}, tree: f,
		ids: make(map[string]gitint.OID), reads: new(atomic.Int64),
		asked: new(atomic.Int64), sized: new(atomic.Int64),
	}
	children := make(map[string][]string)
	for _, name := range slices.Sorted(maps.Keys(f)) {
		s.ids[name] = hashOf("blob", string(f[name].Data))
		for at := name; at != "."; at = path.Dir(at) {
			children[path.Dir(at)] = append(children[path.Dir(at)], name+"="+s.ids[name].String())
		}
	}
	for dir, below := range children {
		s.ids[dir] = hashOf("tree", dir+"\n"+strings.Join(below, "\n"))
	}
	for dir := range children {
		s.register(dir)
	}
	return s
}

func hashOf(kind, s string) gitint.OID {
	sum := sha256.Sum256([]byte(kind + "\x00" + s))
	id, _ := gitint.OIDOf(sum[:20])
	return id
}

func (s *source) List(dir string) ([]Entry, error) {
	s.reads.Add(1)
	entries, err := s.fileSource.List(dir)
	for i := range entries {
		entries[i].ID = s.ids[path.Join(dir, entries[i].Name)]
	}
	return entries, err
}

func (s *source) ReadFile(name string) ([]byte, error) {
	s.reads.Add(1)
	if f := s.tree[name]; f != nil && f.Mode&fs.ModeSymlink != 0 {
		return nil, fs.ErrInvalid
	}
	return s.fileSource.ReadFile(name)
}

func (s *source) Walk(ctx context.Context, dir string, f func(Entry)) error {
	for _, name := range slices.Sorted(maps.Keys(s.tree)) {
		if below, ok := strings.CutPrefix(name, dir+"/"); ok {
			f(Entry{below, s.tree[name].Mode.Type(), s.ids[name]})
		}
	}
	return ctx.Err()
}

// Limits implements [objectSource].
func (s *source) Limits() regular.Limits { return regular.Limits{} }

func (s *source) WalkAll(ctx context.Context, dirs []string, f func(int, Entry)) error {
	for i, dir := range dirs {
		if err := s.Walk(ctx, dir, func(e Entry) { f(i, e) }); err != nil {
			return err
		}
	}
	return nil
}

// path finds a file with an id. A repository has an object once, even if several files share it.
func (s *source) path(id gitint.OID) string {
	for name := range s.tree {
		if s.ids[name] == id {
			return name
		}
	}
	return "no such object"
}

func (s *source) ObjectSizes(ctx context.Context, ids []gitint.OID) ([]int64, error) {
	s.asked.Add(1)
	s.sized.Add(int64(len(ids)))
	var files []File
	for _, id := range ids {
		files = append(files, File{s.path(id), id})
	}
	return s.Sizes(ctx, files)
}

func (s *source) ReadObjectsOf(
	ctx context.Context, ids []gitint.OID, wanted func(int64) bool,
	f func(int, int64, []byte, error) error,
) error {
	return readObjectsOf(ctx, s, ids, wanted, f)
}

// readObjectsOf looks up sizes first.
func readObjectsOf(
	ctx context.Context, o objectSource, ids []gitint.OID, wanted func(int64) bool,
	f func(int, int64, []byte, error) error,
) error {
	sizes, err := o.ObjectSizes(ctx, ids)
	for i, size := range sizes {
		tell := func(_ int, data []byte, err error) error { return f(i, size, data, err) }
		if wanted(size) {
			err = errors.Join(err, o.ReadObjects(ctx, ids[i:i+1], tell))
		} else {
			err = errors.Join(err, tell(0, nil, nil))
		}
	}
	return err
}

func (s *source) Gone(
	_ context.Context, ids []gitint.OID,
) (map[gitint.OID]bool, error) {
	s.asked.Add(1)
	gone := make(map[gitint.OID]bool)
	for _, id := range ids {
		_, isDir := directories.Load(id)
		if _, ok := s.tree[s.path(id)]; !ok && !isDir {
			gone[id] = true
		}
	}
	return gone, nil
}

func (s *source) ReadObjects(
	_ context.Context, ids []gitint.OID, f func(int, []byte, error) error,
) error {
	for i, id := range ids {
		data, err := s.ReadFile(s.path(id))
		if err := f(i, data, err); err != nil {
			return err
		}
	}
	return nil
}

func (s *source) Differ(_ context.Context, was, is gitint.OID, f func(was, is Entry)) error {
	s.reads.Add(1)
	list := func(id gitint.OID) []Entry {
		entries, _ := directories.Load(id)
		all, _ := entries.([]Entry)
		return all
	}
	entriesDiffer(list(was), list(is), f)
	return nil
}

// directories holds the trees of all sources, as in a repository that has all commits.
var directories sync.Map

func (s *source) register(dir string) {
	entries, err := s.fileSource.List(dir)
	if err != nil {
		return
	}
	for i := range entries {
		entries[i].ID = s.ids[path.Join(dir, entries[i].Name)]
	}
	sortEntries(entries)
	directories.Store(s.ids[dir], entries)
}

// noise is text of 200 to 4200 bytes that compresses badly.
func noise(seed int) string {
	const letters = "abcdefghijklmnopqrstuvwxyz (){}=\n"
	x := uint64(seed)*0x9e3779b97f4a7c15 + 1
	text := make([]byte, 200+x%4000)
	for i := range text {
		x ^= x << 13
		x ^= x >> 7
		x ^= x << 17
		text[i] = letters[x%uint64(len(letters))]
	}
	return string(text)
}
