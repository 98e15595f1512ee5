package prepare

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm/wire"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/tool/builtin"
	"github.com/git-jp/git-jp/internal/tool/file"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// openFiles opens the files of the workspace at root. The caller closes the tree.
func (h *Host) openFiles(ctx context.Context, root string) (files builtin.Workspace, err error) {
	var deny []string
	if repo, err := h.Repo(ctx); err == nil {
		files.Repo, deny = repo, []string{repo.GitDir(), repo.CommonDir()}
	}
	if files.Tree, err = file.Open(root, deny...); err != nil {
		return files, fmt.Errorf("open the workspace: %w", err)
	}
	return files, nil
}

// AttachmentURLs returns the attachments for arguments of the command line.
func (h *Host) AttachmentURLs(
	ctx context.Context, w *workspace.Workspace, args []string,
) (urls []string, err error) {
	files, err := h.openFiles(ctx, w.Root())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, files.Tree.Close()) }()
	return h.urls(files, args)
}

func (h *Host) urls(files builtin.Workspace, args []string) (urls []string, err error) {
	for _, arg := range args {
		u, err := attach.Argument(arg, h.Dir, files.Tree)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// Attachments resolves the attachments of a conversation.
type Attachments struct {
	host     *Host
	declared []jpconfig.Attachment // read once: a model has several started at the same time
	gate     trust.Gate
	files    builtin.Workspace
	reach    *reach // of foreign attachments
	resolver *attach.Resolver
	prompter *ask.Prompter     // nil if no user can be asked
	servers  *servers          // used for attachments only, nil for none
	typed    []string          // attachments that flags name
	added    []events.Resource // in this turn
}

// OpenAttachments opens the attachments of a configuration, without a query.
func (h *Host) OpenAttachments(
	ctx context.Context, w *workspace.Workspace, network config.Network, conf *jpconfig.Config,
	gate trust.Gate,
) (*Attachments, error) {
	files, err := h.openFiles(ctx, w.Root())
	if err != nil {
		return nil, err
	}
	s := &servers{host: h, config: conf, gate: gate, dir: w.Root(), space: files.Tree.Space}
	a := h.attachments(ctx, w, network, s, files)
	a.servers = s
	return a, nil
}

// attachments returns Attachments that use the files and servers of a query.
func (h *Host) attachments(
	ctx context.Context, w *workspace.Workspace, network config.Network, s *servers,
	files builtin.Workspace,
) *Attachments {
	r := newReach(ctx, files, s.config)
	a := &Attachments{
		host: h, declared: s.config.Attachments(), gate: s.gate, files: files, reach: r,
	}
	a.resolver = attach.New(attach.Options{
		Files: files, Starter: h.Starter, Conversations: w, Admits: r.admits, Permit: a.permit,
		Foreign: func(attachment string) bool { return r.foreign[attachment] },
		HTTP: attach.NewFetcher(attach.HTTPOptions{
			UserAgent: h.userAgent(), Proxy: wire.ProxyFromEnv(h.Getenv).Function(),
			AllowPrivate: func(host string) bool {
				return slices.Contains(network.PrivateHosts, host)
			},
		}),
		Server: func(ctx context.Context, id string) (attach.Reader, error) {
			return s.session(ctx, id)
		},
	})
	return a
}

// permit implements Permit of [attach.Options]: a declared command has to be approved with the
// files that it runs as they are now, also when a model has it run again.
func (a *Attachments) permit(attachment string) (err error) {
	canonical := a.resolver.Canonical(attachment)
	same := func(u string) bool { return a.resolver.Canonical(u) == canonical }
	typed := slices.ContainsFunc(a.typed, same)
	for _, at := range a.declared {
		if at.Shown() != attachment && (typed || !same(at.Shown())) {
			continue
		}
		if _, err = at.URL.Open(a.gate); err == nil {
			return nil
		}
	}
	return err
}

// Close closes everything that [Host.OpenAttachments] opened.
func (a *Attachments) Close() error {
	a.servers.close()
	return a.files.Tree.Close()
}

// URLs returns the attachments for the arguments, or all declared ones. An attachment that the user
// names is the user's own, unless a foreign layer declares it too: the name may have been copied
// from there.
func (a *Attachments) URLs(args []string) ([]string, error) {
	named, err := a.host.urls(a.files, args)
	if err != nil {
		return nil, err
	}
	a.typed = named
	var all []string
	for _, at := range a.declared {
		if len(args) > 0 && !slices.Contains(named, at.Shown()) {
			continue
		}
		u, err := a.reach.open(at, a.resolver, a.gate)
		if err != nil {
			return nil, err
		}
		all = append(all, u)
	}
	if len(args) > 0 {
		return named, nil
	}
	return all, nil
}

// Resolve resolves attachments to resources.
func (a *Attachments) Resolve(
	ctx context.Context, urls []string,
) ([]events.Resource, []*attach.Failure) {
	return a.resolver.Resolve(ctx, urls)
}

// attach adds resources to the request: the current content of attachments that flags name, and of
// declared ones that no turn of the conversation has yet.
func (a *Attachments) attach(
	ctx context.Context, args []string, t *query.Target, p *query.Prompt,
) error {
	if p.Request == nil {
		return nil
	}
	asked, err := a.host.urls(a.files, args)
	if err != nil {
		return err
	}
	if err := a.askIgnored(ctx, asked); err != nil {
		return err
	}
	a.typed = asked
	urls, err := a.due(asked, t)
	if err != nil {
		return err
	}
	resources, failures := a.resolver.Resolve(ctx, urls)
	failed := map[string]bool{}
	for _, f := range failures {
		if slices.Contains(asked, f.Attachment) && f.Found == 0 {
			return f
		}
		a.host.warn("%v", f)
		failed[f.Attachment] = f.Found == 0
	}
	a.reach.warn(a.host)
	p.Request.Resources, a.added = resources, resources
	p.Attached = slices.DeleteFunc(urls, func(u string) bool {
		return failed[u] || attach.Excludes(u)
	})
	return nil
}

// due returns the attachments to resolve for this turn, in the order of the configuration. It
// always includes exclusions. An attachment that is named by a flag and also declared by a foreign
// layer needs the approval of the latter, since the name may have been copied from there. Other
// named attachments are the user's, and foreign exclusions do not apply to them.
func (a *Attachments) due(asked []string, t *query.Target) ([]string, error) {
	base, _ := parseBase(t.BaseConfig()) // what cannot be read declares nothing
	had := query.Attached(t.Stream(), base, jpconfig.AttachmentURLs)
	var urls []string
	for _, at := range a.declared {
		shown := at.Shown()
		named := slices.Contains(asked, shown)
		if !named && had[shown] && !attach.Excludes(shown) {
			continue
		}
		u, err := a.reach.open(at, a.resolver, a.gate)
		if err == nil && named {
			a.reach.own(u)
		}
		switch {
		case err != nil && named:
			return nil, err
		case err != nil:
			a.host.warn("not attached: %v", err)
		case !slices.Contains(urls, u):
			urls = append(urls, u)
		}
	}
	return lists.Union(urls, asked), nil
}

// parseBase parses the configuration that a conversation began with.
func parseBase(data []byte) (settings.Config, error) {
	if data == nil {
		data = []byte("{}")
	}
	base, err := settings.Parse(data, 0)
	if err != nil {
		err = fmt.Errorf("read the conversation's configuration: %w", err)
	}
	return base, err
}

// refresher returns a Refresher for the conversation's resources.
func (a *Attachments) refresher(s *events.Stream) builtin.Refresher {
	var uris, declared, now []string
	for c := range s.Contents() {
		if c.Part == events.PartAttachment || c.Part == events.PartResource {
			uris = append(uris, c.URI)
		}
	}
	for _, r := range a.added {
		now = append(now, r.URI)
	}
	for _, at := range a.declared {
		if u, err := at.URL.Open(trust.WithoutAsking(a.gate)); err == nil {
			declared = append(declared, u)
		}
	}
	uris = a.refreshable(append(uris, now...), slices.Concat(declared, now))
	return a.resolver.Refresher(uris, declared)
}

// refreshable returns the resources of the conversation that may be resolved again without a
// question: those attached now, those declared and approved, and files. Foreign conversations may
// name commands, hosts and secrets too; their files are restricted like foreign attachments.
func (a *Attachments) refreshable(uris, approved []string) []string {
	known := lists.Set(lists.Map(approved, a.resolver.Canonical))
	for _, u := range uris {
		if u = a.resolver.Canonical(u); !known[u] {
			a.reach.foreign[attach.FileURL(u)] = true
		}
	}
	return slices.DeleteFunc(uris, func(u string) bool {
		return events.URIScheme(u) != "file" && !known[a.resolver.Canonical(u)]
	})
}

// An IgnoredError says that git ignores a file that the user attaches.
type IgnoredError struct {
	URL string
	By  gitint.Ignored
}

// Error implements error.
func (e *IgnoredError) Error() string {
	return fmt.Sprintf("attach %q: git ignores it (%s:%d), and its content would become part of "+
		"the conversation, of the commit and of what the model is given",
		e.URL, e.By.Source, e.By.Line)
}

// Hints say how to attach it nevertheless.
func (e *IgnoredError) Hints() []string {
	return []string{fmt.Sprintf("to attach it anyway: -a '%s?ignored=true'", e.URL)}
}

// askIgnored asks once about each file that the user attaches although git ignores it.
func (a *Attachments) askIgnored(ctx context.Context, urls []string) error {
	if a.files.Repo == nil {
		return nil
	}
	type attachment struct{ url, name string }
	byPath := map[string]attachment{}
	for _, u := range urls {
		name, ok := attach.FileNamed(u, a.files.Tree)
		if !ok {
			continue
		}
		if in, err := a.files.InRepo(name); err == nil {
			byPath[in] = attachment{u, name}
		}
	}
	ignored, err := a.files.Repo.CheckIgnore(ctx, slices.Sorted(maps.Keys(byPath)))
	if err != nil {
		return err
	}
	for _, by := range ignored {
		at := byPath[by.Path]
		claim := trust.Claim{Kind: trust.Path, Key: jpconfig.AttachmentsKey, Value: at.url}
		_, tracked := a.reach.find(at.name)
		if tracked || strings.HasPrefix(by.Pattern, "!") ||
			trust.WithoutAsking(a.gate).Allow(claim) == nil {
			continue
		}
		if err := a.allowIgnored(ctx, &IgnoredError{at.url, by}, claim); err != nil {
			return err
		}
	}
	return nil
}

// allowIgnored asks about one of them. It stores the answer yes.
func (a *Attachments) allowIgnored(ctx context.Context, why *IgnoredError, c trust.Claim) error {
	if a.prompter == nil {
		return why
	}
	s, err := a.prompter.Open(ctx)
	if err != nil {
		return why
	}
	answer, err := s.Key("%v.\nAttach it? [y]es, [N]o: ", why)
	if closeErr := s.Close(); err != nil || closeErr != nil || answer != "y" && answer != "yes" {
		return why
	}
	if asker, ok := a.gate.(*trust.Asker); ok {
		return asker.Approvals.Approve(a.host.Now(), c)
	}
	return nil
}
