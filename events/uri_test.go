package events

import "testing"

func TestURIScheme(t *testing.T) {
	for uri, want := range map[string]string{
		"file:///$WORKSPACE/a": "file", "HTTPS://a.example": "https", "mcp+docs+x:y": "mcp+docs+x",
		"cmd:git diff": "cmd", "a1-b.c+d:": "a1-b.c+d", "c:/x": "", "C:\\x": "", "src/main.go": "",
		"notes/10:30.md": "", "1a:x": "", "+a:x": "", ":x": "", "": "", "ä:x": "", "a b:c": "",
	} {
		if got := URIScheme(uri); got != want {
			t.Errorf("%q: %q, want %q", uri, got, want)
		}
	}
}
