package query

import (
	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/internal/llm"
)

// A Measure is the composition of a request.
type Measure struct {
	Tools     []string
	Resources []string
	Bytes     map[string]int // by kind
	// TokensByKind and Tokens are estimates.
	TokensByKind map[string]int
	Tokens       int
	Prefix       int // tokens that were already sent before the last message
	Compacted    int // messages that the provider has compacted itself

	media map[string]media // by kind
}

// A media is what is not text: its tokens do not depend on its bytes.
type media struct{ bytes, tokens int }

// MeasureOf adds up a request to a model by kind. All messages except the last count as sent
// before, unless there is only one.
func MeasureOf(model string, r *llm.Request) Measure {
	sum := Measure{
		Tools: []string{}, Resources: []string{}, Bytes: map[string]int{},
		TokensByKind: map[string]int{}, media: map[string]media{},
	}
	for _, s := range r.System {
		sum.Bytes["system"] += len(s.Text)
	}
	for _, t := range r.Tools {
		sum.Tools = append(sum.Tools, t.Name)
		sum.Bytes["tools"] += len(t.Name) + len(t.Description) + len(t.Schema)
	}
	for i, m := range r.Messages {
		if i > 0 && i == len(r.Messages)-1 {
			sum.Prefix = sum.count()
		}
		for _, p := range m.Parts {
			sum.part(m.Role, p)
			if _, ok := p.(llm.Opaque); ok && r.Params.Services.Compacts() && llm.Own(m, model) {
				sum.Compacted = i
			}
		}
	}
	sum.Tokens = sum.count()
	return sum
}

// count estimates the tokens of the bytes added up so far.
func (sum *Measure) count() (all int) {
	for kind, n := range sum.Bytes {
		m := sum.media[kind]
		tokens := int(sortOf(kind).Tokens(int64(n-m.bytes))) + m.tokens
		sum.TokensByKind[kind] = tokens
		all += tokens
	}
	return all
}

// sortOf maps a kind of bytes in a request to a sort of the measured estimates.
func sortOf(kind string) compact.Sort {
	switch kind {
	case "tools":
		return compact.SortTools
	case "resources", "media":
		return compact.SortAttachment
	case "assistant":
		return compact.SortAnswer
	case "reasoning":
		return compact.SortReasoning
	case "calls":
		return compact.SortCall
	case "results":
		return compact.SortOutput
	default:
		return compact.SortPrompt
	}
}

func (sum *Measure) part(role llm.Role, p llm.Part) {
	switch p := p.(type) {
	case llm.Text:
		sum.Bytes[string(role)] += len(p.Text)
	case llm.Reasoning:
		sum.Bytes["reasoning"] += len(p.Text)
	case llm.Data:
		sum.Bytes[string(role)] += len(p.Value)
	case llm.Call:
		sum.Bytes["calls"] += len(p.Name) + len(p.Args)
	case llm.Resource:
		sum.Resources = append(sum.Resources, p.URI)
		sum.Bytes["resources"] += len(p.Text)
		sum.binary("resources", p.MIME, p.Bytes)
	case llm.Media:
		sum.binary("media", p.MIME, p.Bytes)
	case llm.Result:
		before := sum.Bytes["user"]
		for _, q := range p.Parts {
			sum.part(llm.RoleUser, q)
		}
		sum.Bytes["results"] += sum.Bytes["user"] - before
		sum.Bytes["user"] = before
	}
}

func (sum *Measure) binary(kind, mime string, data []byte) {
	if len(data) == 0 {
		return
	}
	usual, _ := mediaTokens(mime, data)
	m := sum.media[kind]
	sum.media[kind] = media{m.bytes + len(data), m.tokens + int(usual)}
	sum.Bytes[kind] += len(data)
}
