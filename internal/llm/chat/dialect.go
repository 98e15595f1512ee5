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

// Names of servers whose dialect is known. They are the names of providers as configuration
// has them.
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

// A dialect is what one server has of its own.
type dialect struct {
	base   string // where it answers, "" where only its configuration says
	prefix string // of paths, when the address has none
	own    bool   // everybody runs it himself, or knows where it is
	// thoughts is the form in which reasoning goes back as text.
	thoughts thoughts
	// always sends thoughts of all turns back, and those of other models.
	always bool
	// wantsThoughts: replies of a turn in which tools were called must have the member of
	// thoughts, though there be none.
	wantsThoughts bool
	// details sends reasoning_details back.
	details bool
	images  bool
	pdfs    bool
	// tags: thoughts may stand in what is said, between tags.
	tags bool
	// format asks that thoughts come apart from what is said, "" where they do so anyway.
	format string
	// reason says how much to think.
	reason func(b *builder, r llm.ReasoningParams)
	// required is the word for a choice of any tool, "required" when empty.
	required string
	// noUsage: the server refuses to be asked for usage, and tells it anyway.
	noUsage bool
	// objects: the server knows no schema, only that the answer is an object.
	objects bool
	// shortIDs: ids of calls have nine letters or digits.
	shortIDs bool
	// between: the user may not speak directly after a tool.
	between bool
	// session is the header that routes a conversation to its cache.
	session string
	// list is where the server tells more of its models than where all do, "" for nowhere.
	list string
	// search is the type of the server's own search of the web, "" for none.
	search string
	// props: the server tells its window under /props.
	props bool
}

// thoughts is the form in which a server takes reasoning back.
type thoughts int

const (
	thoughtsNever     thoughts = iota
	thoughtsContent            // in the member reasoning_content
	thoughtsReasoning          // in the member reasoning
	thoughtsPiece              // as the first piece of the content, as Mistral sends it
)

// replays reports whether reasoning goes back: own says that it came from this server, called
// that tools were called in its turn.
func (d dialect) replays(own, called bool) bool {
	switch {
	case d.thoughts == thoughtsNever:
		return false
	case d.always:
		return true
	case d.thoughts == thoughtsPiece:
		return own // its place among the pieces is that of the answer
	default:
		return own && called
	}
}

// dialectOf returns the dialect of a server with what it has of one model's own, whoever serves
// it: rules of a model's template hold on every server that runs it.
func dialectOf(server, model string) dialect {
	d := dialectOfServer(server)
	switch {
	case wire.IsMistral(model):
		d.between = true
		d.shortIDs = d.shortIDs || !d.details // who hands on makes ids that fit
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

// address returns where the paths of the format lie. People write it with and without the
// prefix; the path of a server of one's own is what they write.
func (d dialect) address(address string) string {
	prefix := d.prefix
	if at, err := url.Parse(address); err == nil && d.own && strings.Trim(at.Path, "/") != "" {
		prefix = ""
	}
	return llm.Below(cmp.Or(address, d.base), prefix)
}

// id returns the id of a call as the server takes it; what is unique stays so.
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

// effort returns the effort in the words that all servers have.
func effort(r llm.ReasoningParams) string {
	switch {
	case r.Mode == llm.ReasoningEffort && (r.Effort == llm.EffortXLow || r.Effort == llm.EffortLow),
		r.Mode == llm.ReasoningBudget && r.Budget < 4096:
		return "low"
	case r.Mode == llm.ReasoningEffort && r.Effort == llm.EffortMedium,
		r.Mode == llm.ReasoningBudget && r.Budget < 16384:
		return "medium"
	case r.Mode == llm.ReasoningEffort, r.Mode == llm.ReasoningBudget:
		return "high"
	default:
		return ""
	}
}

// off reports whether nothing is to be thought.
func off(r llm.ReasoningParams) bool {
	return r.Mode == llm.ReasoningOff ||
		r.Mode == llm.ReasoningEffort && r.Effort == llm.EffortNone ||
		r.Mode == llm.ReasoningBudget && r.Budget <= 0
}

// reasonEffort has no word for off that all servers know; the least is asked for.
func reasonEffort(b *builder, r llm.ReasoningParams) {
	if off(r) {
		b.set("reasoning_effort", "low")
	} else if e := effort(r); e != "" {
		b.set("reasoning_effort", e)
	}
}

// reasonCerebras can turn thinking off, except for the models of OpenAI that it serves.
func reasonCerebras(b *builder, r llm.ReasoningParams) {
	if off(r) && !strings.HasPrefix(b.model.name, "gpt-oss") {
		b.set("reasoning_effort", "none")
		return
	}
	reasonEffort(b, r)
}

// reasonMistral has two words, for models that can be told.
func reasonMistral(b *builder, r llm.ReasoningParams) {
	name := b.model.name
	told := strings.HasPrefix(name, "mistral-small") || strings.HasPrefix(name, "mistral-medium")
	switch {
	case !told:
	case off(r):
		b.set("reasoning_effort", "none")
	case effort(r) != "":
		b.set("reasoning_effort", "high")
	}
}

// reasonOpenRouter asks for little and shows none of it where nothing is wanted, as jp does:
// some models cannot be told not to think.
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
		b.set("reasoning", o)
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
		b.set("thinking", map[string]string{"type": "disabled"})
	case r.Mode != llm.ReasoningDefault:
		b.set("thinking", map[string]string{"type": "enabled"})
	}
	switch e := effort(r); {
	case off(r) || e == "":
	case r.Effort == llm.EffortMax:
		b.set("reasoning_effort", "max")
	case e == "low":
		b.set("reasoning_effort", "low")
	default:
		b.set("reasoning_effort", "high")
	}
}

// reasonTemplate tells the templates of local models, which overlook what they do not know.
func reasonTemplate(b *builder, r llm.ReasoningParams) {
	if r.Mode == llm.ReasoningDefault {
		return
	}
	o := map[string]any{"enable_thinking": !off(r)}
	if e := effort(r); e != "" && !off(r) {
		o["reasoning_effort"] = e
	}
	b.set("chat_template_kwargs", o)
}
