package llmtest

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"os"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// An Exchange is a recorded request with its response.
type Exchange struct {
	Method, Path string
	Request      []byte // the recorded body, nil if there was none
	Status       int
	Header       http.Header
	Body         []byte
}

type document struct {
	When struct {
		Path   string `yaml:"path"`
		Method string `yaml:"method"`
		Body   string `yaml:"json_body_str"`
	} `yaml:"when"`
	Then struct {
		Status int `yaml:"status"`
		Header []struct {
			Name  string `yaml:"name"`
			Value string `yaml:"value"`
		} `yaml:"header"`
		Body string `yaml:"body"`
		JSON string `yaml:"json_body_str"`
	} `yaml:"then"`
}

func (d document) exchange() Exchange {
	e := Exchange{
		Method: d.When.Method, Path: d.When.Path, Request: []byte(d.When.Body),
		Status: d.Then.Status, Header: http.Header{}, Body: []byte(d.Then.Body + d.Then.JSON),
	}
	for _, h := range d.Then.Header {
		e.Header.Add(h.Name, h.Value)
	}
	return e
}

// Cassette reads a file of recorded exchanges.
func Cassette(t testing.TB, file string) []Exchange {
	t.Helper()
	f, err := os.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }() // only read
	var all []Exchange
	dec := yaml.NewDecoder(f)
	for {
		var d document
		err := dec.Decode(&d)
		if errors.Is(err, io.EOF) {
			return all
		}
		if err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		all = append(all, d.exchange())
	}
}

// snapshotText returns the text of a snapshot after its header.
func snapshotText(t testing.TB, file string) []byte {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	_, rest, ok := bytes.Cut(data, []byte("---\n"))
	if ok {
		_, rest, ok = bytes.Cut(rest, []byte("---\n"))
	}
	if !ok {
		t.Fatalf("%s: no header", file)
	}
	return rest
}

// Body returns the recorded body in a snapshot of a request.
func Body(t testing.TB, file string) []byte {
	t.Helper()
	return snapshotText(t, file)
}

// Stream returns the events that must be stored after a recorded conversation.
func Stream(t testing.TB, file string) *events.Stream {
	t.Helper()
	dec := jsontext.NewDecoder(bytes.NewReader(snapshotText(t, file)))
	if _, err := dec.ReadToken(); err != nil {
		t.Fatal(err)
	}
	for dec.PeekKind() == '"' {
		name, err := dec.ReadToken()
		if err != nil {
			t.Fatal(err)
		}
		key := name.String()
		value, err := dec.ReadValue()
		if err != nil {
			t.Fatal(err)
		}
		if key == "events" {
			s, err := events.Decode(value)
			if err != nil {
				t.Fatal(err)
			}
			return s
		}
	}
	t.Fatalf("%s: no events", file)
	return nil
}
