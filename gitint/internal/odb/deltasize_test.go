package odb

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/gitint/internal/object"
	"github.com/git-jp/git-jp/internal/gittest"
)

// TestSizeOfPackedDelta asks for an object of 32 MB that is a delta in a pack, and for a small
// one that is a delta of a large one: neither is decompressed to be refused.
func TestSizeOfPackedDelta(t *testing.T) {
	const size = 32_000_000
	repo := gittest.Repo(t)
	small := []byte("small")
	var p handPack
	base := p.add(3, len(small), nil, small)
	var delta []byte
	delta = binary.AppendUvarint(binary.AppendUvarint(delta, uint64(len(small))), size)
	insert := append([]byte{100}, make([]byte, 100)...)
	delta = append(delta, bytes.Repeat(insert, size/100)...)
	large := p.add(deltaByOffset, len(delta), p.back(base), delta)
	cut := binary.AppendUvarint(binary.AppendUvarint(nil, size), 3)
	p.add(deltaByOffset, len(cut)+2, p.back(large), append(cut, 0x90, 3))
	zeros := object.Object{Kind: object.KindBlob, Data: make([]byte, size)}.ID(object.SHA1Size)
	three := object.Object{Kind: object.KindBlob, Data: make([]byte, 3)}.ID(object.SHA1Size)
	p.indexIn(t, repo)

	s := Open([]string{filepath.Join(repo.Dir, ".git", "objects")})
	defer s.Close()
	if n, err := s.Size(object.Object{Kind: object.KindBlob, Data: small}.ID(object.SHA1Size)); n != int64(len(small)) || err != nil {
		t.Errorf("size of the base: %d, %v", n, err)
	}
	for name, try := range map[string]func() error{
		"size": func() error {
			n, err := s.Size(zeros)
			if n != size {
				t.Errorf("size is %d", n)
			}
			return err
		},
		"read too much": func() error {
			_, err := s.Read(zeros, 1<<20)
			if !object.IsTooLarge(err) {
				t.Errorf("error is %v", err)
			}
			return nil
		},
		"read little of much": func() error {
			if n, err := s.Size(three); n != 3 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
			if obj, err := s.Read(three, 1<<20); err == nil {
				t.Errorf("read %d bytes", len(obj.Data))
			}
			return nil
		},
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if err := try(); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 1<<20 {
			t.Errorf("%s: %d bytes were allocated", name, n)
		}
	}
}

// A handPack is a pack with objects that git would pack in another way.
type handPack struct {
	objects []byte
	n       uint32
}

const handPackHead = 12

// add appends an object, or a delta of a base, and returns its offset.
func (p *handPack) add(kind byte, size int, base, content []byte) (at int) {
	at = handPackHead + len(p.objects)
	b := kind<<4 | byte(size&15)
	for size >>= 4; size > 0; size >>= 7 {
		p.objects = append(p.objects, b|0x80)
		b = byte(size & 0x7f)
	}
	p.objects = append(append(p.objects, b), base...)
	p.objects = append(p.objects, deflated(content)...)
	p.n++
	return at
}

// back encodes the offset of the base of the next object.
func (p *handPack) back(to int) []byte {
	n := handPackHead + len(p.objects) - to
	b := []byte{byte(n & 0x7f)}
	for n >>= 7; n > 0; n >>= 7 {
		n--
		b = append([]byte{byte(n&0x7f) | 0x80}, b...)
	}
	return b
}

// indexIn adds the pack to a repository.
func (p *handPack) indexIn(t *testing.T, repo *gittest.Repository) {
	t.Helper()
	head := binary.BigEndian.AppendUint32([]byte("PACK\x00\x00\x00\x02"), p.n)
	data := append(head, p.objects...)
	h := object.NewHash(object.SHA1Size)
	h.Write(data)
	name := repo.Path(".git/objects/pack/pack-" + strings.Repeat("a", 40) + ".pack")
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, h.Sum(data), 0o600); err != nil {
		t.Fatal(err)
	}
	repo.Run("index-pack", name)
}
