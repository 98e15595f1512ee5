package anthropic

import (
	"github.com/git-jp/git-jp/internal/llm"
)

// maxBreakpoints is how many the provider accepts, including the automatic one on the last block.
const maxBreakpoints = 4

// cache sets the breakpoints. The provider finds an entry only at a breakpoint or up to twenty
// blocks before one, and one cycle of parallel calls can be longer than that. So, beside the
// automatic one at the end, there is one at the end of the last request; one after tools and
// system, which all conversations with this configuration share; and the last where the caller
// asked for it, or on the first attachments.
func (b *builder) cache(p *body) {
	if b.request.Cache.Off {
		return
	}
	mark := &cacheControl{Type: "ephemeral", TTL: lifetime(b.request.Cache)}
	p.Cache = mark
	left := maxBreakpoints - 1
	place := func(at **cacheControl) {
		if at != nil && left > 0 && *at == nil {
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

// afterSystem returns the end of the system prompt, or else of the tools, which precede it.
func (b *builder) afterSystem(p *body) **cacheControl {
	wanted := len(p.System) - 1
	for i, s := range b.request.System {
		if s.Breakpoint && i < len(p.System) {
			wanted = i
		}
	}
	if wanted >= 0 {
		return &p.System[wanted].Cache
	}
	if n := len(p.Tools); n > 0 && p.Tools[n-1].own == nil {
		return &p.Tools[n-1].Cache
	}
	return nil
}

// endOfLastRequest returns the last block before the newest answer.
func endOfLastRequest(messages []message) **cacheControl {
	for i := len(messages) - 1; i > 0; i-- {
		if messages[i].Role == llm.RoleAssistant {
			return lastMarkable(messages[i-1].Content)
		}
	}
	return nil
}

// wanted returns the last block of the request's message i. Successive messages of one role are one
// message on the wire, so messages are counted by changes of role.
func (b *builder) wanted(messages []message, i int) **cacheControl {
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

func lastDocument(m message) **cacheControl {
	for i := len(m.Content) - 1; i >= 0; i-- {
		if m.Content[i].Type == kindDocument {
			return &m.Content[i].Cache
		}
	}
	return nil
}

// lastMarkable returns the last block that may have a breakpoint: thinking may not.
func lastMarkable(blocks []block) **cacheControl {
	for i := len(blocks) - 1; i >= 0; i-- {
		if blocks[i].takesCache() {
			return &blocks[i].Cache
		}
	}
	return nil
}
