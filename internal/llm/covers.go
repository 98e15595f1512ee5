package llm

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"

	"github.com/git-jp/git-jp/events"
	"github.com/go-json-experiment/json/jsontext"
)

// compaction is the type of blocks by which providers replace all earlier messages.
const compaction = "compaction"

// coversMember is the member of a compaction block that identifies the messages it replaces.
const coversMember = events.MetadataPrefix + "covers"

// covering adds to a compaction block which messages it replaces; other blocks do not change.
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

// compacted returns the members of a compaction block. A block without content is a failed
// compaction and is no such block.
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

// Compacted returns the provider's compactions in metadata that replace the messages before,
// unchanged. It returns none if the messages were merged, edited or compacted since: the model
// would not see their changes.
func Compacted(md events.Metadata, before []Message) (all []Opaque) {
	var list []jsontext.Value
	if !md.JSON(events.MetadataExtra, &list) {
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

// covers returns a hash that distinguishes conversations by their messages up to the user's last
// one. The content of results does not count: they are trimmed and sent as references.
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
