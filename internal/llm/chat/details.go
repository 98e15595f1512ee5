package chat

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A detail is one of OpenRouter's reasoning_details, with any members, byte for byte.
type detail map[string]json.RawMessage

func (d detail) text(name string) string {
	var s string
	_ = json.Unmarshal(d[name], &s) // a value that is not a string reads as empty
	return s
}

func (d detail) set(name string, v any) {
	raw, err := json.Marshal(v)
	if err == nil {
		d[name] = raw
	}
}

// A memory collects details as they arrive: text in fragments, proofs in one piece.
type memory struct {
	all []detail
}

func (m *memory) add(raw json.RawMessage) {
	var d detail
	if json.Unmarshal(raw, &d) != nil || d == nil {
		return
	}
	if n := len(m.all); n > 0 && continues(m.all[n-1], d) {
		m.all[n-1].merge(d)
		return
	}
	m.all = append(m.all, d)
}

// continues reports whether b is the next fragment of a.
func continues(a, b detail) bool {
	kind := b.text("type")
	return kind == a.text("type") && string(a["index"]) == string(b["index"]) &&
		(kind == "reasoning.text" || kind == "reasoning.summary")
}

func (d detail) merge(next detail) {
	for name, raw := range next {
		switch name {
		case "text", "summary":
			d.set(name, d.text(name)+next.text(name))
		default:
			if string(raw) != "null" && string(raw) != `""` {
				d[name] = raw
			}
		}
	}
}

// field returns the key under which jp stores the proof of a detail, and the proof.
func (d detail) field() (key, value string) {
	switch d.text("format") + " " + d.text("type") {
	case "openai-responses-v1 reasoning.encrypted":
		return llm.MetadataOpenAIEncrypted, d.text("data")
	case "anthropic-claude-v1 reasoning.encrypted":
		return llm.MetadataAnthropicRedacted, d.text("data")
	case "anthropic-claude-v1 reasoning.text":
		return llm.MetadataAnthropicSignature, d.text("signature")
	case "google-gemini-v1 reasoning.text":
		return llm.MetadataGoogleSignature, d.text("signature")
	default:
		return "", ""
	}
}

// note stores the details with the reasoning: under OpenRouter's key the details, in which the
// member "field" names the vendor's key of the proof, and each proof under that key. The text of
// the reasoning is stored once.
func (m *memory) note(a *llm.Assembler, key int) {
	if len(m.all) == 0 {
		return
	}
	proofs := map[string]string{}
	for _, d := range m.all {
		if field, value := d.field(); value != "" {
			a.Note(key, field, value)
			d.set("field", field)
			proofs[field] = value
		}
	}
	for _, d := range m.all {
		if field, value := d.field(); value != "" && proofs[field] == value {
			delete(d, d.proof())
		}
	}
	m.elide(a.Said(key))
	raw, err := json.Marshal(m.all)
	if err == nil {
		a.NoteValue(key, llm.MetadataOpenRouter, jsontext.Value(raw))
	}
}

// lengthMember has the length of the part of the reasoning's text that belongs to a detail.
const lengthMember = "git_jp_bytes"

// words returns the name of a detail's text member, "" for none.
func (d detail) words() string {
	switch d.text("type") {
	case "reasoning.text":
		return "text"
	case "reasoning.summary":
		return "summary"
	default:
		return ""
	}
}

// proof returns the name of a detail's proof member.
func (d detail) proof() string {
	if d.text("type") == "reasoning.encrypted" {
		return "data"
	}
	return "signature"
}

// elide replaces the texts of details by their lengths, if together they are the text of the
// reasoning.
func (m *memory) elide(said string) {
	all := ""
	for _, d := range m.all {
		all += d.text(d.words())
	}
	if all != said {
		return
	}
	for _, d := range m.all {
		if text := d.text(d.words()); text != "" {
			delete(d, d.words())
			d.set(lengthMember, len(text))
		}
	}
}

// tell restores the text of a detail and returns the rest of said; ok is false if said no longer
// has it.
func (d detail) tell(said string) (rest string, ok bool) {
	raw, elided := d[lengthMember]
	if !elided {
		return said, true
	}
	n := -1
	if json.Unmarshal(raw, &n) != nil || n < 0 || n > len(said) || d.words() == "" {
		return said, false
	}
	delete(d, lengthMember)
	d.set(d.words(), said[:n])
	return said[n:], true
}

// restore returns the details of reasoning as OpenRouter sent them.
func restore(r llm.Reasoning) []json.RawMessage {
	var all []detail
	if raw, ok := r.Metadata.Value(llm.MetadataOpenRouter); ok {
		if json.Unmarshal(raw, &all) != nil {
			return nil
		}
	}
	if len(all) == 0 {
		all = vendorDetails(r)
	}
	var out []json.RawMessage
	said := r.Text
	for _, d := range all {
		rest, ok := d.tell(said)
		if !ok {
			return nil
		}
		said = rest
		d = d.complete(r)
		if d == nil {
			continue
		}
		if raw, err := json.Marshal(d); err == nil {
			out = append(out, raw)
		}
	}
	return out
}

// vendorDetails returns a detail, in jp's form, for the proof that a vendor sent directly.
func vendorDetails(r llm.Reasoning) []detail {
	for _, field := range []string{
		llm.MetadataOpenAIEncrypted, llm.MetadataAnthropicRedacted,
		llm.MetadataAnthropicSignature, llm.MetadataGoogleSignature,
	} {
		if _, ok := llm.Proof(r.Metadata, field); ok {
			d := detail{}
			d.set("field", field)
			if id, ok := llm.Proof(r.Metadata, llm.MetadataOpenAIItemID); ok {
				d.set("id", id)
			}
			return []detail{d}
		}
	}
	return nil
}

// proven removes an empty proof from a detail; it returns nil if nothing else is in it.
func (d detail) proven(kind string) detail {
	if raw, ok := d["signature"]; ok && string(raw) == `""` {
		delete(d, "signature")
	}
	if kind == "reasoning.encrypted" && d.text("data") == "" {
		return nil
	}
	return d
}

// complete returns a detail in its wire form. A detail in jp's form is complete only if its proof
// is stored.
func (d detail) complete(r llm.Reasoning) detail {
	field := d.text("field")
	delete(d, "field")
	value, ok := llm.Proof(r.Metadata, field)
	if kind := d.text("type"); kind != "" {
		if _, has := d[d.proof()]; !has && ok {
			d.set(d.proof(), value)
		}
		return d.proven(kind)
	}
	if !ok {
		return nil
	}
	proof := func(kind, format, member string) {
		d.set("type", kind)
		d.set("format", format)
		d.set(member, value)
		if kind == "reasoning.text" {
			d.set("text", r.Text)
		}
	}
	switch field {
	case llm.MetadataOpenAIEncrypted:
		proof("reasoning.encrypted", "openai-responses-v1", "data")
	case llm.MetadataAnthropicRedacted:
		proof("reasoning.encrypted", "anthropic-claude-v1", "data")
	case llm.MetadataAnthropicSignature:
		proof("reasoning.text", "anthropic-claude-v1", "signature")
	case llm.MetadataGoogleSignature:
		proof("reasoning.text", "google-gemini-v1", "signature")
	default:
		return nil
	}
	return d
}
