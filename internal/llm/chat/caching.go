package chat

import (
	"slices"
	"strings"
	"time"
)

// maxMarks is how many cache breakpoints a request may have, including the automatic one.
const maxMarks = 4

// caching sets the breakpoints, which OpenRouter passes on to models with explicit caching. One is
// always at the end of the system prompt. For Claude there is one at the end, which OpenRouter
// sets, and one at the end of the last request, since an entry is found only within some blocks
// before a breakpoint.
func (b *builder) caching() {
	vendor, _, _ := strings.Cut(b.model.name, "/")
	claude := vendor == "anthropic"
	takes := b.model.dialect.details && (claude || vendor == "google") && !b.request.Cache.Off
	if takes && claude {
		b.body["cache_control"] = b.mark()
		b.markLastRequest()
	}
	marked := b.marked()
	for _, c := range marked {
		c.mark = nil
	}
	if !takes {
		return
	}
	limit := maxMarks
	if claude {
		limit--
	}
	if more := len(marked) - limit; more > 0 {
		marked = slices.Delete(marked, 1, 1+more) // the first is that of the system prompt
	}
	for _, c := range marked {
		c.mark = b.mark()
	}
}

// mark returns a breakpoint with the requested lifetime.
func (b *builder) mark() *wireCache {
	if b.request.Cache.TTL >= 30*time.Minute {
		return &wireCache{Type: "ephemeral", TTL: "1h"}
	}
	return &wireCache{Type: "ephemeral"}
}

// markLastRequest sets a breakpoint at the end of the last request.
func (b *builder) markLastRequest() {
	for i := len(b.messages) - 1; i > 0; i-- {
		before := b.messages[i-1]
		if n := len(before.content); b.messages[i].role == "assistant" && n > 0 {
			before.content[n-1].mark = b.mark()
			return
		}
	}
}

// marked returns the content with requested breakpoints, in order, including the end of the system
// prompt.
func (b *builder) marked() []*content {
	var marked []*content
	for _, m := range b.messages {
		for i := range m.content {
			c := &m.content[i]
			if c.mark != nil || m.role == "system" && i == len(m.content)-1 {
				marked = append(marked, c)
			}
		}
	}
	return marked
}
