package jpconfig

import (
	"encoding/json"

	"github.com/git-jp/git-jp/internal/lists"
)

// A Declared is an entry of the list of attachments, unchanged, with its URL.
type Declared struct {
	URL   string
	Entry json.RawMessage
}

// Declare returns an entry for a URL.
func Declare(u string) Declared {
	entry, _ := json.Marshal(u) // cannot fail for a string
	return Declared{u, entry}
}

// Declared returns the effective attachments.
func (c *Config) Declared() (list []Declared) {
	for _, at := range c.Attachments() {
		list = append(list, Declared{at.Shown(), at.Entry})
	}
	return list
}

// AttachmentsDelta returns a config_delta that makes the list the attachments.
func AttachmentsDelta(list []Declared) ([]byte, error) {
	entries := lists.Map(list, func(d Declared) json.RawMessage { return d.Entry })
	var delta struct {
		Conversation struct {
			Attachments struct {
				Value    []json.RawMessage `json:"value"`
				Strategy string            `json:"strategy"`
			} `json:"attachments"`
		} `json:"conversation"`
	}
	delta.Conversation.Attachments.Value = entries
	delta.Conversation.Attachments.Strategy = "replace"
	return json.Marshal(delta)
}
