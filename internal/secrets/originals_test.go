package secrets

import "testing"

// TestOriginals: an entry of somebody else may name any bytes of a text. Half a character is looked
// for as everything else, and what is too short to be a secret not at all.
func TestOriginals(t *testing.T) {
	for value, want := range map[string]bool{
		"hunter2": true, "hunter\xc3": true, "\xe2\x82hunter": true, "a\nb\x00cd": true,
		"e": false, "\xc3": false, "hunt": false,
	} {
		a := Applied{Replaced: []Replaced{{Values: []Value{{Range{Rule: "password"}, value}}}}}
		all := a.Originals()
		if got := all.In([]byte("xx" + value + "yy")); got != want {
			t.Errorf("%q is found: %t, want %t", value, got, want)
		}
		if all.In([]byte("hunter\xc4 and \xc4hunter")) {
			t.Errorf("%q is found where it is not", value)
		}
	}
}
