package secrets

// vendors lists rules for tokens that a provider gives a prefix. Where that only names an account,
// as the key ids of some clouds do, there is no rule unless scanners agree on one.
var vendors = []Rule{
	vendor("adobe-secret", 4, `p8e-[A-Za-z0-9_-]{32}`, "p8e-"),
	vendor("airtable-token", 3, `pat[A-Za-z0-9]{14}\.[0-9a-f]{64}`, "pat"),
	vendor("alibaba-key", 4, `LTAI[A-Za-z0-9]{17,24}`, "LTAI"),
	vendor("artifactory-key", 4, `AKCp[A-Za-z0-9]{65,}`, "AKCp"),
	vendor("artifactory-token", 8, `cmVmdGtu[A-Za-z0-9]{56}`, "cmVmdGtu"),
	vendor("atlassian-token", 6, `ATCTT3[A-Za-z0-9_=-]{100,}`, "ATCTT3"),
	vendor("authress-key", 5, `\.acc[_-][a-z0-9-]{10,32}\.[A-Za-z0-9+/_=-]{30,120}`,
		".acc_", ".acc-"),
	vendor("aws-bedrock-key", 4, `ABSK[A-Za-z0-9+/]{100,270}={0,2}`, "ABSK"),
	vendor("aws-session-token", 12, `IQoJb3JpZ2lu[A-Za-z0-9+/]{100,}={0,2}`,
		"IQoJb3JpZ2lu").longer(4096),
	vendor("brevo-key", 8, `xkeysib-[0-9a-f]{64}-[A-Za-z0-9]{16}`, "xkeysib-"),
	vendor("brevo-key", 9, `xsmtpsib-[0-9a-f]{64}-[A-Za-z0-9]{16}`, "xsmtpsib-"),
	vendor("buildkite-token", 5, `bk(ua|at|ct|pt)_[A-Za-z0-9]{36,}`,
		"bkua_", "bkat_", "bkct_", "bkpt_"),
	vendor("circleci-token", 7, `CCI(PAT|PRJ)_[A-Za-z0-9]{22}_[0-9a-f]{40}`,
		"CCIPAT_", "CCIPRJ_"),
	vendor("clickup-token", 3, `pk_[0-9]{7,9}_[0-9A-Z]{32}`, "pk_"),
	vendor("clojars-token", 8, `CLOJARS_[a-z0-9]{60}`, "CLOJARS_"),
	vendor("cloudflare-key", 5, `v1\.0-[0-9a-f]{24}-[0-9a-f]{146}`, "v1.0-"),
	vendor("cloudflare-token", 5, `cf(ut|at)_[A-Za-z0-9]{40,}`, "cfut_", "cfat_"),
	vendor("cloudflare-token", 4, `cfk_[A-Za-z0-9]{40,}`, "cfk_"),
	vendor("contentful-token", 6, `CFPAT-[A-Za-z0-9_-]{43}`, "CFPAT-"),
	vendor("crates-token", 3, `cio[A-Za-z0-9]{32}`, "cio"),
	vendor("discord-token", 2, `(?:M[TjzDg]|N[DTjzg]|O[DTg])[A-Za-z0-9]{22,26}`+
		`\.[A-Za-z0-9_-]{6}\.[A-Za-z0-9_-]{27,38}`,
		"MT", "Mj", "Mz", "MD", "Mg", "ND", "NT", "Nj", "Nz", "Ng", "OD", "OT", "Og"),
	vendor("doppler-token", 3,
		`dp\.(ct|st|sa|scim|audit|said)\.([a-z0-9_-]{2,35}\.)?[A-Za-z0-9]{40,44}`,
		"dp.ct.", "dp.st.", "dp.sa.", "dp.scim.", "dp.audit.", "dp.said."),
	vendor("dropbox-token", 3, `sl\.[A-Za-z0-9_-]{130,}`, "sl.").longer(2048),
	vendor("duffel-token", 7, `duffel_(test|live)_[A-Za-z0-9_-]{43}`,
		"duffel_test_", "duffel_live_"),
	vendor("dynatrace-token", 7, `dt0(c01|s01|s16)\.[A-Z0-9]{24}\.[A-Z0-9]{64}`,
		"dt0c01.", "dt0s01.", "dt0s16."),
	vendor("easypost-key", 4, `EZ[AT]K[A-Za-z0-9]{54}`, "EZAK", "EZTK"),
	vendor("facebook-token", 4, `EAA[CM][A-Za-z0-9]{100,}`, "EAAC", "EAAM"),
	vendor("figma-token", 5, `fig[dour]_[A-Za-z0-9_-]{40,}`,
		"figd_", "figo_", "figu_", "figr_"),
	vendor("flutterwave-key", 8, `FLWSECK-(TEST-)?[0-9a-f]{32}-X|FLWSECK_TEST-[0-9a-f]{12}`,
		"FLWSECK-", "FLWSECK_TEST-"),
	vendor("fly-token", 4, `fm(1[ar]?|2)_[A-Za-z0-9+/=,_]{100,}`,
		"fm1_", "fm2_", "fm1a_", "fm1r_").longer(4096),
	vendor("fly-token", 4, `fo1_[A-Za-z0-9_-]{43}`, "fo1_"),
	vendor("frameio-token", 6, `fio-u-[A-Za-z0-9_-]{64}`, "fio-u-"),
	vendor("gitlab-token", 5, `gl(ft|imt|oas|ffct|wt)-[A-Za-z0-9_-]{20,}`,
		"glft-", "glimt-", "gloas-", "glffct-", "glwt-"),
	vendor("gitlab-token", 9, `GR1348941[A-Za-z0-9_-]{20}`, "GR1348941"),
	vendor("google-refresh-token", 4, `1//0[A-Za-z0-9_-]{60,}`, "1//0"),
	vendor("grafana-token", 8, `eyJrIjoi[A-Za-z0-9]{50,}={0,2}`, "eyJrIjoi"),
	vendor("harness-key", 4, `[ps]at\.[A-Za-z0-9_-]{22}\.[A-Za-z0-9]{24}\.[A-Za-z0-9]{20}`,
		"pat.", "sat."),
	vendor("heroku-key", 7, `HRKU-AA[A-Za-z0-9_-]{58}`, "HRKU-AA"),
	vendor("honeycomb-key", 6, `hc(aik|bik|xik|alk|blk|xlk|amk)_[a-z0-9]{58}`,
		"hcaik_", "hcbik_", "hcxik_", "hcalk_", "hcblk_",
		"hcxlk_", "hcamk_"),
	vendor("hubspot-token", 4, `pat-(na|eu|ap)[0-9]-`+uuid, "pat-na", "pat-eu", "pat-ap"),
	// A hash is that of a favicon.ico: no key begins with so many of its digits.
	vendor("infracost-key", 4, `ico-[0-9a-f]{0,7}[A-Zg-z][A-Za-z0-9]{24,31}`, "ico-").lone(),
	vendor("intercom-token", 5, `dG9rO[A-Za-z0-9+/=_-]{55}`, "dG9rO"),
	vendor("launchdarkly-key", 4, `(sdk|api)-`+uuid, "sdk-", "api-").lone(),
	vendor("linear-key", 10, `lin_oauth_[0-9a-f]{64}`, "lin_oauth_"),
	vendor("linkedin-token", 8, `WPL_AP[01]\.[A-Za-z0-9]{16}\.[A-Za-z0-9+/=]{6,}`,
		"WPL_AP0.", "WPL_AP1."),
	vendor("mapbox-token", 9, `sk\.eyJ1Ijoi[A-Za-z0-9_-]{30,}\.[A-Za-z0-9_-]{20,}`,
		"sk.eyJ1Ijoi"),
	vendor("neon-key", 5, `napi_[a-z0-9]{64}`, "napi_"),
	vendor("netlify-token", 4, `nf[pcoub]_[A-Za-z0-9]{36,40}`,
		"nfp_", "nfc_", "nfo_", "nfu_", "nfb_"),
	vendor("newrelic-key", 5, `NR(II|RA|SP)-[A-Za-z0-9_-]{19,40}`,
		"NRII-", "NRRA-", "NRSP-"),
	vendor("notion-token", 7, `secret_[A-Za-z0-9]{43}`, "secret_"),
	vendor("nuget-key", 3, `oy2[a-z0-9]{43}`, "oy2"),
	vendor("octopus-key", 4, `API-[A-Z0-9]{26,34}`, "API-").lone(),
	vendor("onepassword-key", 3,
		`A3-[A-Z0-9]{6}-([A-Z0-9]{6}-[A-Z0-9]{5}|[A-Z0-9]{11})(-[A-Z0-9]{5}){3}`, "A3-"),
	vendor("onepassword-token", 7, `ops_eyJ[A-Za-z0-9+/=_-]{250,}`, "ops_eyJ").longer(4096),
	vendor("openshift-token", 7, `sha256~[A-Za-z0-9_-]{43}`, "sha256~"),
	vendor("paypal-token", 12, `access_token\$(production|sandbox)\$[a-z0-9]{16}\$[0-9a-f]{32}`,
		"access_token$"),
	vendor("plaid-token", 7, `access-(sandbox|development|production)-`+uuid, "access-sandbox-",
		"access-development-", "access-production-"),
	vendor("posthog-key", 4, `phx_[A-Za-z0-9_-]{43,}`, "phx_"),
	vendor("prefect-key", 4, `pn[ub]_[A-Za-z0-9]{36}`, "pnu_", "pnb_"),
	vendor("pulumi-token", 4, `pul-[0-9a-f]{40}`, "pul-"),
	vendor("readme-key", 5, `rdme_[a-z0-9]{70}`, "rdme_"),
	vendor("render-key", 4, `rnd_[A-Za-z0-9]{32}`, "rnd_"),
	vendor("resend-key", 3, `re_[A-Za-z0-9]{8}_[A-Za-z0-9]{20,28}`, "re_"),
	vendor("scalingo-token", 6, `tk-us-[A-Za-z0-9_-]{48}`, "tk-us-"),
	vendor("settlemint-token", 7, `sm_(aat|pat|sat)_[A-Za-z0-9]{16}`,
		"sm_aat_", "sm_pat_", "sm_sat_"),
	vendor("shippo-token", 7, `shippo_(live|test)_[0-9a-f]{40}`,
		"shippo_live_", "shippo_test_"),
	vendor("slack-token", 5, `xox[cd]-[A-Za-z0-9%/+=_-]{40,}`, "xoxc-", "xoxd-"),
	vendor("sonar-token", 4, `sq[apu]_[0-9a-f]{40}`, "sqa_", "sqp_", "squ_"),
	vendor("square-token", 4, `EAAA[A-Za-z0-9_-]{60}`, "EAAA"),
	vendor("supabase-token", 4, `sbp_(oauth_|v0_)?[0-9a-f]{40}`, "sbp_"),
	vendor("supabase-key", 10, `sb_secret_[A-Za-z0-9_-]{31}`, "sb_secret_"),
	vendor("tailscale-key", 6, `tskey-[a-z]+-[A-Za-z0-9]{8,}-[A-Za-z0-9]{20,}`, "tskey-"),
	vendor("tencent-key", 4, `AKID[A-Za-z0-9]{32}`, "AKID"),
	vendor("twitter-token", 19, `A{19,}[A-Za-z0-9%]{20,90}(=|%3D)[A-Za-z0-9%]{20,}`,
		"AAAAAAAAAAAAAAAAAAA"),
	vendor("typeform-token", 4, `tfp_[A-Za-z0-9_-]{40,}`, "tfp_"),
	vendor("vercel-token", 4, `vc[apikr]_[A-Za-z0-9]{24,}`,
		"vca_", "vcp_", "vci_", "vck_", "vcr_"),
	vendor("yandex-token", 4, `AQVN[A-Za-z0-9_-]{35,38}`, "AQVN"),
	vendor("yandex-token", 3, `y[0-3]_[A-Za-z0-9_-]{55,60}`, "y0_", "y1_", "y2_", "y3_"),
}

// ofModels lists rules like vendors, for providers of models and what agents use.
var ofModels = []Rule{
	vendor("cerebras-key", 4, `csk-[a-z0-9]{48}`, "csk-"),
	vendor("e2b-key", 4, `e2b_[0-9a-f]{40}`, "e2b_"),
	vendor("elevenlabs-key", 3, `sk_[0-9a-f]{48}`, "sk_"),
	vendor("firecrawl-key", 3, `fc-[0-9a-f]{32}`, "fc-").lone(),
	vendor("fireworks-key", 3, `fw_[A-Za-z0-9]{22,24}`, "fw_"),
	vendor("huggingface-token", 8, `api_org_[A-Za-z]{34}`, "api_org_"),
	vendor("jina-key", 5, `jina_[A-Za-z0-9_-]{55,65}`, "jina_"),
	vendor("langfuse-key", 6, `sk-lf-`+uuid, "sk-lf-"),
	vendor("langsmith-key", 6, `lsv2_(pt|sk)_[0-9a-f]{32}_[0-9a-f]{10}`,
		"lsv2_pt_", "lsv2_sk_"),
	vendor("nvidia-key", 6, `nvapi-[A-Za-z0-9_-]{60,70}`, "nvapi-"),
	vendor("openai-session", 5, `sess-[A-Za-z0-9]{40}`, "sess-").lone(),
	vendor("pinecone-key", 5, `pcsk_[A-Za-z0-9]{4,8}_[A-Za-z0-9]{50,70}`, "pcsk_"),
	vendor("tavily-key", 5, `tvly-(dev-|prod-)?[A-Za-z0-9_-]{32,}`, "tvly-"),
}

const uuid = `[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}`

func vendor(name string, public int, regex string, keywords ...string) Rule {
	return Rule{Name: name, Public: public, Regex: regex, Keywords: keywords}
}

// guess returns a rule whose group is the secret, unless it is a word, a path or a placeholder.
func guess(name, regex string, keywords ...string) Rule {
	return Rule{Name: name, shape: guessed, Regex: regex, Keywords: keywords}
}

// sure returns the rule for what needs not look random.
func (r Rule) sure() Rule {
	r.shape = certain
	return r
}

// folded returns the rule with keywords in any case.
func (r Rule) folded() Rule {
	r.Fold = true
	return r
}

// longer returns the rule for tokens that are longer than usual.
func (r Rule) longer(within int) Rule {
	r.within = within
	return r
}

// lone returns the rule with a prefix that is an ordinary word.
func (r Rule) lone() Rule {
	r.alone = true
	return r
}
