package events

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"golang.org/x/text/cases"
	"golang.org/x/text/language"
	"pgregory.net/rapid"
)

func TestIDAt(t *testing.T) {
	at := time.Date(2026, 5, 29, 19, 41, 27, 599_999_999, time.UTC)
	id := IDAt(at)
	if id != 17800836875 {
		t.Errorf("IDAt = %d, want 17800836875", id)
	}
	if want := time.Date(2026, 5, 29, 19, 41, 27, 500_000_000, time.UTC); !id.Time().Equal(want) {
		t.Errorf("Time = %v, want %v", id.Time(), want)
	}
}

func TestIDAtRoundsDown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		at := time.Unix(rapid.Int64Range(firstClock/idPerSecond, 1e11).Draw(t, "s"),
			rapid.Int64Range(0, 999_999_999).Draw(t, "ns"))
		id := IDAt(at)
		if id.Time().After(at) || !(id + 1).Time().After(at) {
			t.Errorf("%v is not in the tenth of a second that begins at %v", at, id.Time())
		}
		if back := IDAt(id.Time()); back != id {
			t.Errorf("IDAt(%v.Time()) = %v", id, back)
		}
	})
}

// TestIDAtOfAClockThatWasNotSet reads a clock that is before all others, as one without a battery is.
func TestIDAtOfAClockThatWasNotSet(t *testing.T) {
	for _, at := range []time.Time{
		{},
		time.Unix(-1, 0), time.Unix(0, 0),
		time.Date(1999, 12, 31, 23, 59, 59, 999_999_999, time.UTC),
	} {
		if id := IDAt(at); id != firstClock || id.IsDerived() {
			t.Errorf("IDAt(%v) = %d", at, id)
		}
	}
}

func TestParseID(t *testing.T) {
	for _, test := range []struct {
		in   string
		want ID
		ok   bool
	}{
		{"jp-c17800836875", 17800836875, true},
		{"jp-c17800836875-otvo8", 17800836875, true},
		{"17800836875", 17800836875, true},
		{"0", 0, true},
		{in: ""},
		{in: "jp-c"},
		{in: "jp-c-otvo8"},
		{in: "jp-c17-"},
		{in: "jp-c17-OTVO8"},
		{in: "jp-c17-a-b"},
		{in: "jp-w17"},
		{in: "17-slug"},
		{in: "+17"},
		{in: "-17"},
		{in: "1_7"},
		{in: "jp-c17foo"},
		{in: "99999999999999999999"},
	} {
		got, err := ParseID(test.in)
		if (err == nil) != test.ok || got != test.want {
			t.Errorf("ParseID(%q) = %d, %v", test.in, got, err)
		}
		if err != nil && test.in != "" && !strings.Contains(err.Error(), test.in) {
			t.Errorf("error does not name %q: %v", test.in, err)
		}
	}
}

func TestParseDirname(t *testing.T) {
	for _, test := range []struct {
		in   string
		want ID
		ok   bool
	}{
		{"17800836875", 17800836875, true},
		{"17800836875-jp-init", 17800836875, true},
		{"0017-x", 17, true},
		{"+17-x", 17, true},
		{"17-", 17, true},
		{in: ""},
		{in: "-5"},
		{in: "0-x"},
		{in: "000"},
		{in: "17foo"},
		{in: ".archive"},
		{in: "99999999999999999999-x"},
	} {
		if got, ok := ParseDirname(test.in); got != test.want || ok != test.ok {
			t.Errorf("ParseDirname(%q) = %d, %t", test.in, got, ok)
		}
	}
}

func TestIDText(t *testing.T) {
	data, err := json.Marshal(map[ID]ID{17: 18})
	if want := `{"jp-c17":"jp-c18"}`; err != nil || string(data) != want {
		t.Fatalf("Marshal = %s, %v, want %s", data, err, want)
	}
	var back map[ID]ID
	if err := json.Unmarshal(data, &back); err != nil || back[17] != 18 {
		t.Errorf("Unmarshal = %v, %v", back, err)
	}
	if err := json.Unmarshal([]byte(`["nonsense"]`), new([]ID)); err == nil {
		t.Error("nonsense is taken for an id")
	}
}

func TestDirname(t *testing.T) {
	for _, test := range []struct{ title, want string }{
		// All of White_Space is trimmed.
		{"\u00a0 \u2003Kopf\u0085", "7-kopf"},
		// Other_Alphabetic, No and Nl are kept; so are vowel signs, but not the virama.
		{"ⓐⓑ ²½ Ⅷ", "7-ⓐⓑ-²½-ⅷ"},
		{"हिन्दी", "7-हिन-दी"},
		// The full mapping: two scalars for one, and a sigma that is final, alone, inside, or next
		// to modifiers, which do not count.
		{"İstanbul", "7-i\u0307stanbul"},
		{"ΟΔΥΣΣΕΥΣ Σ ΑΣΑ", "7-οδυσσευς-σ-ασα"},
		{"ΑΣʰ ʰΣ", "7-αςʰ-ʰσ"},
		// A title is too long by bytes, including those that are trimmed; it is cut by scalars.
		{strings.Repeat("a", 61), "7"},
		{strings.Repeat("é", 31) + " b", "7-" + strings.Repeat("é", 31)},
		{"  " + strings.Repeat("a ", 29), "7-" + strings.TrimRight(strings.Repeat("a-", 29), "-")},
		{strings.Repeat(" ", 58) + "a b", "7-a"},
		{strings.Repeat("-", 61), "7"},
	} {
		if got := Dirname(7, test.title); got != test.want {
			t.Errorf("Dirname(%q) = %q, want %q", test.title, got, test.want)
		}
	}
}

// x/text implements the mapping of the Unicode standard from its own tables. The letters that the
// standard counts as both cased and ignorable are left out.
func TestToLowerIsUnicodes(t *testing.T) {
	letters := rapid.OneOf(
		rapid.SampledFrom([]rune("ΣσςΑİIı\u0903\u0345-1ⓐⅧDžA")),
		rapid.Rune(),
	).Filter(func(r rune) bool {
		return (isAlphanumeric(r) || r == '-') && (!isCased(r) || !isCaseIgnorable(r))
	})
	rapid.Check(t, func(t *rapid.T) {
		rs := rapid.SliceOfN(letters, 0, 8).Draw(t, "slug")
		want := cases.Lower(language.Und).String(string(rs))
		if got := toLower(rs); got != want {
			t.Errorf("toLower(%+q) = %+q, want %+q", string(rs), got, want)
		}
	})
}

func TestDirnameParses(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID(rapid.Int64Min(1).Draw(t, "id"))
		title := rapid.String().Draw(t, "title")
		name := Dirname(id, title)
		if got, ok := ParseDirname(name); !ok || got != id {
			t.Errorf("ParseDirname(%q) = %d, %t, want %d", name, got, ok, id)
		}
		if strings.ContainsAny(name, "/\\:*?\"<>|\x00. \n") {
			t.Errorf("Dirname(%q) = %q is no safe name", title, name)
		}
	})
}
