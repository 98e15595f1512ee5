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
	c.checkKeys(file, "", offKey, rulesKey)
	rules, err := valueOf[[]any](file, rulesKey, "a list of tables, each below [[rule]]")
	if err != nil {
		c.Faults = append(c.Faults, err)
	}
	if len(rules) > maxRules {
		return Committed{}, fmt.Errorf("%d rules, more than %d", len(rules), maxRules)
	}
	for _, of := range rules {
		c.parseRule(of)
	}
	c.parseOff(file)
	return c, nil
}

const offKey, rulesKey = "off", "rule"

func (c *Committed) parseOff(file map[string]any) {
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
	values, _ := of.(map[string]any) // anything else has no name
	c.checkKeys(values, rulesKey+".", "name", "keywords", "regex", "public")
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
	isNamesake := func(r Rule) bool { return r.Name == name }
	if slices.Contains(Builtin().Names(), name) || slices.ContainsFunc(c.Rules, isNamesake) {
		err = errors.New("the name is taken")
	}
	if err != nil {
		c.Faults = append(c.Faults, fmt.Errorf("rule %q: %w", name, err))
		return
	}
	c.Rules = append(c.Rules, rule)
}

// checkKeys notes the keys of a table besides the known ones.
func (c *Committed) checkKeys(table map[string]any, above string, known ...string) {
	for _, key := range slices.Sorted(maps.Keys(table)) {
		if !slices.Contains(known, key) {
			c.later(above + key)
		}
	}
}

// valueOf returns the value of a key, zero without one. It is an error if it is of another type.
func valueOf[T any](table map[string]any, key, want string) (v T, err error) {
	is, found := table[key]
	if v, ok := is.(T); ok || !found {
		return v, nil
	}
	return v, fmt.Errorf("%s is not %s", key, want)
}

// texts returns the texts in the list of a key, all or none.
func texts(table map[string]any, key string) (all []string, err error) {
	const want = "a list of texts"
	list, err := valueOf[[]any](table, key, want)
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
