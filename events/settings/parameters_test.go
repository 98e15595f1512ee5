package settings

import (
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// modelSaying returns a configuration in which each model has parameters.
func modelSaying(t interface{ Fatal(...any) }, parameters string) Config {
	said := func(below string) string { return `{"` + below + `":{"parameters":` + parameters + `}}` }
	c, err := Parse([]byte(`{"assistant":`+said("model")+
		`,"style":{"reasoning":`+said("summary_model")+`}}`), 0)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// drawParameters returns parameters, those that jp does not have in either place, and those that it
// has there too, where it has none of them.
func drawParameters(t *rapid.T) string {
	beside, below := map[string]any{}, map[string]any{}
	for _, name := range []string{"seed", "a.b", "Seed", "top_p", "stop_words"} {
		value := []any{1, "x", []string{"x"}, map[string]int{"seed": 1}}
		for _, in := range []map[string]any{beside, below} {
			if rapid.IntRange(0, 2).Draw(t, name) == 0 {
				in[name] = rapid.SampledFrom(value).Draw(t, "value")
			}
		}
	}
	if rapid.Bool().Draw(t, other) {
		beside[other] = below
	}
	text, err := json.Marshal(beside)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// TestParametersOfDiff checks that a delta, and the keys that it cannot remove, lead from any
// parameters to any others, and that what is written is read and written the same.
func TestParametersOfDiff(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from, to := modelSaying(t, drawParameters(t)), modelSaying(t, drawParameters(t))
		delta, lost := DiffPaths(from, to)
		d, err := Parse(delta, 0)
		if err != nil {
			t.Fatal(err)
		}
		is := from.Merge(d)
		for _, path := range lost {
			if _, ok := to.Setting(path...); !ok { // else elements of a list remain
				is = is.Without(path...)
			}
		}
		if again, left := DiffPaths(is, to); string(again) != "{}" || len(left) > len(lost) {
			t.Errorf("from %s to %s: %s and %v, then %s and %v", from.JSON(), to.JSON(),
				delta, lost, again, left)
		}
		written := to.JSON()
		read, err := Parse(written, 0)
		if again := read.JSON(); err != nil || string(again) != string(written) {
			t.Errorf("%s is written as %s, %v", written, again, err)
		}
	})
}

// TestParametersRemain checks which parameters are named as those that remain, and what is removed
// with all of one model.
func TestParametersRemain(t *testing.T) {
	from := modelSaying(t, `{"seed":1,"other":{"seed":1,"top_p":1}}`)
	_, lost := Diff(from, modelSaying(t, `{"seed":1}`))
	want := "[assistant.model.parameters.other.top_p style.reasoning.summary_model.parameters.other.top_p]"
	if fmt.Sprint(lost) != want {
		t.Errorf("%v remain", lost)
	}
	is := from.Without("assistant", "model", "parameters", other)
	const left = `{"assistant":{"model":{"parameters":{}}},` +
		`"style":{"reasoning":{"summary_model":{"parameters":{"other":{"top_p":1,"seed":1}}}}}}`
	if got := string(is.JSON()); got != left {
		t.Errorf("left is %s", got)
	}
	if _, ok := is.Setting("style", "reasoning", "summary_model", "parameters", "seed"); !ok {
		t.Error("a parameter of another model is not found")
	}
}

// TestParametersAreWritten checks where parameters are written, and where a path finds them.
func TestParametersAreWritten(t *testing.T) {
	said := func(parameters string) string {
		return `{"assistant":{"model":{"parameters":` + parameters + `}},` +
			`"style":{"reasoning":{"summary_model":{"parameters":` + parameters + `}}}}`
	}
	none, seed := modelSaying(t, `{}`), modelSaying(t, `{"seed":1,"other":{"top_p":1}}`)
	const both = `{"top_p":1,"seed":1}`
	if delta, _ := Diff(none, seed); string(delta) != said(`{"other":`+both+`}`) {
		t.Errorf("delta %s", delta)
	}
	if all, ok := seed.Setting("assistant", "model", "parameters", other); !ok ||
		string(all.Value()) != both {
		t.Errorf("all are %s", all.Value())
	}
	const wrapped = `{"other":{"value":{"seed":1},"strategy":"replace"}}`
	if got := string(modelSaying(t, wrapped).JSON()); got != said(wrapped) {
		t.Errorf("a table with a strategy is written as %s", got)
	}
	for path, stored := range map[string]string{
		"seed": "other seed", "seed deep": "other seed deep", "seed deep er": "other seed deep er",
		"top_p": "top_p", "other top_p": "other top_p", "other other seed": "other other seed",
	} {
		at := func(path string) []string {
			return append([]string{"assistant", "model", "parameters"}, strings.Fields(path)...)
		}
		if is := StoredPath(at(path)); !slices.Equal(is, at(stored)) {
			t.Errorf("%s is stored at %s", path, is)
		}
		if is := Path(at(stored)); !slices.Equal(is, at(path)) {
			t.Errorf("%s is found at %s", stored, is)
		}
	}
}

// TestManyParameters checks that the memory for a table of parameters grows with their number, not
// with its square: anyone may commit one.
func TestManyParameters(t *testing.T) {
	const n, perParameter = 2000, 10_000
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, `"p%d":1,`, i)
	}
	below := b.String()
	text := `{` + strings.ReplaceAll(below, "p", "q") + `"other":{` + below + `"x":1}}`
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	c := modelSaying(t, text)
	_, lost := Diff(c, Config{}.Merge(c))
	c.JSON()
	runtime.ReadMemStats(&after)
	if used := after.TotalAlloc - before.TotalAlloc; used > n*perParameter || len(lost) > 0 {
		t.Errorf("%d bytes for each parameter", used/n)
	}
}
