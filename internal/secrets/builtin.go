package secrets

// tokens lists the built-in rules for the most common tokens and keys. They match a provider's
// prefix, which keeps false positives rare; for the same reason no rule matches random text alone.
var tokens = []Rule{
	{
		Name:     "private-key",
		Keywords: []string{"-----BEGIN "},
		shape:    armored,
		within:   16 << 10,
		Public:   11,
		Regex: `-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY( BLOCK)?-----` +
			`(?:([A-Za-z0-9+/=:,. \t\r\n\\]|-[A-Za-z0-9]){32,}(-----END [A-Z0-9 ]{0,60}-----)?)?`,
	},
	{
		Name:     "anthropic-key",
		Keywords: []string{"sk-ant-"},
		Public:   7,
		Regex:    `sk-ant-[a-z0-9]{3,8}-[A-Za-z0-9_-]{40,}`,
	},
	{
		Name:     "openrouter-key",
		Keywords: []string{"sk-or-v1-"},
		Public:   9,
		Regex:    `sk-or-v1-[0-9a-f]{64}`,
	},
	{
		Name:     "openai-key",
		Keywords: []string{"sk-proj-", "sk-svcacct-", "sk-admin-"},
		Public:   3,
		Regex:    `sk-[a-z]+-[A-Za-z0-9_-]{40,}`,
	},
	{
		Name:     "openai-key",
		Keywords: []string{"sk-"},
		alone:    true,
		Public:   3,
		Regex:    `sk-[A-Za-z0-9]{20}T3BlbkFJ[A-Za-z0-9]{20}|sk-[A-Za-z0-9]{48}|sk-[0-9a-f]{32}`,
	},
	{
		Name:     "aws-access-key",
		Keywords: []string{"AKIA", "ASIA", "ABIA", "ACCA"},
		Public:   4,
		Regex:    `A[KSBC][IC]A[A-Z2-7]{16}`,
	},
	{
		Name:     "aws-secret-key",
		Fold:     true,
		shape:    guessed,
		Keywords: []string{"secret_access_key", "secretaccesskey"},
		Regex:    `(?i:secret_?access_?key)["'\\\s]{0,4}[:=]["'\\\s]{0,4}([A-Za-z0-9/+]{40})`,
	},
	{
		Name:     "google-api-key",
		Keywords: []string{"AIza"},
		Public:   4,
		Regex:    `AIza[A-Za-z0-9_-]{35}`,
	},
	{
		Name:     "google-oauth",
		Keywords: []string{"GOCSPX-", "ya29."},
		Public:   5,
		Regex:    `GOCSPX-[A-Za-z0-9_-]{28}|ya29\.[A-Za-z0-9_-]{30,}`,
	},
	{
		Name:     "github-token",
		Keywords: []string{"ghp_", "gho_", "ghu_", "ghs_", "ghr_"},
		Public:   4,
		Regex:    `gh[pousr]_[A-Za-z0-9]{36,}`,
	},
	{
		Name:     "github-token",
		Keywords: []string{"github_pat_"},
		Public:   11,
		Regex:    `github_pat_[A-Za-z0-9]{22}_[A-Za-z0-9]{59}`,
	},
	{
		Name:   "gitlab-token",
		Public: 6,
		Keywords: []string{
			"glpat-", "glptt-", "gldt-", "glrt-", "glcbt-", "glsoat-", "glagent-",
		},
		Regex: `gl[a-z]+-[A-Za-z0-9_-]{20,}`,
	},
	{
		Name:     "bitbucket-token",
		Keywords: []string{"ATBB"},
		Public:   4,
		Regex:    `ATBB[A-Za-z0-9]{24,}`,
	},
	{
		Name:     "atlassian-token",
		Keywords: []string{"ATATT3"},
		Public:   6,
		Regex:    `ATATT3[A-Za-z0-9_=-]{100,}`,
	},
	{
		Name: "slack-token",
		Keywords: []string{
			"xoxa-", "xoxb-", "xoxe-", "xoxo-", "xoxp-", "xoxr-",
			"xoxs-", "xapp-",
		},
		Public: 5,
		Regex:  `x(ox[abeoprs]|app)-[0-9A-Za-z-]{20,}`,
	},
	{
		Name:     "slack-webhook",
		Keywords: []string{"hooks.slack.com/services/T"},
		Public:   26,
		Regex:    `hooks\.slack\.com/services/T[A-Z0-9]{8,}/B[A-Z0-9]{8,}/[A-Za-z0-9]{20,}`,
	},
	{
		Name:     "discord-webhook",
		Public:   11,
		Keywords: []string{"discord.com/api/webhooks/", "discordapp.com/api/webhooks/"},
		Regex:    `discord(app)?\.com/api/webhooks/[0-9]{17,20}/[A-Za-z0-9_-]{60,}`,
	},
	{
		Name:     "telegram-token",
		Keywords: []string{":AA"},
		shape:    guessed,
		Regex:    `:(AA[A-Za-z0-9_-]{33})`,
	},
	{
		Name:     "stripe-key",
		Public:   8,
		Keywords: []string{"sk_live_", "rk_live_", "sk_test_", "rk_test_"},
		Regex:    `[sr]k_(live|test)_[A-Za-z0-9]{24,}`,
	},
	{
		Name:     "stripe-webhook",
		Keywords: []string{"whsec_"},
		Public:   6,
		Regex:    `whsec_[A-Za-z0-9+/]{32,64}=?`,
	},
	{
		Name:     "square-token",
		Keywords: []string{"sq0csp-", "sq0atp-"},
		Public:   7,
		Regex:    `sq0[a-z]{3}-[A-Za-z0-9_-]{22,43}`,
	},
	{
		Name:     "shopify-token",
		Keywords: []string{"shpat_", "shpca_", "shppa_", "shpss_"},
		Public:   6,
		Regex:    `shp[a-z]{2}_[0-9A-Fa-f]{32}`,
	},
	{
		Name:     "npm-token",
		Keywords: []string{"npm_"},
		Public:   4,
		Regex:    `npm_[A-Za-z0-9]{36}`,
	},
	{
		Name:     "pypi-token",
		Keywords: []string{"pypi-AgE"},
		Public:   5,
		Regex:    `pypi-AgE[A-Za-z0-9_-]{50,}`,
	},
	{
		Name:     "rubygems-key",
		Keywords: []string{"rubygems_"},
		Public:   9,
		Regex:    `rubygems_[0-9a-f]{48}`,
	},
	{
		Name:     "docker-token",
		Keywords: []string{"dckr_pat_", "dckr_oat_"},
		Public:   9,
		Regex:    `dckr_[po]at_[A-Za-z0-9_-]{27,}`,
	},
	{
		Name:     "huggingface-token",
		Keywords: []string{"hf_"},
		Public:   3,
		Regex:    `hf_[A-Za-z0-9]{34}`,
	},
	{
		Name:     "groq-key",
		Keywords: []string{"gsk_"},
		Public:   4,
		Regex:    `gsk_[A-Za-z0-9]{52}`,
	},
	{
		Name:     "xai-key",
		Keywords: []string{"xai-"},
		Public:   4,
		Regex:    `xai-[A-Za-z0-9]{70,}`,
	},
	{
		Name:     "perplexity-key",
		Keywords: []string{"pplx-"},
		Public:   5,
		Regex:    `pplx-[A-Za-z0-9]{48}`,
	},
	{
		Name:     "replicate-token",
		Keywords: []string{"r8_"},
		Public:   3,
		Regex:    `r8_[A-Za-z0-9]{37}`,
	},
	{
		Name:     "databricks-token",
		Keywords: []string{"dapi"},
		Public:   4,
		Regex:    `dapi[0-9a-f]{32}`,
	},
	{
		Name:     "sendgrid-key",
		Keywords: []string{"SG."},
		Public:   3,
		Regex:    `SG\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}`,
	},
	{
		Name:     "mailgun-key",
		Keywords: []string{"key-"},
		alone:    true,
		Public:   4,
		Regex:    `key-[0-9a-f]{32}`,
	},
	{
		Name:     "digitalocean-token",
		Keywords: []string{"dop_v1_", "doo_v1_", "dor_v1_"},
		Public:   7,
		Regex:    `do[opr]_v1_[0-9a-f]{64}`,
	},
	{
		Name:     "vault-token",
		Keywords: []string{"hvs.", "hvb."},
		Public:   4,
		Regex:    `hv[sb]\.[A-Za-z0-9_-]{24,}`,
	},
	{
		Name:     "terraform-token",
		Keywords: []string{".atlasv1."},
		Public:   9,
		Regex:    `\.atlasv1\.[A-Za-z0-9_-]{60,}`,
	},
	{
		Name:     "planetscale-token",
		Keywords: []string{"pscale_tkn_", "pscale_pw_"},
		Public:   7,
		Regex:    `pscale_(tkn|pw)_[A-Za-z0-9_.-]{32,}`,
	},
	{
		Name:     "doppler-token",
		Keywords: []string{"dp.pt."},
		Public:   6,
		Regex:    `dp\.pt\.[A-Za-z0-9]{40,}`,
	},
	{
		Name:     "linear-key",
		Keywords: []string{"lin_api_"},
		Public:   8,
		Regex:    `lin_api_[A-Za-z0-9]{40}`,
	},
	{
		Name:     "notion-token",
		Keywords: []string{"ntn_"},
		Public:   4,
		Regex:    `ntn_[A-Za-z0-9]{40,}`,
	},
	{
		Name:     "postman-key",
		Keywords: []string{"PMAK-"},
		Public:   5,
		Regex:    `PMAK-[0-9a-f]{24}-[0-9a-f]{34}`,
	},
	{
		Name:     "newrelic-key",
		Keywords: []string{"NRAK-"},
		Public:   5,
		Regex:    `NRAK-[A-Z0-9]{27}`,
	},
	{
		Name:     "sentry-token",
		Keywords: []string{"sntrys_", "sntryu_"},
		Public:   7,
		Regex:    `sntry[su]_[A-Za-z0-9+/_=]{50,}`,
	},
	{
		Name:     "grafana-token",
		Keywords: []string{"glsa_", "glc_"},
		Public:   4,
		Regex:    `glsa_[A-Za-z0-9]{32}_[0-9A-Fa-f]{8}|glc_[A-Za-z0-9+/=]{50,}`,
	},
	{
		Name:     "age-key",
		Keywords: []string{"AGE-SECRET-KEY-1"},
		Public:   16,
		Regex:    `AGE-SECRET-KEY-1[0-9A-Z]{58}`,
	},
	{
		Name:     "azure-storage-key",
		Keywords: []string{"AccountKey="},
		shape:    guessed,
		Regex:    `AccountKey=([A-Za-z0-9+/]{86}==)`,
	},
}

// forms lists the built-in rules for secrets that have no prefix of their own but a place: a token
// with parts, an address, a header, a command line or an assignment.
var forms = []Rule{
	{
		Name:     "jwt",
		Keywords: []string{"eyJ"},
		within:   4 << 10,
		Public:   3,
		Regex:    `eyJ[A-Za-z0-9_-]{15,}\.eyJ[A-Za-z0-9_-]{15,}\.[A-Za-z0-9_-]{20,}`,
	},
	{
		Name:     "uri-credentials",
		Keywords: []string{"://"},
		shape:    guessed,
		Regex:    `://[^\s/@:"'<>\\]{0,64}:([^\s/@"'<>\\]{6,200})@[A-Za-z0-9\[]`,
	},
	{
		Name:     "bearer-token",
		Keywords: []string{"bearer "},
		Fold:     true,
		shape:    guessed,
		Regex:    `(?i:bearer) ([A-Za-z0-9_.~+/-]{20,}=*)`,
	},
	{
		Name:     "authorization",
		Keywords: []string{"authorization"},
		Fold:     true,
		shape:    guessed,
		Regex: `(?i:authorization)["']?[ \t]*[:=][ \t]*["']?(?:[A-Za-z][A-Za-z-]{2,20} )?` +
			`(?:token=)?"?([A-Za-z0-9_.~+/:-]{16,}=*)`,
	},
	{
		Name:     "basic-auth",
		Keywords: []string{"basic "},
		Fold:     true,
		shape:    guessed,
		Regex:    `(?i:basic) ([A-Za-z0-9+/]{15,}=*)`,
	},
	{
		Name:     "registry-auth",
		Keywords: []string{`"auth"`, "_auth"},
		shape:    guessed,
		Regex:    `["_]auth"?[ \t]*[:=][ \t]*"?([A-Za-z0-9+/]{12,}={0,2})`,
	},
	{
		Name:     "netrc-password",
		Keywords: []string{"login "},
		shape:    guessed,
		Regex:    `login\s+[^\s"'\\]{1,100}\s+password\s+([^\s"'\\]{6,200})`,
	},
	{
		Name:     "pgpass-password",
		Keywords: []string{":5432:"},
		shape:    guessed,
		Regex:    `:5432:[^\s:"']{1,64}:[^\s:"']{1,64}:([^\s"']{8,200})`,
	},
	{
		Name:     "azure-client-secret",
		Keywords: []string{"7Q~", "8Q~"},
		shape:    guessed,
		Regex:    `([78]Q~[A-Za-z0-9_~.-]{31,34})`,
	},
	{
		Name:     "azure-sas",
		Keywords: []string{"sig="},
		shape:    guessed,
		Regex:    `sig=([A-Za-z0-9%+/]{43,90}(?:=|%3[Dd]))`,
	},
	{
		Name:     "teams-webhook",
		Keywords: []string{".webhook.office.com/webhookb2/"},
		Public:   30,
		shape:    certain,
		Regex: `\.webhook\.office\.com/webhookb2/[A-Za-z0-9@-]{40,}` +
			`/IncomingWebhook/[A-Za-z0-9/-]{32,}`,
	},
	{
		Name:     "putty-key",
		Keywords: []string{"Private-Lines: "},
		shape:    certain,
		within:   16 << 10,
		Regex:    `Private-Lines: [0-9]+\s+[A-Za-z0-9+/=\s]{32,}`,
	},
	{
		Name:     "command-password",
		Keywords: []string{"sshpass ", "docker login ", "podman login ", "mysql", "mariadb"},
		shape:    guessed,
		Regex: `(?:sshpass [^\n|;&]{0,40}?-p|` +
			`(?:docker|podman) login [^\n|;&]{0,200}?(?:-p|--password)[ =]|` +
			`(?:mysql|mariadb)[a-z]{0,10} [^\n|;&]{0,200}?-p)` +
			`[ ]?["']?([^\s"'\x60$]{8,200})`,
	},
	{
		Name:     "command-user",
		Keywords: []string{"-u ", "--user "},
		shape:    guessed,
		Regex:    `-(?:u|-user) ["']?[^\s:"'$/]{1,64}:([^\s"'$@]{8,200})`,
	},
	{
		Name:  "assigned-secret",
		Fold:  true,
		shape: assigned,
		Keywords: []string{
			"passw", "passphrase", "pwd", "secret", "token", "apikey", "api_key",
			"api-key", "access_key", "access-key", "accesskey", "private_key", "privatekey",
			"signing_key", "encryption_key", "auth_key", "credential", "api key", "app_key",
			"appkey", "master_key", "masterkey", "admin_key", "preshared",
			"account_key", "accountkey", "signingkey", "encryptionkey", "authkey", "secretkey",
		},
	},
}
