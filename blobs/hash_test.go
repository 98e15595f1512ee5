package blobs

import (
	"encoding/json"
	"strings"
	"testing"
)

const emptyHex = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

func TestHash_text(t *testing.T) {
	h := Sum(nil)
	if got := h.String(); got != emptyHex {
		t.Errorf("String: %s", got)
	}
	parsed, err := ParseHash(emptyHex)
	if err != nil || parsed != h {
		t.Errorf("ParseHash: %v, %v", parsed, err)
	}
	b, err := json.Marshal(map[Hash]Hash{h: h})
	if err != nil || string(b) != `{"`+emptyHex+`":"`+emptyHex+`"}` {
		t.Errorf("JSON %s, %v", b, err)
	}
	var back map[Hash]Hash
	if err := json.Unmarshal(b, &back); err != nil || back[h] != h {
		t.Errorf("back: %v, %v", back, err)
	}
	if h.IsZero() || !(Hash{}).IsZero() {
		t.Error("IsZero")
	}
}

func TestParseHash_refuses(t *testing.T) {
	for _, s := range []string{
		"", emptyHex[1:], emptyHex + "0", strings.ToUpper(emptyHex), emptyHex[:63] + "g",
		" " + emptyHex[1:], emptyHex[:63] + "\n", emptyHex[:63] + "A", strings.Repeat("é", 32),
	} {
		if h, err := ParseHash(s); err == nil || !h.IsZero() {
			t.Errorf("%q: %v, %v", s, h, err)
		}
		var h Hash
		if err := h.UnmarshalText([]byte(s)); err == nil || !h.IsZero() {
			t.Errorf("UnmarshalText %q: %v, %v", s, h, err)
		}
	}
}

func TestHash_path(t *testing.T) {
	h := Sum(nil)
	want := "e3/b0/c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855.blob.gz"
	if got := h.Path(); got != want {
		t.Errorf("Path: %s", got)
	}
	if got, ok := ParsePath(want); !ok || got != h {
		t.Errorf("ParsePath: %v, %v", got, ok)
	}
	for _, s := range []string{
		"", want[1:], "x" + want, want + "x", strings.ToUpper(want), "blobs/" + want,
		strings.Replace(want, ".gz", ".GZ", 1), strings.ReplaceAll(want, "/", "\\"),
		strings.Replace(want, "/", "0", 1), strings.Replace(want, "c4", "g4", 1),
		want[:5] + "x" + want[6:], "./" + want, strings.Replace(want, "c4", "..", 1),
	} {
		if h, ok := ParsePath(s); ok {
			t.Errorf("%q: %v", s, h)
		}
	}
}

func TestHash_Compare(t *testing.T) {
	a, b := Hash{1}, Hash{1, 2}
	if a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
		t.Error("order")
	}
}
