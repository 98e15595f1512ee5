package jpconfig

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/internal/exact"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/tool/command"
	"github.com/git-jp/git-jp/internal/trust"
)

// AttachmentsKey is the key of the claims of attachments. Each attachment has its own claim.
const AttachmentsKey = "conversation.attachments"

// An Attachment is an entry of conversation.attachments. Its URL is guarded if it runs a command,
// fetches from a host, or names a file outside the workspace.
type Attachment struct {
	Scheme string // in lower case
	URL    trust.Guarded[string]
	Entry  []byte // as written: JSON of a URL, a path, or a table
	url    string
	// Foreign says that somebody else wrote the entry, whether it is guarded or not: a path of the
	// workspace may be one that its author does not have.
	Foreign bool
	origin  string
}

// Shown returns the URL of an attachment, whoever wrote it: it may be shown, but not resolved.
func (a Attachment) Shown() string { return a.url }

// maxForeign limits the foreign attachments: each is resolved, and may be a pattern.
const maxForeign = 500

// Attachments returns the declared attachments in order, each URL once.
func (c *Config) Attachments() []Attachment {
	s, ok := c.all.Setting("conversation", "attachments")
	if !ok {
		return nil
	}
	own := lists.Set(AttachmentURLs(c.own))
	var all []Attachment
	seen := map[string]bool{}
	foreign := 0
	for _, item := range s.Items() {
		u, err := attachmentURL(item.Value())
		if err != nil {
			c.leaveOut(err, c.originsOf(item), "conversation", "attachments")
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

// AttachmentURLs returns the attachments that one configuration declares, whoever wrote them: they
// may be compared, but not resolved.
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

// attachment guards an entry, unless the user's own layers declare it too.
func (c *Config) attachment(item settings.Setting, u string, own bool) Attachment {
	a := Attachment{
		Scheme: events.URIScheme(u), URL: trust.Own(u), Entry: []byte(item.Value()), url: u,
	}
	if own {
		return a
	}
	a.Foreign = true
	a.origin = foreignOrigin(c.originsOf(item), "conversation", "attachments")
	kind, needed := attachmentKind(a.Scheme, u)
	switch {
	case needed && a.Scheme == "cmd":
		a.URL = guard(u, c.bind(lineIn(wordsOfURL(u), false), a.claim(kind, u),
			func(files map[string]string) []byte {
				if len(files) == 0 {
					return []byte(u)
				}
				return canonical(withFiles(marshal(u), files))
			}))
	case needed:
		a.URL = trust.Foreign(u, a.claim(kind, u))
	}
	return a
}

// percent matches an escape in a URL; what is none stays, as for jp.
var percent = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`%[0-9A-Fa-f]{2}`)
})

// wordsOfURL returns the words of a cmd: attachment, its program first, and more: any text next to
// a sign of the URL may be one.
func wordsOfURL(u string) []string {
	_, text, _ := strings.Cut(u, ":")
	text = strings.NewReplacer("/?", "?", "+", " ").Replace(strings.TrimPrefix(text, "//"))
	var all []string
	for range 2 { // as jp decodes them
		text = percent().ReplaceAllStringFunc(text, func(s string) string {
			plain, _ := url.PathUnescape(s) // it is two digits
			return plain
		})
		spaced := strings.NewReplacer("?", " ", "&", " ", "=", " ").Replace(text)
		words, _ := command.Words(spaced) // none if a quote is open
		bare := strings.NewReplacer(`"`, " ", "'", " ").Replace(spaced)
		all = slices.Concat(all, words, strings.Fields(bare))
	}
	return all
}

func (a Attachment) claim(kind trust.Kind, u string) trust.Claim {
	return trust.Claim{Kind: kind, Key: AttachmentsKey, Value: u, Origin: a.origin}
}

// Guarded returns an attachment with a claim, for one that reaches what its author may not have,
// such as a file that git ignores.
func (a Attachment) Guarded() Attachment {
	if _, guarded := a.URL.Claim(); !guarded && a.Foreign {
		a.URL = trust.Foreign(a.url, a.claim(trust.Path, a.url))
	}
	return a
}

// attachmentKind returns the kind of a URL's claim, false if it needs no approval.
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
	return trust.Process, true // an unknown handler
}

// leavesWorkspace reports whether the path of a file may be outside the workspace, by its text
// alone.
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

// attachmentURL returns the URL of an entry: a URL, that of a path, or that of a table. The path of
// a file is relative to the workspace's root.
func attachmentURL(raw []byte) (string, error) {
	u, err := entryURL(raw)
	if events.URIScheme(u) == "file" {
		u = "file:" + fromRoot(u[len("file:"):])
	}
	return u, err
}

// fromRoot returns the path of a file URL relative to the workspace's root. For jp, which writes
// file:///a for the a there, no path begins elsewhere.
func fromRoot(rest string) string {
	rest = strings.TrimPrefix(rest, "///$WORKSPACE/")
	return strings.TrimLeft(rest, "/")
}

func entryURL(raw []byte) (string, error) {
	var u string
	if exact.Unmarshal(raw, &u) == nil {
		return pathURL(u)
	}
	var table struct {
		Type   string                     `json:"type"`
		Path   string                     `json:"path"`
		Params map[string]json.RawMessage `json:"params"`
	}
	if exact.Unmarshal(raw, &table) != nil || table.Type == "" {
		return "", errors.New("expected a URL, a path, or a table with a type")
	}
	scheme := strings.ToLower(table.Type)
	u = scheme + "://" + table.Path
	if scheme == "file" {
		u = scheme + ":" + table.Path
	}
	values := url.Values{}
	for name, v := range table.Params {
		for _, word := range params(v) {
			if scheme == "cmd" { // it is decoded twice
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

// pathURL converts a path to a URL. A path that begins with ! excludes files.
func pathURL(u string) (string, error) {
	if events.URIScheme(u) != "" {
		return u, nil
	}
	name, excludes := strings.CutPrefix(u, "!")
	if name == "" {
		return "", errors.New("expected a URL, a path, or a table with a type")
	}
	u = "file:" + strings.NewReplacer("%", "%25", "?", "%3F", "#", "%23").Replace(name)
	if excludes {
		u += "?exclude=true"
	}
	return u, nil
}

// params reads one value or a list. Values that are not strings keep their spelling.
func params(v json.RawMessage) []string {
	var list []json.RawMessage
	if exact.Unmarshal(v, &list) != nil {
		list = []json.RawMessage{v}
	}
	var all []string
	for _, e := range list {
		var s string
		if exact.Unmarshal(e, &s) != nil {
			s = string(e)
		}
		all = append(all, s)
	}
	return all
}
