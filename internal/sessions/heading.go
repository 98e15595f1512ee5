package sessions

import (
	"cmp"
	"strings"
	"unicode"
	"unicode/utf8"
)

// A heading is the title of a session, and its labels.
type heading struct {
	title  string
	rank   TitleRank
	words  string // of the first prompt
	labels map[string]string
	said   *ledger
}

// Headline sets the words that replace a missing title: those of the first prompt that has any.
func (h *heading) Headline(words string) { h.words = cmp.Or(h.words, strings.TrimSpace(words)) }

// Label sets a label, unless it is set.
func (h *heading) Label(key, value string) {
	value = strings.TrimSpace(value)
	if _, ok := h.labels[key]; !ok && value != "" && utf8.ValidString(value) {
		h.labels[key] = value
		h.said.Said(value)
	}
}

// kept returns the labels with redacted values.
func (h *heading) kept(k *keeper) map[string]string {
	labels := make(map[string]string, len(h.labels))
	for key, value := range h.labels {
		labels[key] = k.Text(value)
	}
	return labels
}

// A TitleRank says who a title is from. A greater one wins, and of equal ones the later.
type TitleRank int

// The ranks.
const (
	TitleNone    TitleRank = iota
	TitleSummary           // of a part of the session
	TitleModel             // from a model
	TitlePerson            // from a person
)

// Title sets the title of the session.
func (h *heading) Title(rank TitleRank, title string) {
	if title = strings.TrimSpace(title); title != "" && rank >= h.rank {
		h.title, h.rank = title, rank
	}
}

// maxTitle is the length, in characters, to which a prompt is cut for a title.
const maxTitle = 80

// called returns the title as it is kept, or else the first words of the first prompt.
func (h *heading) called(k *keeper) string {
	if h.title != "" {
		return k.Text(h.title)
	}
	return FirstWords(k.Text(h.words))
}

// maxOpening limits how much of a prompt a quick look keeps. It is more than the longest secret
// with an end mark, a private key, so that rules find it.
const maxOpening = 16 << 10

// Opening returns the beginning of a prompt as the user typed it, or "" if it has no visible text.
// It has the text that rules for secrets need. Lists print [FirstWords] of its redacted form.
func Opening(text string) string {
	text = strings.TrimFunc(text, isBlank)
	if len(text) > maxOpening {
		text = strings.ToValidUTF8(strings.Clone(text[:maxOpening]), "")
	}
	return text
}

func isBlank(r rune) bool { return unicode.IsSpace(r) || unicode.IsControl(r) }

// FirstWords returns the beginning of a prompt, in one line.
func FirstWords(text string) string {
	words := strings.Join(strings.FieldsFunc(text, isBlank), " ")
	if all := []rune(words); len(all) > maxTitle {
		return strings.TrimSpace(string(all[:maxTitle])) + "…"
	}
	return words
}
