package trust

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/command"
)

// A Group is the claims of one question: equal values of settings whose keys differ in one name,
// the tools that start one program, or an MCP server with its tools.
type Group struct {
	Key    string // the common key, with * for the name that differs
	Claims []Claim
	// Before are the values that were approved before for each of the claims, "" for none.
	Before []string
}

// Groups groups claims, in the order of the first claim of each group.
func Groups(claims []Claim) []Group {
	var groups []Group
	at := map[string]int{}
	for _, c := range claims {
		family := c.family()
		i, ok := at[family]
		if !ok {
			i, at[family] = len(groups), len(groups)
			groups = append(groups, Group{Key: c.Key})
		} else if groups[i].Key != c.Key {
			groups[i].Key = pattern(c.Key)
		}
		groups[i].Claims = append(groups[i].Claims, c)
	}
	return groups
}

// Groups groups claims, with the values that were approved before.
func (a *Approvals) Groups(claims []Claim) []Group {
	groups := Groups(claims)
	for i, g := range groups {
		groups[i].Before = lists.Map(g.Claims, a.before)
	}
	return groups
}

// GroupID returns the id of a group for the command line.
func (a *Approvals) GroupID(g Group) string {
	if len(g.Claims) == 1 {
		return a.ID(g.Claims[0])
	}
	h := sha256.New()
	for _, c := range g.Claims {
		_, _ = io.WriteString(h, c.sum(a.workspace)) // writing to a hash never fails
	}
	return hex.EncodeToString(h.Sum(nil))[:idDigits]
}

// tables are the tables whose members have user-chosen names.
var tables = [...]string{
	"conversation.tools.", "conversation.labels.", "providers.llm.", "providers.mcp.",
	"plugins.command.",
}

// pattern returns a key with * for the chosen name.
func pattern(key string) string {
	for _, t := range tables {
		if rest, ok := strings.CutPrefix(key, t); ok {
			_, rest, more := strings.Cut(rest, ".")
			if more {
				rest = "." + rest
			}
			return t + "*" + rest
		}
	}
	return key
}

// String describes the group, without characters that a terminal interprets.
func (g Group) String() string {
	var b strings.Builder
	first := g.Claims[0]
	_, isTool := first.tool()
	switch {
	case strings.HasPrefix(first.family(), "server "):
		fmt.Fprintf(&b, "MCP %s %s, %s:\n", show(first.family()), first.Kind.does(),
			render.Count(len(g.Claims), "setting"))
		describeTools(&b, g.Claims)
	case isTool:
		fmt.Fprintf(&b, "%s %s, %s:\n", choose(len(g.Claims) == 1, first.place(), show(g.Key)),
			first.Kind.does(), render.Count(len(g.Claims), "tool"))
		describeTools(&b, g.Claims)
	case first.Kind == Setting && len(g.Claims) > 1:
		fmt.Fprintf(&b, "%d settings are set by another person:\n", len(g.Claims))
		for _, c := range g.Claims {
			fmt.Fprintf(&b, "  %s: %s\n", c.place(), plain(json.RawMessage(c.Value)))
		}
	case len(g.Claims) == 1:
		fmt.Fprintf(&b, "%s:\n%s", first, first.shown())
	default:
		names := lists.Map(g.Claims, func(c Claim) string { return show(nameIn(c.Key, g.Key)) })
		fmt.Fprintf(&b, "%s %s, %d settings:\n%s  for %s\n", show(g.Key), first.Kind.does(),
			len(g.Claims), first.shown(), strings.Join(names, ", "))
	}
	g.writeLimits(&b)
	g.writeChanges(&b)
	return b.String()
}

// writeLimits writes what an approval of the claims does not cover.
func (g Group) writeLimits(b *strings.Builder) {
	var limits []string
	if slices.ContainsFunc(g.Claims, Claim.runsFiles) {
		limits = append(limits, "what these files run or include in turn")
	}
	computes, looks := false, []string(nil)
	for _, c := range g.Claims {
		words, shell := c.line()
		computes = computes || command.Computes(words, shell)
		if _, isTool := c.tool(); !isTool && !strings.HasPrefix(c.Key, "providers.mcp.") {
			continue // an editor and the like, whose files the user knows
		}
		if p := command.Looks(words, shell); p != "" && !slices.Contains(looks, show(p)) {
			looks = append(looks, show(p))
		}
	}
	if computes {
		limits = append(limits, "files whose names are put together when the line runs")
	}
	if looks != nil {
		limits = append(limits, "what "+strings.Join(looks, ", ")+" looks for in the repository")
	}
	if limits != nil {
		fmt.Fprintf(b, "  not covered, and may change without a question: %s\n",
			strings.Join(limits, "; "))
	}
}

// writeChanges writes the differences from the values approved before.
func (g Group) writeChanges(b *strings.Builder) {
	for i, before := range g.Before {
		if before == "" {
			continue
		}
		fmt.Fprintf(b, "  changed since you approved %s:\n", show(g.Claims[i].Key))
		for _, line := range difference(before, g.Claims[i].Value) {
			fmt.Fprintf(b, "    %s\n", line)
		}
	}
}

// nameIn returns the part of a key that the * of its pattern matches.
func nameIn(key, pattern string) string {
	before, after, _ := strings.Cut(pattern, "*")
	return strings.TrimSuffix(strings.TrimPrefix(key, before), after)
}

// errQuit says that the user wants no more questions.
var errQuit = errors.New("quit")

// Settle asks about claims until all are answered or the user quits. Approvals are stored.
// Approving all of them at once shows all of them first.
func (a *Asker) Settle(claims []Claim) (err error) {
	open := slices.DeleteFunc(slices.Clone(claims), a.Approvals.approved)
	if len(open) == 0 {
		return nil
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	tty, err := a.Terminal()
	if err != nil {
		return a.refusal(open[0], false)
	}
	defer func() { err = errors.Join(err, tty.Close()) }()
	open = slices.DeleteFunc(open, func(c Claim) bool {
		if c.unbound() == nil {
			return false
		}
		_, failed := fmt.Fprintf(tty, "%v\n", a.refusal(c, false))
		err = errors.Join(err, failed)
		return true
	})
	if err != nil {
		return err
	}
	groups := a.Approvals.Groups(open)
	for i := range groups {
		switch err := a.settle(tty, groups[i:]); {
		case errors.Is(err, errQuit):
			return nil
		case err != nil:
			return err
		}
	}
	return nil
}

// settle asks about the first group, or, if the user wants that, about all groups at once.
func (a *Asker) settle(tty io.ReadWriter, groups []Group) error {
	g := groups[0]
	question := g.String() + "Allow? [y]es, [N]o"
	if len(g.Claims) > 1 {
		question += ", [e]ach on its own"
	}
	if len(groups) > 1 {
		question += ", [a]ll that is left"
	}
	answer, err := put(tty, question+", [q]uit: ")
	switch {
	case err != nil:
		return err
	case answer == "y" || answer == "yes":
		return a.Approvals.Approve(a.Now(), g.Claims...)
	case (answer == "e" || answer == "each") && len(g.Claims) > 1:
		return a.each(tty, g.Claims)
	case answer == "a" || answer == "all":
		return a.everything(tty, groups)
	case answer == "q" || answer == "quit":
		return errQuit
	default:
		return a.Approvals.Decline(a.Now(), g.Claims...)
	}
}

// each asks about claims one by one.
func (a *Asker) each(tty io.ReadWriter, claims []Claim) error {
	for _, c := range claims {
		err := a.settle(tty, a.Approvals.Groups([]Claim{c}))
		if err != nil {
			return err
		}
	}
	return nil
}

// everything shows the groups that were not shown yet, and asks once.
func (a *Asker) everything(tty io.ReadWriter, groups []Group) error {
	var b strings.Builder
	claims := slices.Clone(groups[0].Claims)
	for _, g := range groups[1:] {
		b.WriteString(g.String())
		claims = append(claims, g.Claims...)
	}
	answer, err := put(tty, fmt.Sprintf("%sAllow all of these, %d settings? yes, [N]o: ",
		b.String(), len(claims)))
	if err != nil {
		return err
	}
	if answer != "yes" {
		return a.settle(tty, groups)
	}
	if err := a.Approvals.Approve(a.Now(), claims...); err != nil {
		return err
	}
	return errQuit
}

// put asks and reads the answer.
func put(tty io.ReadWriter, question string) (string, error) {
	if _, err := io.WriteString(tty, question); err != nil {
		return "", fmt.Errorf("ask: %w", err)
	}
	line, ok := readLine(tty)
	if !ok {
		return "q", nil // the terminal is gone
	}
	return strings.ToLower(strings.TrimSpace(line)), nil
}
