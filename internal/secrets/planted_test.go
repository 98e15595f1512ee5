package secrets_test

import (
	"encoding/base64"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
)

const (
	hexDigits = "0123456789abcdef"
	upper     = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"
	alnum     = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	base64url = alnum + "-_"
)

// A planted is a made-up secret, assembled in parts so that no scanner finds it in this file.
type planted struct {
	rule, before, secret, after string
}

func plantedSecrets() []planted {
	r := rand.New(rand.NewPCG(7, 8))
	some := func(n int, from string) string {
		b := make([]byte, n)
		for i := range b {
			b[i] = from[r.IntN(len(from))]
		}
		return string(b)
	}
	pem := func(n int) string {
		var b strings.Builder
		b.WriteString("-----BEGIN RSA " + "PRIVATE KEY-----\n")
		for range n {
			b.WriteString(some(64, alnum+"+/") + "\n")
		}
		return b.String() + "-----END RSA " + "PRIVATE KEY-----"
	}
	jwt := func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
	return []planted{
		{"aws-access-key", "id: ", "AKIA" + some(16, upper), "\n"},
		{"aws-secret-key", "aws_secret_access_key = ", some(40, alnum+"/+"), "\n"},
		{"anthropic-key", "export X=", "sk-ant-" + "api03-" + some(93, alnum) + "AA", " "},
		{"openai-key", "key ", "sk-" + "proj-" + some(74, alnum), "."},
		{"google-api-key", "?key=", "AI" + "za" + some(35, alnum), "&a=1"},
		{"github-token", "https://", "gh" + "p_" + some(36, alnum), "@github.com/a/b"},
		{"github-token", "(", "github" + "_pat_" + some(22, alnum) + "_" + some(59, alnum), ")"},
		{"gitlab-token", "PRIVATE-TOKEN: ", "glp" + "at-" + some(20, alnum), "'"},
		{"slack-token", "\"", "xo" + "xb-" + some(12, "0123456789") + "-" + some(24, alnum), "\""},
		{"slack-webhook", "curl https://", "hooks.slack.com/services/T" + some(9, upper) + "/B" +
			some(9, upper) + "/" + some(24, alnum), "\n"},
		{"stripe-key", "'", "sk" + "_live_" + some(24, alnum), "'"},
		{"npm-token", "//registry.invalid/:_authToken=", "np" + "m_" + some(36, alnum), "\n"},
		{"pypi-token", "", "pypi-" + "AgEIcHlwaS5vcmc" + some(80, base64url), "\n"},
		{"sendgrid-key", "<", "SG" + "." + some(22, alnum) + "." + some(43, alnum), ">"},
		{"huggingface-token", "token ", "h" + "f_" + some(34, alnum), ","},
		{"digitalocean-token", "", "do" + "p_v1_" + some(64, hexDigits), "\n"},
		{"vault-token", "X-Vault: ", "hv" + "s." + some(90, alnum), "\n"},
		{"jwt", "Bearer ", jwt(`{"alg":"HS256","typ":"JWT"}`) + "." +
			jwt(`{"sub":"`+some(9, alnum)+`"}`) + "." + some(43, alnum), "\n"},
		{"private-key", "cat id\n", pem(12), "\n$"},
		{"uri-credentials", "postgres://app:", some(14, alnum), "@db.internal:5432/x"},
		{"assigned-secret", "const dbPassword = \"", some(9, alnum) + "7" + some(9, alnum), "\""},
		{"assigned-secret", "A=b\nSESSION_SECRET=", some(24, alnum), "\nC=d"},
	}
}

// forms are the encodings that a text can have in a conversation.
func forms() map[string]func(string) string {
	escaped := func(s string) string {
		b, err := json.Marshal(s)
		if err != nil {
			panic(err)
		}
		return strings.ReplaceAll(string(b), "/", `\/`)
	}
	std := base64.StdEncoding.EncodeToString
	return map[string]func(string) string{
		"plain":         func(s string) string { return s },
		"escaped":       escaped,
		"escaped twice": func(s string) string { return escaped(escaped(s)) },
		"base64":        func(s string) string { return "data " + std([]byte(s)) + "\n" },
		"base64url":     func(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) },
		"base64 in JSON": func(s string) string {
			return escaped("{\"data\":\"" + std([]byte(s)) + "\"}")
		},
		"wrapped": func(s string) string {
			var b strings.Builder
			for s = std([]byte(s)); len(s) > 76; s = s[76:] {
				b.WriteString(s[:76] + "\r\n")
			}
			return b.String() + s + "\n"
		},
	}
}

// TestPlantedSecretsAreFound checks that each kind of secret is found by its rule in each form, and
// that redaction removes all of it.
func TestPlantedSecretsAreFound(t *testing.T) {
	rules := secrets.Builtin()
	kinds := plantedSecrets()
	if len(kinds) < 20 {
		t.Fatalf("only %d kinds", len(kinds))
	}
	for _, p := range kinds {
		for form, make := range forms() {
			text := make("some words in front\n" + p.before + p.secret + p.after + " and behind")
			redacted, found := rules.Redact([]byte(text))
			if len(found) != 1 || found[0].Rule != p.rule {
				t.Errorf("%s, %s: found %+v in %s", p.rule, form, found, text)
				continue
			}
			if again := rules.Scan(redacted); len(again) > 0 {
				t.Errorf("%s, %s: what is left has %+v: %s", p.rule, form, again, redacted)
			}
			if m := found[0]; form == "plain" && text[m.Start:m.End] != p.secret {
				t.Errorf("%s: found %q, not %q", p.rule, text[m.Start:m.End], p.secret)
			}
			if strings.Contains(string(redacted), p.secret) {
				t.Errorf("%s, %s: it is still there: %s", p.rule, form, redacted)
			}
		}
	}
}

// TestPlantedSecretsAreFoundInBlobs checks the same for content in the store, which a scanner reads
// once however many events refer to it, and that an entry removes the secret from it.
func TestPlantedSecretsAreFoundInBlobs(t *testing.T) {
	for _, p := range plantedSecrets() {
		for form, make := range forms() {
			m := memory{}
			e := events.NewElement(moment(1), &events.ChatRequest{Resources: []events.Resource{{
				URI: "x:y", Content: m.refer(make("in front\n" + p.before + p.secret + p.after)),
			}}}, events.Metadata{})
			s := events.New(e, e)
			found := findings(t, s, m)
			if len(found) != 2 || found[0].Rule != p.rule || found[1].Rule != p.rule {
				t.Errorf("%s, %s: found %+v", p.rule, form, found)
				continue
			}
			done, err := redactions(t, s, m, found).Apply(conversation, s, m)
			if err != nil {
				t.Fatal(err)
			}
			for _, b := range done.Store {
				m[blobs.Sum(b)] = b
			}
			if left := findings(t, done.Stream, m); len(left) > 0 {
				t.Errorf("%s, %s: left %+v", p.rule, form, left)
			}
		}
	}
}
