package blobs

import (
	"errors"
	"testing"
)

// counting is a reader that counts its reads.
type counting struct{ reads int }

func (c *counting) Read(ref Ref) ([]byte, error) {
	c.reads++
	return []byte("hello\n"), nil
}

func TestContent(t *testing.T) {
	hello := RefTo([]byte("hello\n"))
	tests := []struct {
		name   string
		c      Content
		ref    Ref
		isRef  bool
		isZero bool
	}{
		{"loaded", Loaded([]byte("hello\n")), hello, false, false},
		{"reference", Refer(hello), hello, true, false},
		{"empty", Loaded(nil), RefTo(nil), false, false},
		{"reference to nothing known", Refer(Ref{}), Ref{}, true, false},
		{"zero", Content{}, Ref{}, false, true},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.c.Ref(); got != tt.ref {
				t.Errorf("Ref %v, want %v", got, tt.ref)
			}
			if got := tt.c.Size(); got != tt.ref.Size {
				t.Errorf("Size %d, want %d", got, tt.ref.Size)
			}
			if tt.c.IsRef() != tt.isRef || tt.c.IsZero() != tt.isZero {
				t.Errorf("IsRef %v, IsZero %v", tt.c.IsRef(), tt.c.IsZero())
			}
		})
	}
}

func TestContent_isLazy(t *testing.T) {
	var r counting
	c := Refer(RefTo([]byte("hello\n")))
	c.Ref()
	c.Size()
	if r.reads != 0 {
		t.Errorf("%d reads before the bytes were wanted", r.reads)
	}
	if b, err := c.Bytes(&r); err != nil || string(b) != "hello\n" || r.reads != 1 {
		t.Errorf("%q, %v, %d reads", b, err, r.reads)
	}
	if b, err := Loaded([]byte("x")).Bytes(nil); err != nil || string(b) != "x" {
		t.Errorf("loaded: %q, %v", b, err)
	}
	if _, err := (Content{}).Bytes(&r); !errors.Is(err, ErrNoContent) {
		t.Errorf("zero: %v", err)
	}
}

func TestContent_hashesOnce(t *testing.T) {
	b := make([]byte, 8<<20)
	c := Loaded(b)
	want := c.Ref()
	b[0] = 1 // forbidden, but it shows whether the hash is computed again
	if copied := c; copied.Ref() != want {
		t.Error("hashed twice")
	}
}
