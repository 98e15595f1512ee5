package events

import (
	"cmp"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/go-json-experiment/json/jsontext"
)

// UnknownModel is the name of the model in the base configuration of an import whose session has
// named none yet.
const UnknownModel = "unknown"

// Labels of a conversation that was made of an agent's session. docs/format.md, "Agent sessions",
// says what they hold; a merge goes by them.
const (
	LabelSession   = "agent-session"
	LabelSessionOf = "agent-session-of" // of a fork or a copy
	LabelImport    = "agent-import"
	LabelRules     = "agent-rules"  // by which secrets were taken out
	LabelDir       = "agent-dir"    // below the working tree, in which the agent was started
	LabelParent    = "agent-parent" // that started it, or in which it was rewound
)

// labelResumed and the name of a session is the label of a conversation with which an agent went on
// in that session, behind an export: it says how much of the session is in.
const labelResumed = LabelImport + "-"

// MetadataOpen is the key below which the turn_start of such a conversation says that the turn was
// not over in the source.
const MetadataOpen = MetadataPrefix + "open"

// Further keys of metadata of such conversations.
const (
	// MetadataSplit is on a request with which a turn goes on behind a compaction.
	MetadataSplit = MetadataPrefix + "split"
	// MetadataRedacted is on an event of which a text was redacted: it says something else than
	// its source did, and nobody changed it while it says what the mark has a digest of.
	MetadataRedacted = MetadataPrefix + "redacted"
	// MetadataInjected is on a request that the agent made in the person's name.
	MetadataInjected = MetadataPrefix + "injected"
	// MetadataSubagent is on a call, and names the session that it started.
	MetadataSubagent = MetadataPrefix + "subagent"
	// metadataSession is on a turn_start, and names the session in which an agent went on so with
	// an export of the conversation.
	metadataSession = MetadataPrefix + "session"
)

// SessionIDs returns the two ids that the conversation of a session may have, by the value of
// [LabelSession]. Both are looked up, and the label decides; the second is for when somebody
// else's session has the first.
func SessionIDs(session string) [2]ID {
	sum := sha256.Sum256([]byte("agent-session\x00" + session))
	return [2]ID{
		deriveID(binary.BigEndian.Uint64(sum[:8])), deriveID(binary.BigEndian.Uint64(sum[8:16])),
	}
}

// AgentOf returns the agent of a session, by the value of [LabelSession].
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

// KindAgentRecord is the kind of the elements that keep what of a session has no counterpart.
const KindAgentRecord Kind = "git_jp_agent_record"

// RecordKey returns what an element of [KindAgentRecord] is known by: agent, session and ordinal.
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

// An ImportVersion says how much of a session is in a conversation.
type ImportVersion struct {
	Revision int   // of the importer
	Length   int64 // of the source that is in: it only grows
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

// Compare says which of two has more of a session: the one of the greater importer, else the
// longer.
func (v ImportVersion) Compare(o ImportVersion) int {
	return cmp.Or(
		cmp.Compare(v.Revision, o.Revision), cmp.Compare(v.Length, o.Length),
		cmp.Compare(v.Hash, o.Hash),
	)
}

// Copied changes the details of a conversation to those of a copy of it: it is no longer what an
// import makes of the session, and does not grow with it.
func (d *Details) Copied() {
	maps.DeleteFunc(d.Labels, func(key, _ string) bool {
		return strings.HasPrefix(key, labelResumed)
	})
	_ = d.SetRewound(nil) // removing fails for no key of ours
	session, ok := d.Labels[LabelSession]
	if !ok {
		return
	}
	delete(d.Labels, LabelSession)
	delete(d.Labels, LabelImport)
	_ = d.SetValue(titleKey, nil)
	d.Labels[LabelSessionOf] = session
}

// Resumed returns how much is in of the sessions in which agents went on with a conversation.
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

// SetResumed notes how much is in of such a session.
func (d *Details) SetResumed(session string, v ImportVersion) {
	if d.Labels == nil {
		d.Labels = map[string]string{}
	}
	d.Labels[labelResumed+session] = v.String()
}

// createdKey is the member of metadata.json that says when a conversation began whose id does not.
const createdKey = MetadataPrefix + "created_at"

// CreatedAt returns when a conversation of an id began: the id says so, unless it is derived.
func (d *Details) CreatedAt(id ID) time.Time {
	if !id.IsDerived() {
		return id.Time()
	}
	v, _ := d.Value(createdKey)
	var at time.Time
	if json.Unmarshal(v, &at) != nil || at.IsZero() {
		return d.LastActivatedAt // jp saved it, which keeps no members of ours
	}
	return at
}

// titleKey is the member of metadata.json that keeps the title which an import gave.
const titleKey = MetadataPrefix + "title"

// IsTitled reports whether a person gave the title of an imported conversation: it is not the one
// that the import gave, or nobody knows that any more.
func (d *Details) IsTitled() bool {
	v, ok := d.Value(titleKey)
	var given string
	return d.Title != nil && (!ok || json.Unmarshal(v, &given) != nil || given != *d.Title)
}

// SetImportTitle gives a conversation the title that its source has.
func (d *Details) SetImportTitle(title string) error {
	v, err := jsontext.AppendQuote(nil, title)
	if err != nil {
		return err
	}
	d.Title = &title
	return d.SetValue(titleKey, v)
}

// rewoundKey is the member of metadata.json that says what was rewound in a session.
const rewoundKey = MetadataPrefix + "rewound"

// Rewound returns what an import says was rewound in its session: by the names of the
// conversations that have it, the digests of its elements.
func (d *Details) Rewound() map[string][]string {
	v, _ := d.Value(rewoundKey)
	var rewound map[string][]string
	if json.Unmarshal(v, &rewound) != nil {
		return nil
	}
	return rewound
}

// SetRewound notes what was rewound.
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

// importedKey is the member of metadata.json that names the turns which imports brought.
const importedKey = MetadataPrefix + "imported"

// turnDigits is how long the name of a turn is: among those of one session.
const turnDigits = 8

// ImportedTurns returns the names of the turns that imports brought, also of those that somebody
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

// SetImportedTurns notes the names of the turns that imports brought, each once.
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

// NotRewound returns the turns that imports brought into another conversation of the session,
// without those that d says were rewound.
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

// SourceTurns returns for each element the name of the turn that it is in: by the source's key of
// the first of its events that has one, "" where none has.
func (s *Stream) SourceTurns() []string {
	turns, named := s.TurnOf(), map[int]string{}
	for i, e := range s.All() {
		key, ok := e.Metadata().Text(MetadataSource)
		if _, twice := named[turns[i]]; ok && !twice && e.Kind().IsEvent() {
			named[turns[i]] = turnName(key)
		}
	}
	names := make([]string, s.Len())
	for i := range names {
		names[i] = named[turns[i]]
	}
	return names
}

// InSession marks a turn_start as that of a turn in which an agent went on with an export of the
// conversation, in a session.
func (e *Element) InSession(session string) *Element {
	return e.WithMetadata(e.Metadata().WithText(metadataSession, session))
}

// SessionOf returns for each element which of the sessions in which agents went on with an export
// of the conversation brought it: by its turn, and an agent's record by what it says; "" for none.
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
			all[i] = session // it may stand in front of the turn
		}
	}
	return all
}

// RewoundNames are what an element is known by in the record of what was rewound: what it says,
// and what its source calls it, which is all that is left to know it by once something of it was
// redacted.
func (e *Element) RewoundNames() []string {
	key, ok := e.Metadata().Text(MetadataSource)
	if !ok {
		return []string{e.digest()}
	}
	return []string{e.digest(), sourceName + key}
}

// AsRedacted marks an event of which a text was redacted with what it says now, so that it can be
// known whether somebody changed it since. Where they had, since it was redacted before, the mark
// of then stays.
func (e *Element) AsRedacted(before *Element) *Element {
	if v, ok := before.Metadata().Value(MetadataRedacted); ok && !before.isAsRedacted() {
		return e.WithMetadata(e.Metadata().With(MetadataRedacted, v))
	}
	return e.WithMetadata(e.Metadata().WithText(MetadataRedacted, e.digest()))
}

// RedactedName returns what its source calls an event that says what a redaction left of it, "" for
// any other. Of what releases before this one redacted it is not known whether somebody changed it
// since.
func (e *Element) RedactedName() string {
	key, ok := e.Metadata().Text(MetadataSource)
	if !ok || !e.isAsRedacted() {
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

// sourceName begins the name that its source gives an element. No digest has it.
const sourceName = "="

// digest names what an element says: 12 digits of its sum. An agent's record is named by its key:
// as long as its turn is open, more comes into it.
func (e *Element) digest() string {
	if key, ok := e.RecordKey(); ok {
		return key
	}
	return e.Sum().String()[:12]
}

// SetCreatedAt notes when a conversation began.
func (d *Details) SetCreatedAt(at time.Time) error {
	v, err := jsontext.AppendQuote(nil, at.UTC().Format(time.RFC3339Nano))
	if err != nil {
		return err
	}
	return d.SetValue(createdKey, v)
}
