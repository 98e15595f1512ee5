package secrets

import "slices"

// tokens lists the built-in rules for the most common tokens and keys. They match a provider's
// prefix, which keeps false positives rare; for the same reason no rule matches random text alone.
var tokens = []Rule{
	{
		Name:     "private-key",
		Keywords: []string{"-----BEGIN "},
		shape:    armored,
		within:   16 << 10,
		Public:   11,
		Regex:    `-----BEGIN (?:[A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?|OpenVPN Static key V1)-----`,
	},
	vendor("anthropic-key", 7, `sk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{40,}`, "sk-ant-"),
	vendor("openrouter-key", 9, `sk-or-v1-[0-9a-f]{64}`, "sk-or-v1-"),
	vendor("openai-key", 3, `sk-[a-z]+-[A-Za-z0-9_-]{40,}`, "sk-proj-", "sk-svcacct-", "sk-admin-"),
	vendor("openai-key", 3,
		`sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48}|sk-[0-9a-f]{32}`,
		"sk-").lone(),
	vendor("aws-access-key", 4, `A[KSBC][IC]A[A-Z2-7]{16}`, "AKIA", "ASIA", "ABIA", "ACCA"),
	guess("aws-secret-key",
		`(?i:secret_?access_?key)["'\\\s]{0,4}[:=]["'\\\s]{0,4}([A-Za-z0-9/+]{40})`,
		"secret_access_key", "secretaccesskey").folded(),
	guess("aws-secret-key", `(?i:secret access key) \[[^\]\n]{0,40}\]: ?([A-Za-z0-9/+]{40})`,
		"secret access key [").folded(),
	guess("aws-secret-key", `A[KS]IA[A-Z2-7]{16}["']?[\s,:;]{1,4}["']?`+
		`([A-Za-z0-9/+]{40})(?:[^A-Za-z0-9/+=]|$)`,
		"AKIA", "ASIA"),
	vendor("google-api-key", 4, `AIza[A-Za-z0-9_-]{35}`, "AIza"),
	vendor("google-oauth", 5, `GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,}`,
		"GOCSPX-", "ya29."),
	vendor("github-token", 4, `gh[pousr]_[A-Za-z0-9]{36,}`, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
	vendor("github-token", 11, `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`, "github_pat_"),
	vendor("gitlab-token", 5, `gl[a-z]+-[A-Za-z0-9_-]{20,}`,
		"glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glagent-"),
	vendor("bitbucket-token", 4, `ATBB[A-Za-z0-9]{24,}`, "ATBB"),
	vendor("atlassian-token", 6, `ATATT3[A-Za-z0-9_=-]{100,}`, "ATATT3"),
	vendor("slack-token", 5, `x(ox[abeoprs]|app)-[0-9A-Za-z-]{20,}`,
		"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-", "xoxs-", "xapp-"),
	vendor("slack-webhook", 26,
		`hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}`,
		"hooks.slack.com/services/T"),
	vendor("discord-webhook", 11, `discord(app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,}`,
		"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"),
	guess("telegram-token", `:(AA[A-Za-z0-9_-]{33})`, ":AA"),
	vendor("stripe-key", 8, `[sr]k_(live|test)_[A-Za-z0-9]{24,}`,
		"sk_live_", "rk_live_", "sk_test_", "rk_test_"),
	vendor("stripe-webhook", 6, `whsec_[A-Za-z0-9+/]{32,64}=?`, "whsec_"),
	vendor("square-token", 7, `sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}`, "sq0csp-", "sq0atp-"),
	vendor("shopify-token", 6, `shp[a-z]{2}_[0-9A-Fa-f]{32}`,
		"shpat_", "shpca_", "shppa_", "shpss_"),
	vendor("npm-token", 4, `npm_[A-Za-z0-9]{36}`, "npm_"),
	vendor("pypi-token", 5, `pypi-AgE[A-Za-z0-9_-]{50,}`, "pypi-AgE"),
	vendor("rubygems-key", 9, `rubygems_[0-9a-f]{48}`, "rubygems_"),
	vendor("docker-token", 9, `dckr_[po]at_[A-Za-z0-9_-]{27,}`, "dckr_pat_", "dckr_oat_"),
	vendor("huggingface-token", 3, `hf_[A-Za-z0-9]{34}`, "hf_"),
	vendor("groq-key", 4, `gsk_[A-Za-z0-9]{52}`, "gsk_"),
	vendor("xai-key", 4, `xai-[A-Za-z0-9]{70,}`, "xai-"),
	vendor("perplexity-key", 5, `pplx-[A-Za-z0-9]{48}`, "pplx-"),
	vendor("replicate-token", 3, `r8_[A-Za-z0-9]{37}`, "r8_"),
	vendor("databricks-token", 4, `dapi[0-9a-f]{32}`, "dapi"),
	vendor("sendgrid-key", 3, `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`, "SG."),
	vendor("mailgun-key", 4, `key-[0-9a-f]{32}`, "key-").lone(),
	vendor("digitalocean-token", 7, `do[opr]_v1_[0-9a-f]{64}`, "dop_v1_", "doo_v1_", "dor_v1_"),
	vendor("vault-token", 4, `hv[sb]\.[A-Za-z0-9_-]{24,}`, "hvs.", "hvb."),
	vendor("terraform-token", 9, `\.atlasv1\.[A-Za-z0-9_-]{60,}`, ".atlasv1."),
	vendor("planetscale-token", 7, `pscale_(tkn|pw|oauth)_[A-Za-z0-9_.-]{32,}`,
		"pscale_tkn_", "pscale_pw_", "pscale_oauth_"),
	vendor("doppler-token", 6, `dp\.pt\.[A-Za-z0-9]{40,}`, "dp.pt."),
	vendor("linear-key", 8, `lin_api_[A-Za-z0-9]{40}`, "lin_api_"),
	vendor("notion-token", 4, `ntn_[A-Za-z0-9]{40,}`, "ntn_"),
	vendor("postman-key", 5, `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`, "PMAK-"),
	vendor("newrelic-key", 5, `NRAK-[A-Z0-9]{27}`, "NRAK-"),
	vendor("sentry-token", 7, `sntry[su]_[A-Za-z0-9+/_=]{50,}`, "sntrys_", "sntryu_"),
	vendor("grafana-token", 4, `glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/=]{50,}`,
		"glsa_", "glc_"),
	vendor("age-key", 16, `AGE-SECRET-KEY-1[0-9A-Z]{58}`, "AGE-SECRET-KEY-1"),
	{
		Name:     "maxmind-key",
		Keywords: []string{"_mmk"},
		lead:     36,
		Regex:    `[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk`,
	},
	guess("azure-storage-key", `AccountKey=([A-Za-z0-9+/]{86}==)`, "AccountKey="),
}

// forms lists the built-in rules for secrets that have no prefix of their own but a place: a token
// with parts, an address, a header, a command line or an assignment.
var forms = []Rule{
	{
		Name:     "private-key",
		Keywords: []string{"---- BEGIN SSH2 "},
		shape:    armored,
		within:   16 << 10,
		Regex:    `---- BEGIN SSH2 ENCRYPTED PRIVATE KEY ----`,
	},
	guess("private-key",
		`"kty"\s*:\s*"oct"\s*,[^{}]{0,200}?"k"\s*:\s*"([A-Za-z0-9_-]{16,})"`, `"kty"`),
	guess("private-key",
		`"kty"\s*:\s*"[A-Z]{2,3}"[^{}]{0,1000}?"d"\s*:\s*"([A-Za-z0-9_-]{43,1000})"`,
		`"kty"`).longer(4 << 10),
	guess("private-key",
		`"d"\s*:\s*"([A-Za-z0-9_-]{43,1000})"[^{}]{0,1000}?"kty"`, `"d":`).longer(4 << 10),
	vendor("jwt", 3, `eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}`,
		"eyJ").longer(4 << 10),
	guess("uri-credentials", `://[^\s/@:"'<>\\]{0,64}:([^\s/@"'<>\\]{6,200})@[A-Za-z0-9\[]`, "://"),
	guess("bearer-token", `(?i:bearer) ([A-Za-z0-9_.~+/-]{20,}=*)`, "bearer ").folded(),
	guess("authorization",
		`(?i:authorization)["']?[ \t]*[:=,][ \t]*["']?(?:[A-Za-z][A-Za-z-]{2,20} )?`+
			`(?:token=)?"?([A-Za-z0-9_.~+/:-]{16,}=*)`,
		"authorization").folded(),
	guess("basic-auth", `(?i:basic) ([A-Za-z0-9+/]{15,}=*)`, "basic ").folded(),
	guess("registry-auth", `["_]auth"?[ \t]*[:=][ \t]*"?([A-Za-z0-9+/]{12,}={0,2})`,
		`"auth"`, "_auth"),
	guess("digest-auth", `(?i:digest) (?:[A-Za-z]+=(?:"[^"\n]*"|[^\s",]*),\s*){1,12}`+
		`response="?([0-9a-f]{32,128})`,
		"digest username=").folded(),
	{
		Name:     "cookie",
		Keywords: []string{"cookie"},
		Fold:     true,
		shape:    header,
	},
	{
		Name:     "cookie",
		Keywords: []string{"-b"},
		shape:    option,
		commands: []string{"curl"},
	},
	guess("cookie", `\t(?:TRUE|FALSE)\t[0-9]{1,12}\t[^\t\n]{1,100}\t([^\s]{16,400})`,
		"\tTRUE\t", "\tFALSE\t"),
	guess("password-hash", `:(?:\$(?:apr1|[156y]|2[aby])\$(?:[^$\s:]{1,40}\$){0,3}|\{S?SHA\})`+
		`([./A-Za-z0-9+=]{22,100})`,
		":$apr1$", ":$1$", ":$5$", ":$6$", ":$y$", ":$2a$", ":$2b$", ":$2y$", ":{SHA}", ":{SSHA}"),
	{
		Name:     "data-source",
		Keywords: []string{"@tcp(", "@tcp6(", "@unix("},
		shape:    behind,
	},
	guess("netrc-password",
		`machine\s+[^\s"'\\]{1,100}(?:\s+(?:login|account)\s+[^\s"'\\]{1,100}){0,2}`+
			`\s+password\s+([^\s"'\\]{6,200})`,
		"machine "),
	guess("netrc-password", `login\s+[^\s"'\\]{1,100}\s+password\s+([^\s"'\\]{6,200})`, "login "),
	guess("pgpass-password", `:5432:[^\s:"']{1,64}:[^\s:"']{1,64}:([^\s"']{8,200})`, ":5432:"),
	guess("pgpass-password", `:\*:[^\s:"'/*]{1,64}:([^\s"':]{8,200})(?:[\r\n]|$)`, ":*:"),
	guess("azure-client-secret", `([78]Q~[A-Za-z0-9_~.-]{31,34})`, "7Q~", "8Q~"),
	guess("azure-sas", `sig=([A-Za-z0-9%+/]{43,90}(?:=|%3[Dd]))`, "sig="),
	vendor("teams-webhook", 30, `\.webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{40,}`+
		`/IncomingWebhook/[A-Za-z0-9/-]{32,}`,
		".webhook.office.com/webhookb2/").sure(),
	vendor("putty-key", 0, `Private-Lines: [0-9]+\s+[A-Za-z0-9+/=\s]{32,}`,
		"Private-Lines: ").longer(16 << 10).sure(),
	{
		Name:     "command-password",
		Keywords: []string{"-p"},
		shape:    option,
		commands: []string{"sshpass", "login", "mysql", "mariadb", "mongo", "7z"},
	},
	{
		Name:     "command-password",
		Keywords: []string{"-P"},
		shape:    option,
		commands: []string{"sqlcmd", "bcp", "ipmitool", "zip"},
	},
	{
		Name:     "command-password",
		Keywords: []string{"-k"},
		shape:    option,
		commands: []string{"openssl"},
	},
	{
		Name:     "command-password",
		Keywords: []string{"-b", "--body"},
		shape:    option,
		commands: []string{"secret set"},
	},
	{
		Name:     "command-password",
		Keywords: []string{"-w"},
		shape:    option,
		commands: []string{"ldap"},
	},
	{
		Name:     "command-user",
		Keywords: []string{"-u", "-U"},
		shape:    option,
		commands: []string{"curl"},
		paired:   true,
	},
	{
		Name:     "command-password",
		Keywords: []string{"--pass", "--oauth2-bearer"},
		shape:    option,
		commands: []string{"curl", "redis-cli"},
	},
	{
		Name:     "command-password",
		Keywords: []string{"-a"},
		shape:    option,
		commands: []string{"redis-cli"},
	},
	guess("command-user",
		`-(?:[uU]|user)(?:[ =]|["'],\s{0,40})["']?[^\s:"'$/]{1,64}:([^\s"'$@]{8,200})`,
		"-u ", "-U ", "-user ", "-user=", `-u"`, "-u'", `-U"`, "-U'", `-user"`, "-user'"),
	guess("command-user", inCluster+`[uU]`+ofCluster+`[^\s:"'$/]{1,64}:([^\s"'$@]{8,200})`, "curl"),
	guess("cookie", inCluster+`b`+ofCluster+`[^\s"'=;]{1,64}=([^\s"';]{16,400})`, "curl"),
	guess("command-user", `(?:http|xh)s? [^|;&\n]{0,120}?(?:-a|--auth)[ =]["']?`+
		`[^\s:"'$/]{1,64}:([^\s"'$@]{8,200})`,
		"http ", "https ", "xh ", "xhs "),
	guess("command-user", `-U ["']?[^\s%"'$]{1,64}%([^\s"'$]{8,200})`, "-U "),
	guess("command-user", `sqlplus\s+(?:-\S+\s+){0,4}["']?[^\s/"'$]{1,64}/([^\s@/"'$]{6,200})@`,
		"sqlplus "),
	guess("command-password",
		`htpasswd -[A-Za-z]*b[A-Za-z]*\s+(?:-\S+\s+){0,4}(?:\S+\s+){1,2}["']?([^\s"']{8,200})`,
		"htpasswd -"),
	{
		Name:     "command-password",
		Keywords: []string{"password-stdin", "--with-token", "sudo -S", "secret put", "-fd 0"},
		shape:    piped,
	},
	{
		Name:     "command-password",
		Keywords: []string{"chpasswd"},
		shape:    piped,
		paired:   true,
	},
	guess("command-password", `ConvertTo-SecureString(?: -String)? ["']([^\s"']{8,200})["']`,
		"ConvertTo-SecureString"),
	guess("assigned-secret", `IDENTIFIED BY ["']([^\s"']{8,200})["']`, "IDENTIFIED BY "),
	guess("basic-auth", `(?i:auth=|basic_?auth)\(["'][^\s"']{1,64}["'],\s*["']([^\s"']{8,200})["']`,
		"auth=(", "basicauth(", "basic_auth(").folded(),
	{
		Name:     "assigned-secret",
		Fold:     true,
		shape:    assigned,
		Keywords: secretNames,
	},
}

// Of curl, short options are written in one word: inCluster ends in front of the last letter, and
// ofCluster behind it.
const (
	inCluster = `curl[^|;&\n]{0,200}?[\s"']-[A-Za-z0-9#]{1,12}`
	ofCluster = `(?:[ =]|["'],\s{0,40})?["']?`
)

// secretNames are the parts of names to which secrets are assigned, in lower case. Those of keys
// are written in one word, or in two.
var secretNames = slices.Concat(
	[]string{"passw", "passphrase", "pwd", "secret", "token", "credential", "preshared", "api key"},
	[]string{"pass:", "pass=", `"pass"`, "'pass'", "_pass", "-pass", "-storepass", "-keypass"},
	[]string{"psk:", "psk=", `psk"`},
	keysOf("api", "access", "account", "admin", "app", "auth", "deploy", "encryption", "license",
		"master", "private", "secret", "session", "shared", "signing", "storage"),
)

func keysOf(names ...string) (all []string) {
	for _, name := range names {
		all = append(all, name+"key", name+"_key", name+"-key")
	}
	return all
}
