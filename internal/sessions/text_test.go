package sessions

import (
	"fmt"
	"testing"
)

// TestKeptJSON compares the fast conversion of JSON with one through a decoder and an encoder.
func TestKeptJSON(t *testing.T) {
	for _, s := range append(specimens, "12abc", `"a" b`, `{"/home/u/x":"/home/u"} {`, `["\ud83d\ude00","\/"]`) {
		fast := NewBuilder(Session{}, Options{Root: "/home/u"})
		slow := NewBuilder(Session{}, Options{Root: "/home/u"})
		got, want := fast.JSON([]byte(s)), slow.tokens([]byte(s))
		if string(got) != string(want) {
			t.Errorf("%.200q is kept as %.200q, not %.200q", s, got, want)
		}
	}
}

// TestStringsAreRedactedByTheirNames checks that what is before a string in JSON is passed with it,
// in both conversions, and that a name has nothing before it.
func TestStringsAreRedactedByTheirNames(t *testing.T) {
	const text = `{"password":"a","list":["-p","b"]}`
	want := []string{"<password", `"password":<a`, "<list", "<-p", `"-p",<b`}
	for _, convert := range []func(*Builder){
		func(b *Builder) { b.JSON([]byte(text)) }, func(b *Builder) { b.tokens([]byte(text)) },
	} {
		var got []string
		convert(NewBuilder(Session{}, Options{Redact: func(at Place, s []byte, _ map[string]int) []byte {
			got = append(got, at.Before+"<"+string(s))
			return s
		}}))
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
