package trust_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/trust"
)

var (
	_ trust.Gate = (*trust.Approvals)(nil)
	_ trust.Gate = (*trust.Asker)(nil)
)

func claim() trust.Claim {
	return trust.Claim{
		Kind: trust.Host, Key: "providers.llm.openai.base_url", Value: `"https://a.example"`,
		Origin: ".jp/config.toml:3",
	}
}

func workspace() trust.Workspace { return trust.Workspace{ID: "abcde", Root: "/nowhere/ws"} }

func now() time.Time { return time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC) }

func open(t *testing.T, dir string, w trust.Workspace) *trust.Approvals {
	t.Helper()
	a, err := trust.Open(trust.Store{Dir: dir}, w)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

func TestAnApprovalHoldsForItsClaimOnly(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "new", "git-jp")
	if err := open(t, dir, workspace()).Approve(now(), claim()); err != nil {
		t.Fatal(err)
	}
	changed := func(change func(*trust.Claim)) trust.Claim {
		c := claim()
		change(&c)
		return c
	}
	other := workspace()
	for _, test := range []struct {
		name  string
		claim trust.Claim
		in    trust.Workspace
		want  bool
	}{
		{"the same", claim(), workspace(), true},
		{"said elsewhere", changed(func(c *trust.Claim) { c.Origin = "conversation" }), workspace(), true},
		{"another value", changed(func(c *trust.Claim) { c.Value += " " }), workspace(), false},
		{"another key", changed(func(c *trust.Claim) { c.Key = "providers.llm.google.base_url" }), workspace(), false},
		{"another kind", changed(func(c *trust.Claim) { c.Kind = trust.EnvVar }), workspace(), false},
		{"moved between the parts", changed(func(c *trust.Claim) { c.Key, c.Value = c.Key+c.Value, "" }), workspace(), false},
		{"another workspace", claim(), trust.Workspace{ID: "other", Root: other.Root}, false},
		{"a workspace with the id of another", claim(), trust.Workspace{ID: other.ID, Root: "/elsewhere"}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			err := open(t, dir, test.in).Allow(test.claim)
			var refused *trust.RefusedError
			if test.want != (err == nil) || err != nil && !errors.As(err, &refused) {
				t.Errorf("error is %v, allowed wanted: %t", err, test.want)
			}
		})
	}
}

func TestARefusalHasTheIDOfTheApproval(t *testing.T) {
	a := open(t, t.TempDir(), workspace())
	refused := new(trust.RefusedError)
	if err := a.Allow(claim()); !errors.As(err, &refused) || refused.ID != a.ID(claim()) {
		t.Errorf("the refusal has the id %q, want %q", refused.ID, a.ID(claim()))
	}
	if err := a.Approve(now(), claim()); err != nil {
		t.Fatal(err)
	}
	if got := a.List()[0].ID(); got != refused.ID {
		t.Errorf("the approval has the id %q, the refusal %q", got, refused.ID)
	}
	other := claim()
	other.Value += " "
	if a.ID(other) == refused.ID {
		t.Error("another value has the same id")
	}
	if got := (trust.Approval{SHA256: "00"}).ID(); got != "" {
		t.Errorf("a damaged approval has the id %q", got)
	}
}

func TestRevoke(t *testing.T) {
	dir := t.TempDir()
	a, other := open(t, dir, workspace()), open(t, dir, trust.Workspace{ID: "x", Root: "/x"})
	second := claim()
	second.Key = "editor.cmd"
	for _, err := range []error{
		a.Approve(now(), claim(), second, claim()), other.Approve(now(), claim()),
	} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if n := len(open(t, dir, workspace()).List()); n != 2 {
		t.Errorf("%d approvals, want 2", n)
	}
	if n, err := a.Revoke("editor.cmd"); n != 1 || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	if a.Allow(second) == nil || a.Allow(claim()) != nil {
		t.Error("not just the one was revoked")
	}
	if n, err := a.Revoke(""); n != 1 || err != nil {
		t.Errorf("revoked %d, %v", n, err)
	}
	if err := open(t, dir, trust.Workspace{ID: "x", Root: "/x"}).Allow(claim()); err != nil {
		t.Errorf("the other workspace lost its approval: %v", err)
	}
}

// TestProcessesShareApprovals changes approvals by several processes, as it were: none is lost, none
// comes back, and each counts for all of them at once.
func TestProcessesShareApprovals(t *testing.T) {
	dir := t.TempDir()
	reader := open(t, dir, workspace())
	var wg sync.WaitGroup
	for i := range 16 {
		c := claim()
		c.Key = "editor.cmd" + strings.Repeat("x", i)
		wg.Go(func() {
			if err := open(t, dir, workspace()).Approve(now(), c); err != nil {
				t.Error(err)
			}
			if reader.Allow(c) != nil {
				t.Errorf("%s is not approved", c.Key)
			}
			if n, err := open(t, dir, workspace()).Revoke(c.Key); n != 1 || err != nil {
				t.Errorf("%s: revoked %d, %v", c.Key, n, err)
			}
			if reader.Allow(c) == nil {
				t.Errorf("%s is still approved", c.Key)
			}
		})
	}
	wg.Wait()
}

func TestApprovalsAreTheUsersAlone(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, workspace()).Approve(now(), claim()); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, "approvals.json"))
	if err != nil {
		t.Fatal(err)
	}
	if mode := info.Mode().Perm(); mode&0o077 != 0 && os.PathSeparator == '/' {
		t.Errorf("mode is %v", mode)
	}
}

func TestApprovalsInsideTheWorkspaceDoNotCount(t *testing.T) {
	root := t.TempDir()
	outside := t.TempDir()
	link := filepath.Join(outside, "link")
	if err := os.Symlink(root, link); err != nil {
		t.Skip(err)
	}
	for _, dir := range []string{root, filepath.Join(root, ".jp", "git-jp"), filepath.Join(link, "new")} {
		if _, err := trust.Open(trust.Store{Dir: dir}, trust.Workspace{Root: root}); !errors.Is(err, trust.ErrInside) {
			t.Errorf("%s: error is %v", dir, err)
		}
	}
	if _, err := trust.Open(trust.Store{Dir: root + "-user"}, trust.Workspace{Root: root}); err != nil {
		t.Errorf("beside it: %v", err)
	}
	below := trust.Workspace{Root: filepath.Join(root, "sub")}
	if _, err := trust.Open(trust.Store{Dir: filepath.Join(root, "data"), Repo: root}, below); !errors.Is(err, trust.ErrInside) {
		t.Errorf("in its repository: error is %v", err)
	}
}

func TestADamagedFileApprovesNothing(t *testing.T) {
	dir := t.TempDir()
	if err := open(t, dir, workspace()).Approve(now(), claim()); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(dir, "approvals.json")
	sound, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"cut":         string(sound[:len(sound)-3]),
		"from future": strings.Replace(string(sound), `"version": 2`, `"version": 3`, 1),
	} {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		a, err := trust.Open(trust.Store{Dir: dir}, workspace())
		if err == nil || a.Allow(claim()) == nil {
			t.Errorf("%s: open says %v, and the claim is allowed: %t", name, err, a.Allow(claim()) == nil)
		}
		if a.Approve(now(), claim()) == nil {
			t.Errorf("%s: it was overwritten", name)
		}
	}
}

// A tty answers and records the questions.
type tty struct {
	io.Reader
	asked bytes.Buffer
	open  int
}

func (t *tty) Write(b []byte) (int, error) { return t.asked.Write(b) }
func (t *tty) Close() error                { t.open--; return nil }

func asker(t *testing.T, dir, answers string) (*trust.Asker, *tty) {
	dev := &tty{Reader: strings.NewReader(answers)}
	return &trust.Asker{
		Approvals: open(t, dir, workspace()), Now: now,
		Terminal: func() (io.ReadWriteCloser, error) { dev.open++; return dev, nil },
	}, dev
}

func TestAsk(t *testing.T) {
	for _, test := range []struct {
		answer           string
		allowed, forever bool
	}{
		{"y\n", true, true},
		{" YES \r\n", true, true},
		{"o\n", true, false},
		{"n\n", false, false},
		{"\n", false, false},
		{"yes please\n", false, false},
		{"y", false, false}, // an incomplete line
		{"", false, false},
		{strings.Repeat("y", 5000) + "\n", false, false},
	} {
		dir := t.TempDir()
		a, dev := asker(t, dir, test.answer)
		err := a.Allow(claim())
		var refused *trust.RefusedError
		declined := errors.As(err, &refused) && refused.Declined
		if test.allowed != (err == nil) || !test.allowed && !declined {
			t.Errorf("%.9q: error is %v", test.answer, err)
		}
		if again := a.Allow(claim()); (again == nil) != (err == nil) {
			t.Errorf("%.9q: then it is %v", test.answer, again)
		}
		if n := strings.Count(dev.asked.String(), "Allow?"); n != 1 || dev.open != 0 {
			t.Errorf("%.9q: asked %d times, %d terminals left open", test.answer, n, dev.open)
		}
		if later := open(t, dir, workspace()).Allow(claim()) == nil; later != test.forever {
			t.Errorf("%.9q: allowed in the next run: %t", test.answer, later)
		}
		n, err := open(t, dir, workspace()).Revoke("")
		if err != nil || n > 0 && a.Allow(claim()) == nil {
			t.Errorf("%.9q: revoked %d (%v), and it is still allowed", test.answer, n, err)
		}
	}
}

// TestWhatChangesDuringAQuestion checks that an answer is for what was shown, and that what has
// changed until it came is asked about.
func TestWhatChangesDuringAQuestion(t *testing.T) {
	for answers, want := range map[string]struct {
		questions int
		allowed   bool
	}{
		"y\ny\n": {2, true}, "o\no\n": {2, true}, "y\nn\n": {2, false}, "n\n": {1, false},
	} {
		a, dev := asker(t, t.TempDir(), answers)
		now := claim()
		g := trust.Foreign("v", now).Renewed(func() trust.Claim { return now })
		terminal := a.Terminal
		a.Terminal = func() (io.ReadWriteCloser, error) {
			now.Value = "another"
			return terminal()
		}
		_, err := g.Open(a)
		if n := strings.Count(dev.asked.String(), "Allow?"); n != want.questions || (err == nil) != want.allowed {
			t.Errorf("%q: %d questions, %v", answers, n, err)
		}
	}
}

func TestAnswersAreReadLineByLine(t *testing.T) {
	a, dev := asker(t, t.TempDir(), "o\nfor the program\n")
	if err := a.Allow(claim()); err != nil {
		t.Fatal(err)
	}
	if rest, _ := io.ReadAll(dev.Reader); string(rest) != "for the program\n" {
		t.Errorf("left over is %q", rest)
	}
}

func TestWithoutATerminalNobodySaysYes(t *testing.T) {
	a := &trust.Asker{
		Approvals: open(t, t.TempDir(), workspace()), Now: now,
		Terminal: func() (io.ReadWriteCloser, error) { return nil, fs.ErrNotExist },
	}
	var refused *trust.RefusedError
	if err := a.Allow(claim()); !errors.As(err, &refused) || refused.Declined {
		t.Errorf("error is %v", err)
	}
	if got := refused.Approval(); got != "git jp trust providers.llm.openai.base_url" {
		t.Errorf("approval is %q", got)
	}
}

func TestParallelCallsAskOnce(t *testing.T) {
	a, dev := asker(t, t.TempDir(), "y\n")
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if err := a.Allow(claim()); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if n := strings.Count(dev.asked.String(), "Allow?"); n != 1 {
		t.Errorf("asked %d times", n)
	}
}

func TestGuarded(t *testing.T) {
	none := open(t, t.TempDir(), workspace())
	if v, err := trust.Own("x").Open(none); v != "x" || err != nil {
		t.Errorf("own: %q, %v", v, err)
	}
	if v, err := trust.Foreign("x", claim()).Open(none); v != "" || err == nil {
		t.Errorf("foreign: %q, %v", v, err)
	}
	if err := none.Approve(now(), claim()); err != nil {
		t.Fatal(err)
	}
	if v, err := trust.Foreign("x", claim()).Open(none); v != "x" || err != nil {
		t.Errorf("approved: %q, %v", v, err)
	}
}

func TestNothingHostileIsShown(t *testing.T) {
	hostile := trust.Claim{
		Kind: trust.Process, Key: "conversation.tools.\x1b[2Kx; rm -rf ~",
		Value:  "echo safe\r\x1b[1A\u202edangerous\u009b",
		Origin: "\x1b]0;title\a",
	}
	a, dev := asker(t, t.TempDir(), "n\n")
	err := a.Allow(hostile)
	for name, shown := range map[string]string{"question": dev.asked.String(), "error": err.Error()} {
		if strings.ContainsAny(shown, "\x1b\r\a\u202e\u009b") {
			t.Errorf("%s is %q", name, shown)
		}
		if !strings.Contains(shown, "dangerous") || !strings.Contains(shown, "starts a process") {
			t.Errorf("%s does not tell the claim: %q", name, shown)
		}
	}
	for _, key := range []string{hostile.Key, "--all", ""} {
		if got := (&trust.RefusedError{Claim: trust.Claim{Key: key}}).Approval(); got != "git jp trust" {
			t.Errorf("approval is %q", got)
		}
	}
}

// TestNothingInvisibleIsApproved shows characters that have no picture, in a line that is approved
// and in the names of files.
func TestNothingInvisibleIsApproved(t *testing.T) {
	const unseen = "\u3164\u034f\ufe01\u2800\u200b\u00a0\u2003\U000e0141"
	const want = `\u3164\u034f\ufe01\u2800\u200b\u00a0\u2003\U000e0141`
	tool := trust.Tool{
		Command: json.RawMessage(`"rm x"`), Line: []string{"rm", "x" + unseen},
		Files: map[string]string{"y" + unseen: "a1"}, Options: json.RawMessage(`"z` + unseen + `"`),
	}
	g := trust.Groups([]trust.Claim{toolClaim(t, "t", tool)})[0].String()
	e := trust.Claim{Kind: trust.Process, Key: "editor.cmd", Value: "rm x" + unseen}
	for _, shown := range []string{"rm x" + want, "y" + want, "z" + want} {
		if !strings.Contains(g, shown) {
			t.Errorf("%q has no %s", g, shown)
		}
	}
	if got := trust.Groups([]trust.Claim{e})[0].String(); !strings.Contains(got, "rm x"+want) {
		t.Errorf("%q has no %s", got, want)
	}
}

// TestApprovalIsOneWord checks each character of a key, because users copy the command.
func TestApprovalIsOneWord(t *testing.T) {
	const plain = "._-0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
	for r := range rune(0x100) {
		key, want := "a"+string(r), "git jp trust"
		if strings.ContainsRune(plain, r) {
			want += " " + key
		}
		if got := (&trust.RefusedError{Claim: trust.Claim{Key: key}}).Approval(); got != want {
			t.Errorf("approval is %q, want %q", got, want)
		}
	}
}
