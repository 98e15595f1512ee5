package hooks

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/audit"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/stage"
)

// Received returns the commits that a server is receiving.
func Received(ctx context.Context, repo *gitint.Repo, input io.Reader) (audit.Push, error) {
	refs, err := readPreReceive(input)
	if err != nil {
		return audit.Push{}, err
	}
	d := gitint.PushRange{NotRefs: true}
	for _, ref := range refs {
		if !ref.to.IsZero() {
			d.Tips = append(d.Tips, ref.to.String())
		}
	}
	return audit.NewPush(ctx, repo, d)
}

// pushed returns the commits that are about to be pushed to a remote, or to an address without a
// name.
func (r *run) pushed(
	ctx context.Context, repo *gitint.Repo, args []string,
) (audit.Push, error) {
	refs, err := readPrePush(r.Stdin)
	if err != nil {
		return audit.Push{}, err
	}
	var d gitint.PushRange
	if len(args) == 2 && args[0] != args[1] {
		d.Remote = args[0]
	}
	for _, ref := range refs {
		if ref.to.IsZero() {
			continue // it is deleted on the remote
		}
		d.Tips = append(d.Tips, ref.to.String())
		if !ref.from.IsZero() {
			d.Not = append(d.Not, ref.from.String())
		}
	}
	if len(refs) == 0 {
		if err := r.pushedByManager(ctx, repo, &d); err != nil {
			return audit.Push{}, err
		}
	}
	return audit.NewPush(ctx, repo, d)
}

// ErrPush and ErrReceived report that a push was stopped, after the reasons were printed.
var (
	ErrPush     = errors.New("the push was stopped: its conversations are incomplete")
	ErrReceived = errors.New("the push was refused: its conversations are incomplete")
)

// prePush blocks a push that would publish commits without their content. A failure of ours blocks
// nothing: CI will find the same problems.
func (r *run) prePush(ctx context.Context) error {
	hook, err := r.hook(ctx)
	var d audit.Push
	if err == nil {
		d, err = r.pushed(ctx, hook.Repo, r.args)
	}
	var report *check.Report
	if err == nil && len(d.Commits) > 0 {
		report, err = r.judge(ctx, hook, d)
	}
	if report != nil && err == nil {
		err = r.warnRemoved(ctx, hook, d)
	}
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		r.Warn("pre-push: conversations were not checked: %v", err)
		return nil
	case report == nil || !slices.ContainsFunc(hook.checked(report.Findings), hook.isProblem):
		return nil
	}
	found := hook.checked(report.Findings)
	r.Advise(ctx, hook.Repo, found)
	if err := r.Print(found); err != nil {
		return err
	}
	if !slices.ContainsFunc(found, func(f check.Finding) bool {
		// A person unites two directories of a conversation if a hook has not: both exist, and no
		// push loses one.
		return hook.isProblem(f) && hook.stops(f) && f.State != check.DuplicateID
	}) {
		return nil
	}
	return ErrPush
}

// warnRemoved names the redaction entries that a push removes. That stops no push, also where
// warnings count: the text may be no secret, and then someone undid its redaction.
func (r *run) warnRemoved(ctx context.Context, hook served, d audit.Push) error {
	removed, err := audit.Auditor{Repo: hook.Repo}.Removed(ctx, d)
	r.warnNext(hook.checked(removed))
	return err
}

// preReceive refuses a push of commits without their content. A server that cannot check refuses
// too, since its warnings are not read.
func (r *run) preReceive(ctx context.Context) error {
	hook, err := r.hook(ctx)
	if err != nil {
		return err
	}
	d, err := Received(ctx, hook.Repo, r.Stdin)
	if err != nil || len(d.Commits) == 0 {
		return err
	}
	report, err := r.judge(ctx, hook, d)
	if err != nil {
		return err
	}
	if err := r.Print(report.Findings); err != nil {
		return err
	}
	if slices.ContainsFunc(report.Findings, hook.isProblem) {
		return ErrReceived
	}
	return nil
}

// judge checks the commits to be pushed for a hook.
func (r *run) judge(ctx context.Context, hook served, d audit.Push,
) (*check.Report, error) {
	// Each workspace decides whether a warning counts, among problems that the remote does not have
	// already.
	o, err := r.CheckOptions(hook.Repo)
	if err != nil {
		return nil, err
	}
	o.LimitIn = func(dir string) int64 { return hook.settings(dir).Storage.MaxBlobBytes }
	o.Progress = func(string, int, int) {}
	return audit.Auditor{Repo: hook.Repo, Options: o}.Push(ctx, d)
}

// prepareMessage names the conversations of a commit in its message, as trailers, and the sessions
// of agents that are in a turn in this working tree.
func (r *run) prepareMessage(ctx context.Context) error {
	if len(r.args) == 0 || len(r.args) > 1 && (r.args[1] == "merge" || r.args[1] == "squash") {
		return nil
	}
	repo, err := r.Open(ctx)
	if err != nil {
		r.Warn("prepare-commit-msg: %v", err)
		return nil
	}
	ids, err := stage.Hook{Repo: repo}.Conversations(ctx)
	lines := trailers(ids, r.InTurn(repo))
	if err == nil && len(lines) > 0 {
		err = repo.AddTrailers(ctx, r.args[0], lines)
	}
	if err != nil {
		r.Warn("prepare-commit-msg: %v", err)
	}
	return nil
}

func trailers(ids []events.ID, sessions []string) (lines []string) {
	for _, id := range ids {
		lines = append(lines, fmt.Sprintf("JP-Conversation: %s", id))
	}
	for _, name := range sessions {
		lines = append(lines, "Jp-Session: "+name)
	}
	return lines
}
