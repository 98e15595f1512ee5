package refs

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestGenerations: a file that has become old is kept until the next one has, and only what was
// used since stays longer.
func TestGenerations(t *testing.T) {
	dir, big := t.TempDir(), stream("big", 4000, false)
	ask := func(misses int64, ids ...int) {
		t.Helper()
		c := Open(dir)
		for _, i := range ids {
			id := parsed(t, fmt.Sprintf("1%039x", i))
			res, err := c.References(id, func() ([]byte, error) { return big, nil })
			if err != nil || len(res.Refs) != 4000 {
				t.Fatalf("%d references, %v", len(res.Refs), err)
			}
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		if s := c.Stats(); s.Misses != misses {
			t.Errorf("asked for %v: %+v, want %d misses", ids, s, misses)
		}
	}
	name := filepath.Join(dir, current+"1")
	size := func(name string, least, most int64) {
		t.Helper()
		if info, err := os.Stat(name); err != nil || info.Size() < least || info.Size() > most {
			t.Errorf("%s: %v, %v; want %d to %d bytes", name, info, err, least, most)
		}
	}
	age := func(d time.Duration) {
		t.Helper()
		at := time.Now().Add(-d)
		if err := os.Chtimes(name+olderEnd, at, at); err != nil {
			t.Fatal(err)
		}
	}
	first := []int{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14}
	second := []int{20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33, 34}
	ask(15, first...)
	size(name, minGeneration, 2<<20)
	ask(1, append(first, 15)...)
	size(name+olderEnd, minGeneration, 2<<20)
	ask(0, append(first, 15)...) // all are used again, and stay
	ask(15, second...)
	age(generation - time.Hour)
	ask(1, 40)
	ask(0, 0, 20, 40)
	age(generation + time.Hour)
	ask(1, 41) // the generation before is gone, this has taken its place
	size(name, 1, minGeneration)
	c := Open(dir)
	if !c.has(kindReferences, parsed(t, fmt.Sprintf("1%039x", 0))) {
		t.Error("what the generation before has is not known")
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
	ask(0, append(first, 40, 41)...)
	age(generation + time.Hour)
	ask(1, 42)
	ask(0, append(first, 40, 41, 42)...) // were used since
	ask(15, second...)                   // were not
}

// TestGenerationThatWasNotUsed: a generation is as old as the next one is, however long nothing was
// written to it before.
func TestGenerationThatWasNotUsed(t *testing.T) {
	s := shard{path: filepath.Join(t.TempDir(), current+"1")}
	for name, age := range map[string]time.Duration{s.path + olderEnd: 2 * generation, s.path: 0} {
		at := time.Now().Add(-age)
		err := os.WriteFile(name, make([]byte, minGeneration+1), 0o600)
		if err := errors.Join(err, os.Chtimes(name, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	f, err := os.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if s.file = f; !s.isOld() {
		t.Error("it is not old")
	}
	if s.begin(f); s.isOld() {
		t.Error("it is old at once")
	}
}

// TestGenerationOfAnother: the generation that ends is the file that was read. What another process
// has begun in its place stays, and so does the generation before.
func TestGenerationOfAnother(t *testing.T) {
	var s shard
	s.init(t.TempDir(), 1)
	write := func(name, content string) {
		t.Helper()
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(s.path, "read")
	f, err := os.Open(s.path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	s.file = f
	if err := os.Rename(s.path, s.path+olderEnd); err != nil { // as the other process does
		t.Fatal(err)
	}
	write(s.path, "new")
	s.keepOlder()
	for name, want := range map[string]string{s.path: "new", s.path + olderEnd: "read"} {
		if got, err := os.ReadFile(name); string(got) != want || err != nil {
			t.Errorf("%s is %q, %v; want %q", name, got, err, want)
		}
	}
}
