package sessions

import (
	"strings"
	"testing"
	"time"
)

// TestLooseNumbersHaveBounds checks that numbers that no agent means read as nothing, and are not
// wrapped into others.
func TestLooseNumbersHaveBounds(t *testing.T) {
	for text, want := range map[string]Number{
		"-1e30": 0, "1e30": 0, "-12": -12, "4611686018427387904": 0, "123456789012345": 123456789012345,
		"1234567890123456": 1234567890123456, `"-7"`: -7, "true": 0,
	} {
		var n Number
		if n.take([]byte(text)); n != want {
			t.Errorf("%s reads as %d, want %d", text, n, want)
		}
	}
	for text, want := range map[string]time.Time{
		"1e16": {}, "-5": {}, "0": {}, "1700000000": time.Unix(1700000000, 0).UTC(),
		"1700000000000": time.Unix(1700000000, 0).UTC(), "true": {},
	} {
		var m Moment
		if m.take([]byte(text)); !m.Equal(want) {
			t.Errorf("%s reads as %v, want %v", text, m.Time, want)
		}
	}
}

// TestFlagsAreTrueOrFalse checks that no other value than true counts as true.
func TestFlagsAreTrueOrFalse(t *testing.T) {
	for text, want := range map[string]Flag{"true": true, "false": false, `"true"`: false, "1": false} {
		var f Flag
		if f.take([]byte(text)); f != want {
			t.Errorf("%s reads as %t", text, f)
		}
	}
}

// TestOddValuesStay checks that a value of an unexpected type is kept when the memory of its record
// has the next one.
func TestOddValuesStay(t *testing.T) {
	record := []byte(`{"loose":"odd"}`)
	var s specimen
	if err := Unmarshal(record, &s); err != nil {
		t.Fatal(err)
	}
	copy(record, strings.Repeat("x", len(record)))
	if got := string(s.Loose.Odd); got != `"odd"` {
		t.Errorf("the value is %s", got)
	}
}

// TestLateTexts checks that what is decoded later is what is decoded at once, in both ways.
func TestLateTexts(t *testing.T) {
	for text, want := range map[string]Text{
		`null`: "", `"a\n\ud83d\ude00"`: "a\n\U0001F600", `"\ud800\u00e4"`: "\uFFFDä", `{"a":1}`: `{"a":1}`,
		`12`: "12", ``: "", "\"a\xff\\n\"": "a\uFFFD\n",
	} {
		var at Text
		if text != "" {
			at.take([]byte(text))
		}
		if at != want {
			t.Errorf("%s is %q, want %q", text, at, want)
		}
		var late Late
		if text != "" {
			late.take([]byte(text))
		}
		if got := late.Text(); got != at {
			t.Errorf("%s is %q later, %q at once", text, got, at)
		}
		if got := string(late.append([]byte("before "))); got != "before "+string(at) {
			t.Errorf("%s is %q appended, %q at once", text, got, at)
		}
	}
}
