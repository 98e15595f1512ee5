package schema

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// A document is a decoded schema.
type document struct{ tree any }

// A place is the part of a value that the schemas below a keyword apply to.
type place byte

const (
	here    place = iota + 1 // the value itself
	inside                   // its members or elements
	nowhere                  // only by reference
)

// A form is the type of a keyword's value.
type form byte

const (
	one  form = 1 << iota // a schema
	list                  // schemas
	named
)

// keywords are the keywords with schemas below them.
var keywords = map[string]struct {
	place place
	form  form
}{
	"allOf": {here, list}, "anyOf": {here, list}, "oneOf": {here, list}, "not": {here, one},
	"if": {here, one}, "then": {here, one}, "else": {here, one},
	"dependentSchemas": {here, named}, "dependencies": {here, named},
	"properties": {inside, named}, "patternProperties": {inside, named},
	"additionalProperties": {inside, one}, "unevaluatedProperties": {inside, one},
	"propertyNames": {inside, one}, "contains": {inside, one},
	"items": {inside, one | list}, "prefixItems": {inside, list},
	"additionalItems": {inside, one}, "unevaluatedItems": {inside, one},
	"$defs": {nowhere, named}, "definitions": {nowhere, named}, "contentSchema": {nowhere, one},
}

// types are the names of types.
var types = []string{"array", "boolean", "integer", "null", "number", "object", "string"}

// below calls f for each schema below a keyword of s, with its name or "".
func below(s map[string]any, f func(keyword, name string, p place, sub any) error) error {
	for keyword, value := range s {
		k, ok := keywords[keyword]
		if !ok {
			continue
		}
		var err error
		switch v := value.(type) {
		case []any:
			for i, sub := range v {
				if err == nil && k.form&list != 0 {
					err = f(keyword, strconv.Itoa(i), k.place, sub)
				}
			}
		case map[string]any:
			if k.form&named == 0 {
				err = f(keyword, "", k.place, v)
				break
			}
			for name, sub := range v {
				if err == nil {
					err = f(keyword, name, k.place, sub)
				}
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// check refuses references out of the document, and endless recursion.
func (d document) check() error {
	places := 0
	var each func(s any, depth int) error
	each = func(s any, depth int) error {
		m, ok := s.(map[string]any)
		if !ok {
			return nil
		}
		if places++; depth > maxDepth || places > maxPlaces {
			return errDepth
		}
		if err := d.checkOne(m); err != nil {
			return err
		}
		return below(m, func(_, _ string, _ place, sub any) error { return each(sub, depth+1) })
	}
	if err := each(d.tree, 0); err != nil {
		return err
	}
	return d.ends()
}

// checkOne checks the keywords of one schema.
func (d document) checkOne(s map[string]any) error {
	for _, keyword := range []string{"$id", "$dynamicRef", "$recursiveRef"} {
		if _, ok := s[keyword]; ok {
			return fmt.Errorf("%s is not known here", keyword)
		}
	}
	if ref, ok := s["$ref"]; ok {
		if _, err := d.target(ref); err != nil {
			return err
		}
	}
	names, _ := s["type"].([]any)
	if name, ok := s["type"].(string); ok {
		names = []any{name}
	}
	for _, name := range names {
		if text, ok := name.(string); !ok || !slices.Contains(types, text) {
			return fmt.Errorf("%q is not a type", fmt.Sprint(name))
		}
	}
	return nil
}

// ends returns an error unless each schema terminates for a value without members or elements.
func (d document) ends() error {
	w := walk{document: d}
	var each func(s any) error
	each = func(s any) error {
		m, ok := s.(map[string]any)
		if !ok {
			return nil
		}
		if err := w.visit(s, nil, 0); err != nil {
			return err
		}
		return below(m, func(_, _ string, _ place, sub any) error { return each(sub) })
	}
	return each(d.tree)
}

// target returns the target of a reference.
func (d document) target(ref any) (any, error) {
	text, _ := ref.(string)
	pointer, local := strings.CutPrefix(text, "#")
	if !local || pointer != "" && pointer[0] != '/' {
		return nil, fmt.Errorf("$ref %q points outside the schema", text)
	}
	pointer, err := url.PathUnescape(pointer)
	if err != nil {
		return nil, fmt.Errorf("$ref %q: %w", text, err)
	}
	at := d.tree
	for _, step := range strings.Split(pointer, "/")[1:] {
		step = strings.ReplaceAll(strings.ReplaceAll(step, "~1", "/"), "~0", "~")
		switch v := at.(type) {
		case map[string]any:
			at = v[step]
		case []any:
			i, err := strconv.Atoi(step)
			if err != nil || i < 0 || i >= len(v) {
				return nil, fmt.Errorf("$ref %q does not resolve", text)
			}
			at = v[i]
		default:
			at = nil
		}
		if at == nil {
			return nil, fmt.Errorf("$ref %q does not resolve", text)
		}
	}
	return at, nil
}

// A walk follows the path that the library will take and counts the steps, since the library cannot
// be stopped.
type walk struct {
	document
	steps int
}

func (w *walk) visit(s, v any, depth int) error {
	m, ok := s.(map[string]any)
	if !ok {
		return nil
	}
	if depth > maxDepth {
		return errDepth
	}
	if w.steps++; w.steps > maxSteps {
		return errCost
	}
	if ref, ok := m["$ref"]; ok {
		to, err := w.target(ref)
		if err == nil {
			err = w.visit(to, v, depth+1)
		}
		if err != nil {
			return err
		}
	}
	return below(m, func(keyword, name string, p place, sub any) error {
		switch p {
		case here:
			return w.visit(sub, v, depth+1)
		case inside:
			return w.inside(keyword, name, sub, v, depth+1)
		}
		return nil
	})
}

// inside visits the parts of a value that a schema below a keyword applies to.
func (w *walk) inside(keyword, name string, sub, v any, depth int) error {
	switch v := v.(type) {
	case map[string]any:
		if keyword == "properties" {
			member, ok := v[name]
			if !ok {
				return nil
			}
			return w.visit(sub, member, depth)
		}
		for _, member := range v {
			if err := w.visit(sub, member, depth); err != nil {
				return err
			}
		}
	case []any:
		for _, item := range v {
			if err := w.visit(sub, item, depth); err != nil {
				return err
			}
		}
	}
	return nil
}
