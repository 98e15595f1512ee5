package secrets

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strings"
	"testing"
)

// TestEveryTokenIsFoundByItsRule checks each rule for tokens with strings that are made from its
// expression, and that each of its keywords begins some of them.
func TestEveryTokenIsFoundByItsRule(t *testing.T) {
	rules := Builtin()
	random := rand.New(rand.NewPCG(3, 4))
	for _, rule := range slices.Concat(vendors, ofModels) {
		re, err := syntax.Parse(rule.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for range 300 {
			var b strings.Builder
			instance(&b, re, random)
			made := b.String()
			begins := func(k string) bool { return strings.HasPrefix(made, k) }
			i := slices.IndexFunc(rule.Keywords, begins)
			if i < 0 {
				t.Errorf("%s: %s begins with no keyword", rule.Name, made)
				break
			}
			seen[rule.Keywords[i]] = true
			tail := made[rule.Public:]
			if isSample([]byte(made)) || isSequence([]byte(tail)) || entropy([]byte(tail)) < minEntropy {
				continue
			}
			out, _ := rules.Redact([]byte("it is " + made + " here"))
			if strings.Contains(string(out), tail) {
				t.Errorf("%s: %s gives %s", rule.Name, made, out)
				break
			}
		}
		if len(seen) != len(rule.Keywords) {
			t.Errorf("%s: only %d of %q begin a match", rule.Name, len(seen), rule.Keywords)
		}
	}
}

// instance writes a random string that the expression matches.
func instance(b *strings.Builder, re *syntax.Regexp, random *rand.Rand) {
	repeat := func(least, most int) {
		for range least + random.IntN(most-least+1) {
			instance(b, re.Sub[0], random)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		total := 0
		for i := 0; i < len(re.Rune); i += 2 {
			total += int(re.Rune[i+1]-re.Rune[i]) + 1
		}
		n := rune(random.IntN(total))
		for i := 0; ; i += 2 {
			if size := re.Rune[i+1] - re.Rune[i] + 1; n >= size {
				n -= size
				continue
			}
			b.WriteRune(re.Rune[i] + n)
			break
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			instance(b, sub, random)
		}
	case syntax.OpAlternate:
		instance(b, re.Sub[random.IntN(len(re.Sub))], random)
	case syntax.OpCapture:
		repeat(1, 1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpPlus:
		repeat(1, 12)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 20
		}
		repeat(re.Min, most)
	}
}
