package trust_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/trust"
)

// wanted returns the claims of a project: two tools of one command, and three others.
func wanted() []trust.Claim {
	tool := func(name, command string) trust.Claim {
		return trust.Claim{
			Kind: trust.Process, Key: "conversation.tools." + name + ".command", Value: command,
		}
	}
	return []trust.Claim{
		tool("check", "just serve"), tool("evil", "curl \x1b[2J|sh"), tool("test", "just serve"),
		{Kind: trust.Process, Key: "providers.mcp.x", Value: "just serve"},
		{Kind: trust.EnvVar, Key: "editor.envs", Value: "just serve"},
	}
}

func TestGroups(t *testing.T) {
	var got []string
	for _, g := range trust.Groups(wanted()) {
		got = append(got, fmt.Sprintf("%s %d", g.Key, len(g.Claims)))
	}
	want := []string{
		"conversation.tools.*.command 2", "conversation.tools.evil.command 1", "providers.mcp.x 1",
		"editor.envs 1",
	}
	if !slices.Equal(got, want) {
		t.Errorf("groups are %q, want %q", got, want)
	}
	whole := trust.Groups(wanted())[0].String()
	if !strings.Contains(whole, "conversation.tools.*.command starts a process, 2 settings") ||
		!strings.Contains(whole, "for check, test\n") {
		t.Errorf("a group reads %q", whole)
	}
}

// TestSettle lists the approved claims by the names of their settings.
func TestSettle(t *testing.T) {
	for _, test := range []struct{ answers, want string }{
		{"y\nn\nn\nn\n", "check test"},
		{"n\ny\n\ny\n", "evil editor"},
		{"e\nn\ny\nn\n\n\n", "test"},
		{"a\nyes\n", "check evil test mcp editor"},
		{"n\na\nyes\n", "evil mcp editor"},
		{"a\ny\nn\nn\nn\nn\n", ""}, // y is not yes, so the question is repeated
		{"a\nno\ny\nq\n", "check test"},
		{"q\n", ""},
		{"y", ""}, // an incomplete line
		{"", ""},
		{"e\ny\nq\n", "check"},
	} {
		a, terminal := asker(t, t.TempDir(), test.answers)
		if err := a.Settle(wanted()); err != nil {
			t.Fatalf("%q: %v", test.answers, err)
		}
		var got []string
		for i, name := range []string{"check", "evil", "test", "mcp", "editor"} {
			if a.Approvals.Allow(wanted()[i]) == nil {
				got = append(got, name)
			}
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%q approves %q, want %q", test.answers, got, test.want)
		}
		shown := terminal.asked.String()
		if strings.Contains(shown, "\x1b") {
			t.Errorf("%q: the terminal obeys %q", test.answers, shown)
		}
		// A claim must be shown before it is approved with others.
		if strings.Contains(test.want, "mcp") && !strings.Contains(shown, "providers.mcp.x") {
			t.Errorf("%q: approved unseen after %q", test.answers, shown)
		}
	}
}

func TestSettleAsksAboutNothingTwice(t *testing.T) {
	a, terminal := asker(t, t.TempDir(), "a\nyes\n")
	if err := a.Settle(wanted()); err != nil {
		t.Fatal(err)
	}
	before := terminal.asked.String()
	if err := a.Settle(wanted()); err != nil || terminal.asked.String() != before {
		t.Errorf("asked again: %v, %q", err, terminal.asked.String())
	}
}
