package approval

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/prepare"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/trust"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A Desk manages the approvals of a workspace.
type Desk struct {
	Host      *prepare.Host
	Workspace *workspace.Workspace
	Approvals *trust.Approvals
	Keys      []string // selected keys or prefixes of keys; none for all
}

// Open opens the approvals of a workspace.
func Open(h *prepare.Host, w *workspace.Workspace, keys []string) (*Desk, error) {
	approvals, err := h.Approvals(w.Root())
	return &Desk{h, w, approvals, keys}, err
}

// A Record is one setting in JSON.
type Record struct {
	ID         string     `json:"id"`
	Kind       trust.Kind `json:"kind"`
	Key        string     `json:"key"`
	Value      string     `json:"value"`
	Origin     string     `json:"origin"`
	Approved   bool       `json:"approved"`
	ApprovedAt *time.Time `json:"approved_at"`
}

func (d *Desk) printer() *render.Printer { return &d.Host.Terminal.Printer }

// meant returns the approvals of the selected keys.
func (d *Desk) meant(all []trust.Approval) []trust.Approval {
	return slices.DeleteFunc(all, func(p trust.Approval) bool {
		return !config.Covers(d.Keys, p.Key)
	})
}

// List prints the approvals, and the claims that were declined permanently.
func (d *Desk) List() error {
	given, declined := d.meant(d.Approvals.List()), d.meant(d.Approvals.ListDeclined())
	for _, p := range given {
		if err := d.print(p, true); err != nil {
			return err
		}
	}
	if len(declined) > 0 && !d.printer().JSON {
		if err := d.printer().Line("Declined, and not asked about again:"); err != nil {
			return err
		}
	}
	for _, p := range declined {
		if err := d.print(p, false); err != nil {
			return err
		}
	}
	if len(given)+len(declined) == 0 {
		d.printer().Note("nothing is approved")
	}
	return nil
}

// print prints an approval; holds is false for one that was declined or revoked.
func (d *Desk) print(p trust.Approval, holds bool) error {
	if !d.printer().JSON {
		claim := trust.Claim{Kind: p.Kind, Key: p.Key, Value: p.Value}
		return d.printGroup(trust.Group{Key: p.Key, Claims: []trust.Claim{claim}}, p.ID())
	}
	at := p.At.UTC()
	return d.printer().Records(Record{
		ID: p.ID(), Kind: p.Kind, Key: p.Key, Value: p.Value, Approved: holds, ApprovedAt: &at,
	})
}

// printGroup prints claims as text. Values are complete, and quoted as in the question.
func (d *Desk) printGroup(g trust.Group, id string) error {
	_, err := fmt.Fprintf(d.printer().Out, "%s  id %s\n", g, id)
	return err
}

// quoted returns the selected keys for a message.
func (d *Desk) quoted() string {
	return strings.Join(lists.Map(d.Keys, strconv.Quote), " or ")
}

// Revoke removes approvals, and forgets declined claims.
func (d *Desk) Revoke() error {
	given := d.meant(slices.Concat(d.Approvals.List(), d.Approvals.ListDeclined()))
	if len(given) == 0 && len(d.Keys) > 0 {
		return fmt.Errorf("revoke approvals of %s: there are none", d.quoted())
	}
	for _, p := range given {
		// The first one of a key revokes all of that key.
		if _, err := d.Approvals.Revoke(p.Key); err != nil {
			return err
		}
		if d.printer().JSON {
			if err := d.print(p, false); err != nil {
				return err
			}
		}
	}
	d.printer().Note("removed %s", render.Count(len(given), "approval"))
	return nil
}

// Approve approves claims by their ids, all or none. It returns the approved claims.
func (d *Desk) Approve(claims []trust.Claim, ids []string) (chosen []trust.Claim, err error) {
	groups := d.Approvals.Groups(d.Approvals.Unapproved(claims))
	for _, id := range ids {
		named := d.named(groups, claims, strings.ToLower(id))
		if named == nil {
			return nil, &NameError{id}
		}
		chosen = append(chosen, named...)
	}
	if err := d.Approvals.Approve(d.Host.Now(), chosen...); err != nil {
		return nil, err
	}
	d.printer().Note("approved %s", render.Count(len(chosen), "setting"))
	return chosen, nil
}

// named returns the claims with an id: one, or those of a question.
func (d *Desk) named(groups []trust.Group, claims []trust.Claim, id string) []trust.Claim {
	for _, g := range groups {
		if d.Approvals.GroupID(g) == id {
			return g.Claims
		}
	}
	for _, claim := range claims {
		if d.Approvals.ID(claim) == id {
			return []trust.Claim{claim}
		}
	}
	return nil
}

// A NameError says that no claim has an id.
type NameError struct{ ID string }

// Error implements error.
func (e *NameError) Error() string {
	return fmt.Sprintf("approve %q: nothing that wants an approval has this id", e.ID)
}

// Hints say where to find the ids.
func (*NameError) Hints() []string {
	return []string{
		"'git jp trust --json' lists the ids; '--id <conversation>' looks into one",
	}
}

// Records prints claims as JSON. It reports whether all are approved.
func (d *Desk) Records(claims []trust.Claim) (approved bool, err error) {
	at := map[string]time.Time{}
	for _, p := range d.Approvals.List() {
		at[p.ID()] = p.At.UTC()
	}
	for _, claim := range claims {
		r := Record{
			ID: d.Approvals.ID(claim), Kind: claim.Kind, Key: claim.Key, Value: claim.Value,
			Origin: claim.Origin,
		}
		if t, ok := at[r.ID]; ok {
			r.Approved, r.ApprovedAt = true, &t
		}
		if err := d.printer().Records(r); err != nil {
			return false, err
		}
	}
	return len(d.Approvals.Unapproved(claims)) == 0, nil
}

// Settle asks about claims that are not approved, and reports whether all are approved afterwards.
// If no user can be asked, it lists the remaining ones and returns an [UnaskedError].
func (d *Desk) Settle(ctx context.Context, claims []trust.Claim) (approved bool, err error) {
	open := d.Approvals.Unapproved(claims)
	switch {
	case len(claims) == 0 && len(d.Keys) > 0:
		d.printer().Note("no setting %s needs an approval", d.quoted())
		return true, nil
	case len(claims) == 0:
		d.printer().Note("nothing here needs an approval")
		return true, nil
	case len(open) == 0:
		d.printer().Note("%s, all approved", render.Count(len(claims), "setting"))
		return true, nil
	}
	for i := range open {
		open[i].Origin = d.Host.Short(open[i].Origin)
	}
	prompter := d.Host.Terminal.NewPrompter(ctx)
	if prompter == nil {
		for _, g := range d.Approvals.Groups(open) {
			if err := d.printGroup(g, d.Approvals.GroupID(g)); err != nil {
				return false, err
			}
		}
		return false, &UnaskedError{len(open)}
	}
	asker := &trust.Asker{
		Approvals: d.Approvals, Terminal: prompter.Terminal, Now: d.Host.Now,
	}
	if err := errors.Join(asker.Settle(open), context.Cause(ctx)); err != nil {
		return false, err
	}
	left := len(d.Approvals.Unapproved(open))
	d.printer().Note("approved %s, %d left", render.Count(len(open)-left, "setting"), left)
	return left == 0, nil
}

// An UnaskedError says that approvals are needed but no user can be asked.
type UnaskedError struct{ Settings int }

// Error implements error.
func (e *UnaskedError) Error() string {
	return fmt.Sprintf("approve %s: there is no terminal to ask on",
		render.Count(e.Settings, "setting"))
}
