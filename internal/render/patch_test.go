package render

import (
	"strings"
	"testing"
)

func TestPatch(t *testing.T) {
	const diff = "--- a\n+++ b\n@@ -1,3 +1,3 @@\n same\n--- was a rule\n+\x1b[31mred\n"
	if got := (Output{}).Patch(diff); got != diff {
		t.Errorf("a pipe got %q", got)
	}
	got := Output{Color: true}.Patch(diff)
	for _, want := range []string{
		"\x1b[1m--- a\x1b[m\n", "\x1b[1m+++ b\x1b[m\n", "\x1b[36m@@ -1,3 +1,3 @@\x1b[m\n",
		"\n same\n", "\x1b[31m--- was a rule\x1b[m\n", `+\x1b[31mred`,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("%q lacks %q", got, want)
		}
	}
	if strings.Contains(got, "\x1b[31mred") {
		t.Errorf("%q has an escape code of the text", got)
	}
	if got := (Output{Terminal: true}).Patch(diff); !strings.Contains(got, "\n+"+`\x1b[31mred`) {
		t.Errorf("a patch that is to be approved is %q, without what it writes", got)
	}
}

func TestExact(t *testing.T) {
	const text = "a\x1b[8mhidden\x1b[0m\x1b]0;t\x07\u202e\r\nb"
	if got, want := Exact(text), `a\x1b[8mhidden\x1b[0m\x1b]0;t\x07\u202e`+"\nb"; got != want {
		t.Errorf("Exact is %q, want %q", got, want)
	}
	const unseen = "a\u200b\u200d\u200e\ufeff\u00ad\u2800\u2060 ✔️ 👨🏽‍🔧 می\u200cخ"
	want := `a\u200b\u200d\u200e\ufeff\u00ad\u2800\u2060` + " ✔️ 👨🏽‍🔧 می\u200cخ"
	if got := Exact(unseen); got != want {
		t.Errorf("Exact is %q, want %q", got, want)
	}
	if got := Sanitize(Exact(text)); got != Exact(text) {
		t.Errorf("sanitised it is %q", got)
	}
}
