package secrets_test

import (
	"encoding/base64"
	"fmt"
	"net/url"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/secrets"
)

// TestSettingsOfManyTools checks the places in which tools, clouds and forges keep a value.
func TestSettingsOfManyTools(t *testing.T) {
	const value = "Zk3u9sPq1LmX7vBtR5w2"
	for _, format := range []string{
		`{"name":"DB_PASSWORD","value":"%s"}`, "{\n  \"name\": \"DB_PASSWORD\",\n  \"value\": \"%s\"\n}",
		`{"key":"API_TOKEN","variable_type":"env_var","value":"%s","protected":false}`,
		`{"Name":"DbPassword","Value":"%s"}`, `{"ParameterKey":"DBPassword","ParameterValue":"%s"}`,
		"- name: DB_PASSWORD\n  value: %s\n", "- name: \"DB_PASSWORD\"\n  value: \"%s\"\n", "  - key: API_TOKEN\n    value: '%s'\n",
		"environment_variable {\n  name  = \"DB_PASSWORD\"\n  value = \"%s\"\n}", `{ name: 'DB_PASSWORD', value: '%s' }`,
		"variable \"db_password\" {\n  type    = string\n  default = \"%s\"\n}", `"adminPassword": {"value": "%s"}`,
		`DB_PASSWORD: {value: "%s", isSecret: true}`, "<name>fs.s3a.secret.key</name>\n<value>%s</value>",
		`<property name="db.password" value="%s"/>`, "set {\n  name  = \"auth.password\"\n  value = \"%s\"\n}",
		"environment:\n  - DB_PASSWORD=%s\n", "environment:\n  DB_PASSWORD: %s\n", `"Env":["DB_PASSWORD=%s","A=b"]`,
		`["tool","--password","%s"]`, "[\n  \"--api-key\",\n  \"%s\"\n]", `["sshpass","-p","%s","ssh","a@b"]`,
		`["mysql","-u","root","-p%s"]`, `["docker", "login", "-u", "ada", "-p", "%s"]`, `["curl", "-u", "ada:%s"]`,
		`["redis-cli","-a","%s"]`, "redis-cli -h a.invalid -a %s ping", "mongosh --host a -u ada -p %s", "sshpass -p%s ssh a@b",
		`passwords = ["%s"]`, "app:%s@tcp(db.invalid:3306)/prod?tls=true", `"app:%s@unix(/run/db.sock)/prod"`,
		"postgres://app:%s@db.invalid/x", "host=db.invalid user=app password=%s dbname=x", "host=db user=app password='%s'",
		"jdbc:mysql://db.invalid/x?user=app&password=%s", "Server=db;User Id=app;Password=%s;", "Endpoint=sb://a/;SharedAccessKey=%s",
		"Cookie: theme=dark; session=%s", "Set-Cookie: sid=%s; Path=/; HttpOnly", `"Cookie": "session=%s; a=b"`,
		"curl -H 'Cookie: session=%s' x", "curl --cookie \"session=%s\" x", `{"name":"Cookie","value":"session=%s"}`,
		".a.invalid\tTRUE\t/\tFALSE\t1790000000\tsid\t%s\n", "curl -b 'session=%s' x",
		"curl --user=ada:%s x", "curl -U ada:%s x", `["curl", "--proxy-user", "ada:%s"]`, "curl --proxy-user=ada:%s x",
		"curl -uada:%s x", "curl -sS -Uada:%s x", "curl -u'ada:%s' x", `["curl","-uada:%s"]`,
		"ldapsearch -x -D cn=ada -w %s", "ldapmodify -w%s", "sqlcmd -S db -U sa -P%s", "sqlcmd -P '%s'", "bcp a in b -P %s",
		"7z x a.7z -p%s", "unzip -P %s a.zip", "ipmitool -H a -U ada -P %s",
		"curl --oauth2-bearer %s x", "redis-cli --pass %s ping", "redis-cli --pass='%s'",
		"machine a.invalid login ada password %s", "machine a.invalid password %s", "machine a.invalid\nlogin ada\naccount b\npassword %s\n",
		"db.invalid:5433:*:app:%s", "db.invalid:5432:prod:app:%s", "*:*:*:app:%s",
		"//r.invalid/:_authToken=%s", "//r.invalid/:_password=%s", "index-url = https://ada:%s@r.invalid/simple",
		"users:\n- name: a\n  user:\n    token: %s\n", "aws_session_token = %s", `"SessionToken": "%s"`, `"client_secret": "%s"`,
		`"refresh_token": "%s"`, "AZURE_CLIENT_SECRET=%s", `"clientSecret": "%s"`, "stringData:\n  password: %s\n",
		"AccessKeyId,SecretAccessKey\nAKIA5Y2X3W4V7U6T5S3R,%[1]s%[1]s\n", `"identitytoken": "%s"`,
		"AWS Secret Access Key [None]: %[1]s%[1]s\n", "aws configure set aws_secret_access_key %[1]s%[1]s",
		"npm config set //r.invalid/:_authToken %s", "az storage blob list --account-key %s", "gh secret set X --body %s",
		"ansible_ssh_pass=%s", "pass=%s", `"pass": "%s"`, "psk=\"%s\"", "openssl rsa -passin pass:%s", "openssl enc -k %s",
		"keytool -storepass %s", "gpg -passphrase %s", "zip -P %s a.zip f", "htpasswd -b f ada %s", "smbclient -U ada%%%s",
		"sqlplus ada/%s@orcl", "http -a ada:%s a.invalid", "requests.get(u, auth=('ada', '%s'))", `r.SetBasicAuth("ada", "%s")`,
		"echo %s | docker login --password-stdin", "printf '%%s' '%s' | sudo -S true", `echo "root:%s" | chpasswd`,
		"curl -sSuada:%s x", "curl x -fsSLu 'ada:%s'", `["curl", "-sSu", "ada:%s"]`, "curl -sb 'sid=%s' x",
		"curl x \\\n  -uada:%s", "mysql -h db \\\n -p%s prod", "ConvertTo-SecureString \"%s\" -AsPlainText",
		"CREATE USER a IDENTIFIED BY '%s'", "CREATE ROLE a PASSWORD '%s'", "SET PASSWORD = PASSWORD('%s')",
		`os.Setenv("API_KEY", "%s")`, `os.getenv("API_KEY", "%s")`, `h.Set("X-Api-Key", "%s")`, `[["X-Api-Key","%s"]]`,
		`define('DB_PASSWORD', '%s');`, `process.env.API_KEY || "%s"`, `ENV["API_KEY"] ||= "%s"`, "PASS=\"${DB_PASSWORD:-%s}\"",
		`ds.setPassword("%s")`, `password: Some("%s")`, `const apiKey: string = "%s"`, `let api_key: &str = "%s";`,
		"**Password:** %s", "**API Key**: `%s`", "password: |\n  %s\n", "password: >-\n  %s\n", "\"password\":\n  \"%s\"",
		"password = \"\"\"\n%s\"\"\"", "{User:ada Password:%s}", "X-Auth-Key: %s", `{"kty":"oct","k":"%[1]s"}`,
		`{"kty":"EC","d":"%[1]s%[1]s%[1]s"}`, `{"d":"%[1]s%[1]s%[1]s","crv":"P-256","kty":"EC"}`, "h.append('Authorization', 'Bearer %s')",
	} {
		text := fmt.Sprintf(format, value)
		for _, text := range []string{text, "x\n" + text + "\ny"} {
			if out, _ := secrets.Builtin().Redact([]byte(text)); strings.Contains(string(out), value) {
				t.Errorf("not found in %q", text)
			}
		}
	}
	jwt := "eyJhbGciOiJIUzI1NiIsInR5cCI6IkpXVCJ9." + base64.RawURLEncoding.EncodeToString([]byte(`{"sub":"8Kd93kfP"}`)) +
		".q7ExKz0uW9dJc4RbT1yVn5mHs8Lg2aPf6oXe3iZkUvB"
	basic := base64.StdEncoding.EncodeToString([]byte("ada:" + value))
	pem := "-----BEGIN RSA " + "PRIVATE KEY-----\n" + strings.Repeat("MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQC7VJTUt9Us8cKj\n", 3)
	hash := "kVh5T0WxJq1lZrN8yB3uEo"
	for format, secret := range map[string]string{
		"https://a.invalid/login?id_token=%s&x=1": jwt, "https://a.invalid/verify/%s": jwt, "https://a.invalid/#access_token=%s": jwt,
		"https://a.invalid/?next=" + url.QueryEscape("b?t=") + "%s": jwt,
		"Authorization: Basic %s":                                   basic,
		`"headers": {"Authorization": "Basic %s"}`:                  basic,
		`{"auths":{"r.invalid":{"auth":"%s"}}}`:                     basic,
		"client-key-data: %s\n":                                     base64.StdEncoding.EncodeToString([]byte(pem)),
		`Authorization: Digest username="ada", realm="r", nonce="dcd98b7102dd2f0e", uri="/", response="%s"`: "6629fae49393a05397450978507c4ef1",
		"ada:$apr1$Zk3u9sPq$%s\n": hash, "ada:$2y$10$%s" + hash[:9] + "9\n": hash, "root:$6$Zk3u9sPq1LmX$%[1]s%[1]s:19000:0:99999:7:::\n": hash,
		"ada:{SHA}%s1LmX7v=\n": hash,
	} {
		text := fmt.Sprintf(format, secret)
		if out, _ := secrets.Builtin().Redact([]byte(text)); strings.Contains(string(out), secret) {
			t.Errorf("not found in %q", text)
		}
	}
}

// TestHarmlessSettings checks what resembles them.
func TestHarmlessSettings(t *testing.T) {
	const value = "Zk3u9sPq1LmX7vBtR5w2"
	for _, text := range []string{
		"- name: DB_PASSWORD\n  valueFrom:\n    secretKeyRef:\n      name: db-x7k2m9q4w1\n      key: password\n",
		"- name: DB_PASSWORD\n- name: BUILD\n  value: " + value + "\n", `{"name":"DB_PASSWORD"},{"name":"BUILD","value":"` + value + `"}`,
		`{"name":"DB_PASSWORD","value":"${DB_PASSWORD_2}"}`, `{"name":"DB_PASSWORD","value":"changeme1"}`,
		"- name: DB_PASSWORD\n  value: {{ .Values.password1x }}\n", "- name: DB_PASSWORD\n  value: $(cat /x7k2m9q4w1)\n",
		`{"name":"BUILD_ID","value":"` + value + `"}`, `{"name":"API_TOKEN","encrypted_value":"` + value + `"}`,
		`{"name":"DB_PASSWORD","value":"<your password 1>"}`, "variable \"db_password\" {\n  type = string\n}\nvariable \"build\" {\n  default = \"" + value + "\"\n}",
		`["--password","--verbose-x7k2m9q4w1"]`, `["--password","the-password-1"]`, `["mysql","-p","prod_db_1"]`, `["docker","run","-p","8080:80"]`,
		`["grep","-p","` + value + `"]`, "mkdir -p " + value, "login; mkdir -p " + value, "mysql -e x | tee -p " + value, "ssh -p 22022022 login@host",
		"redis-cli -a $REDIS_PASSWORD_1", `user:password@tcp(localhost:3306)/db`, `%s:%s@tcp(%s:%d)/%s`, "root:@tcp(127.0.0.1:3306)/x",
		"${USER_1}:${PASS_1}@tcp(db:3306)/x", "a@tcp(b:1)", "host=localhost password=postgres dbname=x",
		"Cookie: name=value; name2=value2", "Set-Cookie: theme=light; Expires=Wed, 21 Oct 2026 07:28:00 GMT; Path=/", "Set-Cookie: <name>=<value>",
		"cookie = cookies['session_id_value_1']", "const cookie = req.cookies.session9x8c7v6b5n", "the cookie: it is session=none",
		"res.cookie('token', value)", "Cookie: session=${SESSION_ID_17}", "Cookie: consent=accepted-all-categories-2",
		`"resolved": "https://registry.npmjs.org/js-tokens/-/js-tokens-4.0.0.tgz", "integrity": "sha512-RdJUflcE3cUzKiMqQgsCu06FPu9UdIJO0beYbPhHN4k6apgJtifcoCtT9bcxOpYBtpD2kCM6Sbzg4CausW/PKQ=="`,
		`{"path":"internal/token.go","sha":"3f786850e387550fdab836ed7e6dc881de23001b","value":1}`, "index 3f786850e3..89e6c98d92 100644\n--- a/token.go",
		`{"id":"token-list","uuid":"7f3c1e52-9b4d-4c1a-8a57-2f6f0d1b9c3e"}`, `{"name":"trace","value":"7f3c1e52-9b4d-4c1a-8a57-2f6f0d1b9c3e"}`,
		`<img alt="token" src="data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAUAAAAFCAYAAACNbyblAAAAHElEQVQI12P4">`,
		"$ANSIBLE_VAULT;1.1;AES256\n66386439653236336462626566653063336164663966303231363934653561363964363833313662\n6431626536303530376336343832656537303632313433360a626438346336353331386135323734\n",
		`"private_key_id": "268f54e43a1af97cfc71731688434f45aca15c8b"`, "AWS_ACCESS_KEY_ID=x7K2m9q4w1Lz8", "Authorization: Basic dXNlcm5hbWU6cGFzc3dvcmQ=",
		`Authorization: Digest username="Mufasa", response="<response>"`, "x:x:1000:1000:ada:/home/ada:/bin/bash", "ada:$apr1$salt$hash", "ada:!:19000:0:99999:7:::",
		"\"arn:aws:a4b:us-east-1:*:device/*/*:A1FUZ1SC53VJXD\"", "arn:aws:ssm:*:*:document/AWS-StopEC2Instance7\n", "arn:aws:ec2:*:x2y:A1FUZ1SC53VJXD\",",
		"main.go:5432:12:token: unexpected newline9", "machine github.com login ada password <token>",
		`AutoTokenizer.from_pretrained("gpt2-xl-1558M")`, `tokenizer = AutoTokenizer.from_pretrained("meta/Llama-3.1-8B")`,
		`passwordInput = document.querySelector("#pw-input9x2")`, `password = os.environ.get("DB_PW_V2X9")`, "compass: 4d93b2a1",
		"bypass: CVE-2024-12345a", `{"d":"` + value + value + value + `"}`,
		`(?i)password\s*[:=]\s*["']?([^"'\s]{8,})`, `{"type":"password","name":"p","title":"x9K2m4Lq7Zw1","required":true}`,
	} {
		if found := secrets.Builtin().Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%q: %+v", text, found)
		}
	}
}
