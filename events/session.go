package events

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/jsonspan"
	"github.com/go-json-experiment/json/jsontext"
)

// UnknownModel is the model in the base configuration of an import whose session has not named one
// yet.
const UnknownModel = "unknown"

// Labels of a conversation that was imported from an agent session. docs/format.md, "Agent
// sessions", defines their values. Merging depends on them.
const (
	LabelSession   = "agent-session"
	LabelSessionOf = "agent-session-of" // of a fork or a copy
	LabelImport    = "agent-import"
	LabelRules     = "agent-rules"  // rules by which secrets were removed
	LabelDir       = "agent-dir"    // below the working tree, where the agent was started
	LabelParent    = "agent-parent" // session that started this one, or in which it was rewound
)

// labelResumed followed by the name of a session is a label of a conversation that was exported and
// that an agent continued in that session. Its value records how much of the session has been
// imported.
const labelResumed = LabelImport + "-"

// MetadataOpen is the key in a turn_start of such a conversation which marks a turn that was not
// complete in the source.
const MetadataOpen = MetadataPrefix + "open"

// More metadata keys of such conversations.
const (
	// MetadataSplit is on a request with which a turn continues after a compaction.
	MetadataSplit = MetadataPrefix + "split"
	// SplitRequest is the text of such a request.
	SplitRequest = "Continue."
	// SplitSuffix follows the key of the next event in the key of such a request.
	SplitSuffix = "^"
	// MetadataRedacted is on an event with redacted text. It holds a digest of the event, so that
	// the event counts as changed by the redaction alone as long as the digest matches.
	MetadataRedacted = MetadataPrefix + "redacted"
	// MetadataInjected is on a request that the agent made in the user's name.
	MetadataInjected = MetadataPrefix + "injected"
	// MetadataSubagent is on a call and names the session that it started.
	MetadataSubagent = MetadataPrefix + "subagent"
	// metadataSum is on an event and holds digits of its sum, so that it is known when someone
	// edited it.
	metadataSum = MetadataPrefix + "sum"
	// metadataSession is on a turn_start and names the session in which an agent continued an
	// export of the conversation.
	metadataSession = MetadataPrefix + "session"
)

// TextKeys returns the keys whose values may have text of the conversation, in order: all except
// those that identify the agent session of an event and its place in that.
func (m Metadata) TextKeys() []string {
	return slices.DeleteFunc(m.Keys(), func(key string) bool {
		return key == MetadataSource || key == MetadataSubagent || key == metadataSession
	})
}

// SessionIDs returns the two ids that the conversation of a session may have, given the value of
// [LabelSession]. Both are looked up, and the label decides. The second is used if another session
// has the first.
func SessionIDs(session string) [2]ID {
	sum := sha256.Sum256([]byte("agent-session\x00" + session))
	return [2]ID{
		deriveID(binary.BigEndian.Uint64(sum[:8])), deriveID(binary.BigEndian.Uint64(sum[8:16])),
	}
}

// AgentOf returns the agent of a session, given the value of [LabelSession].
func AgentOf(session string) string {
	for _, agent := range []string{
		"claude-code", "codex", "copilot", "gemini", "llm", "opencode",
	} {
		if strings.HasPrefix(session, agent+"-") {
			return agent
		}
	}
	return ""
}

// KindAgentRecord is the kind of elements that keep parts of a session without a counterpart in jp.
const KindAgentRecord Kind = "git_jp_agent_record"

// RecordKeys returns for each element of [KindAgentRecord] its identity: agent, session, ordinal
// and, after the first turn, the turn. Two copies of a session that was continued in two places
// give the same ordinals to different records. Those at the beginning of a session precede its
// first turn as long as it has none. Other elements have no key, "".
func (s *Stream) RecordKeys() []string {
	keys := make([]string, s.Len())
	var names []string
	turns := s.TurnOf()
	for i, e := range s.All() {
		key, ok := e.RecordKey()
		if ok && turns[i] > 0 {
			if names == nil {
				names = s.SourceTurns()
			}
			key += "/" + names[i]
		}
		keys[i] = key
	}
	return keys
}

// RecordKey returns what identifies an element of [KindAgentRecord] within a turn: agent, session
// and ordinal.
func (e *Element) RecordKey() (string, bool) {
	if e.Kind() != KindAgentRecord {
		return "", false
	}
	var r struct {
		Agent   string `json:"agent"`
		ID      string `json:"id"`
		Ordinal int    `json:"ordinal"`
	}
	if json.Unmarshal(e.Raw(), &r) != nil || r.ID == "" {
		return "", false
	}
	return r.Agent + "-" + r.ID + "#" + strconv.Itoa(r.Ordinal), true
}

// An ImportVersion records how much of a session a conversation holds.
type ImportVersion struct {
	Revision int   // of the importer
	Length   int64 // bytes of the source that were imported; it only grows
	Hash     string
}

// ParseImportVersion reads the value of [LabelImport].
func ParseImportVersion(label string) (v ImportVersion, ok bool) {
	revision, rest, _ := strings.Cut(label, ".")
	length, hash, _ := strings.Cut(rest, ".")
	var err error
	if v.Revision, err = strconv.Atoi(revision); err != nil || v.Revision < 0 {
		return ImportVersion{}, false
	}
	if v.Length, err = strconv.ParseInt(length, 10, 64); err != nil || v.Length < 0 {
		return ImportVersion{}, false
	}
	v.Hash = hash
	return v, hash != ""
}

// String returns the value of the label.
func (v ImportVersion) String() string {
	return strconv.Itoa(v.Revision) + "." + strconv.FormatInt(v.Length, 10) + "." + v.Hash
}

// Compare orders versions by how much of a session they hold: by revision of the importer, then by
// length.
func (v ImportVersion) Compare(o ImportVersion) int {
	return cmp.Or(
		cmp.Compare(v.Revision, o.Revision), cmp.Compare(v.Length, o.Length),
		cmp.Compare(v.Hash, o.Hash),
	)
}

// Copied changes the details of a conversation to those of a copy: imports of the session no longer
// update it.
func (d *Details) Copied() {
	maps.DeleteFunc(d.Labels, func(key, _ string) bool {
		return strings.HasPrefix(key, labelResumed)
	})
	_ = d.SetRewound(nil) // removing one of our own keys cannot fail
	session, ok := d.Labels[LabelSession]
	if !ok {
		return
	}
	delete(d.Labels, LabelSession)
	delete(d.Labels, LabelImport)
	_ = d.SetValue(titleKey, nil)
	d.Labels[LabelSessionOf] = session
}

// Resumed returns, for each session in which an agent continued the conversation, how much of it
// was imported.
func (d *Details) Resumed() map[string]ImportVersion {
	var all map[string]ImportVersion
	for key, value := range d.Labels {
		session, ok := strings.CutPrefix(key, labelResumed)
		if v, known := ParseImportVersion(value); ok && known {
			if all == nil {
				all = map[string]ImportVersion{}
			}
			all[session] = v
		}
	}
	return all
}

// SetResumed records how much of such a session was imported.
func (d *Details) SetResumed(session string, v ImportVersion) {
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Labels[labelResumed+session] = v.String()
}

// createdKey is the member of metadata.json that holds the creation time of a conversation with a
// derived id.
const createdKey = MetadataPrefix + "created_at"

// CreatedAt returns when the conversation with an id was created. The id encodes it, unless it is
// derived.
func (d *Details) CreatedAt(id ID) time.Time {
	if !id.IsDerived() {
		return id.Time()
	}
	v, _ := d.Value(createdKey)
	var at time.Time
	if json.Unmarshal(v, &at) != nil || at.IsZero() {
		return d.LastActivatedAt // jp saved the file and dropped our members
	}
	return at
}

// titleKey is the member of metadata.json that holds the title which an import set.
const titleKey = MetadataPrefix + "title"

// MapTexts applies f to the texts of a person or a source, with a name for each: labels, the title,
// and the value that [Details.IsTitled] compares the title with, so that both stay equal. It does
// not change labels that identify the agent session: with another value the conversation would
// belong to no session, and an import would create it again. It returns how many texts changed.
func (d *Details) MapTexts(f func(name, text string) string) (changed int) {
	change := func(name, was string, set func(string)) {
		if is := f(name, was); is != was {
			set(is)
			changed++
		}
	}
	if v, ok := d.Value(titleKey); ok {
		var given string
		if json.Unmarshal(v, &given) == nil {
			change("imported title", given, func(s string) {
				if v, err := jsontext.AppendQuote(nil, s); err == nil {
					_ = d.SetValue(titleKey, v) // the key is our own and the value is valid JSON
				}
			})
		}
		if d.Title != nil && given == *d.Title {
			changed = 0 // both count as one text
		}
	}
	if d.Title != nil {
		change("title", *d.Title, func(s string) { d.Title = &s })
	}
	for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
		if !isSessionLabel(key) {
			change("label "+key, d.Labels[key], func(s string) { d.Labels[key] = s })
		}
	}
	return changed
}

// SessionLabels returns the labels that identify the agent session of a conversation, by key.
func (d *Details) SessionLabels() iter.Seq2[string, string] {
	return func(yield func(key, value string) bool) {
		for _, key := range slices.Sorted(maps.Keys(d.Labels)) {
			if isSessionLabel(key) && !yield(key, d.Labels[key]) {
				return
			}
		}
	}
}

// isSessionLabel reports whether a label identifies the agent session of a conversation.
func isSessionLabel(key string) bool {
	switch key {
	case LabelSession, LabelSessionOf, LabelImport, LabelRules, LabelDir, LabelParent:
		return true
	default:
		return strings.HasPrefix(key, labelResumed)
	}
}

// IsTitled reports whether a person set the title of an imported conversation: it is not the one
// that the import set, or that one is no longer known.
func (d *Details) IsTitled() bool {
	v, ok := d.Value(titleKey)
	var given string
	return d.Title != nil && (!ok || json.Unmarshal(v, &given) != nil || given != *d.Title)
}

// SetImportTitle sets the title that the source of a conversation has.
func (d *Details) SetImportTitle(title string) error {
	v, err := jsontext.AppendQuote(nil, title)
	if err != nil {
		return err
	}
	d.Title = &title
	return d.SetValue(titleKey, v)
}

// rewoundKey is the member of metadata.json that records the elements rewound in a session.
const rewoundKey = MetadataPrefix + "rewound"

// Rewound returns the names of the elements that were rewound in the session of an import, by the
// name of the conversation that holds them.
func (d *Details) Rewound() map[string][]string {
	v, _ := d.Value(rewoundKey)
	var rewound map[string][]string
	if json.Unmarshal(v, &rewound) != nil {
		return nil
	}
	return rewound
}

// SetRewound records the rewound elements, see [Details.Rewound].
func (d *Details) SetRewound(rewound map[string][]string) error {
	if len(rewound) == 0 {
		return d.SetValue(rewoundKey, nil)
	}
	v, err := json.Marshal(rewound)
	if err != nil {
		return err
	}
	return d.SetValue(rewoundKey, v)
}

// importedKey is the member of metadata.json that names the turns which imports added.
const importedKey = MetadataPrefix + "imported"

// turnDigits is the length of a turn's name, which is unique within one session.
const turnDigits = 8

// ImportedTurns returns the names of the turns that imports added, including those that have been
// removed since.
func (d *Details) ImportedTurns() (names []string) {
	v, _ := d.Value(importedKey)
	var all string
	if json.Unmarshal(v, &all) != nil {
		return nil
	}
	for ; len(all) >= turnDigits; all = all[turnDigits:] {
		names = append(names, all[:turnDigits])
	}
	return names
}

// SetImportedTurns records the names of the turns that imports added, each once.
func (d *Details) SetImportedTurns(all []string) error {
	var names []string
	seen := map[string]bool{"": true}
	for _, name := range all {
		if !seen[name] {
			seen[name] = true
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		return d.SetValue(importedKey, nil)
	}
	v, err := json.Marshal(strings.Join(names, ""))
	if err != nil {
		return err
	}
	return d.SetValue(importedKey, v)
}

// NotRewound returns the turns that imports added to o, another conversation of the session,
// without those that d records as rewound.
func (d *Details) NotRewound(o *Details) []string {
	rewound := map[string]bool{}
	for _, names := range d.Rewound() {
		for _, name := range names {
			if key, ok := strings.CutPrefix(name, sourceName); ok {
				rewound[turnName(key)] = true
			}
		}
	}
	return slices.DeleteFunc(o.ImportedTurns(), func(name string) bool { return rewound[name] })
}

func turnName(key string) string { return blobs.Sum([]byte(key)).String()[:turnDigits] }

// SourceTurns returns for each element the name of its turn, which is derived from the source's key
// of the first event of the turn that has one; "" if no event has.
func (s *Stream) SourceTurns() []string {
	turns, named := s.TurnOf(), map[int]string{}
	for i, e := range s.All() {
		if _, twice := named[turns[i]]; twice || !e.Kind().IsEvent() {
			continue
		}
		if key, ok := e.Metadata().Text(MetadataSource); ok {
			named[turns[i]] = turnName(key)
		}
	}
	names := make([]string, s.Len())
	for i := range names {
		names[i] = named[turns[i]]
	}
	return names
}

// InSession marks a turn_start as that of a turn in which an agent continued an export of the
// conversation, in the given session.
func (e *Element) InSession(session string) *Element {
	return e.WithMetadata(e.Metadata().WithText(metadataSession, session))
}

// SessionOf returns for each element the session, of those in which agents continued an export of
// the conversation, that added it, or "". An element's turn decides; an agent record names its
// session itself.
func (s *Stream) SessionOf(resumed map[string]ImportVersion) []string {
	turns, said := s.TurnOf(), map[int]string{}
	for i, e := range s.All() {
		if session, ok := e.Metadata().Text(metadataSession); ok && e.Kind() == KindTurnStart {
			said[turns[i]] = session
		}
	}
	all := make([]string, s.Len())
	for i, e := range s.All() {
		all[i] = said[turns[i]]
		key, _ := e.RecordKey()
		session, _, _ := strings.Cut(key, "#")
		if _, ok := resumed[session]; ok {
			all[i] = session // a record may precede its turn
		}
	}
	return all
}

// RewoundNames returns the names of an element in the record of rewound elements: its digest, and
// its name in the source. Once part of the element was redacted only the latter identifies it.
func (e *Element) RewoundNames() []string {
	key, ok := e.Metadata().Text(MetadataSource)
	if !ok {
		return []string{e.digest()}
	}
	return []string{e.digest(), sourceName + key}
}

// sumDigits is the length of an event's sum. No text of this length is read as base64.
const sumDigits = 7

// WithSum makes [NewElement] add to the metadata of an event of a session the sum of what is before
// it, so that an import writes each event once.
func (m Metadata) WithSum() Metadata {
	m.summed = m.imported()
	return m
}

func (m Metadata) withSumOf(members []byte) Metadata {
	m.summed = false
	return m.WithText(metadataSum, blobs.Sum(members).String()[:sumDigits])
}

// IsEdited reports whether an event of a session is not what an import brought. Of those that
// earlier releases imported nothing is known.
func (e *Element) IsEdited() bool {
	sum, ok := e.Metadata().Text(metadataSum)
	if !ok {
		return false
	}
	md := e.Metadata().WithSum()
	x := &exchange{swap: func(c blobs.Content) (blobs.Content, error) {
		if md.toStore(c) {
			return blobs.Refer(c.Ref()), nil
		}
		return c, nil
	}}
	ev, _ := x.event(e.event) // cannot fail: nothing is read or written
	brought := newElement(e.time, ev, md)
	now, _ := brought.meta.Text(metadataSum)
	return sum != now || slices.ContainsFunc(jsonspan.Members(e.raw), func(m jsonspan.Member) bool {
		return m.Name != "event_id" && jsonspan.MemberOf(brought.raw, m.Name) == nil
	})
}

// AsRedacted marks an event whose text was redacted with a digest of its new form, so that a later
// change can be detected. If the event was changed after an earlier redaction, the mark of that
// redaction is kept.
func (e *Element) AsRedacted(before *Element) *Element {
	if v, ok := before.Metadata().Value(MetadataRedacted); ok && !before.isAsRedacted() {
		return e.WithMetadata(e.Metadata().With(MetadataRedacted, v))
	}
	md := e.Metadata().Without(metadataSum) // it is of the text that is gone
	if before.IsEdited() {
		md = md.WithText(metadataSum, "edited")
	}
	return e.WithMetadata(md.WithText(MetadataRedacted, e.digest()))
}

// RedactedName returns the name in the source of an event that has not changed since it was
// redacted, or "" for any other. Events that earlier releases redacted have no digest and count as
// unchanged.
func (e *Element) RedactedName() string {
	key, ok := e.Metadata().Text(MetadataSource)
	if !ok || !e.isAsRedacted() || e.IsEdited() {
		return ""
	}
	return sourceName + key
}

func (e *Element) isAsRedacted() bool {
	if sum, ok := e.Metadata().Text(MetadataRedacted); ok {
		return sum == e.digest()
	}
	_, ok := e.Metadata().Value(MetadataRedacted)
	return ok
}

// sourceName is the prefix of an element's name in its source. No digest begins with it.
const sourceName = "="

// digest returns 12 digits of the hash of an element. For an agent record it returns the key
// instead, because a record grows as long as its turn is open.
func (e *Element) digest() string {
	if key, ok := e.RecordKey(); ok {
		return key
	}
	return e.Sum().String()[:12]
}

// SetCreatedAt records when a conversation was created.
func (d *Details) SetCreatedAt(at time.Time) error {
	v, err := jsontext.AppendQuote(nil, at.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	return d.SetValue(createdKey, v)
}

// IsSplit reports whether an element is a request with which a turn continues after a compaction. A
// request that says anything else is what it looks like, whatever it is marked as.
func (e *Element) IsSplit() bool {
	_, marked := e.Metadata().Value(MetadataSplit)
	r, ok := e.Event().(*ChatRequest)
	return marked && ok && r.Content == SplitRequest && len(r.Resources) == 0
}
