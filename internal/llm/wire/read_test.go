package wire_test

import (
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/git-jp/git-jp/internal/llm/wire"
)

func events(r io.Reader) ([]string, error) {
	var got []string
	for data, err := range wire.ReadSSE(r) {
		if err != nil {
			return got, err
		}
		got = append(got, string(data))
	}
	return got, nil
}

func TestReadSSE(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want []string
		err  error
	}{
		"plain":            {"event: a\ndata: 1\n\ndata: 2\n\n", []string{"1", "2"}, nil},
		"ends of fields":   {"event: a\r\ndata: 1\r\ndata: 2\r\n\r\n", []string{"1\n2"}, nil},
		"ends of lines":    {"data: 1\r\n\r\ndata: 2\r\rdata: 3\n\n", []string{"1", "2", "3"}, nil},
		"joined":           {"data: 1\ndata:2\ndata\n\n", []string{"1\n2\n"}, nil},
		"comments":         {": hi\nid: 7\nretry: 9\nunknown\ndata: 1\n\n:\n\n", []string{"1"}, nil},
		"no data":          {"event: a\n\ndata: 1\n\n", []string{"1"}, nil},
		"one space":        {"data:  x \n\n", []string{" x "}, nil},
		"byte order mark":  {"\uFEFFdata: 1\n\n", []string{"1"}, nil},
		"invalid UTF-8":    {"data: a\xffb\n\n", []string{"a\uFFFDb"}, nil},
		"no empty line":    {"data: {}\n", []string{"{}"}, nil},
		"no end of line":   {"data: [DONE]", []string{"[DONE]"}, nil},
		"cut in JSON":      {"data: 1\n\ndata: {\"a\":", []string{"1"}, io.ErrUnexpectedEOF},
		"cut behind a key": {"data: 1\n\neven", []string{"1"}, io.ErrUnexpectedEOF},
		"empty":            {"", nil, nil},
		"cut in a key":     {"even", nil, io.ErrUnexpectedEOF},
	} {
		for way, r := range map[string]io.Reader{
			"whole": strings.NewReader(tt.in), "bytewise": iotest.OneByteReader(strings.NewReader(tt.in)),
			"with the end": iotest.DataErrReader(strings.NewReader(tt.in)),
		} {
			got, err := events(r)
			if !reflect.DeepEqual(got, tt.want) || !errors.Is(err, tt.err) {
				t.Errorf("%s, %s: %q, %v; want %q, %v", name, way, got, err, tt.want, tt.err)
			}
		}
	}
}

// TestForeign verifies that a text without fields is kept for an error, and only that.
func TestForeign(t *testing.T) {
	for in, want := range map[string]string{
		"{\"error\":\n {}}\n": "{\"error\":\n {}}\n", "no healthy upstream": "no healthy upstream\n",
		"oops, no: 1\ndata: 1\n\n": "", ": hi\n\noops, no: 1\n": "", "  \n\n": "",
		"<html>\n" + strings.Repeat("x", 64<<10) + "\n": "<html>\n",
	} {
		_, err := events(strings.NewReader(in))
		foreign, ok := errors.AsType[*wire.ForeignError](err)
		if ok != (want != "") || ok && string(foreign.Body) != want {
			t.Errorf("%q ends with %v", in, err)
		}
	}
}

func TestReadSSELimits(t *testing.T) {
	if _, err := events(strings.NewReader("data: " + strings.Repeat("x", 32<<20) + "\n\n")); err == nil {
		t.Error("a long line passes")
	}
	got, err := events(io.MultiReader(strings.NewReader("data: 1\n\ndata: {"), iotest.ErrReader(io.ErrNoProgress)))
	if len(got) != 1 || !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestReadLines(t *testing.T) {
	for name, tt := range map[string]struct {
		in   string
		want []string
		err  error
	}{
		"plain":         {"{}\n{\"a\":1}\r\n", []string{"{}", `{"a":1}`}, nil},
		"empty lines":   {"\n \n{}\n\n", []string{"{}"}, nil},
		"no end":        {"{}\n[]", []string{"{}", "[]"}, nil},
		"cut":           {"{}\n{\"a\":", []string{"{}"}, io.ErrUnexpectedEOF},
		"order mark":    {"\uFEFF{}\n", []string{"{}"}, nil},
		"invalid UTF-8": {"\"\xff\"\n", []string{"\"\uFFFD\""}, nil},
	} {
		var got []string
		var failed error
		for line, err := range wire.ReadLines(iotest.OneByteReader(strings.NewReader(tt.in))) {
			if err != nil {
				failed = err
				break
			}
			got = append(got, string(line))
		}
		if !reflect.DeepEqual(got, tt.want) || !errors.Is(failed, tt.err) {
			t.Errorf("%s: %q, %v; want %q, %v", name, got, failed, tt.want, tt.err)
		}
	}
}

// TestForeignLines verifies that a document whose first line is no value of its own is kept for an
// error, and only that.
func TestForeignLines(t *testing.T) {
	for in, want := range map[string]string{
		"{\n  \"error\": \"no\"\n}\n": "{\n  \"error\": \"no\"\n}\n", "{\"error\":\n{}}": "{\"error\":\n{}}\n",
		"no healthy upstream": "no healthy upstream\n", "{\"a\":": "", "{\n\"a\":": "{\n\"a\":\n", "{}\n{\n": "", "{}": "",
		"oops\n" + strings.Repeat("x", 64<<10) + "\n": "oops\n",
	} {
		var got error
		for _, err := range wire.ReadLines(strings.NewReader(in)) {
			got = err
		}
		foreign, ok := errors.AsType[*wire.ForeignError](got)
		if ok != (want != "") || ok && string(foreign.Body) != want {
			t.Errorf("%.20q ends with %v", in, got)
		}
	}
}

// FuzzReadSSE checks that the result does not depend on how a stream is split into reads.
func FuzzReadSSE(f *testing.F) {
	f.Add("event: a\r\ndata: 1\r\n\r\ndata: {\n")
	f.Add("\uFEFF:x\rdata\r\rdata: \xff\n\n")
	f.Fuzz(func(t *testing.T, in string) {
		whole, err := events(strings.NewReader(in))
		bytewise, err2 := events(iotest.OneByteReader(strings.NewReader(in)))
		if !reflect.DeepEqual(whole, bytewise) || (err == nil) != (err2 == nil) {
			t.Errorf("%q, %v and %q, %v", whole, err, bytewise, err2)
		}
	})
}
