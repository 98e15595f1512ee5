package secrets

import (
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
)

// RulesFile is the path of a workspace's rules below its .jp.
const RulesFile = "secrets/rules.toml"

// MaxFile is the largest size in bytes of a workspace's rules file or entry.
const MaxFile = 64 << 10

// Committed holds the rules that a workspace commits.
type Committed struct {
	Rules []Rule
	// Off names the built-in rules that the workspace wants switched off. It is only a request: the
	// caller of [Rules.Without] must have asked the user.
	Off []string
	// Later names what this version does not know: keys, and rules in Off. It is ignored, since a
	// later version may have added it, and the rules beside it count.
	Later []string
	// Faults are the errors of what is ignored: rules, or all of Off.
	Faults []error
}

// Limits of the rules that a workspace adds.
const (
	maxRules   = 200
	maxRegex   = 500
	minKeyword = 3
	maxWords   = 20
	// addedWindow is the maximum length of a match of an added rule.
	addedWindow = 256
)

// ParseRules parses the rules of a workspace. An error rejects the file; a fault in a rule or in a
// value, or what this version does not know, only that: the other rules of a team keep secrets out.
func ParseRules(data []byte) (c Committed, err error) {
	if len(data) > MaxFile {
		return Committed{}, fmt.Errorf("%d bytes, more than %d", len(data), MaxFile)
	}
	var file map[string]any
	if err := toml.Unmarshal(data, &file); err != nil {
		return Committed{}, fmt.Errorf("parse rules: %w", err)
	}
	values := c.known(file, "", offKey, rulesKey)
	rules := c.rules(values[rulesKey])
	if len(rules) > maxRules {
		return Committed{}, fmt.Errorf("%d rules, more than %d", len(rules), maxRules)
	}
	for _, of := range rules {
		c.parseRule(of)
	}
	c.parseOff(values)
	return c, nil
}

const offKey, rulesKey = "off", "rule"

// rules returns what [[rule]], or [rule] for a single one, has.
func (c *Committed) rules(given []any) (all []any) {
	for _, value := range given {
		switch v := value.(type) {
		case []any:
			all = append(all, v...)
		case map[string]any:
			all = append(all, v)
		default:
			c.Faults = append(c.Faults,
				fmt.Errorf("%s is not a list of tables, each below [[%[1]s]]", rulesKey))
		}
	}
	return all
}

func (c *Committed) parseOff(file values) {
	off, err := texts(file, offKey)
	if err != nil {
		c.Faults = append(c.Faults, err)
	}
	known := Builtin().Names()
	for _, name := range off {
		if slices.Contains(known, name) {
			c.Off = append(c.Off, name)
		} else {
			c.later(fmt.Sprintf("%s = %q", offKey, name))
		}
	}
}

// parseRule adds a rule, or its fault.
func (c *Committed) parseRule(of any) {
	table, _ := of.(map[string]any) // anything else has no name
	values := c.known(table, rulesKey+".", "name", "keywords", "regex", "public")
	rule := Rule{added: true, within: addedWindow}
	name, err := valueOf[string](values, "name", "a text")
	rule.Name = name
	if err == nil {
		rule.Keywords, err = texts(values, "keywords")
	}
	if err == nil {
		rule.Regex, err = valueOf[string](values, "regex", "a text")
	}
	if err == nil {
		var public int64
		public, err = valueOf[int64](values, "public", "a whole number")
		rule.Public = int(min(max(public, -1), MaxFile))
	}
	if err == nil {
		err = rule.validate()
	}
	// A built-in rule of that name applies too: another version may have it.
	if slices.ContainsFunc(c.Rules, func(r Rule) bool { return r.Name == name }) {
		err = errors.New("the name is taken")
	}
	if err != nil {
		c.Faults = append(c.Faults, fmt.Errorf("rule %q: %w", name, err))
		return
	}
	c.Rules = append(c.Rules, rule)
}

// values are those of the known keys of a table.
type values map[string][]any

// known returns the values of keys that this version knows, and notes the other keys. Capital
// letters make no difference: they never did, and a team whose file has [[Rule]] relies on it.
func (c *Committed) known(table map[string]any, above string, keys ...string) values {
	all := values{}
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if name := strings.ToLower(key); slices.Contains(keys, name) {
			all[name] = append(all[name], table[key])
		} else {
			c.later(above + key)
		}
	}
	return all
}

// valueOf returns the value of a key, zero without one. It is an error if it is of another type, or
// if the key is there in two spellings.
func valueOf[T any](in values, key, want string) (v T, err error) {
	if len(in[key]) == 0 {
		return v, nil
	}
	v, ok := in[key][0].(T)
	switch {
	case len(in[key]) > 1:
		return *new(T), fmt.Errorf("%s is there twice", key)
	case !ok:
		return v, fmt.Errorf("%s is not %s", key, want)
	}
	return v, nil
}

// texts returns the texts in the list of a key, all or none.
func texts(in values, key string) (all []string, err error) {
	const want = "a list of texts"
	list, err := valueOf[[]any](in, key, want)
	if err != nil {
		return nil, err
	}
	for _, element := range list {
		text, ok := element.(string)
		if !ok {
			return nil, fmt.Errorf("%s is not %s", key, want)
		}
		all = append(all, text)
	}
	return all, nil
}

func (c *Committed) later(what string) {
	if !slices.Contains(c.Later, what) {
		c.Later = append(c.Later, what)
	}
}

func (r Rule) validate() error {
	if err := validName(r.Name); err != nil {
		return err
	}
	if len(r.Keywords) == 0 || len(r.Keywords) > maxWords {
		return fmt.Errorf("it has %d keywords, not 1 to %d", len(r.Keywords), maxWords)
	}
	for _, k := range r.Keywords {
		if len(k) < minKeyword || len(k) > addedWindow {
			return fmt.Errorf("keyword %q does not have %d to %d bytes", k, minKeyword, addedWindow)
		}
	}
	if len(r.Regex) > maxRegex || r.Regex == "" {
		return fmt.Errorf("its regex does not have 1 to %d bytes", maxRegex)
	}
	if r.Public < 0 || r.Public > len(slices.MinFunc(r.Keywords, byLength)) {
		return errors.New("public is longer than a keyword")
	}
	if _, err := regexp.Compile(`\A(?:` + r.Regex + `)`); err != nil {
		return fmt.Errorf("its regex: %w", err)
	}
	return nil
}

func byLength(a, b string) int { return len(a) - len(b) }

const maxRuleName = 40

func validName(name string) error {
	const letters = "abcdefghijklmnopqrstuvwxyz0123456789-"
	if name == "" || len(name) > maxRuleName || strings.Trim(name, letters) != "" {
		return fmt.Errorf("its name does not have 1 to %d small letters, digits and -", maxRuleName)
	}
	return nil
}
