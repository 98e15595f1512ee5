package quarantine

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/regular"
)

const (
	eventsFile   = "events.json"
	resultFile   = "result.json" // events.json after a compaction; earlier copies lack it
	metadataFile = "metadata.json"
	recordFile   = "compacted.json" // written last: without it there is no copy
)

// ErrNone reports that no copy of a conversation is kept, or only copies from before changes that
// are undone.
var ErrNone = errors.New("no copy is kept that an undo would restore")

// A Change is a change of a conversation.
type Change struct {
	Kind     Kind // "" means Compacted
	ID       events.ID
	At       time.Time
	Was, Is  *events.Stream
	Contents blobs.Reader // of Was
	// Named is the change of the conversation's metadata, nil if the stream alone changes.
	Named *Named
}

// A Named is a change of the metadata of a conversation and of the name of its directory.
type Named struct{ Was, Is Naming }

// A Naming is one state of both.
type Naming struct {
	Metadata []byte // the file
	Dirname  string
}

// record describes the conversation after the change.
type record struct {
	ID       string    `json:"id"`
	At       time.Time `json:"at"`
	Elements int       `json:"elements"`
	Sum      string    `json:"sum"` // of those elements
	// The name of the directory before the change and after it, and the metadata after it.
	WasDirname string `json:"was_dirname,omitempty"`
	Dirname    string `json:"dirname,omitempty"`
	Metadata   []byte `json:"metadata,omitempty"`
}

// Put keeps a copy of a conversation from before a change.
func (q Quarantine) Put(c Change) (*Item, error) {
	a, err := q.put(c)
	if err != nil {
		return nil, fmt.Errorf("keep a copy: %w", err)
	}
	return a, nil
}

func (q Quarantine) put(c Change) (*Item, error) {
	c.Kind = cmp.Or(c.Kind, Compacted)
	prefix := fmt.Sprintf("%s-%s-", c.Kind, c.ID.Digits())
	moment, err := Moment(q.Dir, prefix, c.At)
	if err != nil {
		return nil, err
	}
	a, err := q.begin(prefix+moment, manifest{
		Kind: c.Kind, At: c.At.UTC(), Conversation: c.ID.String(),
	})
	if err != nil {
		return nil, err
	}
	if err := keepContents(a.dir, c); err != nil {
		return nil, err
	}
	rec := record{
		ID: c.ID.String(), At: c.At.UTC(), Elements: c.Is.Len(), Sum: sum(c.Is, c.Is.Len()),
	}
	type file struct {
		name string
		data []byte
	}
	files := []file{{eventsFile, c.Was.Encode()}}
	if c.Kind.HasUndo() { // content of a redacted one is needed no longer than the conversation
		files = append(files, file{resultFile, c.Is.Encode()})
	}
	if n := c.Named; n != nil {
		files = append(files, file{metadataFile, n.Was.Metadata})
		rec.WasDirname, rec.Dirname, rec.Metadata = n.Was.Dirname, n.Is.Dirname, n.Is.Metadata
	}
	data, err := json.Marshal(rec)
	if err != nil {
		return nil, err
	}
	for _, f := range append(files, file{recordFile, data}) {
		if err := a.write(f.name, f.data); err != nil {
			return nil, err
		}
	}
	return a, nil
}

// keepContents copies the content that is no longer referenced. Content that is missing cannot be
// lost.
func keepContents(dir string, c Change) (err error) {
	still := map[blobs.Ref]bool{}
	for ref := range references(c.Is) {
		still[ref] = true
	}
	var store *blobs.Store
	for ref := range references(c.Was) {
		if still[ref] {
			continue
		}
		still[ref] = true
		data, err := c.Contents.Read(ref)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return err
		}
		if store == nil {
			if store, err = blobs.Open(
				filepath.Join(dir, "blobs"), blobs.Options{Private: true}); err != nil {
				return err
			}
			defer store.Close() //nolint:errcheck // nothing is left to be written
		}
		if _, err := store.Write(data); err != nil {
			return err
		}
	}
	return nil
}

// references yields the references of a stream, including those that a later version may have
// written.
func references(s *events.Stream) iter.Seq[blobs.Ref] {
	return func(yield func(blobs.Ref) bool) {
		all, _ := events.References(s.Encode()) // cannot fail: the stream was read
		for _, at := range all {
			if at.Counts() && !yield(at.Ref) {
				return
			}
		}
	}
}

// sum returns a hash of the first elements of a stream.
func sum(s *events.Stream, n int) string {
	var all []byte
	for i := range n {
		h := s.At(i).Sum()
		all = append(all, h[:]...)
	}
	return blobs.Sum(all).String()
}

// A Copy is a conversation from before a change.
type Copy struct {
	Dir    string
	At     time.Time
	Stream *events.Stream
	Named  *Named // nil if the metadata did not change
	record record
	result *events.Stream // nil in the copy of an earlier release
}

// Copies returns the copies of a conversation from before it was compacted, latest first. Copies
// that cannot be read are skipped.
func (q Quarantine) Copies(id events.ID) []Copy { return q.CopiesOf(Compacted, id) }

// CopiesOf returns the copies that a kind of command has made.
func (q Quarantine) CopiesOf(kind Kind, id events.ID) []Copy {
	names, err := regular.Glob(q.Dir, string(kind)+"-"+id.Digits()+"-*")
	if err != nil {
		return nil
	}
	slices.Sort(names)
	var all []Copy
	for _, dir := range slices.Backward(names) {
		if c, err := read(dir); err == nil && c.record.ID == id.String() {
			all = append(all, c)
		}
	}
	return all
}

// Copy returns what an item keeps of a conversation.
func (i Item) Copy() (Copy, error) { return read(i.dir) }

func read(dir string) (Copy, error) {
	c := Copy{Dir: dir}
	if _, err := readManifest(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, err
	}
	data, err := regular.ReadFile(filepath.Join(dir, recordFile), regular.MaxOwn)
	if err != nil {
		return c, err
	}
	if err := json.Unmarshal(data, &c.record); err != nil {
		return c, err
	}
	c.At = c.record.At
	if data, err = regular.ReadFile(filepath.Join(dir, eventsFile), regular.MaxOwn); err != nil {
		return c, err
	}
	if c.Stream, err = events.Decode(data); err != nil {
		return c, err
	}
	if c.result, err = readResult(dir); err != nil || c.record.Metadata == nil {
		return c, err
	}
	c.Named = &Named{
		Was: Naming{Dirname: c.record.WasDirname},
		Is:  Naming{c.record.Metadata, c.record.Dirname},
	}
	c.Named.Was.Metadata, err = regular.ReadFile(filepath.Join(dir, metadataFile), regular.MaxOwn)
	return c, err
}

// SameResult reports whether both changes had the same result.
func (c Copy) SameResult(o Copy) bool {
	return c.record.Elements == o.record.Elements && c.record.Sum == o.record.Sum &&
		c.record.Dirname == o.record.Dirname && bytes.Equal(c.record.Metadata, o.record.Metadata)
}

// Read returns a blob that the copy keeps.
func (c Copy) Read(ref blobs.Ref) ([]byte, error) {
	dir := filepath.Join(c.Dir, "blobs")
	if _, err := os.Stat(dir); err != nil {
		return nil, err
	}
	store, err := blobs.Open(dir, blobs.Options{})
	if err != nil {
		return nil, err
	}
	defer store.Close() //nolint:errcheck // only read from
	return store.Read(ref)
}

// Contents calls f with all content that the copy holds.
func (c Copy) Contents(f func(content []byte) error) error {
	dir := filepath.Join(c.Dir, "blobs")
	if _, err := os.Stat(dir); err != nil {
		return nil // there are none
	}
	store, err := blobs.Open(dir, blobs.Options{})
	if err != nil {
		return err
	}
	defer store.Close() //nolint:errcheck // only read from
	for ref := range references(c.Stream) {
		data, err := store.Read(ref)
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err == nil {
			err = f(data)
		}
		if err != nil {
			return fmt.Errorf("restore blobs from %s: %w", c.Dir, err)
		}
	}
	return nil
}
