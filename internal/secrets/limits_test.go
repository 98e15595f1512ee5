package secrets_test

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestLimits checks what is just a secret, and what is just none.
func TestLimits(t *testing.T) {
	const v = "Zk3u9sPq1LmX7vBtR5w2"
	long := strings.Repeat(v, 10) // 200 bytes
	far := func(n int) string { return `"name": "DB_PASSWORD", ` + strings.Repeat(" ", n) + `"value": "` + v + `"` }
	for _, tt := range [][2]string{
		{"password=    " + v, "password=     " + v},
		{`password="` + long + `"`, `password="` + long + `1"`},
		{"password=QwErTzUiOpAsDfGhJk", "password=QwertzUiopAsdfGhjk"},
		{"password=Qwertz12345", "password=Qwertz1234"},
		{"password=abcX9defK2", "password=abcdX9efgh"},
		{far(150), far(220)},
		{`{"name": "DB_PASSWORD", "value": "` + v + `"}`, `{"name": "DB_PASSWORD"}, "value": "` + v + `"`},
		{"Cookie: id=Zk3u9sPq1LmX7vBt", "Cookie: id=Zk3u9sPq1LmX7vB"},
		{"Cookie: id=req.cookies.9session8c7v6b5n", "Cookie: id=req.cookies.session9x8c7v6b5n"},
		{"Cookie: id=x7k2m9q4w1Lz8Zk3u9sPq1", "Cookie: id=x7k2m9q4w1 Lz8Zk3u9sPq1"},
		{"mysql -p " + v, "mysql -p --x=" + v},
		{"[\"mysql\",\n\"-p" + v + "\"]", "mysql\n-p" + v},
		{"redis-cli --pass Zk3u9sPq1Lm", "redis-cli --passZk3u9sPq1Lm"},
		{"redis-cli -a " + v, "redis-cli; ls -a " + v},
		{"xyz" + base64.StdEncoding.EncodeToString([]byte("API_KEY="+v+" ")), "xyz" + base64.StdEncoding.EncodeToString([]byte("BUILD_ID="+v))},
	} {
		for i, text := range tt {
			if found := secrets.Builtin().Scan([]byte(text)); len(found) != 1-i {
				t.Errorf("%q: found %+v", text, found)
			}
		}
	}
	two := "Cookie: a=" + v + "; theme=dark; b=" + v + "9; c=d"
	if out, _ := secrets.Builtin().Redact([]byte(two)); string(out) != "Cookie: a=[redacted:cookie]; c=d" {
		t.Errorf("%s is redacted to %s", two, out)
	}
	between := `{"key":"api_token","x":"password=` + v + `","value":"` + v + `9"}`
	if out, _ := secrets.Builtin().Redact([]byte(between)); strings.Contains(string(out), v) {
		t.Errorf("%s is redacted to %s", between, out)
	}
}

// TestKeywordsWithoutSecretsAllocateNothing: an import scans each text, and nearly all have a
// keyword.
func TestKeywordsWithoutSecretsAllocateNothing(t *testing.T) {
	rules := secrets.Builtin()
	allocs := func(text string) float64 {
		return testing.AllocsPerRun(10, func() { rules.Redact([]byte(text)) })
	}
	without := allocs("nothing that a rule could look for in vain is here at all, is it")
	if n := allocs("mkdir -p a; cp -a b c; a token of the password is the secret key"); n != without {
		t.Errorf("%v allocations, and %v without a keyword", n, without)
	}
}
