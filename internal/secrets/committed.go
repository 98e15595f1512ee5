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

// ParseRules parses the rules of a workspace. An error in one rule rejects the file.
func ParseRules(data []byte) (Committed, error) {
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
	decoder := toml.NewDecoder(bytes.NewReader(data)).DisallowUnknownFields()
	if err := decoder.Decode(&file); err != nil {
		return Committed{}, fmt.Errorf("parse rules: %w", err)
	}
	if len(file.Rule) > maxRules {
		return Committed{}, fmt.Errorf("%d rules, more than %d", len(file.Rule), maxRules)
	}
	known := Builtin().Names()
	for _, name := range file.Off {
		if !slices.Contains(known, name) {
			return Committed{}, fmt.Errorf("off: there is no rule %q", name)
		}
	}
	c := Committed{Off: file.Off}
	for _, r := range file.Rule {
		rule := Rule{
			Name: r.Name, Keywords: r.Keywords, Regex: r.Regex, Public: r.Public,
			added: true, within: addedWindow,
		}
		if slices.Contains(known, r.Name) {
			return Committed{}, fmt.Errorf("rule %q: the name is taken", r.Name)
		}
		if err := rule.validate(); err != nil {
			return Committed{}, fmt.Errorf("rule %q: %w", r.Name, err)
		}
		known = append(known, r.Name)
		c.Rules = append(c.Rules, rule)
	}
	return c, nil
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
