package sessionstest

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/compact"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
)

// Dump formats conversations as text, one line for each event with its identifying parts.
func Dump(all []*sessions.Conversation, kept Contents) string {
	var out strings.Builder
	for _, c := range all {
		title := ""
		if c.Details.Title != nil {
			title = *c.Details.Title
		}
		fmt.Fprintf(&out, "== %s %q archived=%t parent=%s\n", c.Name, title, c.Archived, c.Parent)
		for _, e := range c.Stream.All() {
			dumpLine(&out, e, kept)
		}
	}
	return out.String()
}

func dumpLine(out *strings.Builder, e *events.Element, kept Contents) {
	key, _ := e.Metadata().Text(sessions.MetadataSource)
	var marks []string
	for _, name := range []string{
		sessions.MetadataOpen, sessions.MetadataSplit, sessions.MetadataInjected,
		events.MetadataPrefix + "trimmed",
	} {
		if _, ok := e.Metadata().Value(name); ok {
			marks = append(marks, strings.TrimPrefix(name, events.MetadataPrefix))
		}
	}
	if sub, ok := e.Metadata().Text(sessions.MetadataSubagent); ok {
		marks = append(marks, "subagent="+sub)
	}
	if u, ok := compact.UsageOf(e); ok {
		marks = append(marks, fmt.Sprintf("usage=%d+%d+%d/%d %s",
			u.Input, u.CacheRead, u.CacheWrite, u.Output, u.Model))
	}
	fmt.Fprintln(out, strings.Join(append([]string{said(e, kept) + hash(key)}, marks...), " "))
}

func hash(key string) string {
	if key == "" {
		return ""
	}
	return " #" + key
}

// recordsOf returns the records of an element that has some.
func recordsOf(e *events.Element) (r sessions.AgentRecord, ok bool) {
	if e.Kind() != sessions.KindRecord {
		return r, false
	}
	return r, json.Unmarshal(e.Raw(), &r) == nil
}

func said(e *events.Element, kept Contents) string {
	if r, ok := recordsOf(e); ok {
		var kinds []string
		for _, k := range slices.Sorted(maps.Keys(r.Kinds)) {
			kinds = append(kinds, fmt.Sprintf("%s:%d", k, r.Kinds[k]))
		}
		return "  records " + strings.Join(kinds, " ")
	}
	switch v := e.Event().(type) {
	case *events.TurnStart:
		return "turn"
	case *events.ChatRequest:
		text := fmt.Sprintf("  ask %q", v.Content)
		for _, r := range v.Resources {
			text += fmt.Sprintf(" [%s %s %q]", r.URI, r.MIMEType, kept.text(r.Content))
		}
		return text
	case *events.ChatResponse:
		verb := "say"
		if v.Form == events.FormReasoning {
			verb = "think"
		}
		return fmt.Sprintf("  %s %q", verb, v.Text)
	case *events.ToolCallRequest:
		return fmt.Sprintf("  call %s %s %s", v.ID, v.Name, v.Arguments)
	case *events.ToolCallResponse:
		text := fmt.Sprintf("  result %s error=%t", v.ID, v.IsError)
		for _, b := range v.Blocks {
			text += " " + block(b, kept)
		}
		return text
	case *events.ConfigDelta:
		return "  config " + string(v.Delta)
	case *events.Compaction:
		return fmt.Sprintf("  compaction to=%d %q", v.ToTurn, *v.Summary)
	}
	return "  " + string(e.Kind())
}

func block(b events.Block, kept Contents) string {
	if b.Resource == nil {
		return fmt.Sprintf("[%s %q]", b.Type, kept.text(b.Content))
	}
	text := fmt.Sprintf("[%s %q", b.Resource.URI, kept.text(b.Resource.Content))
	if b.Resource.Formatted != nil {
		text += fmt.Sprintf(" shown %q", kept.text(*b.Resource.Formatted))
	}
	return text + "]"
}
