package jpconfig

import "encoding/json"

// A Declared attachment is an entry of the list as it stands, and what it says.
type Declared struct {
	URL   string
	Entry json.RawMessage
}

// Declare makes an entry of a URL.
func Declare(u string) Declared {
	entry, _ := json.Marshal(u) // a string
	return Declared{u, entry}
}

// Declared returns the attachments that hold.
func (c *Config) Declared() (list []Declared) {
	for _, at := range c.Attachments() {
		list = append(list, Declared{at.Shown(), at.Entry})
	}
	return list
}

// AttachmentsDelta is a config_delta after which exactly these are attached.
func AttachmentsDelta(list []Declared) ([]byte, error) {
	entries := []json.RawMessage{}
	for _, d := range list {
		entries = append(entries, d.Entry)
	}
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
