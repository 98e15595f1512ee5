package jpconfig_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
)

// TestAttachmentEntries checks that every reader of an entry gets the same URL.
func TestAttachmentEntries(t *testing.T) {
	tests := []struct {
		entry, want string
		guarded     trust.Kind // kind of claim if foreign
	}{
		{`"cmd:git diff"`, "cmd:git diff", trust.Process},
		{
			`{"type":"cmd","path":"git","params":{"description":"A b","arg":["branch","--x=50%"]}}`,
			"cmd://git?arg=branch&arg=--x%3D50%2525&description=A+b", trust.Process,
		},
		{`{"type":"CMD","path":"sh"}`, "cmd://sh", trust.Process},
		{`{"type":"file","path":"src/**","params":{"exclude":true}}`, "file:src/**?exclude=true", ""},
		{`{"type":"file","path":"/etc/passwd"}`, "file:etc/passwd", ""}, // as jp reads it
		{`"file:///src/main.go"`, "file:src/main.go", ""},               // as jp writes it
		{`"file:///$WORKSPACE/src/main.go"`, "file:src/main.go", ""},    // as resources are named
		{`"file://src/main.go"`, "file:src/main.go", ""},
		{`"file:///../secret"`, "file:../secret", trust.Path},
		{`"file:%2Fetc/passwd"`, "file:%2Fetc/passwd", trust.Path},
		{`{"type":"https","path":"a.example/x","params":{"q":"5%"}}`, "https://a.example/x?q=5%25", trust.Host},
		{`"src/main.go"`, "file:src/main.go", ""},
		{`"src/**/*.go"`, "file:src/**/*.go", ""},
		{`"!src/gen"`, "file:src/gen?exclude=true", ""},
		{`"100%/a?b#c.txt"`, "file:100%25/a%3Fb%23c.txt", ""},
		{`"notes/10:30.md"`, "file:notes/10:30.md", trust.Path},
		{`"../secret"`, "file:../secret", trust.Path},
		{`"/etc/passwd"`, "file:etc/passwd", ""},
		{`"~/x"`, "file:~/x", trust.Path},
		{`"c:/x"`, "file:c:/x", trust.Path},
		{`"jp://jp-c17000000001"`, "jp://jp-c17000000001", ""},
		{`"mcp+docs+x:y"`, "mcp+docs+x:y", ""}, // its server is guarded
		{`"bear://get/1"`, "bear://get/1", trust.Process},
		{`""`, "", ""},
		{`"!"`, "", ""},
		{`{"path":"x"}`, "", ""},
		{`7`, "", ""},
	}
	for _, tt := range tests {
		s := sources(t, nil)
		s.Base = []byte(`{"conversation":{"attachments":[` + tt.entry + `]}}`)
		c := load(t, s)
		all := c.Attachments()
		if tt.want == "" {
			if len(all) != 0 || len(c.Warnings()) != 1 {
				t.Errorf("%s: %v, warnings %v", tt.entry, all, c.Warnings())
			}
			continue
		}
		if len(all) != 1 {
			t.Fatalf("%s: %v, warnings %v", tt.entry, all, c.Warnings())
		}
		got, kind := shown(all[0])
		if got != tt.want || kind != tt.guarded || string(all[0].Entry) != tt.entry {
			t.Errorf("%s: %q guarded as %q, want %q as %q", tt.entry, got, kind, tt.want, tt.guarded)
		}
	}
}

// shown returns the URL of an attachment and the kind of its claim.
func shown(a jpconfig.Attachment) (string, trust.Kind) {
	if claim, foreign := a.URL.Claim(); foreign {
		return claim.Value, claim.Kind
	}
	u, _ := a.URL.Open(nil)
	return u, ""
}

// TestManyAttachments checks that foreign attachments are limited, and that those which the user
// declares too do not count.
func TestManyAttachments(t *testing.T) {
	var entries []string
	for i := range 700 {
		entries = append(entries, fmt.Sprintf("f%d", i))
	}
	s := sources(t, map[string]string{
		"user/config.json":   encode(t, nest(pathOf("conversation.attachments"), entries[690:])),
		"ws/.jp/config.json": encode(t, nest(pathOf("conversation.attachments"), entries)),
	})
	c := load(t, s)
	all, own := c.Attachments(), 0
	for _, a := range all {
		if !a.Foreign {
			own++
		}
	}
	const want = "conversation.attachments: 190 of others are left out, 500 are allowed"
	if len(all) != 510 || own != 10 || len(c.Warnings()) != 1 ||
		!strings.Contains(c.Warnings()[0].String(), want) {
		t.Errorf("%d attachments, %d of the user's, warnings %v", len(all), own, c.Warnings())
	}
}
