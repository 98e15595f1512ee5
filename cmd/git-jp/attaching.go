package main

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/attach"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/llm"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/workspace"
)

// resolver returns what looks attachments up.
func (a *app) resolver(
	reach *reach, w *workspace.Workspace, s *servers,
) *attach.Resolver {
	return attach.New(attach.Options{
		Files: reach.files, Starter: a.launcher(), Conversations: w, Admits: reach.admits,
		Foreign: func(attachment string) bool { return reach.foreign[attachment] },
		HTTP: attach.NewFetcher(attach.HTTPOptions{
			UserAgent: a.userAgent(), Proxy: llm.ProxyFromEnv(a.getenv).Function(),
			AllowPrivate: a.allowsPrivate,
		}),
		Server: func(ctx context.Context, id string) (attach.Reader, error) {
			return s.session(ctx, id)
		},
	})
}

// allowsPrivate reports whether the user lets attachments be fetched from a host of a private
// network.
func (a *app) allowsPrivate(host string) bool {
	return a.openConfig != nil &&
		slices.Contains(a.openConfig.Settings().Network.PrivateHosts, host)
}

// attach puts what is attached into the request: what the flags say, as it is now, and of
// what is declared that which no turn of the conversation has yet.
func (k *talk) attach(ctx context.Context, args []string, p *query.Prompt) error {
	if p.Request == nil {
		return nil
	}
	asked, err := k.arguments(args)
	if err != nil {
		return err
	}
	if err := k.askIgnored(ctx, asked); err != nil {
		return err
	}
	urls, err := k.due(asked)
	if err != nil {
		return err
	}
	resources, failures := k.resolver.Resolve(ctx, urls)
	failed := map[string]bool{}
	for _, f := range failures {
		if slices.Contains(asked, f.Attachment) && f.Found == 0 {
			return f
		}
		k.app.warn("%v", f)
		failed[f.Attachment] = f.Found == 0
	}
	k.reach.told(k.app)
	p.Request.Resources, k.attached = resources, resources
	p.Attached = slices.DeleteFunc(urls, func(u string) bool {
		return failed[u] || attach.Excludes(u)
	})
	return nil
}

// arguments returns the attachments that flags name.
func (k *talk) arguments(args []string) (urls []string, err error) {
	for _, arg := range args {
		u, err := attach.Argument(arg, k.app.directory(), k.files.Tree)
		if err != nil {
			return nil, err
		}
		urls = append(urls, u)
	}
	return urls, nil
}

// due returns what is to be looked up for this turn, in the order of the configuration. What
// excludes is always among it. What a flag names and somebody else declared as well needs the
// approval that theirs needs all the same: it may have been copied. Else it is the user's, and what
// others exclude takes nothing out of it.
func (k *talk) due(asked []string) ([]string, error) {
	had := query.Attached(k.target.Stream(), baseOf(k.target.BaseConfig()), jpconfig.AttachmentURLs)
	var urls []string
	for _, at := range k.config.Attachments() {
		shown := at.Shown()
		named := slices.Contains(asked, shown)
		if !named && had[shown] && !attach.Excludes(shown) {
			continue
		}
		u, err := k.reach.open(at, k.resolver, k.gate)
		if err == nil && named {
			k.reach.own(u)
		}
		switch {
		case err != nil && named:
			return nil, err
		case err != nil:
			k.app.warn("not attached: %v", err)
		case !slices.Contains(urls, u):
			urls = append(urls, u)
		}
	}
	for _, u := range asked {
		if !slices.Contains(urls, u) {
			urls = append(urls, u)
		}
	}
	return urls, nil
}

// baseOf is the configuration with which a conversation began; none where it cannot be read.
func baseOf(data []byte) events.Config {
	base, err := events.ParseConfig(baseConfig(data), 0)
	if err != nil {
		return events.Config{}
	}
	return base
}
