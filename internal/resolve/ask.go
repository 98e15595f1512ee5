package resolve

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/internal/ask"
	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/merge"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/workspace"
)

// A conflictQuestion is one conflict of a conversation.
type conflictQuestion struct {
	item     merge.Case
	conflict threeway.Conflict
	n, of    int // counted from 1
}

// decisions returns a decision for each conflict of a case, or nil if one is undecided. Each is
// saved when it is made, so skipping another one, or an interrupt, loses none.
func (r *Run) decisions(ctx context.Context, item merge.Case) ([]merge.Decision, error) {
	all := item.Record.Conflicts
	var given []merge.Decision
	for i, c := range all {
		d, err := r.decision(ctx, conflictQuestion{item, c, i + 1, len(all)})
		if err != nil {
			return nil, err
		}
		if d.Answer != "" {
			given = append(given, d)
		}
	}
	if len(given) < len(all) {
		if len(given) > 0 {
			r.note("%s: answered %d of %d conflicts; 'git jp resolve' asks about the rest",
				item.ID, len(given), len(all))
		}
		return nil, nil
	}
	return given, nil
}

// decision returns the decision about a conflict, without an answer if there is none. An answer
// given in this merge takes precedence, then the command line, then an answer to the same conflict
// in an earlier merge.
func (r *Run) decision(ctx context.Context, q conflictQuestion) (merge.Decision, error) {
	if r.Forget {
		if err := r.answers.Forget(q.conflict); err != nil {
			return merge.Decision{}, err
		}
	}
	d, open, known, err := r.answers.Find(q.conflict, r.merge)
	if err != nil {
		r.warn("%v", err)
	}
	switch flag := r.Answer; {
	case known && open:
	case flag != "":
		d, known = merge.Decision{Answer: flag}, false
	case known && r.rerere:
	case r.Prompter != nil:
		known = false
		if d, err = r.show(ctx, q); err != nil || d.Answer == "" {
			return merge.Decision{}, err
		}
	default:
		return merge.Decision{}, nil
	}
	if known {
		r.note("%s: conflict %d of %d: %s, as answered before; "+
			"'git jp resolve --forget' asks again", q.item.ID, q.n, q.of, d.Answer)
	}
	return d, r.answers.Save(q.conflict, d, r.merge)
}

// remember saves final decisions, for when the conflicts occur again.
func (r *Run) remember(all []threeway.Conflict, decisions []merge.Decision) {
	var faults []error
	for i, c := range all {
		if r.rerere && decisions[i].Answer != merge.Fork {
			faults = append(faults, r.answers.Save(c, decisions[i], ""))
		} else {
			faults = append(faults, r.answers.Forget(c))
		}
	}
	faults = append(faults, r.answers.Expire())
	if err := errors.Join(faults...); err != nil {
		r.warn("%v", err)
	}
}

// forks reports whether their side becomes a conversation of its own.
func forks(decisions []merge.Decision) bool {
	return slices.ContainsFunc(decisions, func(d merge.Decision) bool {
		return d.Answer == merge.Fork
	})
}

// conflictWords are the possible answers to a conflict, keptWords those to a deletion.
var (
	conflictWords = []choiceWord{
		{"ours", "keep what our side has"},
		{"theirs", "take what their side has"},
		{"both", "keep ours, and theirs behind it as a turn of its own"},
		{"fork", "keep ours, and make their side a conversation of its own"},
		{"edit", "write the turn in the editor, which opens with both sides"},
		{"skip", "leave this conflict undecided; the other answers are kept"},
	}
	keptWords = []choiceWord{
		{"keep", "keep the file, as the side that changed it has it"},
		{"delete", "delete the file, as the other side did"},
		{"skip", "leave it undecided"},
	}
)

// A choiceWord is an answer, and its explanation.
type choiceWord struct{ word, help string }

// show shows both sides of a conflict and asks.
func (r *Run) show(ctx context.Context, q conflictQuestion) (merge.Decision, error) {
	text, err := r.sidesOf(q)
	if err != nil {
		return merge.Decision{}, err
	}
	for {
		answer, err := r.ask(ctx, text, conflictWords)
		switch {
		case err != nil || answer == "skip":
			return merge.Decision{}, err
		case answer != "edit":
			return merge.Decision{Answer: merge.Answer(answer)}, nil
		}
		turn, err := r.editTurn(ctx, q.conflict)
		if err == nil {
			return merge.Decision{Answer: merge.Edited, Turn: turn}, nil
		}
		if !errors.Is(err, ask.ErrNotSaved) {
			return merge.Decision{}, err
		}
	}
}

// sidesOf renders both sides of a conflict.
func (r *Run) sidesOf(q conflictQuestion) (string, error) {
	var text strings.Builder
	fmt.Fprintf(&text, "%s %q: ", q.item.ID, r.titleOf(q.item.ID))
	if n := r.turnOf(q.item, q.conflict); n > 0 {
		fmt.Fprintf(&text, "turn %d ", n)
	}
	fmt.Fprintf(&text, "%s (%d of %d)\n", q.conflict.Kind, q.n, q.of)
	for _, side := range []struct {
		name  string
		elems []*events.Element
	}{{"OURS", q.conflict.Ours}, {"THEIRS", q.conflict.Theirs}} {
		fmt.Fprintf(&text, "\n---- %s\n", side.name)
		if len(side.elems) == 0 {
			text.WriteString("(removed)\n")
			continue
		}
		conv := render.Conversation{
			Stream: events.New(side.elems...), Contents: r.Workspace.Blobs(),
		}
		if _, err := conv.Render(&text, render.Options{Format: render.FormatText}); err != nil {
			return "", err
		}
	}
	return text.String(), nil
}

// ask asks a question and returns one of the words, which may be shortened to the first letter. Any
// other answer shows the explanations.
func (r *Run) ask(ctx context.Context, question string, words []choiceWord) (string, error) {
	s, err := r.Prompter.Open(ctx)
	if err != nil {
		return "", err
	}
	defer func() { _ = s.Close() }()
	s.Say("%s\n", strings.TrimRight(question, "\n"))
	names := lists.Map(words, func(w choiceWord) string { return w.word })
	for {
		answer, err := s.Line("%s, ? ", strings.Join(names, ", "))
		if err != nil {
			return "", err
		}
		for _, w := range names {
			if answer == w || answer == w[:1] {
				return w, nil
			}
		}
		for _, w := range words {
			s.Say("%-7s %s\n", w.word, w.help)
		}
		s.Say("%-7s %s\n", "?", "show this")
	}
}

// editTurn lets the user write the turn of a conflict in an editor. It opens with our version,
// followed by the parts that only theirs has.
func (r *Run) editTurn(ctx context.Context, c threeway.Conflict) ([]*events.Element, error) {
	s, err := r.Prompter.Open(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	text := string(events.New(bothSides(c)...).Encode())
	for {
		edited, err := s.Edit(ctx, "turn.json", text)
		if err != nil {
			return nil, err
		}
		turn, err := r.turnIn(edited)
		if err == nil {
			return turn, nil
		}
		s.Say("%v\n", err)
		answer, askErr := s.Line("edit again, or drop what was written (e, d)? ")
		if askErr != nil || answer == "d" {
			return nil, errors.Join(askErr, ask.ErrNotSaved)
		}
		text = edited
	}
}

// bothSides returns the elements of ours, followed by those that only theirs has.
func bothSides(c threeway.Conflict) []*events.Element {
	all := slices.Clone(c.Ours)
	for _, e := range c.Theirs {
		if !slices.ContainsFunc(c.Ours, func(o *events.Element) bool {
			return events.Equal(o, e)
		}) {
			all = append(all, e)
		}
	}
	return all
}

// turnIn reads the turn that the user wrote, and moves its content to the store.
func (r *Run) turnIn(text string) ([]*events.Element, error) {
	s, err := events.Decode([]byte(text))
	if err != nil {
		return nil, err
	}
	if err := s.Validate(); err != nil {
		return nil, err
	}
	if len(s.Turns()) == 0 {
		return nil, errors.New("there is no turn in it")
	}
	if r.Workspace.Format() != workspace.FormatInline {
		_, err := s.Externalize(r.Workspace.Blobs(), events.ExternalizeOptions{})
		if err != nil {
			return nil, fmt.Errorf("store blobs: %w", err)
		}
	}
	var turn []*events.Element
	for _, e := range s.All() {
		turn = append(turn, e)
	}
	return turn, nil
}
