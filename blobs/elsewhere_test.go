package blobs

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"testing"
)

// files is an [Elsewhere]; a nil file is known, but not here.
type files map[Hash][]byte

func (f files) Has(h Hash) bool { _, ok := f[h]; return ok }

func (f files) File(ref Ref) ([]byte, error) {
	gz, ok := f[ref.Hash]
	switch {
	case !ok:
		return nil, &fs.PathError{Op: "open", Path: "elsewhere", Err: fs.ErrNotExist}
	case gz == nil:
		return nil, &NotHereError{Ref: ref, Err: errors.New("no network")}
	}
	return gz, nil
}

// TestElsewhere reads blobs that have no file in the store from elsewhere, where nothing is trusted.
func TestElsewhere(t *testing.T) {
	known := files{}
	s := newStore(t, Options{Elsewhere: known})
	here, there := []byte("here"), []byte("there")
	away, wrong, none := RefTo([]byte("away")), RefTo([]byte("wrong")), RefTo([]byte("none"))
	refs := []Ref{mustWrite(t, s, here), RefTo(there), away, wrong, none}
	known[refs[1].Hash], known[away.Hash], known[wrong.Hash] = Encode(there), nil, Encode(there)
	for i, want := range []string{"here", "there", "", "", ""} {
		got, err := s.Read(refs[i])
		if string(got) != want || (err == nil) != (want != "") {
			t.Errorf("%d: read %q, %v", i, got, err)
		}
		if has := s.Has(refs[i].Hash); has != (i < 4) {
			t.Errorf("%d: the store has it: %t", i, has)
		}
	}
	var notHere *NotHereError
	if _, err := s.Read(away); !errors.As(err, &notHere) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is not here now gives %v", err)
	}
	if _, err := s.Read(none); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("what is nowhere gives %v", err)
	}
	// A damaged file is not replaced by what is elsewhere.
	known[refs[0].Hash] = Encode(here)
	if err := os.WriteFile(s.file(refs[0].Hash), []byte("damage"), 0o644); err != nil {
		t.Fatal(err)
	}
	if got, err := s.Read(refs[0]); !IsLost(err) || errors.Is(err, fs.ErrNotExist) {
		t.Errorf("a damaged file gives %q, %v", got, err)
	}
	missing := append([]Ref{none}, refs...)
	if got := s.Missing(missing); !slices.Equal(got, []Ref{none, none}) {
		t.Errorf("missing are %v", got)
	}
	if got := newStore(t, Options{Elsewhere: known}).Missing(missing); !slices.Equal(got, []Ref{none, none}) {
		t.Errorf("without a directory, missing are %v", got)
	}
	if got := newStore(t, Options{}).Missing(refs); !slices.Equal(got, refs) {
		t.Errorf("without an elsewhere, missing are %v", got)
	}
}

// TestIsLost tells content that is lost from content that could not be read.
func TestIsLost(t *testing.T) {
	for _, tt := range []struct {
		err  error
		want bool
	}{
		{fs.ErrNotExist, true},
		{&CorruptError{Reason: "cut"}, true},
		{&PointerError{}, true},
		{fs.ErrPermission, false},
		{&SizeError{Actual: -1}, false},
		{&NotHereError{Err: errors.New("no network")}, false},
		{nil, false},
	} {
		if got := IsLost(fmt.Errorf("read: %w", tt.err)); got != tt.want {
			t.Errorf("%v: lost %t, want %t", tt.err, got, tt.want)
		}
	}
}
