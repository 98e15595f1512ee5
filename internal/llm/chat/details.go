package chat

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/llm"
	"github.com/go-json-experiment/json/jsontext"
)

// A detail is one of OpenRouter's reasoning_details: whatever members it has, in their own
// bytes.
type detail map[string]json.RawMessage

func (d detail) text(name string) string {
	var s string
	_ = json.Unmarshal(d[name], &s) // what is no string is no text
	return s
}

func (d detail) set(name string, v any) {
	raw, err := json.Marshal(v)
	if err == nil {
		d[name] = raw
	}
}

// A memory collects details as they come: text comes in fragments, proofs come whole.
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

// field returns the key under which jp keeps the proof in a detail, and the proof.
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

// note keeps the details with the reasoning: as they are under OpenRouter's key, where each
// names the vendor's key that holds its proof, and each proof under that. What the reasoning
// says is kept once, as its text.
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

// lengthMember says how much of the reasoning's text is a detail's.
const lengthMember = "git_jp_bytes"

// words returns the member of a detail that has text, "" for none.
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

// proof returns the member of a detail that has its proof.
func (d detail) proof() string {
	if d.text("type") == "reasoning.encrypted" {
		return "data"
	}
	return "signature"
}

// elide leaves lengths in the place of texts that are together what was said.
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

// tell gives a detail its text back and returns what follows it; ok is false where it is not
// there any more.
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

// vendorDetails are what a vendor's own proof would have been named by jp.
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

// proven returns a detail without a proof that is empty; one that is nothing else is nil.
func (d detail) proven(kind string) detail {
	if raw, ok := d["signature"]; ok && string(raw) == `""` {
		delete(d, "signature")
	}
	if kind == "reasoning.encrypted" && d.text("data") == "" {
		return nil
	}
	return d
}

// complete returns a detail as it goes on the wire. One of jp's holds only where its proof is
// kept.
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
