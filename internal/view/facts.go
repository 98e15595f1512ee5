package view

import (
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// FactsOf returns what is known about a conversation besides its title.
func FactsOf(conv *workspace.Conversation) []Fact {
	first, last := times(conv.Stream)
	facts := []Fact{
		{Name: "Began", Value: moment(first)}, {Name: "Last event", Value: moment(last)},
	}
	if o := workspace.OriginOf(conv.Details); o != nil {
		facts = append(facts, Fact{Name: "Forked from", Value: o.String(), Of: o.ID})
	}
	labels := conv.Details.Labels
	keys := make([]string, 0, len(labels))
	for k := range labels {
		if k != "agent-import" && k != "agent-rules" { // for programs
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	for _, k := range keys {
		of := ""
		if k == sessions.LabelParent {
			of = labels[k]
		}
		facts = append(facts, Fact{Name: labelName(k), Value: labels[k], Of: of})
	}
	return slices.DeleteFunc(facts, func(f Fact) bool { return f.Value == "" })
}

// times returns the times of the first and the last event of a stream. The id of an imported
// conversation is not a time.
func times(s *events.Stream) (first, last time.Time) {
	for _, e := range s.All() {
		if t := e.Time(); e.Kind().IsEvent() && !t.IsZero() {
			if first.IsZero() {
				first = t
			}
			last = t
		}
	}
	return first, last
}

// labelName returns a label in words.
func labelName(key string) string {
	switch key {
	case "pr":
		return "Pull request"
	default:
		return sentence(strings.ReplaceAll(key, "-", " "))
	}
}
