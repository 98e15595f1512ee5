package query_test

import (
	"testing"

	"github.com/git-jp/git-jp/internal/query"
)

func TestParseSchema(t *testing.T) {
	object := func(properties, required string) string {
		return `{"type":"object","properties":{` + properties + `},"required":[` + required +
			`],"additionalProperties":false}`
	}
	for text, want := range map[string]string{
		"name":            object(`"name":{"type":"string"}`, `"name"`),
		"a int, ?b":       object(`"a":{"type":"integer"},"b":{"type":"string"}`, `"a"`),
		"a: what it is":   object(`"a":{"type":"string","description":"what it is"}`, `"a"`),
		"a any: x":        object(`"a":{"description":"x"}`, `"a"`),
		"tags [str|int]":  object(`"tags":{"type":"array","items":{"anyOf":[{"type":"string"},{"type":"integer"}]}}`, `"tags"`),
		`s "open"|"done"`: object(`"s":{"enum":["open","done"]}`, `"s"`),
		"o { id int, ?n }\nb bool": object(`"o":`+object(`"id":{"type":"integer"},"n":{"type":"string"}`, `"id"`)+
			`,"b":{"type":"boolean"}`, `"o","b"`),
		`a: "x, y", b float`:        object(`"a":{"type":"string","description":"x, y"},"b":{"type":"number"}`, `"a","b"`),
		"a: \"\"\"two\nlines\"\"\"": object(`"a":{"type":"string","description":"two\nlines"}`, `"a"`),
		"a \\\nint":                 object(`"a":{"type":"integer"}`, `"a"`),
		"n 1|2|null":                object(`"n":{"enum":[1,2,null]}`, `"n"`),
		`{"type":"array"}`:          `{"type":"array"}`,
	} {
		got, err := query.ParseSchema(text)
		if err != nil || string(got) != want {
			t.Errorf("%q: got %s, %v, want %s", text, got, err, want)
		} else if err := query.CheckSchema(got); err != nil {
			t.Errorf("%q: %v", text, err)
		}
	}
	for _, text := range []string{"", "a what", "a [int", "a {", "a int int", `a "x`, "{", `a: "x`, ",", "a |"} {
		if got, err := query.ParseSchema(text); err == nil {
			t.Errorf("%q: got %s", text, got)
		}
	}
}

func TestTitle(t *testing.T) {
	for question, want := range map[string]string{
		"where do we open the index?": "where do we open the index?",
		"# A plan \n\nfor the week":   "A plan",
		"#hashtag":                    "#hashtag",
		"  two\n lines ":              "two lines",
		"":                            "",
		"this is a question of more, and more, words than fit": "this is a question of more, and more, words than",
	} {
		if got := query.Title(question); got != want {
			t.Errorf("%q: got %q, want %q", question, got, want)
		}
	}
}
