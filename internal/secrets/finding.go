package secrets

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"path"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

// A Finding is a secret in an event of a conversation.
type Finding struct {
	Allowed
	Match   Match  // in the text
	Element int    // index in the stream
	Member  string // see [Text]
	// Shown is the provider's prefix, or "".
	Shown string
	// Place is Member without secrets.
	Place string
}

// String describes the finding and shows no character of the secret except the provider's prefix.
func (f Finding) String() string {
	unit := "bytes"
	n := f.Match.End - f.Match.Start
	if n == 1 {
		unit = "byte"
	}
	text := fmt.Sprintf("%s in %s, %d %s", f.Rule, f.Place, n, unit)
	if f.Shown != "" {
		text += ", begins with " + f.Shown
	}
	return text
}

// NewFinding returns the n-th finding of a rule in an event, for a value found by other means.
func NewFinding(rule string, id events.ID, event string, n int, value []byte) Allowed {
	return Allowed{rule, id.Digits(), event, n, check(value)}
}

// An Allowed identifies a finding that is not a secret, as a workspace commits it. The check
// distinguishes the value from most others and is too short to confirm a guess.
type Allowed struct {
	Rule         string `json:"rule"`
	Conversation string `json:"conversation"` // digits
	Event        string `json:"event"`        // its key
	Ordinal      int    `json:"ordinal"`      // among the rule's findings in the event, from 1
	Check        string `json:"check"`
}

// The directories of a workspace's entries, below its .jp.
const (
	Dir         = "secrets"
	AllowedDir  = Dir + "/allowed"
	RedactedDir = Dir + "/redacted"
	entrySuffix = ".json"
)

// Fingerprint identifies the finding.
func (a Allowed) Fingerprint() string {
	var b strings.Builder
	for _, s := range []string{a.Rule, a.Conversation, a.Event, strconv.Itoa(a.Ordinal), a.Check} {
		b.WriteString(s + "\x00")
	}
	return digest([]byte(b.String()))
}

// fingerprintDigits is the length of a fingerprint and of the hash in an entry's name.
const fingerprintDigits = 32

func digest(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])[:fingerprintDigits]
}

// Name returns the path of the entry below the workspace's .jp.
func (a Allowed) Name() string { return path.Join(AllowedDir, a.Fingerprint()+entrySuffix) }

// Encode returns the content of the entry's file.
func (a Allowed) Encode() []byte { return encode(a) }

// ErrName reports that the name of an entry does not match its content.
var ErrName = errors.New("its name does not match its content")

// ParseAllowed parses an entry.
func ParseAllowed(name string, data []byte) (Allowed, error) {
	var a Allowed
	if err := parse(data, &a); err != nil {
		return Allowed{}, err
	}
	if name != a.Name() {
		return Allowed{}, ErrName
	}
	return a, nil
}

func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	_ = e.Encode(v) // strings and numbers cannot fail
	return b.Bytes()
}

// parse ignores members that are not known: a later version adds them and keeps the meaning of the
// others, and a redaction that does not count brings its text back.
func parse(data []byte, v any) error {
	if len(data) > MaxFile {
		return fmt.Errorf("%d bytes, more than %d", len(data), MaxFile)
	}
	return json.Unmarshal(data, v)
}

// check returns the first byte of a value's hash, as two hexadecimal digits.
func check(value []byte) string {
	sum := sha256.Sum256(value)
	return hex.EncodeToString(sum[:1])
}

// A Scanner scans streams. It caches the results of blobs, so that a blob is read once however many
// events refer to it, and which documents have no secret: the conversations of a workspace often
// begin with the same configuration.
type Scanner struct {
	Rules *Rules
	known map[blobs.Hash]scanned
	clean map[[sha256.Size]byte]bool
}

// A scanned is the result of scanning one text: its matches, and the number of markers of each
// rule, which stand for redacted findings.
type scanned struct {
	found   []marked
	markers map[string]int
}

// A marked is a match with the values that are computed from the text, so that the text is not
// kept.
type marked struct {
	Match
	check string
	shown string
	// before is the number of markers of the rule before the match.
	before int
}

// Stream returns the findings, in order, in the elements for which look returns true; a nil look
// selects all elements. Content that cannot be read is skipped; it is reported elsewhere.
func (s *Scanner) Stream(
	id events.ID, stream *events.Stream, look func(i int) bool, contents blobs.Reader,
) ([]Finding, error) {
	var found []Finding
	keys := stream.Keys()
	for i, e := range stream.All() {
		if look != nil && !look(i) {
			continue
		}
		fs, err := s.texts(id, keys[i], Scanned(e), contents)
		if err != nil {
			return nil, fmt.Errorf("scan element %d: %w", i, err)
		}
		for n := range fs {
			fs[n].Element = i
		}
		found = append(found, fs...)
	}
	return found, nil
}

// Document returns the findings in another file of a conversation, whose name takes the place of an
// event key.
func (s *Scanner) Document(id events.ID, name string, data []byte) []Finding {
	sum := sha256.Sum256(data)
	if s.clean[sum] {
		return nil
	}
	found, _ := s.texts(id, name, ScannedDocument(data), nil) // no blob is read
	if len(found) == 0 {
		if s.clean == nil {
			s.clean = make(map[[sha256.Size]byte]bool)
		}
		s.clean[sum] = true
	}
	for n := range found {
		found[n].Element = -1
	}
	return found
}

// texts scans the texts of an event.
func (s *Scanner) texts(
	id events.ID, event string, texts []Text, contents blobs.Reader,
) (found []Finding, _ error) {
	seen := map[string]int{}
	for _, t := range texts {
		text, err := s.content(t, contents)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", t.Member, err)
		}
		place := t.Member
		if len(text.found) > 0 {
			hidden, _ := s.Rules.Redact([]byte(place))
			place = string(hidden)
		}
		for _, m := range text.found {
			seen[m.Rule]++
			found = append(found, Finding{
				Allowed: Allowed{m.Rule, id.Digits(), event, seen[m.Rule] + m.before, m.check},
				Match:   m.Match, Member: t.Member, Shown: m.shown, Place: place,
			})
		}
		for rule, n := range text.markers {
			seen[rule] += n
		}
	}
	return found, nil
}

func (s *Scanner) content(t Text, r blobs.Reader) (scanned, error) {
	c := t.Content
	if !c.IsRef() {
		text, err := c.Bytes(nil)
		if err != nil {
			return scanned{}, err
		}
		return s.text(t.Before, text), nil
	}
	if r == nil {
		return scanned{}, nil
	}
	h := c.Ref().Hash
	if known, ok := s.known[h]; ok {
		return known, nil
	}
	text, err := c.Bytes(r)
	if err != nil {
		return scanned{}, nil //nolint:nilerr // what cannot be read others report
	}
	if s.known == nil {
		s.known = make(map[blobs.Hash]scanned)
	}
	s.known[h] = s.text("", text)
	return s.known[h], nil
}

func (s *Scanner) text(before string, text []byte) scanned {
	res := scanned{markers: markersIn(text)}
	for _, m := range s.Rules.ScanValue(before, text) {
		res.found = append(res.found, marked{
			m, check(text[m.Start:m.End]), string(text[m.Start : m.Start+m.Public]),
			bytes.Count(text[:m.Start], []byte(Marker(m.Rule))),
		})
	}
	return res
}

// markersIn counts the markers of each rule.
func markersIn(text []byte) map[string]int {
	var n map[string]int
	for {
		_, rest, ok := bytes.Cut(text, []byte(markerPrefix))
		if !ok {
			return n
		}
		text = rest
		rule, _, ok := bytes.Cut(rest[:min(len(rest), maxRuleName+1)], []byte("]"))
		if !ok {
			continue
		}
		if n == nil {
			n = map[string]int{}
		}
		n[string(rule)]++
	}
}
