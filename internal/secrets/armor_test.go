package secrets_test

import (
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestLimitsOfArmor checks which lines belong to a private key, and what is replaced of it.
func TestLimitsOfArmor(t *testing.T) {
	const (
		head, end = "-----BEGIN PRIVATE " + "KEY-----", "-----END PRIVATE " + "KEY-----"
		line      = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASC" // 32
		short     = "q7ExKz0uW9dJc4Rb"
		marker    = "[redacted:private-key]"
	)
	some := func(n int) string { return strings.Repeat("#", n) }
	kept := func(s string) [2]string { return [2]string{s, s} }
	for name, tt := range map[string][2]string{
		"a complete key":    {"a\n" + head + "\n" + line + "\n" + line + "\n" + end + "\nb", "a\n" + marker + "\nb"},
		"without its end":   {head + "\n" + line + "\n" + line[:30] + "==\nb", marker + "\nb"},
		"far from its head": {head + some(400) + line + "\n", marker + "\n"},
		"too far from it":   kept(head + some(401) + line + "\n"),
		"a line far from the one before": {
			head + line + some(160) + line + "\n", marker + "\n",
		},
		"a line too far from it": {
			head + line + some(161) + line + "\n", marker + some(161) + line + "\n",
		},
		"an end too far":   {head + line + some(161) + end, marker + some(161) + end},
		"a short first":    kept(head + "\n" + line[:31] + "\n" + end),
		"short others":     {head + "\n" + line + "\n" + short + "\n" + short[:15], marker + "\n" + short[:15]},
		"no random line":   kept(head + "\n" + strings.Repeat("a1b", 20) + "\n" + end),
		"a name":           kept(head + "\n" + "NewPrivateKeyOfACompletelyDifferentAlgorithm" + "\n" + end),
		"an empty key":     kept(head + "\n" + end),
		"an end of no key": {head + line + "\n-----END " + some(80) + "-----", marker + "\n-----END " + some(80) + "-----"},
		"prose": kept("The line " + head + " begins a key, and the lines behind it are base64, up to the line " +
			end + " which is the last of it."),
		"two keys": {
			head + line + end + " " + head + line + end, marker + " " + marker,
		},
	} {
		if out, _ := secrets.Builtin().Redact([]byte(tt[0])); string(out) != tt[1] {
			t.Errorf("%s: %s\nis redacted to %s", name, tt[0], out)
		}
	}
}
