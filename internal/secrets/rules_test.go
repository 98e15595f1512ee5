package secrets_test

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

const acme = `
[[rule]]
name = "acme"
keywords = ["acme_"]
regex = 'acme_([0-9a-f]{8,32})'
public = 2
`

func TestAddedRules(t *testing.T) {
	c, err := secrets.ParseRules([]byte(acme))
	if err != nil {
		t.Fatal(err)
	}
	rules := secrets.Builtin().With(c)
	if got, _ := rules.Redact([]byte("x acme_0011223344 y")); string(got) != "x acme_[redacted:acme] y" {
		t.Errorf("redacted: %s", got)
	}
	if rules.Digest() == secrets.Builtin().Digest() {
		t.Error("another rule does not change the digest")
	}
	if again := secrets.Builtin().With(c); rules.Digest() != again.Digest() {
		t.Error("the digest changes")
	}
	if !regexp.MustCompile(`^5\.[0-9a-f]{12}$`).MatchString(rules.Digest()) {
		t.Errorf("digest %q", rules.Digest())
	}
}

func TestRulesAreSwitchedOff(t *testing.T) {
	c, err := secrets.ParseRules([]byte(`off = ["assigned-secret"]`))
	if err != nil {
		t.Fatal(err)
	}
	text := []byte(`password = "v7Jq0Zt4Lk29xW"`)
	rules := secrets.Builtin().With(c)
	if len(rules.Scan(text)) != 1 {
		t.Error("what a file switches off is off before anybody approved it")
	}
	if len(rules.Without(c.Off...).Scan(text)) != 0 {
		t.Error("an approved rule is not off")
	}
}

func TestParseRulesRefuses(t *testing.T) {
	rule := func(name, keyword, regex string) string {
		return fmt.Sprintf("[[rule]]\nname = %q\nkeywords = [%q]\nregex = %q\n", name, keyword, regex)
	}
	for want, file := range map[string]string{
		"parse rules":             "off = [",
		"off is not a list":       `off = "jwt"`,
		"rule is not a list":      "rule = 3",
		"does not have 1 to 40":   rule("../x", "abc", "abc"),
		"keyword":                 rule("a", "ab", "ab"),
		"1 to 500":                rule("a", "abc", strings.Repeat("a", 501)),
		"error parsing regexp":    rule("a", "abc", "abc("),
		"keywords":                "[[rule]]\nname = \"a\"\nregex = \"abc\"\n",
		"public is longer":        rule("a", "abc", "abc") + "public = 4\n",
		"201 rules":               strings.Repeat(rule("a", "abc", "abc"), 201),
		"more than 65536":         strings.Repeat("#", 65537),
		"rule \"a\": the name is": strings.Repeat(rule("a", "abc", "abc"), 2),
	} {
		c, err := secrets.ParseRules([]byte(file))
		err = errors.Join(append(c.Faults, err)...)
		if err == nil || !strings.Contains(err.Error(), want) || len(c.Rules) > 1 || c.Off != nil {
			t.Errorf("%.60q: %v, %v, want %q", file, c, err, want)
		}
	}
}

// TestRulesOfLaterVersions checks that a rule counts whatever is beside it: a fault in another one,
// or what only a later version knows.
func TestRulesOfLaterVersions(t *testing.T) {
	c, err := secrets.ParseRules([]byte(acme + `about = "ours"
[[rule]]
name = "jwt" # built in since
keywords = ["jwt_"]
regex = 'jwt_[0-9]{9}'
[later]
key = 1
`))
	if err != nil || len(c.Rules) != 2 || c.Faults != nil {
		t.Errorf("%+v, %v", c, err)
	}
	rules := secrets.Builtin().With(c)
	for _, p := range plantedSecrets() {
		if p.rule != "jwt" {
			continue
		}
		text := []byte("our jwt_123456789 and " + p.secret)
		if all, rest := rules.Scan(text), rules.Without("jwt").Scan(text); len(all) != 2 || len(rest) != 1 {
			t.Errorf("found %+v, and %+v without the built-in rule", all, rest)
		}
	}
	if off, err := secrets.ParseRules([]byte(`off = ["of-later", "jwt"]`)); err != nil ||
		!slices.Equal(off.Off, []string{"jwt"}) || !slices.Equal(off.Later, []string{`off = "of-later"`}) {
		t.Errorf("%+v, %v", off, err)
	}
	for _, want := range []string{"rule.about", "later"} {
		if !slices.ContainsFunc(c.Later, func(s string) bool { return strings.HasPrefix(s, want) }) {
			t.Errorf("%q does not name %s", c.Later, want)
		}
	}
}

// TestFaultyValues checks that a value of another type costs only its rule, or all of off: never the
// other rules.
func TestFaultyValues(t *testing.T) {
	for fault, file := range map[string]string{
		"off is not a list of texts":                  "off = 3\n" + acme,
		"off is not a list of texts: an element":      "off = [\"jwt\", 3]\n" + acme,
		`rule "b": keywords is not a list of texts`:   acme + "[[rule]]\nname = \"b\"\nkeywords = \"b_b_\"\n",
		`rule "b": public is not a whole number`:      acme + "[[rule]]\nname = \"b\"\npublic = \"3\"\n",
		`rule "b": regex is not a text`:               acme + "[[rule]]\nname = \"b\"\nregex = [\"b\"]\n",
		`rule "": name is not a text`:                 acme + "[[rule]]\nname = 3\n",
		`rule "b": public is longer than a keyword`:   acme + "[[rule]]\nname = \"b\"\nkeywords = [\"b_b_\"]\nregex = \"b_b_\"\npublic = 9223372036854775807\n",
		`rule "b": it has 0 keywords, not 1 to 20`:    acme + "[[rule]]\nname = \"b\"\n",
		`rule "acme": the name is taken`:              acme + "[[rule]]\nname = \"acme\"\n",
		"rule is not a list of tables, each below [[": "rule = 3\n",
	} {
		c, err := secrets.ParseRules([]byte(file))
		fault, _, _ = strings.Cut(fault, ": an element")
		rules := 1
		if !strings.Contains(file, acme) {
			rules = 0
		}
		if err != nil || len(c.Rules) != rules || len(c.Faults) != 1 || c.Off != nil ||
			!strings.HasPrefix(c.Faults[0].Error(), fault) {
			t.Errorf("%s: %+v, %v", fault, c, err)
		}
	}
}

// TestSpellingsOfRules checks that rules and their keys count in all spellings that counted before.
func TestSpellingsOfRules(t *testing.T) {
	const inline = `{name = "acme", keywords = ["acme_"], regex = "acme_[a-z]{8}"}`
	for file, rules := range map[string]int{
		strings.Replace(acme, "[[rule]]", "[[Rule]]", 1):                              1,
		strings.Replace(acme, "[[rule]]", "[rule]", 1):                                1,
		strings.Replace(acme, "keywords", "Keywords", 1):                              1,
		strings.Replace(acme, "name", "NAME", 1):                                      1,
		"rule = " + inline:                                                            1,
		"rule = [" + inline + "]":                                                     1,
		acme + strings.NewReplacer("rule", "Rule", `"acme"`, `"other"`).Replace(acme): 2,
	} {
		c, err := secrets.ParseRules([]byte(file))
		if err != nil || len(c.Rules) != rules || c.Later != nil || c.Faults != nil {
			t.Errorf("%s: %+v, %v", file, c, err)
		}
	}
	for file, rules := range map[string]int{
		"off = [\"jwt\"]\nOff = [\"jwt\"]\n" + acme: 1,
		acme + "Regex = \"b\"\n":                    0,
	} {
		c, err := secrets.ParseRules([]byte(file))
		if err != nil || len(c.Rules) != rules || c.Off != nil || len(c.Faults) != 1 {
			t.Errorf("%s: %+v, %v", file, c, err)
		}
	}
	c, err := secrets.ParseRules([]byte(`Off = ["jwt"]`))
	if err != nil || !slices.Equal(c.Off, []string{"jwt"}) || c.Later != nil {
		t.Errorf("Off: %+v, %v", c, err)
	}
}

// TestHarmlessText checks that placeholders, names, samples and parts of longer words are not
// reported as secrets.
func TestHarmlessText(t *testing.T) {
	rules := secrets.Builtin()
	gh := "gh" + "p_"
	for _, text := range []string{
		"AKIAIOSFODNN7" + "EXAMPLE",
		gh + strings.Repeat("x", 36),
		gh + "abcdefghijklmnopqrstuvwxyz0123456789",
		"prefix" + gh + "8sKd02mXo3Qp9vTz4Lr7Wn1Yc5Hb6Jf0Ge2",
		"postgres://user:password@localhost/db",
		"postgres://user:${DB_PASSWORD}@localhost/db",
		"https://host:8080/a@b",
		`password = os.Getenv("DB_PASSWORD")`,
		`token: "access_token"`, `secret: "my-secret-name"`, `"token": "<your token here>"`,
		`password: "correct-horse-battery"`, `api_key = "api.key.of.something"`,
		`token == "a8Kd93kfPq02zz"`, `secret: 'v1.2.3'`, `apiKey: process.env.API_KEY_2`,
		"PASSWORD=changeme1234", "TOKEN=$OTHER_TOKEN", "TOKEN=/run/secrets/token9x8c7",
		"max_tokens: 1234567890123", "tokens=12345678", "tokens: 1732547891234,",
		"\t\ttokens.AnsiEscapeSequences8Bit = mode.ansi8Bit\n", "messages-sk-7c1fa0e95b3d86427c9e01f4a2b8d653.js",
		"cache-key-7c1fa0e95b3d86427c9e01f4a2b8d653",
		"eyJhbGciOiJIUzI1NiJ9.not.a-jwt",
		"-----BEGIN PUBLIC KEY-----\nMFkwEwYHKoZIzj0CAQYIKoZIzj0DAQcDQgAE\n-----END PUBLIC KEY-----",
		"-----BEGIN RSA " + "PRIVATE KEY-----\n...\n-----END RSA PRIVATE KEY-----",
	} {
		if found := rules.Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// TestSurroundingsHideNothing checks that a secret is found behind everything that the output of
// tools has in front of it: signs of a diff, line numbers, file names, colors and emphasis.
func TestSurroundingsHideNothing(t *testing.T) {
	rules := secrets.Builtin()
	in := []string{
		"-", "+", "--- ", "12-", "12:", "\t7\t", "a/.env-12-", ".env:3:", "    12→", "| ", "_", "*", "%3A",
		"\x1b[m", "\x1b[1;32m", "\x1b[38;2;255;100;0m", "\x1b[K", `\u001b[0m`, `\x1b[31m`, `\033[0m`, `\e[0m`,
	}
	for _, p := range plantedSecrets() {
		line := p.secret
		switch p.rule {
		case "assigned-secret":
			line = "API_TOKEN=" + p.secret
		case "aws-secret-key", "uri-credentials":
			line = p.before + p.secret + p.after
		}
		for _, before := range in {
			for _, start := range []string{"", "x\n", "some words "} {
				text := start + before + line + "\n"
				if out, _ := rules.Redact([]byte(text)); strings.Contains(string(out), p.secret) {
					t.Errorf("%s: not found in %q", p.rule, text)
				}
			}
		}
	}
}

// TestValuesWithoutQuotesAreFound checks the forms in which settings are written.
func TestValuesWithoutQuotesAreFound(t *testing.T) {
	const value = "Zk3u9sPq1LmX7vBt"
	for _, text := range []string{
		"API_KEY=" + value, "export API_KEY=" + value, "-e API_KEY=" + value + " image", "api_key: " + value,
		"  password = " + value, "--password=" + value, "?token=" + value, "client.secret=" + value,
	} {
		if out, _ := secrets.Builtin().Redact([]byte(text)); strings.Contains(string(out), value) {
			t.Errorf("not found in %q", text)
		}
	}
}

// TestPublicPartIsThatOfTheProvider checks how much of a secret may be shown: nothing if it was
// found in an encoded form.
func TestPublicPartIsThatOfTheProvider(t *testing.T) {
	token := "gh" + "p_" + "8sKd02mXo3Qp9vTz4Lr7Wn1Yc5Hb6Jf0Ge2a"
	for text, want := range map[string]int{
		"a " + token:                4,
		`"a\n` + token + `"`:        0,
		`secret = "9vTz4Lr7Wn1Yc5"`: 0,
	} {
		found := secrets.Builtin().Scan([]byte(text))
		if len(found) != 1 || found[0].Public != want {
			t.Errorf("%s: %+v, want %d public bytes", text, found, want)
		}
	}
}

// TestHostileText checks that hostile text is scanned in linear time: otherwise the test would not
// end.
func TestHostileText(t *testing.T) {
	slow, err := secrets.ParseRules([]byte(`
[[rule]]
name = "slow"
keywords = ["+++"]
regex = '(\+|\+\+|[^b]*)*b{40}b'
[[rule]]
name = "short"
keywords = ["zzz"]
regex = 'zzz'
`))
	if err != nil {
		t.Fatal(err)
	}
	rules := secrets.Builtin().With(slow)
	size := 512 << 10
	if os.Getenv("GIT_JP_SOAK") != "" {
		size = 2 << 20
	}
	for _, unit := range []string{
		"+", "eyJ", "eyJ.", "eyJaaaaaaaaaaaaaaaaa.", "://", "://a:", "://a:b@", "sk-", "-----BEGIN ",
		"-----BEGIN RSA PRIVATE KEY-----", "-----BEGIN A", "password=", "password=\"", "token: '", "\\", `\u005c`,
		"QUtJQQ", "Bearer ", "\xff\xfe", "AKIA", "hooks.slack.com/services/T", "\\n", "zzz", "-", "aHR0cHM6Ly9",
		"%41", "%", "\x1b[1m", "\x1b[", "-----BEGIN PRIVATE KEY-----A", "authorization: ", "mysql a", "login a password ",
		"--token a", "API_KEY a", "<token>", "mysql -p", "mysql -paB3x9Zq1 ", "docker login ", "ops_eyJa=", "xoxd-", "fm2_a=", "eyJ-",
		"Cookie: a=b;", "x:@tcp(", "\":\"cookie\"",
	} {
		text := bytes.Repeat([]byte(unit), size/len(unit))
		out, found := rules.Redact(text)
		if len(out) > len(text)+len(found)*100 || !slices.IsSortedFunc(found, func(a, b secrets.Match) int {
			return a.End - b.Start
		}) {
			t.Errorf("%q: %d matches overlap", unit, len(found))
		}
		if unit == "zzz" && len(found) > 0 {
			t.Errorf("a rule matches %d bytes", found[0].End-found[0].Start)
		}
		if (unit == "fm2_a=" || unit == "eyJ-" || unit == "Cookie: a=b;") && (len(found) == 0 || found[len(found)-1].End < len(text)-4096) {
			t.Errorf("%q: where a rule rejects too much it does not stop rejecting: %d found", unit, len(found))
		}
		if unit == "+" && (len(found) != 1 || found[0].End != len(text)) {
			t.Errorf("where a rule costs too much the rest does not count as found: %+v", found)
		}
	}
}

// TestMillionSecrets checks that every one of very many secrets is found.
func TestMillionSecrets(t *testing.T) {
	token := "np" + "m_8sKd02mXo3Qp9vTz4Lr7Wn1Yc5Hb6Jf0Ge2a "
	const n = 100_000
	out, found := secrets.Builtin().Redact(bytes.Repeat([]byte(token), n))
	if len(found) != n || bytes.Contains(out, []byte("8sKd")) {
		t.Errorf("found %d of %d", len(found), n)
	}
}

func FuzzScan(f *testing.F) {
	for _, p := range plantedSecrets() {
		f.Add([]byte(p.before + p.secret + p.after))
	}
	rules := secrets.Builtin()
	f.Fuzz(func(t *testing.T, text []byte) {
		at := 0
		for _, m := range rules.Scan(text) {
			if m.Start < at || m.End <= m.Start || m.End > len(text) || m.Public > m.End-m.Start {
				t.Fatalf("%+v of %q", m, text)
			}
			at = m.End
		}
	})
}
