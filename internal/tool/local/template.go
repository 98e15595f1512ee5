package local

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/nikolalohinski/gonja/v2"
	"github.com/nikolalohinski/gonja/v2/exec"
	"github.com/nikolalohinski/gonja/v2/loaders"
)

// A word is a word of a command with its templates.
type word struct {
	pieces []command.Piece
	whole  string // a word with statements, rendered as one template; else ""
}

// parseWord finds the expressions in a word.
func parseWord(s string) word {
	pieces, ok := command.Pieces(s)
	if !ok {
		return word{whole: s}
	}
	return word{pieces: pieces}
}

// render inserts values into a word.
func (w word) render(values jsontext.Value) (string, error) {
	if w.whole != "" {
		return jinja(w.whole, values)
	}
	var b strings.Builder
	for _, p := range w.pieces {
		s := p.Text
		if p.Expr {
			var err error
			if s, err = evaluate(p.Text, values); err != nil {
				return "", fmt.Errorf("template {{%s}}: %w", p.Text, err)
			}
		}
		b.WriteString(s)
	}
	return b.String(), nil
}

// path matches an expression that is only a name.
var path = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$`)
})

// evaluate returns text without quotes, nothing for null, and everything else as JSON. A plain
// name, the usual expression, is looked up without the template engine, so that numbers and the
// order of members stay as the model wrote them.
func evaluate(expr string, values jsontext.Value) (string, error) {
	if !path().MatchString(expr) {
		out, err := jinja("{{ ("+expr+") | tojson }}", values)
		if err != nil {
			return "", err
		}
		return bare(jsontext.Value(out))
	}
	v := values
	for name := range strings.SplitSeq(expr, ".") {
		ms, err := tool.Members(v)
		if err != nil {
			return "", fmt.Errorf("%s: not defined", name)
		}
		found := false
		for _, m := range ms {
			if m.Name == name {
				v, found = m.Value, true
			}
		}
		if !found {
			return "", fmt.Errorf("%s: not defined", name)
		}
	}
	return bare(v)
}

func bare(v jsontext.Value) (string, error) {
	var s string
	if err := exact.Unmarshal(v, &s); err == nil {
		return s, nil // also for null
	}
	v = v.Clone()
	err := v.Compact()
	return string(v), err
}

// jinja renders a template, which cannot read files.
func jinja(source string, values jsontext.Value) (out string, err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("template: %v", p)
		}
	}()
	data, err := decode(values)
	if err != nil {
		return "", err
	}
	const id = "command"
	loader, err := loaders.NewShiftedLoader(id, strings.NewReader(source), noFiles{})
	if err != nil {
		return "", err
	}
	cfg := gonja.NewConfig()
	cfg.StrictUndefined = true
	t, err := exec.NewTemplate(id, cfg, loader, gonja.DefaultEnvironment)
	if err != nil {
		return "", err
	}
	return t.ExecuteToString(exec.NewContext(data))
}

// decode converts numbers to the types that the engine can calculate with.
func decode(values jsontext.Value) (map[string]any, error) {
	dec := json.NewDecoder(strings.NewReader(string(values)))
	dec.UseNumber()
	var data map[string]any
	err := dec.Decode(&data)
	for k, v := range data {
		data[k] = numbers(v)
	}
	return data, err
}

func numbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		f, _ := v.Float64()
		return f
	case map[string]any:
		for k := range v {
			v[k] = numbers(v[k])
		}
	case []any:
		for i := range v {
			v[i] = numbers(v[i])
		}
	}
	return v
}

// noFiles is a loader without templates.
type noFiles struct{}

var errNoFiles = errors.New("templates of commands include nothing")

func (noFiles) Read(string) (io.Reader, error)           { return nil, errNoFiles }
func (noFiles) Resolve(string) (string, error)           { return "", errNoFiles }
func (n noFiles) Inherit(string) (loaders.Loader, error) { return n, nil }
