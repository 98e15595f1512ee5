package gc

import (
	"fmt"
	"slices"
	"strings"
)

// A Reason is something that keeps a content, or did, as `gc why --json` prints it.
type Reason struct {
	Hash         string `json:"hash"`
	Reason       string `json:"reason"`
	Root         string `json:"root"`
	Commit       string `json:"commit"`
	Path         string `json:"path"`
	Conversation string `json:"conversation"`
	Title        string `json:"title"`
	Turn         int    `json:"turn,omitempty"`
	Element      *int   `json:"element,omitempty"`
	Tool         string `json:"tool,omitempty"`
	Call         string `json:"call,omitempty"`
	URI          string `json:"uri,omitempty"`
	Run          string `json:"run,omitempty"`
}

// The values of Reason.Reason.
const (
	reasonTip        = "tip"
	reasonHistory    = "history"
	reasonYoung      = "young"
	reasonQuarantine = "quarantine"
	reasonLast       = "last"
	reasonDead       = "dead"
)

// Reasons returns what keeps a content, or the last thing that did.
func (w *Why) Reasons() []Reason {
	var all []Reason
	add := func(reason string, c Chain) {
		name := ""
		if c.Conversation != 0 {
			name = c.Conversation.String()
		}
		r := Reason{
			Hash: w.Hash.String(), Reason: reason, Root: c.Root, Path: c.Path,
			Conversation: name, Title: c.Title,
		}
		if !c.Commit.IsZero() {
			r.Commit = c.Commit.String()
		}
		if c.At != nil {
			r.Turn, r.Element = c.At.Turn+1, &c.At.Element
			r.Tool, r.Call, r.URI = c.At.Tool, c.At.Call, c.At.URI
		}
		all = append(all, r)
	}
	for _, c := range w.Tips {
		add(reasonTip, c)
	}
	for _, c := range w.Past {
		add(reasonHistory, c)
	}
	bare := Reason{Hash: w.Hash.String()}
	switch {
	case w.Run != "" && !w.Kept():
		bare.Reason, bare.Run = reasonQuarantine, w.Run
		all = append(all, bare)
	case w.Young && !w.Kept():
		bare.Reason = reasonYoung
		all = append(all, bare)
	case !w.Kept():
		bare.Reason = reasonDead
		all = append(all, bare)
	}
	if w.Last != nil {
		add(reasonLast, *w.Last)
	}
	return all
}

// entitled returns reasons in which an index, whose titles are not read, has the title from a
// commit or a working tree.
func entitled(reasons []Reason) []Reason {
	titles := make(map[string]string)
	for _, r := range reasons {
		if titles[r.Path] == "" {
			titles[r.Path] = r.Title
		}
	}
	reasons = slices.Clone(reasons)
	for i := range reasons {
		if r := &reasons[i]; r.Title == "" {
			r.Title = titles[r.Path]
		}
	}
	return reasons
}

// head returns what keeps the content.
func (r Reason) head() string {
	switch r.Reason {
	case reasonTip:
		return "kept by " + r.Root + "\n"
	case reasonHistory:
		return "kept for an older commit, which refers to it and does not have it\n"
	case reasonYoung:
		return "kept by the grace period, and by nothing else\n"
	case reasonQuarantine:
		return "in the quarantine of run " + r.Run + "\n"
	case reasonLast:
		return "last referred to by\n"
	default:
		return "kept by nothing\n"
	}
}

func (r Reason) commit() string {
	if r.Commit == "" {
		return ""
	}
	return "  commit " + r.Commit + "\n"
}

// reference returns the file that refers to the content, and the position.
func (r Reason) reference() string {
	text := ""
	if r.Path != "" {
		text += "  file " + r.Path + "\n"
	}
	if r.Conversation != "" {
		text += strings.TrimRight("  conversation "+r.Conversation+" "+r.Title, " ") + "\n"
	}
	if r.Element != nil {
		text += fmt.Sprintf("  turn %d, element %d", r.Turn, *r.Element)
		if r.Tool != "" {
			text += ", result of " + r.Tool
		}
		if r.URI != "" {
			text += ", " + r.URI
		}
		text += "\n"
	}
	return text
}

// DescribeReasons formats reasons for people. A reference that several share is printed once, after
// the last of them.
func DescribeReasons(reasons []Reason) string {
	reasons = entitled(reasons)
	first := make(map[string]int) // the first index of each reference
	for i, r := range reasons {
		if _, ok := first[r.reference()]; !ok {
			first[r.reference()] = i
		}
	}
	slices.SortStableFunc(reasons, func(a, b Reason) int {
		return first[a.reference()] - first[b.reference()]
	})
	var text strings.Builder
	for i, r := range reasons {
		var next Reason
		if i+1 < len(reasons) {
			next = reasons[i+1]
		}
		text.WriteString(r.head())
		if same := next.Reason != "" && next.reference() == r.reference(); !same {
			text.WriteString(r.commit() + r.reference())
		} else if next.Commit != r.Commit {
			text.WriteString(r.commit())
		}
	}
	return text.String()
}
