package tool_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/tool"
	"github.com/go-json-experiment/json/jsontext"
)

// careful is a tool whose calls touch the file in their argument.
type careful struct{ fake }

func (careful) Caution(_ context.Context, c tool.Call) (tool.Caution, error) {
	switch name := string(c.Arguments); name {
	case `{"f":"harmless"}`:
		return tool.Caution{}, nil
	case `{"f":"broken"}`:
		return tool.Caution{}, errors.New("cannot be shown")
	default:
		return tool.Caution{Subjects: []string{name}, Reason: "look", Change: "+x"}, nil
	}
}

func TestACautionIsAskedOnceForEachSubject(t *testing.T) {
	ran := 0
	it := unattended("w", func(context.Context, tool.Call) (tool.Result, error) {
		ran++
		return tool.OK("done"), nil
	})
	it.Tool = careful{it.Tool.(fake)}
	run := func(x *tool.Executor, file string) string {
		c := tool.Call{ID: "c", Name: "w", Arguments: jsontext.Value(`{"f":"` + file + `"}`)}
		rs, err := x.Run(t.Context(), []tool.Call{c}, nil)
		if err != nil {
			t.Fatal(err)
		}
		return text(t, rs[0])
	}
	g := &gate{decisions: map[string]tool.Decision{"w": {Run: true}}}
	x := executor(t, tool.Options{Gate: g}, it)
	for i, tt := range []struct {
		file, want string
		asked      int
	}{
		{"harmless", "done", 0},
		{"Makefile", "done", 1},
		{"Makefile", "done", 1},
		{"broken", "cannot be shown", 1},
		{"justfile", "done", 2},
	} {
		if got := run(x, tt.file); got != tt.want || len(g.asked) != tt.asked {
			t.Errorf("%d: %q, asked %d times", i, got, len(g.asked))
		}
	}
	g.decisions["w"] = tool.Decision{}
	for range 2 { // a refusal does not carry over: the next call asks again
		if got := run(x, "x"); got != "Tool skipped by user." {
			t.Errorf("refused: %q", got)
		}
	}
	if ran != 4 || len(g.asked) != 4 {
		t.Errorf("ran %d times, asked %d times", ran, len(g.asked))
	}
	// Arguments that the user edited are shown again.
	g.decisions["w"] = tool.Decision{Run: true, Arguments: jsontext.Value(`{"f":"harmless"}`)}
	if got := run(x, "y"); got != "done" || len(g.asked) != 5 {
		t.Errorf("edited: %q, asked %d times", got, len(g.asked))
	}
	alone := executor(t, tool.Options{}, it)
	if got := run(alone, "Makefile"); !strings.Contains(got, "no user could be asked") || ran != 5 {
		t.Errorf("with nobody: %q, ran %d times", got, ran)
	}
}

// TestChangesAndOtherCallsKeepTheirOrder verifies that a call that changes files runs neither
// beside another call, which may read or change the same ones, nor before an earlier one, nor after
// a later one.
func TestChangesAndOtherCallsKeepTheirOrder(t *testing.T) {
	var changes atomic.Int32
	w := unattended("w", func(context.Context, tool.Call) (tool.Result, error) {
		before := changes.Load()
		time.Sleep(20 * time.Millisecond)
		return tool.OK(fmt.Sprintf("%d to %d", before, changes.Add(1))), nil
	})
	w.Tool = careful{w.Tool.(fake)}
	r := unattended("r", func(context.Context, tool.Call) (tool.Result, error) {
		before := changes.Load()
		time.Sleep(60 * time.Millisecond)
		return tool.OK(fmt.Sprintf("%d %d", before, changes.Load())), nil
	})
	g := &gate{decisions: map[string]tool.Decision{"w": {Run: true}}}
	cs := calls("r", "r", "w", "r", "w", "w", "r")
	for i := range cs {
		cs[i].Arguments = jsontext.Value(`{"f":"harmless"}`)
	}
	rs, err := executor(t, tool.Options{Gate: g}, w, r).Run(t.Context(), cs, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"0 0", "0 0", "0 to 1", "1 1", "1 to 2", "2 to 3", "3 3"} {
		if got := text(t, rs[i]); got != want {
			t.Errorf("call %d: %q, want %q", i, got, want)
		}
	}
}

// seeing is a tool that changes files, with a caution of the test's.
type seeing struct {
	fake

	caution func() (tool.Caution, error)
}

func (s seeing) Caution(context.Context, tool.Call) (tool.Caution, error) { return s.caution() }

// TestACallIsAdmittedInItsTurn verifies that a change is looked at and asked about when the calls
// before it have ended: the file may be theirs. If the user ends them, nobody is asked any more.
func TestACallIsAdmittedInItsTurn(t *testing.T) {
	exists := false
	create := unattended("create", func(context.Context, tool.Call) (tool.Result, error) {
		exists = true
		return tool.OK("created"), nil
	})
	modify := unattended("modify", func(context.Context, tool.Call) (tool.Result, error) {
		return tool.OK("modified"), nil
	})
	modify.Tool = seeing{modify.Tool.(fake), func() (tool.Caution, error) {
		if !exists {
			return tool.Caution{}, errors.New("no such file")
		}
		return tool.Caution{Subjects: []string{"file"}, Reason: "look", Change: "+x"}, nil
	}}
	ctx, cancel := context.WithCancelCause(t.Context())
	stop := unattended("stop", func(context.Context, tool.Call) (tool.Result, error) {
		cancel(&tool.Cancelled{Reply: "wait"})
		return tool.OK("stopped"), nil
	})
	g := &gate{decisions: map[string]tool.Decision{"modify": {Run: true}}}
	for _, tt := range []struct {
		names, want []string
		asked       int
	}{
		{[]string{"create", "modify"}, []string{"created", "modified"}, 1},
		{
			[]string{"stop", "modify", "create"},
			[]string{"stopped", "user, who says: wait", "user, who says: wait"},
			0,
		},
	} {
		g.asked = nil
		x := executor(t, tool.Options{Gate: g}, create, modify, stop)
		rs, err := x.Run(ctx, calls(tt.names...), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range tt.want {
			if got := text(t, rs[i]); !strings.Contains(got, want) {
				t.Errorf("%v: call %d: %q, want %q", tt.names, i, got, want)
			}
		}
		if len(g.asked) != tt.asked {
			t.Errorf("%v: asked about %v, want %d times", tt.names, g.asked, tt.asked)
		}
	}
}
