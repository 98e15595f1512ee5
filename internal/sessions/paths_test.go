package sessions

import (
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// TestPlacesEnd checks where the name of a directory ends: what follows it is or is not a part.
func TestPlacesEnd(t *testing.T) {
	const home = "/home/ada"
	ends := []string{
		"", ".", ". Then", ".\n", `."`, ".'", ".)", ".]", ".}", ".`", ".*", "._", ".</p>", "...",
		"…", ",", ", and", ":", ":x", ";", "?", "!", " x", "\t", `"`, "'", "`", ")", "]", "}", ">", "<b>",
		"*", "**", "_", "__", "_.", "-", " - x", "|", "&x=1", "#L1", "/x", "/.x", "./x", `\n`, `.\n`, `\"`,
		`\tx`, "%20x", "%2Fx", "\x1b[0m", "\u00a0", "\u2014", "\u3002", "\u7684\u76ee\u5f55", "\uc5d0\uc11c",
	}
	parts := []string{
		"m", "m.", ".old", ".old.", ".2", "..x", "-old", "_old", "-2", "2", "__x",
		"\u00e9", "\u0301", "\ufffd",
	}
	for _, after := range ends {
		checkPlace(t, home, home+after, "$HOME"+after)
	}
	for _, after := range parts {
		checkPlace(t, home, home+after, home+after)
	}
	checkPlace(t, "/home/\u738b", "/home/\u738b\u660e /home/\u738b.", "/home/\u738b\u660e $HOME.")
}

// TestPlacesSpellings checks the forms in which programs write directories.
func TestPlacesSpellings(t *testing.T) {
	for _, c := range []struct{ home, in, want string }{
		{"/home/ada", `{"a":"{\"b\":\"\\/home\\/ada\\/x\"}"}`, `{"a":"{\"b\":\"$HOME\\/x\"}"}`},
		{"/home/ada", `\/home\/ada\/x`, `$HOME\/x`},
		{"/home/ada", "u?p=%2Fhome%2Fada%2Fx&q=%2fhome%2fada.", "u?p=$HOME%2Fx&q=$HOME."},
		{"/home/a b", "file:///home/a%20b/x %2Fhome%2Fa%20b", "file://$HOME/x $HOME"},
		{"/home/jos\u00e9", `"\/home\/jos\u00e9" "/home/jos\u00e9/x"`, `"\/home\/jos\u00e9" "$HOME/x"`},
		{"/home/jos\u00e9", "/home/jos%C3%A9/x %2fhome%2fjos%c3%a9", "$HOME/x $HOME"},
		{`C:\Users\ada`, `C:\Users\ada\x c:\Users\ada. C:\\Users\\ada\\x`, `$HOME\x $HOME. $HOME\\x`},
		{`C:\Users\ada`, `C:\\\\Users\\\\ada c:/Users/ada/x /c/Users/ada`, `$HOME $HOME/x $HOME`},
		{`C:\Users\ada`, `C%3A%5CUsers%5Cada c%3a%5cUsers%5cada`, `$HOME $HOME`},
		{`C:\Users\ada`, `C:\Users\ada.old C:\Users\adam`, `C:\Users\ada.old C:\Users\adam`},
		{"/\u00e9", "/\u00e9.", "$HOME."},
		// A name that Claude Code makes of a path: the home directory may end at any of its hyphens.
		{"/home/ada", "/home/ada/.claude/-home-ada-proj/x", "$HOME/.claude/-home-ada-proj/x"},
	} {
		if got := string(newPlaces("", c.home).replace([]byte(c.in))); got != c.want {
			t.Errorf("%q became %q, want %q", c.in, got, c.want)
		}
	}
}

func checkPlace(t *testing.T, home, in, want string) {
	t.Helper()
	got := string(newPlaces("", home).replace([]byte(in)))
	if got != want {
		t.Errorf("%q became %q, want %q", in, got, want)
	}
	if back := Expand(got, "", home); back != in {
		t.Errorf("%q became %q, and that %q", in, got, back)
	}
}

// TestPlacesReverse checks that expanding placeholders restores any text with plain directories.
func TestPlacesReverse(t *testing.T) {
	const root, home = "/home/ada/proj", "/home/ada"
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOf(rapid.SampledFrom([]string{
			root, home, ".", "_", "-", "/", " ", "x", "\u00e9", "\u7684", "\n", `\`, `"`, "\u2014", "/home/",
		})).Draw(t, "pieces")
		text := strings.Join(pieces, "")
		short := string(newPlaces(root, home).replace([]byte(text)))
		if back := Expand(short, root, home); back != text {
			t.Fatalf("%q became %q, and that %q", text, short, back)
		}
	})
}
