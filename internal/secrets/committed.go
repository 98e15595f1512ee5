package secrets

import (
	"bytes"
	"errors"
	"fmt"
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
	// Faults are the errors of rules that are ignored.
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

// ParseRules parses the rules of a workspace. An error rejects the file; a fault in a rule, or what
// this version does not know, only that.
func ParseRules(data []byte) (c Committed, err error) {
	if len(data) > MaxFile {
		return Committed{}, fmt.Errorf("%d bytes, more than %d", len(data), MaxFile)
	}
	var file struct {
		Off  []string `toml:"off"`
		Rule []struct {
			Name     string   `toml:"name"`
			Keywords []string `toml:"keywords"`
			Regex    string   `toml:"regex"`
			Public   int      `toml:"public"`
		} `toml:"rule"`
	}
	err = toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields().Decode(&file)
	if unknown, ok := errors.AsType[*toml.StrictMissingError](err); ok { // all else was decoded
		for _, e := range unknown.Errors {
			c.later(strings.Join(e.Key(), "."))
		}
	} else if err != nil {
		return Committed{}, fmt.Errorf("parse rules: %w", err)
	}
	if len(file.Rule) > maxRules {
		return Committed{}, fmt.Errorf("%d rules, more than %d", len(file.Rule), maxRules)
	}
	known := Builtin().Names()
	for _, name := range file.Off {
		if slices.Contains(known, name) {
			c.Off = append(c.Off, name)
		} else {
			c.later(fmt.Sprintf("off = %q", name))
		}
	}
	for _, r := range file.Rule {
		rule := Rule{
			Name: r.Name, Keywords: r.Keywords, Regex: r.Regex, Public: r.Public,
			added: true, within: addedWindow,
		}
		err := rule.validate()
		if slices.Contains(known, r.Name) {
			err = errors.New("the name is taken")
		}
		if err != nil {
			c.Faults = append(c.Faults, fmt.Errorf("rule %q: %w", r.Name, err))
			continue
		}
		known = append(known, r.Name)
		c.Rules = append(c.Rules, rule)
	}
	return c, nil
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
