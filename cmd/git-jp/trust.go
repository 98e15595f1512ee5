package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/jpconfig"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/report"
	"github.com/git-jp/git-jp/internal/trust"
)

type trustCmd struct {
	Key     []string `arg:"" optional:"" help:"Settings, or what they begin with; all by default."`
	ID      string   `short:"i" name:"id" placeholder:"CONVERSATION" help:"The conversation that is looked at, too; the active one by default."`
	Approve []string `sep:"none" xor:"do" placeholder:"APPROVAL" help:"Approve what has this id in the list, without a question."`
	List    bool     `xor:"do" help:"List what is approved in this workspace, and what was declined for good."`
	Revoke  bool     `xor:"do" help:"Take approvals back and forget what was declined, all without a setting."`
}

// Help explains what needs an approval.
func (trustCmd) Help() string {
	return `What is committed, or stands in a conversation, may have been written by somebody else.
Nothing of it starts a process, picks a host, reads an environment variable or reaches out of
the workspace until you approve it. This command asks about what is not approved yet, in one
question where settings want the same: yes, no, each on its own, or, once all of it was shown,
all that is left. What you typed yourself, with -c or --attach, is approved. An approval
holds for the exact value in this workspace, and is kept in your own data directory. When the
value changes, it is asked about again.

Tools that start one program are one question, which says what they are given, what of the model's
text reaches a shell, and which files of the repository they run. Such a file is approved as it is:
when it changes, the question comes again, with what is different, unless you committed the
change in this clone. What these files run in turn,
or include by names that they compute, is not looked at. A no to what is only a setting is
remembered for its value.

Questions are asked on the terminal, wherever output goes. Without one, or with --json, what
is not approved is listed and the exit code is 1; --approve takes the ids of that list.`
}

// trustRecord is one setting in the JSON of `trust`.
type trustRecord struct {
	ID         string     `json:"id"`
	Kind       trust.Kind `json:"kind"`
	Key        string     `json:"key"`
	Value      string     `json:"value"`
	Origin     string     `json:"origin"`
	Approved   bool       `json:"approved"`
	ApprovedAt *time.Time `json:"approved_at"`
}

// Run asks, lists or revokes.
func (c trustCmd) Run(ctx context.Context, a *app) error {
	w, err := a.workspace()
	if err != nil {
		return err
	}
	approvals, err := a.host().Approvals(w.Root())
	switch {
	case err != nil:
		return err
	case approvals == nil:
		return errors.New("open approvals: there is no directory for the user's data")
	case c.List:
		return c.list(a, approvals)
	case c.Revoke:
		return c.revoke(a, approvals)
	}
	claims, err := c.claims(ctx, a)
	switch {
	case err != nil:
		return err
	case len(c.Approve) > 0:
		return c.approve(a, approvals, claims)
	case a.JSON:
		return printClaims(a, approvals, claims)
	}
	return settle(ctx, a, approvals, claims)
}

// of returns the answers about the keys that were asked for.
func (c trustCmd) of(all []trust.Approval) []trust.Approval {
	return slices.DeleteFunc(all, func(p trust.Approval) bool { return !wantsKey(c.Key, p.Key) })
}

func (c trustCmd) list(a *app, approvals *trust.Approvals) error {
	given, declined := c.of(approvals.List()), c.of(approvals.ListDeclined())
	for _, p := range given {
		if err := printApproval(a, p, true); err != nil {
			return err
		}
	}
	if len(declined) > 0 && !a.JSON {
		if _, err := fmt.Fprintln(a.stdout, "Declined, and not asked about again:"); err != nil {
			return err
		}
	}
	for _, p := range declined {
		if err := printApproval(a, p, false); err != nil {
			return err
		}
	}
	if len(given)+len(declined) == 0 {
		a.note("nothing is approved")
	}
	return nil
}

// printApproval prints an approval that holds, or that was taken back.
func printApproval(a *app, p trust.Approval, holds bool) error {
	if !a.JSON {
		claim := trust.Claim{Kind: p.Kind, Key: p.Key, Value: p.Value}
		return printClaim(a, claim, p.ID())
	}
	at := p.At.UTC()
	return a.printJSON(trustRecord{
		ID: p.ID(), Kind: p.Kind, Key: p.Key, Value: p.Value, Approved: holds, ApprovedAt: &at,
	})
}

// printClaim prints a claim for people. Nothing of the value is left out, and it is quoted
// as in the question.
func printClaim(a *app, claim trust.Claim, id string) error {
	g := trust.Group{Key: claim.Key, Claims: []trust.Claim{claim}}
	_, err := fmt.Fprintf(a.stdout, "%s  id %s\n", g, id)
	return err
}

func (c trustCmd) revoke(a *app, approvals *trust.Approvals) error {
	given := c.of(slices.Concat(approvals.List(), approvals.ListDeclined()))
	if len(given) == 0 && len(c.Key) > 0 {
		return fmt.Errorf("take back approvals of %s: there are none", quotedList(c.Key))
	}
	for _, p := range given {
		// The first of a key takes all of that key.
		if _, err := approvals.Revoke(p.Key); err != nil {
			return err
		}
		if a.JSON {
			if err := printApproval(a, p, false); err != nil {
				return err
			}
		}
	}
	a.note("removed %s", plural(len(given), "approval"))
	return nil
}

// claims returns what the configuration of the workspace and that of a conversation would
// do, each once.
func (c trustCmd) claims(ctx context.Context, a *app) ([]trust.Claim, error) {
	conf, err := a.jpConfig(nil)
	if err != nil {
		return nil, err
	}
	warnOfConfig(a, conf)
	paths, err := a.host().PathClaims(ctx, a.openWorkspace, conf, false)
	if err != nil {
		return nil, err
	}
	all := slices.Concat(userLocalClaims(a.openWorkspace), leaks.Claims(a.openWorkspace),
		a.openConfig.Claims(), conf.Claims(), paths)
	conv, err := conversationOr(a, c.ID)
	if err != nil {
		return nil, err
	}
	if conv != nil {
		if conf, err = a.jpConfig(conv); err != nil {
			return nil, err
		}
		if paths, err = a.host().PathClaims(ctx, a.openWorkspace, conf, false); err != nil {
			return nil, err
		}
		all = append(all, claimsOf(append(conf.Claims(), paths...), conv.ID)...)
	}
	seen := map[trust.Claim]bool{}
	return slices.DeleteFunc(all, func(claim trust.Claim) bool {
		claim.Origin = ""
		again := seen[claim]
		seen[claim] = true
		return again || !wantsKey(c.Key, claim.Key)
	}), nil
}

// claimsOf returns the claims of a conversation's configuration, with its name.
func claimsOf(all []trust.Claim, id events.ID) []trust.Claim {
	for i := range all {
		if all[i].Origin == jpconfig.Conversation.String() {
			all[i].Origin += " " + id.String()
		}
	}
	return all
}

// approve approves claims by their ids, all or none.
func (c trustCmd) approve(a *app, approvals *trust.Approvals, claims []trust.Claim) error {
	var chosen []trust.Claim
	groups := approvals.Groups(approvals.Unapproved(claims))
	for _, id := range c.Approve {
		named := claimsNamed(approvals, groups, claims, strings.ToLower(id))
		if named == nil {
			return &approvalError{id}
		}
		chosen = append(chosen, named...)
	}
	if err := approvals.Approve(a.now(), chosen...); err != nil {
		return err
	}
	a.note("approved %s", plural(len(chosen), "setting"))
	if a.JSON {
		return printClaims(a, approvals, chosen)
	}
	return nil
}

// claimsNamed returns the claims that an id names: one, or those of a question.
func claimsNamed(
	approvals *trust.Approvals, groups []trust.Group, claims []trust.Claim, id string,
) []trust.Claim {
	for _, g := range groups {
		if approvals.GroupID(g) == id {
			return g.Claims
		}
	}
	for _, claim := range claims {
		if approvals.ID(claim) == id {
			return []trust.Claim{claim}
		}
	}
	return nil
}

// An approvalError is an id that nothing has.
type approvalError struct{ id string }

func (e *approvalError) Error() string {
	return fmt.Sprintf("approve %q: nothing that wants an approval has this id", e.id)
}

// Hints say where the ids are.
func (*approvalError) Hints() []string {
	return []string{
		"'git jp trust --json' lists the ids; '--id <conversation>' looks into one",
	}
}

// printClaims prints claims for programs. It fails when not all are approved.
func printClaims(a *app, approvals *trust.Approvals, claims []trust.Claim) error {
	at := map[string]time.Time{}
	for _, p := range approvals.List() {
		at[p.ID()] = p.At.UTC()
	}
	for _, claim := range claims {
		r := trustRecord{
			ID: approvals.ID(claim), Kind: claim.Kind, Key: claim.Key, Value: claim.Value,
			Origin: claim.Origin,
		}
		if t, ok := at[r.ID]; ok {
			r.Approved, r.ApprovedAt = true, &t
		}
		if err := a.printJSON(r); err != nil {
			return err
		}
	}
	if len(approvals.Unapproved(claims)) > 0 {
		return report.ErrProblems
	}
	return nil
}

// settle asks about what is not approved, and lists it where nobody can be asked.
func settle(
	ctx context.Context, a *app, approvals *trust.Approvals, claims []trust.Claim,
) error {
	open := approvals.Unapproved(claims)
	switch {
	case len(claims) == 0:
		a.note("nothing here needs an approval")
		return nil
	case len(open) == 0:
		a.note("%s, all approved", plural(len(claims), "setting"))
		return nil
	}
	prompter := a.terminal.NewPrompter(ctx)
	if prompter == nil {
		return listUnasked(a, approvals, open)
	}
	for i := range open {
		open[i].Origin = a.short(open[i].Origin)
	}
	asker := &trust.Asker{Approvals: approvals, Terminal: prompter.Terminal, Now: a.now}
	if err := errors.Join(asker.Settle(open), context.Cause(ctx)); err != nil {
		return err
	}
	left := len(approvals.Unapproved(open))
	a.note("approved %s, %d left", plural(len(open)-left, "setting"), left)
	if left > 0 {
		return report.ErrProblems
	}
	return nil
}

// listUnasked lists what nobody can be asked about.
func listUnasked(a *app, approvals *trust.Approvals, open []trust.Claim) error {
	for i := range open {
		open[i].Origin = a.short(open[i].Origin)
	}
	for _, g := range approvals.Groups(open) {
		if err := printGroup(a, approvals, g); err != nil {
			return err
		}
	}
	return &unaskedError{n: len(open)}
}

// printGroup prints what makes one question, and its id.
func printGroup(a *app, approvals *trust.Approvals, g trust.Group) error {
	_, err := fmt.Fprintf(a.stdout, "%s  id %s\n", g, approvals.GroupID(g))
	return err
}

// An unaskedError says that approvals are needed and nobody can be asked.
type unaskedError struct{ n int }

func (e *unaskedError) Error() string {
	return fmt.Sprintf("approve %s: there is no terminal to ask on", plural(e.n, "setting"))
}

// Hints say how to approve all the same.
func (*unaskedError) Hints() []string { return []string{report.ApproveHint} }
