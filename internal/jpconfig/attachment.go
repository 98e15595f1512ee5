package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/trust"
)

// AttachmentsKey is the key of the claims of attachments. Each stands for itself.
const AttachmentsKey = "conversation.attachments"

// An Attachment is one entry of conversation.attachments. Its URL is guarded where it
// runs a command, fetches from a host, or names a file outside of the workspace.
type Attachment struct {
	Scheme string // in lower case
	URL    trust.Guarded[string]
	Entry  []byte // as it was written: JSON of a URL, a path, or a table
	// Foreign is set where somebody else wrote it, whether it is guarded or not: a path of
	// the workspace may be one that others cannot know.
	Foreign bool
	origin  string
}

// Shown returns what an attachment says, whoever wrote it: to be shown, not resolved.
func (a Attachment) Shown() string {
	if claim, foreign := a.URL.Claim(); foreign {
		return claim.Value
	}
	u, _ := a.URL.Open(nil) // the user's own asks nobody
	return u
}

// maxForeign is how many attachments of others count: each is looked up, and may be a pattern.
const maxForeign = 500

// Attachments returns the attachments that are declared, in order, each URL once.
func (c *Config) Attachments() []Attachment {
	s, ok := c.all.Setting("conversation", "attachments")
	if !ok {
		return nil
	}
	own := map[string]bool{}
	for _, u := range AttachmentURLs(c.own) {
		own[u] = true
	}
	var all []Attachment
	seen := map[string]bool{}
	foreign := 0
	for _, item := range s.Items() {
		u, err := attachmentURL(item.Value())
		if err != nil {
			c.warn(Warning{
				Where: last(c.originsOf(item)).At("conversation", "attachments"),
				Key:   AttachmentsKey, Text: "left out: " + err.Error(),
			})
			continue
		}
		if seen[u] {
			continue
		}
		if !own[u] {
			foreign++
		}
		if foreign <= maxForeign || own[u] {
			seen[u], all = true, append(all, c.attachment(item, u, own[u]))
		}
	}
	if foreign > maxForeign {
		c.warn(Warning{
			Where: last(c.originsOf(s)).At("conversation", "attachments"), Key: AttachmentsKey,
			Text: fmt.Sprintf("%d of others are left out, %d are allowed",
				foreign-maxForeign, maxForeign),
		})
	}
	return all
}

// AttachmentURLs returns the attachments that a configuration alone declares, whoever
// wrote them: to be compared, not to be resolved.
func AttachmentURLs(c settings.Config) (urls []string) {
	s, ok := c.Setting("conversation", "attachments")
	if !ok {
		return nil
	}
	for _, item := range s.Items() {
		if u, err := attachmentURL(item.Value()); err == nil {
			urls = append(urls, u)
		}
	}
	return urls
}

// attachment guards an entry, unless the user's own layers declare the same.
func (c *Config) attachment(item settings.Setting, u string, own bool) Attachment {
	a := Attachment{Scheme: events.URIScheme(u), URL: trust.Own(u), Entry: []byte(item.Value())}
	if own {
		return a
	}
	a.Foreign = true
	for _, o := range slices.Backward(c.originsOf(item)) {
		if o.Foreign {
			a.origin = o.At("conversation", "attachments")
			break
		}
	}
	if kind, guard := attachmentKind(a.Scheme, u); guard {
		value := u
		if a.Scheme == "cmd" {
			if bound := c.bindFiles(marshal(u), wordsOfURL(u), false); bound[0] == '{' {
				value = string(bound)
			}
		}
		a.URL = trust.Foreign(u, a.claim(kind, value))
	}
	return a
}

// wordsOfURL returns the words of a cmd: attachment, as far as it takes to see what they run.
func wordsOfURL(u string) []string {
	_, line, _ := strings.Cut(u, ":")
	line = strings.NewReplacer("?arg=", " ", "&arg=", " ").Replace(strings.TrimPrefix(line, "//"))
	for range 2 { // as jp decodes them
		if plain, err := url.PathUnescape(line); err == nil {
			line = plain
		}
	}
	return strings.Fields(strings.NewReplacer(`"`, " ", "'", " ").Replace(line))
}

func (a Attachment) claim(kind trust.Kind, u string) trust.Claim {
	return trust.Claim{Kind: kind, Key: AttachmentsKey, Value: u, Origin: a.origin}
}

// Guarded returns the attachment as one that reaches what others cannot know, such as a file
// that git ignores.
func (a Attachment) Guarded() Attachment {
	if _, guarded := a.URL.Claim(); !guarded && a.Foreign {
		u, _ := a.URL.Open(nil) // nobody guards it
		a.URL = trust.Foreign(u, a.claim(trust.Path, u))
	}
	return a
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

// attachmentURL returns the URL of an entry: a URL as it stands, the file that a path from
// the workspace's root names, or what a table says.
func attachmentURL(raw []byte) (string, error) {
	var u string
	if json.Unmarshal(raw, &u) == nil {
		return pathURL(u)
	}
	var table struct {
		Type   string                     `json:"type"`
		Path   string                     `json:"path"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if json.Unmarshal(raw, &table) != nil || table.Type == "" {
		return "", errors.New("want a URL, a path, or a table with a type")
	}
	scheme := strings.ToLower(table.Type)
	u = scheme + "://" + table.Path
	if scheme == "file" {
		u = scheme + ":" + table.Path
	}
	values := url.Values{}
	for name, v := range table.Params {
		for _, word := range params(v) {
			if scheme == "cmd" { // which is decoded twice
				word = strings.ReplaceAll(word, "%", "%25")
			}
			values.Add(name, word)
		}
	}
	if len(values) > 0 {
		u += "?" + values.Encode()
	}
	return u, nil
}

// pathURL makes a URL of a path. One that begins with ! excludes.
func pathURL(u string) (string, error) {
	if events.URIScheme(u) != "" {
		return u, nil
	}
	name, excludes := strings.CutPrefix(u, "!")
	if name == "" {
		return "", errors.New("want a URL, a path, or a table with a type")
	}
	u = "file:" + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name)
	if excludes {
		u += "?exclude=true"
	}
	return u, nil
}

// params reads one value or a list. What is no text stays as it was written.
func params(v json.RawMessage) []string {
	var list []json.RawMessage
	if json.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	var all []string
	for _, e := range list {
		var s string
		if json.Unmarshal(e, &s) != nil {
			s = string(e)
		}
		all = append(all, s)
	}
	return all
}
