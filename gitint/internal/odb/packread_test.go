package odb

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"

	"github.com/klauspost/compress/zlib"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/gittest"
)

func deflated(data []byte) []byte {
	var b bytes.Buffer
	w := zlib.NewWriter(&b)
	_, _ = w.Write(data) // a buffer takes everything
	_ = w.Close()
	return b.Bytes()
}

// FuzzPackReader reads packs and indexes of arbitrary bytes: it ends, and reads nothing beyond
// them.
func FuzzPackReader(f *testing.F) {
	head := []byte("PACK\x00\x00\x00\x02\x00\x00\x00\x01")
	tree := deflated([]byte("100644 name\x00aaaaaaaaaaaaaaaaaaaa"))
	delta := deflated([]byte{32, 10, 0x91, 7, 4, 6, 'b', 'b', 'b', 'b', 'b', 'b'})
	first := append(append(bytes.Clone(head), 0xa0, 0x02), tree...)
	second := append(bytes.Clone(first), 0x6c, byte(len(first)-len(head)))
	f.Add(append(second, delta...), []byte(nil), int64(len(head)), int64(len(first)))
	f.Add(append(append(bytes.Clone(head), 0x7c), bytes.Repeat([]byte{7}, 40)...),
		append([]byte(packIndexHead), make([]byte, 2000)...), int64(len(head)), int64(0))
	f.Fuzz(func(t *testing.T, data, index []byte, one, two int64) {
		x, err := newPackIndex(index, object.SHA1Size)
		if err != nil {
			x = &packIndex{idSize: object.SHA1Size, fanout: make([]byte, 1024)}
		}
		name := filepath.Join(t.TempDir(), "pack")
		if err := os.WriteFile(name, data, 0o600); err != nil {
			t.Fatal(err)
		}
		file, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		p := &pack{file: file, size: int64(len(data)), index: x}
		reader := newPackReader([]*pack{p})
		for _, at := range []int64{one, two, one} {
			if at < 0 || at >= p.size {
				continue
			}
			if obj, err := reader.read(packAddress{offset: at}); err == nil && packKindOf(obj) == 0 {
				t.Errorf("an object of kind %q", obj.Kind)
			}
		}
	})
}

// A countedFile counts the reads of a file.
type countedFile struct {
	packFile
	reads, bytes int
}

func (f *countedFile) ReadAt(p []byte, at int64) (int, error) {
	n, err := f.packFile.ReadAt(p, at)
	f.reads, f.bytes = f.reads+1, f.bytes+n
	return n, err
}

// TestBasesAreReadTogether reads the last of many versions, each a delta of the one before it, with
// other objects between them: one read of the file serves many versions. Then it reads some of
// these others, which are far from each other, without reading much of what is between them.
func TestBasesAreReadTogether(t *testing.T) {
	const versions, apart = 300, 20
	repo := gittest.Repo(t)
	random := rand.New(rand.NewPCG(1, 2)) // the same each time
	var p handPack
	var places []packPlace
	var ids []object.ID
	last := -1
	for i := range versions {
		content := fmt.Sprintf("version %03d", i)
		if last < 0 {
			last = p.add(3, len(content), nil, []byte(content))
		} else {
			delta := append([]byte{11, 11, 11}, content...)
			last = p.add(deltaByOffset, len(delta), p.back(last), delta)
		}
		noise := make([]byte, 1000)
		for k := range noise {
			noise[k] = byte(random.Uint32())
		}
		at := p.add(3, len(noise), nil, noise)
		if i%apart == 0 {
			places = append(places, packPlace{index: len(ids), offset: int64(at)})
			ids = append(ids, object.Object{Kind: object.KindBlob, Data: noise}.ID(object.SHA1Size))
		}
	}
	p.indexIn(t, repo)
	all, leave, err := new(packs).use([]string{repo.Path(".git/objects")})
	if err != nil || len(all) != 1 {
		t.Fatalf("%d packs, %v", len(all), err)
	}
	defer leave()
	file := &countedFile{packFile: all[0].file}
	all[0].file = file
	obj, err := newPackReader(all).read(packAddress{offset: int64(last)})
	if err != nil || string(obj.Data) != "version 299" {
		t.Fatalf("%q, %v", obj.Data, err)
	}
	if pages := int(all[0].size)/pageSize + 2; file.reads > pages {
		t.Errorf("%d reads, want at most %d", file.reads, pages)
	}
	always := func(int64) bool { return true }
	for _, wanted := range []func(int64) bool{nil, always} {
		file.reads, file.bytes = 0, 0
		job := packJob{all, ids, wanted, places}
		took := func(Packed) error { return nil }
		if left, err := job.read(t.Context(), newPackReader(all), took); len(left) > 0 || err != nil {
			t.Errorf("%d objects were not read: %v", len(left), err)
		}
		if file.bytes > len(ids)*2*farSize || file.reads > len(ids)*2 {
			t.Errorf("%d bytes in %d reads of %d objects", file.bytes, file.reads, len(ids))
		}
	}
}

func packKindOf(obj object.Object) int {
	for n := 1; n < 5; n++ {
		if packKind(n) == obj.Kind {
			return n
		}
	}
	return 0
}

// TestApplyDelta makes objects of others.
func TestApplyDelta(t *testing.T) {
	base := []byte("0123456789")
	for _, tt := range []struct{ delta, want string }{
		{"\x0a\x04\x90\x04", "0123"},
		{"\x0a\x05\x91\x07\x03\x02ab", "789ab"},
		{"\x0a\x04\x91\x07\x04", ""},         // beyond the base
		{"\x0b\x04\x90\x04", ""},             // of another base
		{"\x0a\x05\x90\x04", ""},             // too short
		{"\x0a\x03\x90\x04", ""},             // too long
		{"\x0a\x03\x00abc", ""},              // an unknown instruction
		{"\x0a\x03\x05abc", ""},              // truncated
		{"\x0a\x03\x91", ""},                 // truncated
		{"\x0a\xff\xff\xff\xff\xff\x7f", ""}, // too large
	} {
		got, err := applyDelta(base, []byte(tt.delta))
		if string(got) != tt.want || (err == nil) != (tt.want != "") {
			t.Errorf("%q: %q, %v", tt.delta, got, err)
		}
	}
}
