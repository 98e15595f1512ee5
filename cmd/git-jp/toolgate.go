package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool"
)

// A toolGate asks on the terminal device whether a call may run.
type toolGate struct {
	terminal func() (io.ReadWriteCloser, error)
	before   func()          // makes room on the screen
	always   map[string]bool // tools that may run for the rest of the turn
}

// toolGate returns nil where nobody can be asked: then such calls are refused.
func (a *app) toolGate(before func()) tool.Gate {
	tty, err := a.terminal()
	if err != nil {
		return nil
	}
	if tty.Close() != nil {
		return nil
	}
	return &toolGate{terminal: a.terminal, before: before, always: map[string]bool{}}
}

// Admit implements [tool.Gate].
func (g *toolGate) Admit(ctx context.Context, r tool.Request) (d tool.Decision, err error) {
	if g.always[r.Call.Name] {
		return tool.Decision{Run: true}, nil
	}
	answer, err := g.ask(ctx, fmt.Sprintf("Run %s %s? [y]es, [a]lways in this turn, [N]o: ",
		r.Call.Name, render.Sanitize(string(r.Call.Arguments))))
	switch strings.ToLower(answer) {
	case "a", "always":
		g.always[r.Call.Name] = true
		return tool.Decision{Run: true}, err
	case "y", "yes":
		return tool.Decision{Run: true}, err
	default:
		return tool.Decision{}, err
	}
}

// Deliver implements [tool.Gate].
func (g *toolGate) Deliver(
	ctx context.Context, r tool.Request, result tool.Result,
) (tool.Result, error) {
	answer, err := g.ask(ctx, fmt.Sprintf("Give the result of %s to the model? [y]es, [N]o: ",
		r.Call.Name))
	if answer := strings.ToLower(answer); answer == "y" || answer == "yes" {
		return result, err
	}
	return tool.OK("Result delivery skipped by user."), err
}

// ask puts a question on the terminal. Waiting for the answer ends with the context.
func (g *toolGate) ask(ctx context.Context, question string) (string, error) {
	g.before()
	tty, err := g.terminal()
	if err != nil {
		return "", nil // nobody is there any more: no
	}
	defer func() { _ = tty.Close() }()
	if _, err := io.WriteString(tty, question); err != nil {
		return "", nil
	}
	answer := make(chan string, 1)
	go func() {
		line, _ := bufio.NewReader(tty).ReadString('\n')
		answer <- strings.TrimSpace(line)
	}()
	select {
	case line := <-answer:
		return line, nil
	case <-ctx.Done():
		return "", context.Cause(ctx)
	}
}
