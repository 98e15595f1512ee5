package secrets

import "testing"

// TestRarestPair: a keyword is looked for where text seldom has a pair of its bytes, though each of
// them may be frequent.
func TestRarestPair(t *testing.T) {
	for keyword, want := range map[string]string{
		"token": "ke", "machine ": "hi", "shpat_": "hp", "AKIA": "AK", "sk-": "k-",
	} {
		if at := rarest(keyword); keyword[at:at+2] != want {
			t.Errorf("%s: %q, want %q", keyword, keyword[at:at+2], want)
		}
	}
}

// TestEveryPairHasAFrequency: rules of a workspace may have keywords of any bytes.
func TestEveryPairHasAFrequency(t *testing.T) {
	for first := range 256 {
		for second := range 256 {
			if f := frequency(byte(first), byte(second)); f < '0' || f > '9' {
				t.Fatalf("%q: %q", []byte{byte(first), byte(second)}, f)
			}
		}
	}
}
