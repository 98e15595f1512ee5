package sessions

import (
	"bytes"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// TestLongLinesCount checks that a line far beyond the limit has its number, and that its bytes
// count as read: the version is compared with that of the file in a later import.
func TestLongLinesCount(t *testing.T) {
	text := []byte("{}\n" + strings.Repeat("x", MaxLine+3*lineRoom) + "\n[1]\n")
	l, err := NewLines(bytes.NewReader(text), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for want := 1; want <= 3; want++ {
		_, number, err := l.Next(Complete)
		if broken, is := errors.AsType[*LineError](err); is != (want == 2) || is && broken.Number != 2 {
			t.Errorf("line %d: %v", want, err)
		}
		if err == nil && number != want {
			t.Errorf("line %d has number %d", want, number)
		}
	}
	if got, want := l.Version(), VersionOf(int64(len(text)), sha256.Sum256(text)); got != want {
		t.Errorf("the version is %v, want %v", got, want)
	}
}

// TestWhatPrecedesARecord reads a file at whose end a crash left zero bytes before the agent went
// on, and that an editor saved with a byte order mark. A line of nothing else is no empty one.
func TestWhatPrecedesARecord(t *testing.T) {
	const kept, torn = "\ufeff{}\n\x00\x00[1]\n\x00\n", "\x00\x00"
	l, err := NewLines(strings.NewReader(kept+torn), 0)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, want := range []string{"{}", "[1]", "\x00"} {
		if line, _, err := l.Next(Complete); string(line) != want || err != nil {
			t.Errorf("%q, %v, want %q", line, err, want)
		}
	}
	if line, _, err := l.Next(Complete); !errors.Is(err, io.EOF) {
		t.Errorf("%q, %v at the end", line, err)
	}
	if got, want := l.Version(), VersionOf(int64(len(kept)), sha256.Sum256([]byte(kept))); got != want {
		t.Errorf("the version is %v, want %v", got, want)
	}
}

// TestRecordsWithManyValues checks the limit for the names and values of a record, and that commas
// in texts do not count.
func TestRecordsWithManyValues(t *testing.T) {
	members := func(n int) string {
		return "{" + strings.TrimSuffix(strings.Repeat(`"a":1,`, n), ",") + "}"
	}
	for what, test := range map[string]struct {
		record string
		many   bool
	}{
		"names and values":          {members(maxValues/2 + 1), true},
		"few enough":                {members(maxValues/2 - 1), false},
		"values":                    {"[" + strings.Repeat("1,", maxValues+1) + "1]", true},
		"a long text of commas":     {`["` + strings.Repeat(",", 2*maxValues) + `"]`, false},
		"commas that are not JSON":  {strings.Repeat(",", 2*maxValues), false},
		"an array of short strings": {"[" + strings.Repeat(`"",`, maxValues-3) + `""]`, false},
	} {
		l, err := NewLines(strings.NewReader(test.record+"\n{}\n"), 0)
		if err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.Record(); errors.Is(err, errManyValues) != test.many {
			t.Errorf("%s: %v", what, err)
		}
		if line, number, err := l.Record(); string(line) != "{}" || number != 2 || err != nil {
			t.Errorf("%s: then line %d, %q, %v", what, number, line, err)
		}
		l.Close()
	}
}

// TestBuffersOfLongLinesAreDropped checks that a process that reads many sessions does not keep the
// memory of the longest line.
func TestBuffersOfLongLinesAreDropped(t *testing.T) {
	l, err := NewLines(strings.NewReader(strings.Repeat("x", 2*maxKept)+"\n"), 0)
	if err != nil {
		t.Fatal(err)
	}
	buffers := l.lineReader
	if _, _, err := l.Next(Complete); err != nil || cap(buffers.long) <= maxKept {
		t.Fatalf("a buffer of %d bytes, %v", cap(buffers.long), err)
	}
	l.Close()
	if n := cap(buffers.long); n > maxKept {
		t.Errorf("%d bytes are kept", n)
	}
	long := fmt.Appendf(nil, `"%s\n"`, strings.Repeat("x", 2*maxKept))
	_ = unquote(long)
	if room := texts.Get().(*[]byte); cap(*room) > maxKept {
		t.Errorf("%d bytes are kept of a text", cap(*room))
	}
}

// TestBoundedReads checks that no byte beyond the limit is read, and that the end of a source that
// is as long as the limit is no error of it.
func TestBoundedReads(t *testing.T) {
	for text, want := range map[string]string{"abcdef": "abc", "ab": "ab"} {
		got, err := io.ReadAll(&bounded{strings.NewReader(text), 3})
		if string(got) != want || errors.Is(err, ErrUnpacked) != (len(text) > 3) {
			t.Errorf("of %q read %q, %v", text, got, err)
		}
	}
}
