package prepare

import (
	"context"
	"slices"

	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// Waiting returns the attachments of a configuration that need an approval and have none: they act,
// or reach files which their author may not have.
func (h *Host) Waiting(
	ctx context.Context, w *workspace.Workspace, conf *jpconfig.Config, gate trust.Gate,
) (map[string]bool, error) {
	waiting := map[string]bool{}
	claims, err := h.PathClaims(ctx, w, conf, false)
	for _, c := range claims {
		if gate.Allow(c) != nil {
			waiting[c.Value] = true
		}
	}
	for _, at := range conf.Attachments() {
		if _, err := at.URL.Open(gate); err != nil {
			waiting[at.Shown()] = true
		}
	}
	return waiting, err
}

// ApproveAttached approves attachments that the user named.
func (h *Host) ApproveAttached(
	ctx context.Context, w *workspace.Workspace, conf *jpconfig.Config, gate trust.Gate,
	urls []string,
) error {
	paths, err := h.PathClaims(ctx, w, conf, true)
	if err != nil {
		return err
	}
	all := append(conf.Claims(), paths...)
	return h.ApproveOwn(gate, slices.DeleteFunc(all, func(c trust.Claim) bool {
		return c.Key != jpconfig.AttachmentsKey || !slices.Contains(urls, c.Value)
	}))
}
