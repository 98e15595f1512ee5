package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// compaction is the type of blocks that providers make of all that was said before.
const compaction = "compaction"

// coversMember says what a compacted block stands for.
const coversMember = events.MetadataPrefix + "covers"

// covering notes with a compacted block what it stands for; anything else stays as it is.
func covering(block jsontext.Value, asked *Request) jsontext.Value {
	members, ok := compacted(block)
	if !ok {
		return block
	}
	members[coversMember] = json.RawMessage(`"` + covers(asked.Messages) + `"`)
	if out, err := json.Marshal(members); err == nil {
		return out
	}
	return block
}

// compacted returns the members of a block that stands for what was said before it. One without
// content is a compaction that failed.
func compacted(block jsontext.Value) (map[string]json.RawMessage, bool) {
	var head struct {
		Type      string `json:"type"`
		Content   string `json:"content"`
		Encrypted string `json:"encrypted_content"`
	}
	var members map[string]json.RawMessage
	ok := block.Kind() == '{' && json.Unmarshal(block, &head) == nil && head.Type == compaction &&
		head.Content+head.Encrypted != "" && json.Unmarshal(block, &members) == nil
	return members, ok
}

// Compacted returns what stands in metadata for the messages before, as the provider made it. It is
// nothing where these are others now: where they were merged, edited or compacted since, a
// model would not see what came to them.
func Compacted(md events.Metadata, before []Message) (all []Opaque) {
	raw, ok := md.Value(events.MetadataExtra)
	var list []jsontext.Value
	if !ok || json.Unmarshal(raw, &list) != nil {
		return nil
	}
	for _, block := range list {
		members, ok := compacted(block)
		if !ok || string(members[coversMember]) != `"`+covers(before)+`"` {
			continue
		}
		delete(members, coversMember)
		if out, err := json.Marshal(members); err == nil {
			all = append(all, Opaque{JSON: out})
		}
	}
	return all
}

// covers is enough of a hash to tell conversations apart by what was said in them up to the last
// word of the user. What results hold does not count: they are trimmed and sent as references.
func covers(messages []Message) string {
	n := len(messages)
	for n > 0 && messages[n-1].Role == RoleAssistant {
		n--
	}
	h := sha256.New()
	for _, m := range messages[:n] {
		fmt.Fprintf(h, "%s\n", m.Role)
		for _, p := range m.Parts {
			switch p := p.(type) {
			case Text:
				fmt.Fprintf(h, "text %q\n", p.Text)
			case Data:
				fmt.Fprintf(h, "data %q\n", p.Value)
			case Call:
				fmt.Fprintf(h, "call %q %q %q\n", p.ID, p.Name, p.Args)
			case Result:
				fmt.Fprintf(h, "result %q\n", p.CallID)
			case Resource:
				fmt.Fprintf(h, "resource %q\n", p.URI)
			case Media:
				fmt.Fprintf(h, "media %q\n", p.MIME)
			}
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}
