package jpconfig

import (
	"encoding/json"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/trust"
)

// An Attachment is one entry of conversation.attachments. Its URL is guarded where it
// runs a command, fetches from a host, or names a file outside of the workspace.
type Attachment struct {
	Scheme string
	URL    trust.Guarded[string]
}

// Attachments returns the attachments that are declared, in order.
func (c *Config) Attachments() []Attachment {
	s, ok := c.all.Setting("conversation", "attachments")
	if !ok {
		return nil
	}
	var all []Attachment
	for _, item := range s.Items() {
		u, ok := attachmentURL(item.Value())
		if !ok {
			c.warn(Warning{
				Where: last(c.originsOf(item)).At("conversation", "attachments"),
				Key:   "conversation.attachments", Text: "left out: want a URL or a table",
			})
			continue
		}
		all = append(all, c.attachment(item, u))
	}
	return all
}

func (c *Config) attachment(item events.Setting, u string) Attachment {
	scheme, _, ok := strings.Cut(u, ":")
	if !ok {
		scheme = "" // a path
	}
	a := Attachment{Scheme: strings.ToLower(scheme), URL: trust.Own(u)}
	kind, guard := attachmentKind(a.Scheme, u)
	if !guard || c.ownAttachment(item) {
		return a
	}
	claim := trust.Claim{Kind: kind, Key: "conversation.attachments", Value: u}
	for _, o := range slices.Backward(c.originsOf(item)) {
		if o.Foreign {
			claim.Origin = o.At("conversation", "attachments")
			break
		}
	}
	a.URL = trust.Foreign(u, claim)
	return a
}

// ownAttachment reports whether the user's own layers declare the attachment too.
func (c *Config) ownAttachment(item events.Setting) bool {
	own, ok := c.own.Setting("conversation", "attachments")
	return ok && slices.ContainsFunc(own.Items(), func(o events.Setting) bool {
		return same(o.Value(), item.Value())
	})
}

// attachmentKind returns what resolving a URL does, false when nothing needs asking.
func attachmentKind(scheme, u string) (trust.Kind, bool) {
	switch scheme {
	case "cmd":
		return trust.Process, true
	case "http", "https":
		return trust.Host, true
	case "file":
		return trust.Path, leavesWorkspace(u[len("file:"):])
	case "":
		return trust.Path, leavesWorkspace(u)
	case "jp":
		return "", false
	}
	if strings.HasPrefix(scheme, "mcp+") {
		return "", false // the server is guarded
	}
	return trust.Process, true // a handler that nobody here knows
}

// leavesWorkspace reports whether the path of a file may lie outside of the workspace,
// judged by its letters.
func leavesWorkspace(rest string) bool {
	rest, _, _ = strings.Cut(rest, "?")
	if p, err := url.PathUnescape(rest); err == nil {
		rest = p
	}
	relative := strings.TrimPrefix(rest, "//")
	if strings.HasPrefix(relative, "/") || strings.HasPrefix(relative, "~") ||
		strings.ContainsAny(relative, `\:`) {
		return true
	}
	clean := path.Clean(relative)
	return clean == ".." || strings.HasPrefix(clean, "../")
}

// attachmentURL returns the URL of an entry: itself, or what its table says.
func attachmentURL(raw []byte) (string, bool) {
	var u string
	if json.Unmarshal(raw, &u) == nil {
		return u, true
	}
	var table struct {
		Type   string                     `json:"type"`
		Path   string                     `json:"path"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if json.Unmarshal(raw, &table) != nil || table.Type == "" {
		return "", false
	}
	values := url.Values{}
	for name, v := range table.Params {
		var list []string
		var word string
		switch {
		case json.Unmarshal(v, &word) == nil:
			values.Add(name, word)
		case json.Unmarshal(v, &list) == nil:
			values[name] = append(values[name], list...)
		default:
			return "", false
		}
	}
	u = table.Type + "://" + table.Path
	if len(values) > 0 {
		u += "?" + values.Encode()
	}
	return u, true
}
