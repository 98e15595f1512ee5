package grep

import (
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/search"
)

// A HitRecord is one line in the JSON of a search.
type HitRecord struct {
	ID      string   `json:"id"`
	Title   string   `json:"title"`
	Ref     string   `json:"ref,omitempty"`
	Turn    int      `json:"turn"` // counted from 1, 0 for the title
	Element int      `json:"element"`
	Scope   string   `json:"scope"`
	Where   string   `json:"where,omitempty"`
	Line    int      `json:"line"`
	Text    string   `json:"text"`
	Match   bool     `json:"match"`
	Spans   [][2]int `json:"spans,omitempty"`
}

// A CountRecord is one conversation in the JSON of a search for names or counts.
type CountRecord struct {
	ID    string `json:"id"`
	Title string `json:"title"`
	Ref   string `json:"ref,omitempty"`
	Lines int    `json:"lines"`
}

func newHitRecord(v search.Version, h search.Hit, l search.Line) HitRecord {
	r := HitRecord{
		ID: v.ID.String(), Title: v.Title, Ref: v.Ref, Turn: h.Turn + 1, Element: h.Element,
		Scope: string(h.Scope), Where: h.Where, Line: l.Number, Text: l.Text, Match: l.Match,
	}
	for _, span := range l.Spans {
		r.Spans = append(r.Spans, [2]int{span[0], span[1]})
	}
	return r
}

// placeOf names the conversation, and the ref unless it is in the working tree.
func placeOf(v search.Version) string {
	if v.Ref == "" {
		return v.ID.String()
	}
	return v.Ref + ":" + v.ID.String()
}

// scopeOf says where a hit is, with the tool or the resource.
func scopeOf(h search.Hit) string {
	if h.Where == "" {
		return string(h.Scope)
	}
	return string(h.Scope) + "(" + strings.ReplaceAll(h.Where, ":", "%3A") + ")"
}

// lineMark returns the number of a line, and whether it matches.
func lineMark(l search.Line) string {
	if l.Match {
		return fmt.Sprintf("%d:", l.Number)
	}
	return fmt.Sprintf("%d-", l.Number)
}
