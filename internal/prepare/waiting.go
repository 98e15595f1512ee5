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
	all := slices.DeleteFunc(paths, func(c trust.Claim) bool {
		return !slices.Contains(urls, c.Value)
	})
	for _, at := range conf.Attachments() {
		if claim, claimed := at.URL.Claim(); claimed && slices.Contains(urls, at.Shown()) {
			all = append(all, claim)
		}
	}
	return h.ApproveOwn(gate, all)
}
