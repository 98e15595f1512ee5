package secrets_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/secrets"
)

// TestLinesOfKeysAreFound checks that each line of a private key is found, whatever tools put
// around it: this is how agents read files.
func TestLinesOfKeysAreFound(t *testing.T) {
	pem := ""
	for _, p := range plantedSecrets() {
		if p.rule == "private-key" {
			pem = p.secret
		}
	}
	gpg := strings.NewReplacer("RSA PRIVATE KEY", "PGP PRIVATE KEY BLOCK").Replace(pem)
	gpg = strings.Replace(gpg, "\n", "\nVersion: GnuPG v2 (GNU/Linux)\nComment: what's this?\n\n", 1)
	sealed := strings.Replace(pem, "\n", "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,6F0\n\n", 1)
	each := func(format string) func(i int, line string) string {
		return func(i int, line string) string { return fmt.Sprintf(format, i, line) }
	}
	for name, around := range map[string]func(i int, line string) string{
		"cat -n": each("%6d\t%s\n"), "read": each("%6d→%s\n"), "colors": each("\x1b[3%d;1m%s\x1b[0m\n"),
		"grep": each("src/a_b/c-d/server_key.pem:%d:%s\n"), "bat": each("%4d │ %s\n"), "quote": each("%.0d> %s\n"),
		"diff": each("%.0d+%s\n"), "joined": each("%.0d  \"%s\\n\" +\n"), "comment": each("%.0d// %s\n"),
		"hash": each("%.0d # %s\r\n"), "escaped": each("%.0d%s\\n"), "blame": each("0d1f%d (Ada L 2026-01-02 7) %s\n"),
	} {
		for _, key := range []string{pem, gpg, sealed} {
			var b strings.Builder
			lines := strings.Split(key, "\n")
			for i, line := range lines {
				b.WriteString(around(i, line))
			}
			out, _ := secrets.Builtin().Redact([]byte("before\n" + b.String() + "the words behind it stay\n"))
			for _, line := range lines {
				if len(line) == 64 && strings.Contains(string(out), line) {
					t.Errorf("%s: %s is left in %s", name, line, out)
					break
				}
			}
			if !strings.Contains(string(out), "the words behind it stay") {
				t.Errorf("%s: too much was replaced: %s", name, out)
			}
		}
	}
}

// TestLinesOfKeysInLists checks the same of lines in a list, as programs read and write files, up to
// the end of the key.
func TestLinesOfKeysInLists(t *testing.T) {
	const line = "MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj"
	var b secrets.Before
	b.Begin(true)
	for _, s := range []struct {
		text string
		want int
	}{
		{line, 0},
		{"+-----BEGIN RSA " + "PRIVATE KEY-----", 0},
		{"+" + line, 1},
		{line, 1},
		{"+-----END RSA " + "PRIVATE KEY-----", 0},
		{line, 0},
	} {
		if found := secrets.Builtin().ScanValue(b.Of([]byte(s.text)), []byte(s.text)); len(found) != s.want {
			t.Errorf("%s: found %+v", s.text, found)
		}
		b.Value([]byte(s.text))
	}
}

// TestMixedPasswords checks that signs make a password no placeholder and no words, where no word
// and no code has them.
func TestMixedPasswords(t *testing.T) {
	for text, want := range map[string]int{
		`password: "x7$kQ(9!mZ<2"`: 1, "DB_PASSWORD=Lm!4#kQx9@Tz": 1, `"password": "pG7!{x}V2$aq"`: 1, `password: "${Xa7}!b9Q#"`: 0,
		"secret=e.A1?t(B2):c+D": 0, `password: "aB3!sample#9"`: 0, `password: "A1b!c2"`: 0, `password: "Aé1!b2#Q"`: 0,
		`password: "Hello!World#22"`: 0, `password: "{{aX7!b9Q#}"`: 0,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) != want {
			t.Errorf("%s: found %+v", text, found)
		}
	}
}

// TestPlacesOfSecrets checks the places in which settings, commands and headers have a value.
func TestPlacesOfSecrets(t *testing.T) {
	const value, basic = "Zk3u9sPq1LmX7vBtR5w2", "YWRhOlprM3U5c1BxMUxtWDd2QnQ="
	const key = "/k3u9sPq1LmX7vBtR5w2yC8dE4fG6hJ0aN+oQzW3T" // 40 bytes; base64 may begin with a slash
	in := []string{
		"\x1b[34mapi_key\x1b[0m=\x1b[33m%s\x1b[0m", "\x1b[1m\"apiKey\"\x1b[0m: \x1b[32m\"%s\"\x1b[0m,",
		`<add key="ApiKey" value="%s"/>`, "<password>%s</password>", "tool --password %s", "tool --api-key '%s'",
		"ENV SECRET_KEY %s", "setx API_KEY %s", "set -gx API_TOKEN %s", "RAILS_MASTER_KEY=%s",
		"DD_APP_KEY: %s", "APP_KEY=base64:%s", "my API key: %s", "PresharedKey = %s",
		"machine a.invalid login ada password %s", "machine a.invalid\n\tlogin ada\n\tpassword %s\n",
		"db.invalid:5432:prod:app:%s", "sshpass -p %s ssh a@b", "docker login -u ada -p %s r.invalid",
		"mysql -u root -p%s prod", "curl -u ada:%s https://a.invalid", "curl --user 'ada:%s' x",
		"Authorization: Token %s", "'authorization': 'SSWS %s'", "Authorization: %s",
	}
	found := func(text, secret string) bool {
		out, _ := secrets.Builtin().Redact([]byte(text))
		return !strings.Contains(string(out), secret)
	}
	for _, format := range in {
		for _, surround := range []string{"%s", "x\n%s\ny", "  12→%s"} {
			text := fmt.Sprintf(surround, fmt.Sprintf(format, value))
			if !found(text, value) {
				t.Errorf("not found in %q", text)
			}
		}
	}
	for text, secret := range map[string]string{
		"Authorization: Basic " + basic:                                      basic,
		`{"auths":{"r.invalid":{"auth":"` + basic + `"}}}`:                   basic,
		"//r.invalid/:_auth=" + basic:                                        basic,
		"AWS_SECRET_ACCESS_KEY=" + key[:40]:                                  key[:40],
		"PrivateKey = " + key + "gh=":                                        key,
		"https://a.invalid/?next=" + url.QueryEscape("b?api_key="+value+"&"): value,
		"?sv=1&sig=" + url.QueryEscape(key+"gh="):                            url.QueryEscape(key),
	} {
		if !found(text, secret) {
			t.Errorf("not found in %q", text)
		}
	}
}

// TestHarmlessPlaces checks what resembles these places.
func TestHarmlessPlaces(t *testing.T) {
	for _, text := range []string{
		"-----BEGIN " + "PRIVATE KEY-----\" {\n\treturn parsePrivateKeyOfTheServer(block.Bytes, passphraseOfKey)\n}",
		"if !strings.HasPrefix(s, \"-----BEGIN RSA " + "PRIVATE KEY-----\") { // sha256 of the file\n",
		"<token>identifier</token>", "<password></password>", "tool --token-file /run/token-7", "--max-tokens 100000000000",
		"#define SECRET_KEY_LEN crypto_box_SECRETKEYBYTES", "TOKEN_LIMIT 4096", "docker run -u 1000:1000 image",
		"Authorization: Bearer <token>", "basic functionality", "Authorization: required", "Basic authentication",
		"Authorization: Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ==", "login ada password authentication", "100% of 20%2C",
		"mysql -u root -pMyPassword prod", "curl -u user:password https://a.invalid", "\x1b[32mok\x1b[0m token: 12",
		"TOKEN=/nix/store/0c1pd2hq3ab4/bin/run7x", "postgres:5432:prod:app:password",
		"docker run -u1000:1000 image", "curl -uada:password x", "git push -uorigin feature:feature9x",
		"curl -u$USER:$PASS_9x81kq x", "scp -P 2222 a b", "wget -P /srv/data9/x71kq a.zip", "ldapsearch -w password -x",
		"cargo login --registry x", "git push -u origin feature:feature", "curl -sSuada:password x", "curl -sSLo a.tar x:8k3jd92ks",
		"tests_passed: 7x9k2m4q8w", "pass: 12", "compass 7x9k2m4q8wzz", `["token", "symbol2label", "b"]`, `i18n.t("token", "auth2_reset9x")`,
		"password_hash -token-ttl 12h30m15s900ms", "a token 7x9k2m4q8wzz", `os.getenv("API_KEY", "default-key")`, `setPassword("")`,
		"echo $TOKEN | gh auth login --with-token", "cat x7k2m9q4w1 | docker login --password-stdin", "**Token:** the unit of text",
		"password: |\n  (see the vault)", "\"password\":\n  {\"type\": \"string\"}", "let password: string = \"\"",
		"IDENTIFIED BY 'password'", "&quot;token&quot;: &quot;identifier&quot;", `{"kty":"EC","kid":"Zk3u9sPq1LmX7vBtR5w2"}`,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%q: %+v", text, found)
		}
	}
}

// TestEscapesAreReplacedWhole checks that nothing is left of an escape whose first byte belongs to a
// secret, and that escapes beside the secret stay.
func TestEscapesAreReplacedWhole(t *testing.T) {
	rules := secrets.ValueRules("text", "Zebra-4711-é")
	escape := func(format string, text string) string {
		var b strings.Builder
		for _, r := range text {
			fmt.Fprintf(&b, format, r)
		}
		return b.String()
	}
	for text, want := range map[string]string{
		`a\n` + escape(`\u%04x`, "Zebra-4711-é") + `\n`:     `a\n[redacted:text]\n`,
		"%20" + url.QueryEscape("Zebra-4711-é") + "%20":     "%20[redacted:text]%20",
		"%20" + escape("%%%02X", "Zebra-4711-") + "%C3%A9x": "%20[redacted:text]x",
		"\x1b[1mZebra\x1b[0m-4711-é\x1b[0m":                 "\x1b[1m[redacted:text]\x1b[0m",
	} {
		if out, _ := rules.Redact([]byte(text)); string(out) != want {
			t.Errorf("%q: %q, want %q", text, out, want)
		}
	}
}

// TestEscapesOfCode checks the escapes of HTML and of strings in code.
func TestEscapesOfCode(t *testing.T) {
	rules := secrets.ValueRules("text", `a"b<é>&4711`)
	for text, want := range map[string]string{
		"&lt;a&quot;b&lt;é&gt;&amp;4711&gt;": "&lt;[redacted:text]&gt;", "a&#34;b&#x3C;&#233;&#X3e;&amp;4711": "[redacted:text]",
		`\x61\x22\x62\x3c\xc3\xa9\x3e\x264711`: "[redacted:text]", "a\"b<é\\\n>&4711": "[redacted:text]",
		"&quota&quot;b": "&quota&quot;b", `\x6`: `\x6`, "&#1114112000;&": "&#1114112000;&", "&#;&": "&#;&",
	} {
		if out, _ := rules.Redact([]byte(text)); string(out) != want {
			t.Errorf("%q: %q, want %q", text, out, want)
		}
	}
}

// TestSpellingsOfValues checks that a value is found in JSON and in a form where it has what looks
// like an escape, or a blank.
func TestSpellingsOfValues(t *testing.T) {
	const value = `a\nb "c"%41&amp;`
	for text, want := range map[string]string{
		`{"x": "a\\nb \"c\"%41&amp;"}`: `{"x": "[redacted:text]"}`, "x=a%5Cnb+%22c%22%2541%26amp%3B&y": "x=[redacted:text]&y",
	} {
		if out, _ := secrets.ValueRules("text", value).Redact([]byte(text)); string(out) != want {
			t.Errorf("%s: %s, want %s", text, out, want)
		}
	}
}

// TestOtherScripts checks that a secret is found where the text in front of it, or the secret, is
// not in ASCII, whatever encodes it.
func TestOtherScripts(t *testing.T) {
	const value = "Zk3u9sPq1LmX7vBt"
	for _, before := range []string{"Schlüssel für ", "ключ и пароль: ", "鍵は次のとおり、", "\ufeff# ", "🔑 "} {
		text := before + "\nAPI_KEY=" + value + "\n"
		for _, text := range []string{
			base64.StdEncoding.EncodeToString([]byte(text)), strconv.QuoteToASCII(text), url.QueryEscape(text),
		} {
			if found := secrets.Builtin().Scan([]byte(text)); len(found) != 1 {
				t.Errorf("%s: found %+v", text, found)
			}
		}
	}
	const emoji = "🔑🔑 4711"
	for text, want := range map[string]string{
		`"\ud83d\udd11\ud83d\udd11 4711"`: `"[redacted:text]"`, `\ud83d🔑🔑 4711`: `\ud83d[redacted:text]`,
	} {
		if out, _ := secrets.ValueRules("text", emoji).Redact([]byte(text)); string(out) != want {
			t.Errorf("%s: %s, want %s", text, out, want)
		}
	}
}

// TestLongValues checks that a value is looked for byte for byte, however long it is.
func TestLongValues(t *testing.T) {
	value := strings.Repeat("0123456789 (?:*)[\xff\x00\n", 1<<15)
	out, found := secrets.ValueRules("text", value).Redact([]byte("a" + value + value + "b"))
	if string(out) != "a[redacted:text][redacted:text]b" || len(found) != 2 {
		t.Errorf("%d bytes, %d found", len(out), len(found))
	}
}

// TestValuesOfMembers checks that the value of a member of a tool's arguments, of settings and of
// other files is found by the member's name, and where it is.
func TestValuesOfMembers(t *testing.T) {
	const value = "Zk3u9sPq1LmX7vBt"
	rules := secrets.Builtin()
	for name, want := range map[string]string{
		"password": "assigned-secret", "X-API-Key": "assigned-secret", "Authorization": "authorization",
		"aws_secret_access_key": "assigned-secret", "path": "", "max_tokens_of_model_x": "assigned-secret",
		"a\"password": "", "": "",
	} {
		found := rules.ScanValue(named(name), []byte(value))
		if (len(found) == 1) != (want != "") || want != "" &&
			(found[0].Rule != want || found[0].Start != 0 || found[0].End != len(value)) {
			t.Errorf("%s: found %+v, want %q", name, found, want)
		}
	}
	for _, text := range []string{"Zk3u9sPq1L\"mX7vBt", "Zk3u9sPq1L'mX7\"vBt", "Zk3\"u9sPq1LmX7`vBt"} {
		found := rules.ScanValue(named("password"), []byte(text))
		if len(found) != 1 || found[0].Start != 0 || found[0].End != len(text) {
			t.Errorf("%s: found %+v", text, found)
		}
	}
	for _, text := range []string{"", "x", "the password", "${DB_PASSWORD}", "correct-horse-battery"} {
		if found := rules.ScanValue(named("password"), []byte(text)); len(found) > 0 {
			t.Errorf("%q: %+v", text, found)
		}
	}
	s, err := events.Decode([]byte(`[
  {"timestamp": "2026-01-01 00:00:00.0", "type": "tool_call_request", "id": "a", "name": "b",
    "arguments": {"user": "` + value + `a", "headers": {"X-API-Key": "` + value + `b"}, "passwords": ["` + value + `c"]}},
  {"timestamp": "2026-01-01 00:00:01.0", "type": "config_delta",
    "delta": {"providers": {"x": {"api_key": "` + value + `d"}}}}
]`))
	if err != nil {
		t.Fatal(err)
	}
	places := ""
	scanner := secrets.Scanner{Rules: rules}
	found, err := scanner.Stream(conversation, s, nil, memory{})
	for _, f := range found {
		places += f.Member + " "
	}
	if want := "/arguments/headers/X-API-Key /arguments/passwords/0 /delta/providers/x/api_key "; err != nil ||
		places != want {
		t.Errorf("found in %s, want %s: %v", places, want, err)
	}
	document := secrets.Scanner{Rules: rules}
	if found := document.Document(conversation, "base_config.json",
		[]byte(`{"x": {"client_secret": "`+value+`"}}`)); len(found) != 1 {
		t.Errorf("in a document: %+v", found)
	}
}

// TestDocumentAgain checks that a document without secrets is scanned once however many
// conversations have it, and that one with secrets is reported of each.
func TestDocumentAgain(t *testing.T) {
	scanner := secrets.Scanner{Rules: secrets.Builtin()}
	look := func(id events.ID, data []byte) int {
		return len(scanner.Document(id, "base_config.json", data))
	}
	secret := []byte(`{"x": {"client_secret": "Zk3u9sPq1LmX7vBt"}}`)
	for id := conversation; id < conversation+3; id++ {
		if n := look(id, secret); n != 1 {
			t.Errorf("%d found in %s", n, id)
		}
	}
	clean := []byte(`{"list": [` + strings.Repeat(`"an ordinary text", `, 1000) + `""]}`)
	if n := look(conversation, clean); n != 0 {
		t.Fatalf("%d found", n)
	}
	id := conversation
	if n := testing.AllocsPerRun(10, func() { id++; look(id, clean) }); n > 10 {
		t.Errorf("looking again made %v allocations", n)
	}
}

// named returns what is before the value of a member.
func named(name string) string {
	var b secrets.Before
	b.Begin(false)
	b.Name([]byte(name))
	return b.Of(nil)
}

// TestStringsInLists checks that a string is found by what is before it in a list or an object.
func TestStringsInLists(t *testing.T) {
	const v = "Zk3u9sPq1LmX7vBt"
	s := func(arguments string) *events.Stream {
		s, err := events.Decode([]byte(`[{"timestamp": "2026-01-01 00:00:00.0", "type": "tool_call_request", "id": "a",` +
			`"name": "b", "arguments": ` + arguments + `}]`))
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	for arguments, want := range map[string]string{
		`{"argv": ["tool", "--password", "` + v + `"]}`: "/arguments/argv/2", `{"argv": ["mysql", "-u", "ada", "-p` + v + `"]}`: "/arguments/argv/3",
		`{"argv": ["sshpass", "-p", "` + v + `", "ssh"]}`: "/arguments/argv/2", `{"argv": ["curl", "-u", "ada:` + v + `"]}`: "/arguments/argv/2",
		`{"env": [{"name": "DB_PASSWORD", "value": "` + v + `"}]}`: "/arguments/env/0/value", `{"password": {"value": "` + v + `"}}`: "/arguments/password/value",
		`{"env": [{"key": "DB_PASSWORD", "n": 7, "on": [true], "value": "` + v + `"}]}`: "/arguments/env/0/value",
		`{"headers": [["X-Api-Key", "` + v + `"]]}`:                                     "/arguments/headers/0/1", `{"x": [["X-Api-Key", "a", "` + v + `"]]}`: "",
		`{"passwords": ["x", "` + v + `"]}`: "/arguments/passwords/1", `{"headers": {"Cookie": "a=` + v + `"}}`: "/arguments/headers/Cookie",
		`{"argv": ["tool", "--password"], "x": "` + v + `"}`: "", `{"argv": ["mkdir", "-p", "` + v + `"]}`: "",
		`[{"name": "DB_PASSWORD"}, {"value": "` + v + `"}]`: "", `{"password": {"x": {}}, "value": "` + v + `"}`: "",
		`{"name": "BUILD", "value": "` + v + `"}`: "", `{"password": {"name": "a", "value": "` + v + `"}}`: "",
	} {
		if strings.HasPrefix(arguments, "[") {
			arguments = `{"x": ` + arguments + `}`
		}
		scanner, places := secrets.Scanner{Rules: secrets.Builtin()}, ""
		found, err := scanner.Stream(conversation, s(arguments), nil, memory{})
		for _, f := range found {
			places += f.Member
		}
		if err != nil || places != want {
			t.Errorf("%s: found in %q, want %q: %v", arguments, places, want, err)
		}
	}
}

// TestMarkersAreNoNames checks that the rule in a marker is not the name of what follows.
func TestMarkersAreNoNames(t *testing.T) {
	for _, text := range []string{
		`{"[redacted:github-token]": "Zk3u9sPq1LmX7vBt"}`, `[redacted:text][redacted:npm-token] = 'Zk3u9sPq1LmX7vBt'`,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
	for _, text := range []string{
		`["github-token"] = "Zk3u9sPq1LmX7vBt"`,
		`x["token"]="Zk3u9sPq1LmX7vBt"`, `token"]: "Zk3u9sPq1LmX7vBt"`,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) != 1 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}
