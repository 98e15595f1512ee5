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

// TestIsRedacted checks that a title is recognized as the redacted one of another, by the text around
// the markers alone.
func TestIsRedacted(t *testing.T) {
	for _, tt := range []struct {
		text, was string
		want      bool
	}{
		{"Why is [redacted:text] no password", "Why is sesame-4711 no password", true},
		{"[redacted:text] is no password", "sesame-4711 is no password", true},
		{"No password: [redacted:text]", "No password: sesame-4711", true},
		{"Is [redacted:a] like [redacted:b]?", "Is sesame-4711 like quiet?", true},
		{"Is [redacted:a][redacted:b] alike?", "Is sesame-4711quiet alike?", false},
		{"Is [redacted:a] like [redacted:b]?", "Is sesame-4711 for quiet?", false},
		{"Why is [redacted:text] no password", "Why is sesame-4711 no word", false},
		{"Why is [redacted:text] no password", "Why is  no password", false},
		{"Why is [redacted:text] no password", "no password", false},
		{"Why is [redacted:text", "Why is sesame-4711", false},
		{"Why is it no password", "Why is it no password", false},
		{"Why is it no password", "Why is sesame-4711 no password", false},
		{"", "Why is sesame-4711 no password", false},
		{"[redacted:text]", "Another title of a person", false},
		{"A [redacted:text]", "Another title of a person", false},
	} {
		if got := IsRedacted(tt.text, tt.was); got != tt.want {
			t.Errorf("IsRedacted(%q, %q) = %t", tt.text, tt.was, got)
		}
	}
}
