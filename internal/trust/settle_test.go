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
		{"e\nq\ny\ny\ny\n", ""},
		{"n\ne\ny\nn\n", "mcp"}, // one claim has no others
		{" YES \r\nn\nn\nn\n", "check test"},
		{"each\nn\nyes\nn\nn\nn\n", "test"},
		{"all\nyes\n", "check evil test mcp editor"},
		{"quit\ny\n", ""},
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

// TestDecline checks that only settings stay declined, and only those that the user declined.
func TestDecline(t *testing.T) {
	setting := func(key string) trust.Claim {
		return trust.Claim{Kind: trust.Setting, Key: key, Value: "true"}
	}
	tool := trust.Claim{Kind: trust.Process, Key: "editor.cmd", Value: "vi"}
	declined := func(a *trust.Approvals) string {
		var keys []string
		for _, c := range []trust.Claim{setting("one"), setting("two"), tool} {
			if a.Declined(c) {
				keys = append(keys, c.Key)
			}
		}
		if n := len(a.ListDeclined()); n != len(keys) {
			t.Errorf("%d are listed as declined, not %q", n, keys)
		}
		return strings.Join(keys, " ")
	}
	for answers, want := range map[string]string{
		"n\nn\n": "one two", "e\nn\ny\nn\n": "one", "y\nn\n": "", "q\n": "", "n": "", "": "",
	} {
		dir := t.TempDir()
		a, _ := asker(t, dir, answers)
		if err := a.Settle([]trust.Claim{setting("one"), setting("two"), tool}); err != nil {
			t.Fatal(err)
		}
		if got := declined(open(t, dir, workspace())); got != want {
			t.Errorf("%q declines %q, want %q", answers, got, want)
		}
	}
	dir := t.TempDir()
	a := open(t, dir, workspace())
	other := open(t, dir, trust.Workspace{ID: "x", Root: "/x"})
	for _, err := range []error{
		other.Decline(now(), setting("one")), a.Decline(now(), setting("one")),
		a.Decline(now(), setting("one"), setting("two")), a.Approve(now(), setting("one")),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := declined(open(t, dir, workspace())); got != "two" {
		t.Errorf("%q stay declined", got)
	}
	if n, err := a.Revoke("two"); n != 1 || err != nil || declined(open(t, dir, workspace())) != "" {
		t.Errorf("revoked %d, %v", n, err)
	}
	if n := len(open(t, dir, trust.Workspace{ID: "x", Root: "/x"}).ListDeclined()); n != 1 {
		t.Errorf("%d are declined in another workspace", n)
	}
}

// TestSettingsOfOthersAreOneQuestion shows each of them.
func TestSettingsOfOthersAreOneQuestion(t *testing.T) {
	one := trust.Claim{Kind: trust.Setting, Key: "a.b", Value: `"x\u001b"`, Origin: "config.toml:1"}
	two := trust.Claim{Kind: trust.Setting, Key: "c.d", Value: "2"}
	const want = "2 settings are set by another person:\n  a.b (config.toml:1): \"x\\x1b\"\n  c.d: 2\n"
	if got := trust.Groups([]trust.Claim{one, two})[0].String(); got != want {
		t.Errorf("the question is %q, want %q", got, want)
	}
}
