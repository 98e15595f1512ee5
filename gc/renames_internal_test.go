package gc

import (
	"io/fs"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/blobs"
)

// A renamingFS renames a directory before the nth open.
type renamingFS struct {
	files    fstest.MapFS
	from, to string
	after    int // number of opens before it
}

func (r *renamingFS) Open(name string) (fs.File, error) {
	if r.after--; r.after == -1 {
		for old, file := range r.files {
			if rest, ok := strings.CutPrefix(old, r.from+"/"); ok {
				delete(r.files, old)
				r.files[r.to+"/"+rest] = file
			}
		}
	}
	return r.files.Open(name)
}

// TestRenamesWhileReading renames a conversation at each moment of a reading, to a name that was
// read already and to one that is read later: it must be seen.
func TestRenamesWhileReading(t *testing.T) {
	h := blobs.Sum([]byte("kept"))
	const place = "conversations/17800000001-one"
	for _, to := range []string{
		"conversations/.archive/17800000001-one", "conversations/17800000001-a",
		"conversations/17800000001-two",
	} {
		moments := 0
		for renamed := true; renamed; moments++ {
			files := &renamingFS{
				files: fstest.MapFS{
					"conversations/.archive/17800000000-old/events.json": {Data: []byte("[]")},
					place + "/events.json":                               {Data: []byte("[]")},
					place + "/note.md":                                   {Data: []byte(h.String())},
					"conversations/17900000000-new/events.json":          {Data: []byte("[]")},
				},
				from: place, to: to, after: moments,
			}
			numbers := newHashes()
			d := disk{root: "here", references: newReferenceCache(nil, numbers, false)}
			if err := d.readFS(t.Context(), files); err != nil {
				t.Fatal(err)
			}
			renamed = files.after < 0
			if _, ok := numbers.find(h); !ok || len(d.obstacles) > 0 {
				t.Errorf("to %s, after %d looks: found %v, obstacles %v", to, moments, ok, d.obstacles)
			}
		}
		if moments < 10 {
			t.Errorf("to %s: %d moments are hardly any", to, moments)
		}
	}
}
