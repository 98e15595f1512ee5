package query

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// ParseSchema returns the JSON Schema that a text describes. A text that begins with "{" is a
// schema itself; any other text is a list of fields in jp's short form, separated by commas or
// lines:
//
//	name, ?age int: in years, tags [str], state "open"|"done", owner { id int }
//
// A field has a name, a type (str, int, float, bool, any, [T], { fields }, literals, or several of
// these with "|"; str by default) and a description (plain, "quoted", or """over several lines""").
// A field with a ? is optional. A \ at the end of a line joins it with the next.
func ParseSchema(text string) (jsontext.Value, error) {
	text = strings.TrimSpace(text)
	if strings.HasPrefix(text, "{") {
		return jsontext.Value(text), CheckSchema(jsontext.Value(text))
	}
	p := &schemaParser{rest: strings.ReplaceAll(text, "\\\n", " ")}
	schema, err := p.fields("")
	if err != nil {
		return nil, err
	}
	return jsontext.Value(schema), nil
}

type schemaParser struct{ rest string }

// blank skips white space, across lines if lines is set.
func (p *schemaParser) blank(lines bool) {
	set := " \t\r"
	if lines {
		set += "\n,"
	}
	p.rest = strings.TrimLeft(p.rest, set)
}

// take consumes a prefix and reports whether it was there.
func (p *schemaParser) take(prefix string) bool {
	rest, ok := strings.CutPrefix(p.rest, prefix)
	p.rest = rest
	return ok
}

func (p *schemaParser) word() string {
	n := strings.IndexFunc(p.rest, func(r rune) bool {
		return !strings.ContainsRune("_-.", r) && (r < '0' || r > '9') &&
			(r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	})
	if n < 0 {
		n = len(p.rest)
	}
	word := p.rest[:n]
	p.rest = p.rest[n:]
	return word
}

func (p *schemaParser) fault(want string) error {
	if p.rest == "" {
		return fmt.Errorf("expected %s at the end", want)
	}
	at, _, _ := strings.Cut(p.rest, "\n")
	return fmt.Errorf("expected %s at %q", want, at)
}

// fields reads fields up to the end mark and returns the schema of the object.
func (p *schemaParser) fields(end string) (string, error) {
	var properties, required []string
	for {
		p.blank(true)
		if end != "" && p.take(end) || end == "" && p.rest == "" {
			break
		}
		optional := p.take("?")
		name := p.word()
		if name == "" {
			return "", p.fault("the name of a field")
		}
		schema, err := p.field()
		if err != nil {
			return "", fmt.Errorf("field %s: %w", name, err)
		}
		properties = append(properties, strconv.Quote(name)+":"+schema)
		if !optional {
			required = append(required, strconv.Quote(name))
		}
	}
	if len(properties) == 0 {
		return "", p.fault("a field")
	}
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + `},"required":[` +
		strings.Join(required, ",") + `],"additionalProperties":false}`, nil
}

// field reads the type and the description of a field.
func (p *schemaParser) field() (string, error) {
	schema := `{"type":"string"}`
	p.blank(false)
	if p.rest != "" && !strings.ContainsAny(p.rest[:1], ":,\n}") {
		var err error
		if schema, err = p.union(); err != nil {
			return "", err
		}
	}
	p.blank(false)
	if p.take(":") {
		return p.describe(schema)
	}
	if p.rest != "" && !strings.ContainsAny(p.rest[:1], ",\n}") {
		return "", p.fault("the end of the field")
	}
	return schema, nil
}

func (p *schemaParser) describe(schema string) (string, error) {
	p.blank(false)
	for _, quote := range []string{`"""`, `"`} {
		if !p.take(quote) {
			continue
		}
		text, rest, ok := strings.Cut(p.rest, quote)
		if !ok {
			return "", p.fault("the end of the description")
		}
		p.rest = rest
		return described(schema, strings.TrimSpace(text))
	}
	n := strings.IndexAny(p.rest, ",\n}")
	if n < 0 {
		n = len(p.rest)
	}
	text := p.rest[:n]
	p.rest = p.rest[n:]
	return described(schema, strings.TrimSpace(text))
}

func described(schema, text string) (string, error) {
	quoted, err := json.Marshal(text)
	if err != nil || schema == "{}" {
		return `{"description":` + string(quoted) + `}`, err
	}
	return strings.TrimSuffix(schema, "}") + `,"description":` + string(quoted) + `}`, nil
}

// union reads types with "|" between them. Literals without other types become an enumeration.
func (p *schemaParser) union() (string, error) {
	var schemas, literals []string
	for {
		p.blank(false)
		schema, literal, err := p.one()
		if err != nil {
			return "", err
		}
		if literal != "" {
			literals = append(literals, literal)
		} else {
			schemas = append(schemas, schema)
		}
		p.blank(false)
		if !p.take("|") {
			break
		}
	}
	if len(literals) > 0 {
		schemas = append(schemas, `{"enum":[`+strings.Join(literals, ",")+`]}`)
	}
	if len(schemas) == 1 {
		return schemas[0], nil
	}
	return `{"anyOf":[` + strings.Join(schemas, ",") + `]}`, nil
}

// one reads a type, or a literal.
func (p *schemaParser) one() (schema, literal string, err error) {
	switch {
	case p.take("["):
		p.blank(true)
		items, err := p.union()
		p.blank(true)
		if err == nil && !p.take("]") {
			err = p.fault("]")
		}
		return `{"type":"array","items":` + items + `}`, "", err
	case p.take("{"):
		schema, err := p.fields("}")
		return schema, "", err
	case strings.HasPrefix(p.rest, `"`):
		quoted, err := strconv.QuotedPrefix(p.rest)
		if err != nil {
			return "", "", p.fault("the end of the text")
		}
		p.rest = p.rest[len(quoted):]
		text, err := strconv.Unquote(quoted)
		if err != nil {
			return "", "", err
		}
		v, err := json.Marshal(text)
		return "", string(v), err
	}
	name := map[string]string{
		"str": "string", "string": "string", "int": "integer", "integer": "integer",
		"float": "number", "number": "number", "bool": "boolean", "boolean": "boolean",
	}
	switch word := p.word(); {
	case name[word] != "":
		return `{"type":"` + name[word] + `"}`, "", nil
	case word == "any":
		return `{}`, "", nil
	case word != "" && json.Valid([]byte(word)):
		return "", word, nil
	default:
		p.rest = word + p.rest
		return "", "", p.fault("a type")
	}
}
