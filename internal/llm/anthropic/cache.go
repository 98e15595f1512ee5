package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/git-jp/git-jp/internal/llm"
)

// maxBreakpoints is how many the provider takes, with the automatic one on the last block.
const maxBreakpoints = 4

// cache places the breakpoints. The provider finds an entry only at a breakpoint or up to
// twenty blocks before one, and one cycle of parallel calls can be longer than that. So, beside
// the automatic one at the end, one stands where the request before this one ended; one after
// tools and system, which all conversations with this configuration share; and the last on what
// the caller asked for, or on what was attached first.
func (b *builder) cache(p *sdk.MessageNewParams) {
	if b.request.Cache.Off {
		return
	}
	mark := sdk.CacheControlEphemeralParam{TTL: lifetime(b.request.Cache)}
	p.CacheControl = mark
	left := maxBreakpoints - 1
	place := func(at *sdk.CacheControlEphemeralParam) {
		if at != nil && left > 0 && at.TTL == "" {
			*at = mark
			left--
		}
	}
	place(b.afterSystem(p))
	place(endOfLastRequest(p.Messages))
	for i := len(b.request.Messages) - 2; i >= 0 && left > 0; i-- {
		if b.request.Messages[i].Breakpoint {
			place(b.wanted(p.Messages, i))
		}
	}
	if len(p.Messages) > 0 && left > 0 {
		place(lastDocument(p.Messages[0]))
	}
}

// afterSystem is the end of the system prompt, or of the tools, which stand before it.
func (b *builder) afterSystem(p *sdk.MessageNewParams) *sdk.CacheControlEphemeralParam {
	wanted := len(p.System) - 1
	for i, s := range b.request.System {
		if s.Breakpoint && i < len(p.System) {
			wanted = i
		}
	}
	if wanted >= 0 {
		return &p.System[wanted].CacheControl
	}
	if n := len(p.Tools); n > 0 {
		return &p.Tools[n-1].OfTool.CacheControl
	}
	return nil
}

// endOfLastRequest is the last block before the newest answer.
func endOfLastRequest(messages []sdk.MessageParam) *sdk.CacheControlEphemeralParam {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == sdk.MessageParamRoleAssistant {
			return lastMarkable(messages[i-1].Content)
		}
	}
	return nil
}

// wanted finds the block that the request's message i ends with. Messages of one role are one
// on the wire, so its end is counted in changes of role.
func (b *builder) wanted(messages []sdk.MessageParam, i int) *sdk.CacheControlEphemeralParam {
	at, role := -1, llm.Role("")
	for _, m := range b.request.Messages[:i+1] {
		if len(m.Parts) > 0 && m.Role != role {
			at, role = at+1, m.Role
		}
	}
	if at < 0 || at >= len(messages)-1 {
		return nil
	}
	return lastMarkable(messages[at].Content)
}

func lastDocument(m sdk.MessageParam) *sdk.CacheControlEphemeralParam {
	for i := len(m.Content) - 1; i >= 0; i-- {
		if d := m.Content[i].OfDocument; d != nil {
			return &d.CacheControl
		}
	}
	return nil
}

// lastMarkable is the last block that takes a breakpoint: thinking does not.
func lastMarkable(blocks []block) *sdk.CacheControlEphemeralParam {
	for i := len(blocks) - 1; i >= 0; i-- {
		if at := blocks[i].GetCacheControl(); at != nil {
			return at
		}
	}
	return nil
}
