package events_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/realdata"
)

type vector struct {
	Name, In, Out, Error string
}

type base64Vector struct {
	Stored, Decoded, Rewritten string
}

func vectors(t *testing.T) (v struct {
	Rewrite    []vector
	Metadata   []vector
	Base64Once []base64Vector `json:"base64_decode_once"`
},
) {
	t.Helper()
	data, err := os.ReadFile(realdata.Dir(t, "vectors", "jp-format.json"))
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// The vectors were recorded from jp itself.
func TestRewriteVectors(t *testing.T) { rewrites(t, vectors(t).Rewrite, events.Decode) }

func TestMetadataVectors(t *testing.T) { rewrites(t, vectors(t).Metadata, events.DecodeDetails) }

// rewrites checks that a file is written as jp writes it, and unchanged as it was read.
func rewrites[File interface {
	Canonical() []byte
	Encode() []byte
}](
	t *testing.T, all []vector, decode func([]byte) (File, error),
) {
	t.Helper()
	for _, v := range all {
		t.Run(v.Name, func(t *testing.T) {
			f, err := decode([]byte(v.In))
			if v.Error != "" {
				if err == nil {
					t.Fatalf("decoded, jp says %q", v.Error)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if got := string(f.Canonical()); got != v.Out+"\n" {
				t.Errorf("got\n%swant\n%s", got, v.Out)
			}
			if got := string(f.Encode()); got != v.In {
				t.Errorf("unchanged, it was encoded as\n%s", got)
			}
		})
	}
}

func TestBase64Vectors(t *testing.T) {
	for _, v := range vectors(t).Base64Once {
		in := `[{"type":"tool_call_request","timestamp":"2026-01-01 00:00:00.0",` +
			`"id":"i","name":"n","arguments":{"k":` + Quote(v.Stored) + `},` +
			`"metadata":{"m":[` + Quote(v.Stored) + `]}}]`
		s, err := events.Decode([]byte(in))
		if err != nil {
			t.Fatal(err)
		}
		e := s.At(0)
		args := string(e.Event().(*events.ToolCallRequest).Arguments)
		if want := `{"k":` + Quote(v.Decoded) + `}`; args != want {
			t.Errorf("arguments of %q are %s, want %s", v.Stored, args, want)
		}
		if md, _ := e.Metadata().Value("m"); string(md) != `[`+Quote(v.Decoded)+`]` {
			t.Errorf("metadata of %q is %s, want %q", v.Stored, md, v.Decoded)
		}
		if n := strings.Count(string(s.Canonical()), Quote(v.Rewritten)); n != 2 {
			t.Errorf("%q is not rewritten as %q:\n%s", v.Stored, v.Rewritten, s.Canonical())
		}
	}
}

func Quote(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// realStreams returns the files with the given name of the real conversations, by path.
func realFiles(tb testing.TB, name string) map[string][]byte {
	tb.Helper()
	files := map[string][]byte{}
	root := realdata.Dir(tb, "conversations")
	for _, pattern := range []string{"*", ".archive/*"} {
		paths, err := filepath.Glob(filepath.Join(root, pattern, name))
		if err != nil {
			tb.Fatal(err)
		}
		for _, path := range paths {
			data, err := os.ReadFile(path)
			if err != nil {
				tb.Fatal(err)
			}
			rel, _ := filepath.Rel(root, path)
			files[rel] = data
		}
	}
	if len(files) == 0 {
		tb.Fatalf("no %s below %s", name, root)
	}
	return files
}

func TestRealStreams(t *testing.T) {
	for path, data := range realFiles(t, "events.json") {
		s, err := events.Decode(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if string(s.Encode()) != string(data) {
			t.Errorf("%s: encoding is not the identity", path)
		}
		if err := events.Valid(s, events.DecodeOptions{}); err != nil {
			t.Errorf("%s: %v", path, err)
		}
		// §6.5 of the format: jp itself changes only these two.
		odd := strings.HasPrefix(path, "17671120783") || strings.HasPrefix(path, "17648402467")
		if same := string(s.Canonical()) == string(data); same == odd {
			t.Errorf("%s: canonical form is the file: %t, want %t", path, same, !odd)
		}
	}
}

func TestRealDetails(t *testing.T) {
	for path, data := range realFiles(t, "metadata.json") {
		d, err := events.DecodeDetails(data)
		if err != nil {
			t.Errorf("%s: %v", path, err)
			continue
		}
		if string(d.Encode()) != string(data) || string(d.Canonical()) != string(data) {
			t.Errorf("%s: encoding is not the identity:\n%s", path, d.Canonical())
		}
	}
}
