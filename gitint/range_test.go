package gitint_test

import (
	"testing"

	"github.com/git-jp/git-jp/gitint"
)

func TestParseRange(t *testing.T) {
	t.Parallel()
	for word, want := range map[string]gitint.Range{
		"a..b":         {From: "a", To: "b"},
		"..":           {},
		"a~2...":       {From: "a~2", Fork: true},
		"HEAD^!":       {From: "HEAD^", To: "HEAD"},
		"HEAD^2^-":     {From: "HEAD^2^", To: "HEAD^2"},
		"topic@{1}^-2": {From: "topic@{1}^2", To: "topic@{1}"},
	} {
		if got, ok := gitint.ParseRange(word); !ok || got != want {
			t.Errorf("ParseRange(%q): got %+v, %t, want %+v", word, got, ok, want)
		}
	}
	for _, word := range []string{"", "HEAD", "HEAD^2", "^HEAD", "HEAD^@", "^!", "^-", "a^-b", "a-1"} {
		if got, ok := gitint.ParseRange(word); ok {
			t.Errorf("ParseRange(%q): got %+v, want none", word, got)
		}
	}
}
