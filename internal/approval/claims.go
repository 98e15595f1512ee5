package approval

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Claims returns the claims of the workspace's configuration and of a conversation's, nil for none,
// each once. They include those of git jp's own settings.
func (d *Desk) Claims(
	ctx context.Context, settings []trust.Claim, conv *workspace.Conversation,
) ([]trust.Claim, error) {
	conf, claims, err := d.claims(ctx, nil)
	if err != nil {
		return nil, err
	}
	for _, w := range conf.Warnings() {
		d.printer().Warn("%v", w)
	}
	all := slices.Concat(
		prepare.LocalClaims(d.Workspace), leaks.Claims(d.Workspace), settings, claims)
	if conv != nil {
		if _, claims, err = d.claims(ctx, conv); err != nil {
			return nil, err
		}
		for i := range claims {
			if claims[i].Origin == jpconfig.Conversation.String() {
				claims[i].Origin += " " + conv.ID.String()
			}
		}
		all = append(all, claims...)
	}
	seen := map[trust.Claim]bool{}
	return slices.DeleteFunc(all, func(claim trust.Claim) bool {
		claim.Origin = ""
		again := seen[claim]
		seen[claim] = true
		return again || !config.Covers(d.Keys, claim.Key)
	}), nil
}

// claims returns the claims of jp's effective configuration for a conversation.
func (d *Desk) claims(
	ctx context.Context, conv *workspace.Conversation,
) (*jpconfig.Config, []trust.Claim, error) {
	conf, err := jpconfig.Load(d.Host.Sources(d.Workspace, conv))
	if err != nil {
		return nil, nil, err
	}
	paths, err := d.Host.PathClaims(ctx, d.Workspace, conf, false)
	return conf, slices.Concat(conf.Claims(), paths), err
}
