package secrets_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestOwnValuesAreNoPlaces checks that variables that every shell exports do not stop a commit:
// paths, and names in which key or auth only begin another word.
func TestOwnValuesAreNoPlaces(t *testing.T) {
	for line, want := range map[string]bool{
		"PWD=/home/ada7/src/proj2":             false,
		"OLDPWD=/home/ada7/src/proj2":          false,
		"SSH_AUTH_SOCK=/tmp/ssh-x81q/agent.17": false,
		"PASSWORD_STORE_DIR=~/.pass-store7":    false,
		`SSH_KEY_PATH=C:\Users\ada7\.ssh\id2`:  false,
		"KEY_FILE=../keys7/deploy.pem":         false,
		"GIT_AUTHOR_EMAIL=ada77@engines.org":   false,
		"GIT_AUTHOR_DATE=@1795485600 +0000":    false,
		"TOKENIZERS_PARALLELISM=qx17-vb92k":    false,
		"KEYMAP=qx17-vb92k":                    false,
		"MYSQL_PWD=qx17-vb92k":                 true,
		"DB_PASSWORD=.qx17-vb92k":              true,
		"API_KEY_2=qx17-vb92k":                 true,
		"APIKEY=qx17-vb92k":                    true,
		"ACCESS_TOKENS=qx17-vb92k":             true,
		"NPM_CONFIG_AUTH=qx17-vb92k":           true,
		"CLIENTSECRETVALUE=qx17-vb92k":         true,
	} {
		if got := !slices.Equal(secrets.OwnValues([]byte(line)), nil); got != want {
			t.Errorf("%s: counts %v, want %v", line, got, want)
		}
	}
}

// TestOwnValuesMayHaveAnyWord checks that a word of a placeholder inside a value does not make the
// value one.
func TestOwnValuesMayHaveAnyWord(t *testing.T) {
	for value, want := range map[string]bool{
		"Zq8Lm2secretRt4": true, "testQx17vb92k": true, "pa$$w0rd9xKq": true, "sk-sample-7Qm2xVb9": true,
		"changeme-1": false, "your-secret-token-1": false, "${OTHER_PASSWORD_1}": false, "<your token 1>": false,
		"{{ vault.password1 }}": false, "example-password-12": false,
	} {
		if got := len(secrets.OwnValues([]byte("MY_API_KEY="+value))) > 0; got != want {
			t.Errorf("%s: counts %v, want %v", value, got, want)
		}
	}
}

// TestValueInShortBase64 checks that a value is found in base64 that is too short for rules, at each
// of its alignments and behind text that could belong to it, and that the range covers it.
func TestValueInShortBase64(t *testing.T) {
	const value = "sesame"
	for _, before := range []string{"", "x", "xy", "xyz"} {
		for _, after := range []string{"", "\n", "12"} {
			for _, in := range []string{"%s", "n %s.", `{"path": "%s"}`, "data/%s"} {
				code := base64.StdEncoding.EncodeToString([]byte(before + value + after))
				text := fmt.Appendf(nil, in, code)
				found := secrets.ValueRules("text", value).Scan(text)
				if len(found) != 1 {
					t.Errorf("%s: found %v", text, found)
					continue
				}
				left := slices.Delete(text, found[0].Start, found[0].End)
				if len(secrets.ValueRules("text", value).Scan(left)) > 0 {
					t.Errorf("%s: the rest has it", left)
				}
			}
		}
	}
	if found := secrets.ValueRules("text", value).Scan([]byte("sesam c2VzYW sesam")); found != nil {
		t.Errorf("found %v", found)
	}
}
