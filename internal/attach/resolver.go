package attach

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/tool"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/workspace"
)

// maxFile is the size of the largest file that can be attached.
const maxFile = 10 << 20

// A Reader reads resources: a session with an MCP server.
type Reader interface {
	Read(ctx context.Context, uri string) ([]events.Resource, error)
}

// Options are the services that handlers use. A nil service makes its schemes unavailable.
type Options struct {
	Files         builtin.Workspace // Tree is required
	Starter       tool.Starter      // cmd:
	HTTP          *Fetcher          // http: and https:
	Conversations *workspace.Workspace
	// Admits reports whether an attachment may attach a file of the workspace, given as a slash
	// path from the root; nil admits all.
	Admits func(attachment, name string) bool
	// Permit is called before the program of an attachment starts, at any time after it was opened;
	// nil permits all.
	Permit func(attachment string) error
	// Foreign reports whether somebody else declared an attachment, so that it excludes none of the
	// user's own; nil means that no attachment is foreign.
	Foreign func(attachment string) bool
	// Server returns a session with the MCP server of this name, which it starts if needed.
	Server func(ctx context.Context, id string) (Reader, error)
}

// A Resolver resolves attachments to resources.
type Resolver struct {
	o     Options
	tries atomic.Int64 // matches of a pattern with a name, see [maxTries]
}

// New returns a resolver.
func New(o Options) *Resolver { return &Resolver{o: o} }

// A Failure is an attachment that could not be resolved, or only in part.
type Failure struct {
	Attachment string
	Err        error
	Found      int // number of its resources that were resolved
}

// Error implements error.
func (f *Failure) Error() string { return fmt.Sprintf("attach %q: %v", f.Attachment, f.Err) }

// Unwrap returns the cause.
func (f *Failure) Unwrap() error { return f.Err }

// Excludes reports whether an attachment excludes files of others and has no resources itself.
func Excludes(attachment string) bool { return len(excludes([]string{attachment})) > 0 }

// Resolve returns the resources of attachments, in their order, each URI once, and the failures.
// The user's exclusions apply to all attachments, foreign ones to foreign attachments only.
func (r *Resolver) Resolve(
	ctx context.Context, attachments []string,
) (resources []events.Resource, failures []*Failure) {
	seen := map[string]bool{}
	all, own := excludes(attachments), excludes(r.own(attachments))
	for _, a := range attachments {
		exclude := own
		if r.o.Foreign == nil || r.o.Foreign(a) {
			exclude = all
		}
		found, err := r.one(ctx, a, exclude)
		for _, res := range found {
			if !seen[res.URI] {
				seen[res.URI], resources = true, append(resources, res)
			}
		}
		if err != nil {
			failures = append(failures, &Failure{a, err, len(found)})
		}
	}
	return resources, failures
}

// own returns the attachments that are not foreign.
func (r *Resolver) own(attachments []string) []string {
	if r.o.Foreign == nil {
		return attachments
	}
	return slices.DeleteFunc(slices.Clone(attachments), r.o.Foreign)
}

var errUnavailable = errors.New("no handler is available for it")

// one resolves one attachment.
func (r *Resolver) one(
	ctx context.Context, a string, exclude []string,
) ([]events.Resource, error) {
	name := events.URIScheme(a)
	switch {
	case name == "":
		return nil, errors.New("it is not a URL")
	case name == schemeFile:
		return r.files(ctx, a, exclude)
	case name == schemeCmd && r.o.Starter != nil:
		return single(r.command(ctx, a))
	case (name == "http" || name == "https") && r.o.HTTP != nil:
		return single(r.o.HTTP.Fetch(ctx, a))
	case name == schemeJP && r.o.Conversations != nil:
		return single(r.conversation(a))
	case strings.HasPrefix(name, mcpPrefix) && r.o.Server != nil:
		return r.server(ctx, a)
	}
	return nil, errUnavailable
}

func single(res events.Resource, err error) ([]events.Resource, error) {
	if err != nil {
		return nil, err
	}
	return []events.Resource{res}, nil
}

// refresh resolves one canonical URI again.
func (r *Resolver) refresh(ctx context.Context, uri string) (events.Resource, error) {
	found, err := r.one(ctx, uri, nil)
	if err == nil && len(found) != 1 {
		err = fmt.Errorf("it now names %d resources", len(found))
	}
	if err != nil {
		return events.Resource{}, fmt.Errorf("refresh %q: %w", uri, err)
	}
	return found[0], nil
}

// FileURL returns an attachment for a single file: its URI, with the characters of patterns
// encoded.
func FileURL(uri string) string {
	if !file.IsURI(uri) {
		return uri
	}
	return strings.NewReplacer("*", "%2A", "{", "%7B", "[", "%5B").Replace(uri)
}

// A Refresher resolves resources that the conversation already has, and no others, since a model
// chooses the URI.
type Refresher struct {
	resolver *Resolver
	known    map[string]string // attachments by canonical URI
}

var _ builtin.Refresher = (*Refresher)(nil)

// Refresher returns a Refresher for the resources with these canonical URIs. The attachments that
// the conversation declares show which server a URI belongs to.
func (r *Resolver) Refresher(uris, attachments []string) *Refresher {
	servers := map[string]string{}
	for _, a := range attachments {
		if strings.HasPrefix(events.URIScheme(a), mcpPrefix) {
			if _, uri, ok := inner(a); ok {
				servers[uri] = a
			}
		}
	}
	known := map[string]string{}
	for _, u := range uris {
		u = r.Canonical(u)
		if a, ok := servers[u]; ok && r.o.Server != nil {
			known[u] = a
		} else if r.refreshable(u) {
			known[u] = FileURL(u)
		}
	}
	return &Refresher{r, known}
}

// Canonical returns the URI of the resource of an attachment, whatever its spelling; a URI with
// only one spelling is returned unchanged.
func (r *Resolver) Canonical(uri string) string {
	canonical, err := uri, error(nil)
	switch name := events.URIScheme(uri); {
	case name == schemeFile && r.o.Files.Tree != nil:
		canonical, err = r.o.Files.Tree.Canonical(uri)
	case name == schemeCmd:
		var c cmdline
		if c, err = parseCommand(uri); err == nil {
			canonical = c.uri()
		}
	case name == "http" || name == "https":
		canonical, err = NormalizeURL(uri)
	case name == schemeJP:
		var ref reference
		if ref, err = parseReference(uri); err == nil {
			canonical = ref.uri()
		}
	case strings.HasPrefix(name, mcpPrefix):
		if _, u, ok := inner(uri); ok {
			canonical = u
		}
	}
	if err != nil {
		return uri // then no resource has it
	}
	return canonical
}

// refreshable reports whether the scheme of a URI determines its handler.
func (r *Resolver) refreshable(uri string) bool {
	switch events.URIScheme(uri) {
	case schemeFile:
		return r.o.Files.Tree != nil
	case schemeCmd:
		return r.o.Starter != nil
	case "http", "https":
		return r.o.HTTP != nil
	case schemeJP:
		return r.o.Conversations != nil
	}
	return false
}

// Refresh implements [builtin.Refresher]. It accepts any spelling of a URI: models shorten them,
// and an attachment may be declared in another one.
func (f *Refresher) Refresh(ctx context.Context, uri string) (events.Resource, error) {
	a, ok := f.known[uri]
	if !ok {
		a, ok = f.known[f.resolver.Canonical(uri)]
	}
	if !ok {
		return events.Resource{}, fmt.Errorf(
			"refresh %q: it is not attached to the conversation", uri)
	}
	return f.resolver.refresh(ctx, a)
}
