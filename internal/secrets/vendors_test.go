package secrets

import (
	"math/rand/v2"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEveryTokenIsFoundByItsRule checks each rule for tokens with strings that are made from its
// expression, and that each of its keywords begins some of them.
func TestEveryTokenIsFoundByItsRule(t *testing.T) {
	rules := Builtin()
	random := rand.New(rand.NewPCG(3, 4))
	for _, rule := range slices.Concat(vendors, ofModels) {
		re, err := syntax.Parse(rule.Regex, syntax.Perl)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]bool{}
		for range 300 {
			var b strings.Builder
			instance(&b, re, random)
			made := b.String()
			begins := func(k string) bool { return strings.HasPrefix(made, k) }
			i := slices.IndexFunc(rule.Keywords, begins)
			if i < 0 {
				t.Errorf("%s: %s begins with no keyword", rule.Name, made)
				break
			}
			seen[rule.Keywords[i]] = true
			tail := made[rule.Public:]
			if isSample([]byte(made)) || isSequence([]byte(tail)) || entropy([]byte(tail)) < minEntropy {
				continue
			}
			out, _ := rules.Redact([]byte("it is " + made + " here"))
			if strings.Contains(string(out), tail) {
				t.Errorf("%s: %s gives %s", rule.Name, made, out)
				break
			}
		}
		if len(seen) != len(rule.Keywords) {
			t.Errorf("%s: only %d of %q begin a match", rule.Name, len(seen), rule.Keywords)
		}
	}
}

// tokenForms are the forms of tokens by name of their rule, the shortest and the longest where a form is
// bounded. %w32 is 32 characters of the set w, and what is before a | is no part of the token. They repeat what the rules say in another notation: a
// slip in a rule would be in the strings that are made from its expression, too.
var tokenForms = map[string][]string{
	"adobe-secret":         {"p8e-%w32"},
	"age-key":              {"AGE-SECRET-KEY-1%u58"},
	"airtable-token":       {"pat%a14.%x64"},
	"alibaba-key":          {"LTAI%a17", "LTAI%a24"},
	"anthropic-key":        {"sk-ant-api03-%w93", "sk-ant-%l3-%w40", "sk-ant-%l8-%w40"},
	"artifactory-key":      {"AKCp%a65"},
	"artifactory-token":    {"cmVmdGtu%a56"},
	"atlassian-token":      {"ATCTT3%W100", "ATATT3%W100"},
	"authress-key":         {".acc_%l10.%W30", ".acc-%l15-%l16.%W120"},
	"aws-access-key":       {"AKIA%B16", "ASIA%B16", "ABIA%B16", "ACCA%B16"},
	"aws-bedrock-key":      {"ABSK%b100", "ABSK%b270=="},
	"aws-secret-key":       {"AWS_SECRET_ACCESS_KEY=|%b19%d1%a1%b19", "secretAccessKey: '|%b19%d1%a1%b19"},
	"aws-session-token":    {"IQoJb3JpZ2lu%b100", "IQoJb3JpZ2lu%b900=="},
	"azure-storage-key":    {"AccountKey=|%b86=="},
	"bitbucket-token":      {"ATBB%a24"},
	"brevo-key":            {"xkeysib-%x64-%a16", "xsmtpsib-%x64-%a16"},
	"buildkite-token":      {"bkua_%a36", "bkat_%a36", "bkct_%a36", "bkpt_%a36"},
	"cerebras-key":         {"csk-%l48"},
	"circleci-token":       {"CCIPAT_%a22_%x40", "CCIPRJ_%a22_%x40"},
	"clickup-token":        {"pk_%d7_%u32", "pk_%d9_%u32"},
	"clojars-token":        {"CLOJARS_%l60"},
	"cloudflare-key":       {"v1.0-%x24-%x146"},
	"cloudflare-token":     {"cfut_%a40", "cfat_%a40", "cfk_%a40"},
	"contentful-token":     {"CFPAT-%w43"},
	"crates-token":         {"cio%a32"},
	"databricks-token":     {"dapi%x32"},
	"digitalocean-token":   {"dop_v1_%x64", "doo_v1_%x64", "dor_v1_%x64"},
	"discord-token":        {"MT%a22.%w6.%w27", "Nz%a26.%w6.%w38", "OD%a24.%w6.%w27"},
	"discord-webhook":      {"discord.com/api/webhooks/%d17/%w60", "discordapp.com/api/webhooks/%d20/%w68"},
	"docker-token":         {"dckr_pat_%w27", "dckr_oat_%w32"},
	"doppler-token":        {"dp.ct.%a40", "dp.st.%k2.%a40", "dp.scim.%k35.%a44", "dp.pt.%a40"},
	"dropbox-token":        {"sl.%w130", "sl.%w900"},
	"duffel-token":         {"duffel_test_%w43", "duffel_live_%w43"},
	"dynatrace-token":      {"dt0c01.%u24.%u64", "dt0s01.%u24.%u64", "dt0s16.%u24.%u64"},
	"e2b-key":              {"e2b_%x40"},
	"easypost-key":         {"EZAK%a54", "EZTK%a54"},
	"elevenlabs-key":       {"sk_%x48"},
	"facebook-token":       {"EAAC%a100", "EAAM%a100"},
	"figma-token":          {"figd_%w40", "figo_%w40", "figr_%w40", "figu_%w40"},
	"firecrawl-key":        {"fc-%x32"},
	"fireworks-key":        {"fw_%a22", "fw_%a24"},
	"flutterwave-key":      {"FLWSECK-%x32-X", "FLWSECK-TEST-%x32-X", "FLWSECK_TEST-%x12"},
	"fly-token":            {"fm1_%f100", "fm1a_%f100", "fm1r_%f100", "fm2_%f900", "fo1_%w43"},
	"frameio-token":        {"fio-u-%w64"},
	"github-token":         {"ghp_%a36", "gho_%a36", "ghu_%a36", "ghs_%a36", "ghr_%a76", "github_pat_%a22_%a59"},
	"gitlab-token":         {"glft-%w20", "glimt-%w20", "gloas-%w20", "glffct-%w20", "glwt-%w20", "GR1348941%w20", "glpat-%w20", "glptt-%w40", "gldt-%w20", "glrt-%w20", "glcbt-%w20", "glsoat-%w20", "glagent-%w50"},
	"google-api-key":       {"AIza%w35"},
	"google-oauth":         {"GOCSPX-%w28", "ya29.%w30", "ya29.%w200"},
	"google-refresh-token": {"1//0%w60"},
	"grafana-token":        {"eyJrIjoi%a50", "eyJrIjoi%a50==", "glsa_%a32_%x8", "glc_%a50"},
	"groq-key":             {"gsk_%a52"},
	"harness-key":          {"pat.%w22.%a24.%a20", "sat.%w22.%a24.%a20"},
	"heroku-key":           {"HRKU-AA%w58"},
	"honeycomb-key":        {"hcaik_%l58", "hcbik_%l58", "hcxik_%l58", "hcalk_%l58", "hcblk_%l58", "hcxlk_%l58", "hcamk_%l58"},
	"hubspot-token":        {"pat-na%d1-%U", "pat-eu%d1-%U", "pat-ap%d1-%U"},
	"huggingface-token":    {"api_org_%L34", "hf_%a34"},
	"infracost-key":        {"ico-G%a31", "ico-%x7G%a24"},
	"intercom-token":       {"dG9rO%W55"},
	"jina-key":             {"jina_%w55", "jina_%w65"},
	"langfuse-key":         {"sk-lf-%U"},
	"langsmith-key":        {"lsv2_pt_%x32_%x10", "lsv2_sk_%x32_%x10"},
	"launchdarkly-key":     {"sdk-%U", "api-%U"},
	"linear-key":           {"lin_oauth_%x64", "lin_api_%a40"},
	"linkedin-token":       {"WPL_AP0.%a16.%b6", "WPL_AP1.%a16.%b9=="},
	"mailgun-key":          {"key-%x32"},
	"mapbox-token":         {"sk.eyJ1Ijoi%w30.%w20"},
	"maxmind-key":          {"%a6_%a29_mmk"},
	"neon-key":             {"napi_%l64"},
	"netlify-token":        {"nfp_%a36", "nfc_%a40", "nfo_%a36", "nfu_%a36", "nfb_%a36"},
	"newrelic-key":         {"NRII-%w19", "NRRA-%w40", "NRSP-%w40", "NRAK-%u27"},
	"notion-token":         {"secret_%a43", "ntn_%a40"},
	"npm-token":            {"npm_%a36"},
	"nuget-key":            {"oy2%l43"},
	"nvidia-key":           {"nvapi-%w60", "nvapi-%w70"},
	"octopus-key":          {"API-%u26", "API-%u34"},
	"onepassword-key":      {"A3-%u6-%u6-%u5-%u5-%u5-%u5", "A3-%u6-%u11-%u5-%u5-%u5"},
	"onepassword-token":    {"ops_eyJ%W250", "ops_eyJ%W900"},
	"openai-key":           {"sk-proj-%w40", "sk-svcacct-%w156", "sk-admin-%w40", "sk-%a20T3BlbkFJ%a20", "sk-%a48", "sk-%x32"},
	"openai-session":       {"sess-%a40"},
	"openrouter-key":       {"sk-or-v1-%x64"},
	"openshift-token":      {"sha256~%w43"},
	"paypal-token":         {"access_token$production$%l16$%x32", "access_token$sandbox$%l16$%x32"},
	"perplexity-key":       {"pplx-%a48"},
	"pinecone-key":         {"pcsk_%a4_%a50", "pcsk_%a8_%a70"},
	"plaid-token":          {"access-sandbox-%U", "access-development-%U", "access-production-%U"},
	"planetscale-token":    {"pscale_tkn_%w32", "pscale_pw_%w43", "pscale_oauth_%w32"},
	"posthog-key":          {"phx_%w43"},
	"postman-key":          {"PMAK-%x24-%x34"},
	"prefect-key":          {"pnu_%a36", "pnb_%a36"},
	"pulumi-token":         {"pul-%x40"},
	"pypi-token":           {"pypi-AgE%w50"},
	"readme-key":           {"rdme_%l70"},
	"render-key":           {"rnd_%a32"},
	"replicate-token":      {"r8_%a37"},
	"resend-key":           {"re_%a8_%a20", "re_%a8_%a28"},
	"rubygems-key":         {"rubygems_%x48"},
	"scalingo-token":       {"tk-us-%w48"},
	"sendgrid-key":         {"SG.%w22.%w43"},
	"sentry-token":         {"sntrys_%s50", "sntryu_%s64"},
	"settlemint-token":     {"sm_aat_%a16", "sm_pat_%a16", "sm_sat_%a16"},
	"shippo-token":         {"shippo_live_%x40", "shippo_test_%x40"},
	"shopify-token":        {"shpat_%x32", "shpca_%x32", "shppa_%x32", "shpss_%x32"},
	"slack-token":          {"xoxc-%g40", "xoxd-%g40", "xoxb-%d12-%a20", "xapp-%d1-%u11-%x64", "xoxa-%a20", "xoxe-%a20", "xoxo-%a20", "xoxp-%a20", "xoxr-%a20", "xoxs-%a20"},
	"slack-webhook":        {"hooks.slack.com/services/T%u8/B%u8/%a20", "hooks.slack.com/services/T%u11/B%u11/%a24"},
	"sonar-token":          {"sqa_%x40", "sqp_%x40", "squ_%x40"},
	"square-token":         {"EAAA%w60", "sq0csp-%w43", "sq0atp-%w22"},
	"stripe-key":           {"sk_live_%a24", "rk_live_%a99", "sk_test_%a24", "rk_test_%a24"},
	"stripe-webhook":       {"whsec_%a32", "whsec_%b64="},
	"supabase-key":         {"sb_secret_%w31"},
	"supabase-token":       {"sbp_%x40", "sbp_oauth_%x40", "sbp_v0_%x40"},
	"tailscale-key":        {"tskey-%z4-%a8-%a20"},
	"tavily-key":           {"tvly-%w32", "tvly-dev-%w32", "tvly-prod-%w32"},
	"telegram-token":       {"%d10:|AA%w15%d1%a1%w16"},
	"tencent-key":          {"AKID%a32"},
	"terraform-token":      {"%a14|.atlasv1.%w60"},
	"twitter-token":        {"AAAAAAAAAAAAAAAAAAA%a20=%p20", "AAAAAAAAAAAAAAAAAAAAAA%p60%%3D%p20"},
	"typeform-token":       {"tfp_%w40"},
	"vault-token":          {"hvs.%w24", "hvb.%w90"},
	"vercel-token":         {"vca_%a24", "vci_%a24", "vck_%a24", "vcp_%a24", "vcr_%a24"},
	"xai-key":              {"xai-%a70"},
	"yandex-token":         {"AQVN%w35", "AQVN%w38", "y0_%w55", "y1_%w60", "y2_%w55", "y3_%w55"},
}

// sets are the sets of characters in tokens.
var sets = func() map[byte]string {
	const digits, lower = "0123456789", "abcdefghijklmnopqrstuvwxyz"
	upper := strings.ToUpper(lower)
	all := lower + upper + digits
	return map[byte]string{
		'd': digits, 'x': digits + "abcdef", 'z': lower, 'l': lower + digits, 'u': upper + digits,
		'L': lower + upper, 'a': all, 'b': all + "+/", 'k': lower + digits + "-_", 'w': all + "-_",
		'B': upper + "234567", 's': all + "+/_=", 'W': all + "-_=", 'p': all + "%", 'f': all + "+/=,_", 'g': all + "%/+=_-",
	}
}()

// TestFormsOfTokens checks that each form is found whole by its rule, and that what may be shown of
// it begins every token of the form.
func TestFormsOfTokens(t *testing.T) {
	rules := Builtin()
	random := rand.New(rand.NewPCG(5, 6))
	for _, rule := range slices.Concat(tokens, vendors, ofModels) {
		if tokenForms[rule.Name] == nil && rule.shape != armored {
			t.Errorf("%s has no form", rule.Name)
		}
	}
	for name, forms := range tokenForms {
		for _, form := range forms {
			before, form, ok := strings.Cut(form, "|")
			if !ok {
				before, form = "", before
			}
			for range 40 {
				around, _ := expand(before, random)
				token, prefix := expand(form, random)
				text := "it is " + around + token + " here"
				found := rules.Scan([]byte(text))
				if len(found) != 1 || found[0].Rule != name || text[found[0].Start:found[0].End] != token ||
					found[0].Public > prefix {
					t.Errorf("%s: %s gives %+v", name, token, found)
					break
				}
			}
		}
	}
}

// TestRandomKeysHaveShortWords checks that a key counts although its letters are a word in some case.
func TestRandomKeysHaveShortWords(t *testing.T) {
	for key, want := range map[string]int{
		"vmOcKQsLLQiI/FwS+Dn2nh3/ePh5a3vduQ4J0F8p": 1, "vmmockQsLLQiI/FwS+Dn2nh3/ePh5a3vduQ4J0F8": 0,
		"vmMockQsLLQiI/FwS+Dn2nh3/ePh5a3vduQ4J0F8": 0, "vmMOCKQsLLQiI/FwS+Dn2nh3/ePh5a3vduQ4J0F8": 0,
	} {
		if found := Builtin().Scan([]byte("AWS_SECRET_ACCESS_KEY=" + key)); len(found) != want {
			t.Errorf("%s: %+v, want %d", key, found, want)
		}
	}
}

// TestWhatLooksLikeTokens checks what has the keyword of a token and is none.
func TestWhatLooksLikeTokens(t *testing.T) {
	random := rand.New(rand.NewPCG(7, 8))
	for _, form := range []string{
		"_mmk", "x_mmk", "%a2_%a29_mmk", "%a7_%a29_mmk", "%a6_%a29_mmk_%a9",
		"favicon.ico-%x32.png", "magnif-ico-G%a31", "REST-API-%u26", "GSSAPI-%u26",
		"pat.%w22.%a24", "A3-%u6-%u6-%u5-%u5-%u5", "sha256~%w42",
	} {
		text, _ := expand(form, random)
		if found := Builtin().Scan([]byte(text)); len(found) > 0 {
			t.Errorf("%s: %+v", text, found)
		}
	}
}

// expand returns a random token of a form and the length of what is the same in all of them.
func expand(form string, random *rand.Rand) (token string, prefix int) {
	form = strings.ReplaceAll(form, "%U", "%x8-%x4-%x4-%x4-%x12")
	parts := strings.Split(form, "%")
	token, prefix = parts[0], len(parts[0])
	for i := 1; i < len(parts); i++ {
		if parts[i] == "" { // %%
			i++
			token += "%" + parts[i]
			continue
		}
		rest := strings.TrimLeft(parts[i][1:], "0123456789")
		n, _ := strconv.Atoi(strings.TrimSuffix(parts[i][1:], rest))
		for set := sets[parts[i][0]]; n > 0; n-- {
			token += string(set[random.IntN(len(set))])
		}
		token += rest
	}
	return token, prefix
}

// instance writes a random string that the expression matches.
func instance(b *strings.Builder, re *syntax.Regexp, random *rand.Rand) {
	repeat := func(least, most int) {
		for range least + random.IntN(most-least+1) {
			instance(b, re.Sub[0], random)
		}
	}
	switch re.Op {
	case syntax.OpLiteral:
		b.WriteString(string(re.Rune))
	case syntax.OpCharClass:
		total := 0
		for i := 0; i < len(re.Rune); i += 2 {
			total += int(re.Rune[i+1]-re.Rune[i]) + 1
		}
		n := rune(random.IntN(total))
		for i := 0; ; i += 2 {
			if size := re.Rune[i+1] - re.Rune[i] + 1; n >= size {
				n -= size
				continue
			}
			b.WriteRune(re.Rune[i] + n)
			break
		}
	case syntax.OpConcat:
		for _, sub := range re.Sub {
			instance(b, sub, random)
		}
	case syntax.OpAlternate:
		instance(b, re.Sub[random.IntN(len(re.Sub))], random)
	case syntax.OpCapture:
		repeat(1, 1)
	case syntax.OpQuest:
		repeat(0, 1)
	case syntax.OpPlus:
		repeat(1, 12)
	case syntax.OpRepeat:
		most := re.Max
		if most < 0 {
			most = re.Min + 20
		}
		repeat(re.Min, most)
	}
}
