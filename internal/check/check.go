package check

import (
	"cmp"
	"context"
	"iter"
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/refs"
)

// The names of the sources that are not commits.
const (
	IndexName    = "index"
	WorkTreeName = "working tree"
)

// Tree checks one source.
func Tree(ctx context.Context, src Source, opts Options) (*Report, error) {
	one := func(yield func(Source, error) bool) { yield(src, nil) }
	return run(ctx, one, opts, len(opts.dirs()) == 1)
}

// Range checks each source of a sequence, such as the new commits of a push in order. A finding
// that several sources have is reported once, with the first of them; an incomplete turn is
// reported only if the last source has it. Sources that are mostly like their predecessor are
// cheap, so order a range as git rev-list --topo-order --reverse does.
//
// If a source cannot be opened or listed, Range returns an error and no report, because a report
// would not mention the unseen files.
func Range(ctx context.Context, sources iter.Seq2[Source, error], opts Options) (*Report, error) {
	return run(ctx, sources, opts, false)
}

// run is Range; alone reports whether there is only one source with one workspace.
func run(
	ctx context.Context, sources iter.Seq2[Source, error], opts Options, alone bool,
) (*Report, error) {
	cache := cmp.Or(opts.Cache, &refs.Cache{})
	report := &Report{Strict: opts.Strict}
	v := newVerifier(opts.loosest(), cache)
	v.alone = alone
	var checkers []*checker
	for _, dir := range opts.dirs() {
		checkers = append(checkers, newChecker(checker{
			opts: opts.in(dir), cache: cache, report: report, verifier: v, dir: dir,
			alone: alone,
		}))
	}
	last := ""
	for src, err := range sources {
		if err != nil {
			return nil, err
		}
		if _, ofGit := src.(objectSource); !ofGit {
			src = Lazily(src, opts.LeftOut)
		}
		report.Sources++
		last = src.Name()
		for _, ch := range checkers {
			if err := ch.step(ctx, src); err != nil {
				return nil, err
			}
		}
	}
	report.settle(last)
	report.Blobs, report.Verified = v.total, v.read
	report.AddAll(gaps(opts.Gaps))
	report.AddAll(v.unread())
	return report, ctx.Err()
}

// Refetch is the command that brings everything that a filter left out of a clone.
const Refetch = "git fetch --refetch --no-filter"

// gaps returns notes about the objects that the repository lacks.
func gaps(all []Gap) []Finding {
	var notes []Finding
	for _, gap := range all {
		if gap.Meant {
			continue
		}
		f := Finding{State: Unchecked, Element: -1, Detail: gap.Reason + ": " + gap.Detail}
		switch gap.Reason {
		case "shallow":
			f.Detail = "this clone is shallow: commits behind its boundary were not checked"
			f.Next = "git fetch --unshallow"
		case "partial":
			f.Detail = "this clone is partial: content that was not fetched was not checked"
			f.Next = Refetch
		}
		notes = append(notes, f)
	}
	return notes
}

// bytesText formats a size as "12 345 bytes".
func bytesText(n int64) string {
	digits := strconv.FormatInt(n, 10)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(' ')
		}
		b.WriteRune(d)
	}
	if n == 1 {
		return "1 byte"
	}
	return b.String() + " bytes"
}
