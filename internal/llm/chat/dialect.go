package chat

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"net/url"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// Names of servers with a known dialect. They are the names of providers in configuration.
const (
	OpenRouter = "openrouter"
	DeepSeek   = "deepseek"
	Mistral    = "mistral"
	XAI        = "xai"
	Cerebras   = "cerebras"
	LlamaCPP   = "llamacpp"
	VLLM       = "vllm"
	LMStudio   = "lmstudio"
)

// A dialect is how a server differs from the common format.
type dialect struct {
	base   string // its address, "" if only configuration has it
	prefix string // of paths, if the address has none
	own    bool   // users run it themselves or know its address
	// thoughts is the form in which reasoning is sent back as text.
	thoughts thoughts
	// always sends back the thoughts of all turns, including those of other models.
	always bool
	// wantsThoughts requires the thoughts member, even if empty, in the replies of a turn with tool
	// calls.
	wantsThoughts bool
	// details sends reasoning_details back.
	details bool
	images  bool
	pdfs    bool
	// tags allows for thoughts in the text, between tags.
	tags bool
	// format asks for thoughts that are separate from the text, "" if they always are.
	format string
	// reason sets how much the model thinks.
	reason func(b *builder, r llm.ReasoningParams)
	// required is the value of tool_choice for any tool, "required" if empty.
	required string
	// noUsage leaves out the request for usage, which the server refuses; it sends usage anyway.
	noUsage bool
	// objects says that the server does not support schemas, only answers that are objects.
	objects bool
	// shortIDs requires ids of calls with nine letters or digits.
	shortIDs bool
	// between forbids a user's message directly after a tool's.
	between bool
	// session is the header that routes a conversation to its cache.
	session string
	// list is the path of a more detailed list of models, "" for none.
	list string
	// search is the type of the server's own web search, "" for none.
	search string
	// props says that the server reports its window under /props.
	props bool
}

// thoughts is the form in which a server accepts reasoning.
type thoughts int

const (
	thoughtsNever     thoughts = iota
	thoughtsContent            // in the member reasoning_content
	thoughtsReasoning          // in the member reasoning
	thoughtsPiece              // as the first piece of the content, as Mistral sends it
)

// replays reports whether reasoning is sent back: own says that it came from this server, called
// that its turn has tool calls.
func (d dialect) replays(own, called bool) bool {
	switch {
	case d.thoughts == thoughtsNever:
		return false
	case d.always:
		return true
	case d.thoughts == thoughtsPiece:
		return own // its position among the pieces is that of the answer
	default:
		return own && called
	}
}

// dialectOf returns the dialect of a server, adjusted to the model: the rules of a model's template
// apply on every server that runs it.
func dialectOf(server, model string) dialect {
	d := dialectOfServer(server)
	switch {
	case wire.IsMistral(model):
		d.between = true
		d.shortIDs = d.shortIDs || !d.details // a gateway makes ids that fit
	case wire.IsDeepSeek(model):
		d.always, d.wantsThoughts = false, d.thoughts == thoughtsContent
	}
	return d
}

func dialectOfServer(name string) dialect {
	switch name {
	case OpenRouter:
		return dialect{
			base: "https://openrouter.ai", prefix: "/api/v1", details: true, images: true,
			pdfs: true, reason: reasonOpenRouter,
			// https://openrouter.ai/docs/guides/features/server-tools/web-search
			search: "openrouter:web_search",
		}
	case DeepSeek:
		return dialect{
			base: "https://api.deepseek.com", prefix: "/v1", thoughts: thoughtsContent,
			reason: reasonDeepSeek, objects: true,
		}
	case Mistral:
		return dialect{
			base: "https://api.mistral.ai", prefix: "/v1", images: true, required: "any",
			noUsage: true, shortIDs: true, between: true, thoughts: thoughtsPiece,
			reason: reasonMistral,
		}
	case XAI:
		return dialect{
			base: "https://api.x.ai", prefix: "/v1", images: true, reason: reasonEffort,
			session: "X-Grok-Conv-Id",
		}
	case Cerebras:
		return dialect{
			base: "https://api.cerebras.ai", prefix: "/v1", thoughts: thoughtsReasoning,
			always: true, reason: reasonCerebras, format: "parsed",
			list: "/public/v1/models?format=openrouter",
		}
	case LlamaCPP:
		return dialect{
			base: "http://127.0.0.1:8080", prefix: "/v1", own: true, thoughts: thoughtsContent,
			always: true, images: true, reason: reasonTemplate, props: true, format: "deepseek",
			tags: true,
		}
	case VLLM:
		return dialect{
			base: "http://127.0.0.1:8000", prefix: "/v1", own: true, thoughts: thoughtsContent,
			always: true, images: true, reason: reasonTemplate, tags: true,
		}
	case LMStudio:
		return dialect{
			base: "http://127.0.0.1:1234", prefix: "/v1", own: true, images: true, tags: true,
		}
	default:
		return dialect{
			prefix: "/v1", own: true, thoughts: thoughtsContent, images: true,
			reason: reasonEffort, tags: true,
		}
	}
}

// address returns the base address of the format. Users write it with or without the prefix; for a
// server that users run themselves, a path in the address is used as written.
func (d dialect) address(address string) string {
	prefix := d.prefix
	if at, err := url.Parse(address); err == nil && d.own && strings.Trim(at.Path, "/") != "" {
		prefix = ""
	}
	return llm.Below(cmp.Or(address, d.base), prefix)
}

// id returns the id of a call in a form that the server accepts; unique ids stay unique.
func (d dialect) id(id string) string {
	if !d.shortIDs {
		return id
	}
	plain := strings.IndexFunc(id, func(r rune) bool {
		return (r < '0' || r > '9') && (r < 'a' || r > 'z') && (r < 'A' || r > 'Z')
	}) < 0
	if plain && len(id) == 9 {
		return id
	}
	sum := sha256.Sum256([]byte(id))
	return hex.EncodeToString(sum[:])[:9]
}

// off reports whether reasoning is off.
func off(r llm.ReasoningParams) bool {
	return r.Off() || r.Mode == llm.ReasoningBudget && r.Budget <= 0
}

// reasonEffort asks for the lowest effort to turn reasoning off, for which no name is known to all
// servers.
func reasonEffort(b *builder, r llm.ReasoningParams) {
	if off(r) {
		b.body["reasoning_effort"] = "low"
	} else if e := r.Level(); e != "" {
		b.body["reasoning_effort"] = e
	}
}

// reasonCerebras can turn thinking off, except for OpenAI's models on this server.
func reasonCerebras(b *builder, r llm.ReasoningParams) {
	if off(r) && !strings.HasPrefix(b.model.name, "gpt-oss") {
		b.body["reasoning_effort"] = "none"
		return
	}
	reasonEffort(b, r)
}

// reasonMistral has two values, for models that support them.
func reasonMistral(b *builder, r llm.ReasoningParams) {
	name := b.model.name
	told := strings.HasPrefix(name, "mistral-small") || strings.HasPrefix(name, "mistral-medium")
	switch {
	case !told:
	case off(r):
		b.body["reasoning_effort"] = "none"
	case r.Level() != "":
		b.body["reasoning_effort"] = "high"
	}
}

// reasonOpenRouter asks for little reasoning and hides it if it is off, as jp does: some models
// cannot turn it off.
func reasonOpenRouter(b *builder, r llm.ReasoningParams) {
	o := map[string]any{}
	switch {
	case off(r):
		o["effort"], o["exclude"] = "minimal", true
	case r.Mode == llm.ReasoningBudget:
		o["max_tokens"] = r.Budget
	case r.Mode == llm.ReasoningEffort:
		o["effort"] = openRouterEffort(r.Effort)
	case r.Mode == llm.ReasoningAuto:
		o["enabled"] = true
	}
	if r.Exclude {
		o["exclude"] = true
	}
	if len(o) > 0 {
		b.body["reasoning"] = o
	}
}

func openRouterEffort(e llm.Effort) string {
	switch e {
	case llm.EffortXLow:
		return "minimal"
	case llm.EffortMax:
		return string(llm.EffortXHigh)
	default:
		return string(e)
	}
}

func reasonDeepSeek(b *builder, r llm.ReasoningParams) {
	switch {
	case off(r):
		b.body["thinking"] = map[string]string{"type": "disabled"}
	case r.Mode != llm.ReasoningDefault:
		b.body["thinking"] = map[string]string{"type": "enabled"}
	}
	switch e := r.Level(); {
	case off(r) || e == "":
	case r.Effort == llm.EffortMax:
		b.body["reasoning_effort"] = "max"
	case e == llm.EffortLow:
		b.body["reasoning_effort"] = "low"
	default:
		b.body["reasoning_effort"] = "high"
	}
}

// reasonTemplate sets parameters of the templates of local models, which ignore unknown ones.
func reasonTemplate(b *builder, r llm.ReasoningParams) {
	if r.Mode == llm.ReasoningDefault {
		return
	}
	o := map[string]any{"enable_thinking": !off(r)}
	if e := r.Level(); e != "" && !off(r) {
		o["reasoning_effort"] = e
	}
	b.body["chat_template_kwargs"] = o
}
