package browser

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/network"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// A tab is a page in the browser, with its problems.
type tab struct {
	t   *testing.T
	ctx context.Context

	mu       sync.Mutex
	problems []string
}

// all is shared by the tests; TestMain removes it.
var all common

// A common has the browser in which all pages are opened and the site that most tests look at, each
// started when it is first needed.
type common struct {
	browser context.Context
	site    string
	remove  []func()
}

func TestMain(m *testing.M) {
	code := m.Run()
	for _, remove := range slices.Backward(all.remove) {
		remove()
	}
	os.Exit(code)
}

// start starts the browser.
func (c *common) start(t *testing.T) context.Context {
	t.Helper()
	if c.browser != nil {
		return c.browser
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(chromium(t)),
		chromedp.NoSandbox, chromedp.Flag("disable-gpu", true))
	alloc, cancel := chromedp.NewExecAllocator(context.Background(), options...)
	c.remove = append(c.remove, cancel)
	ctx, cancel := chromedp.NewContext(alloc, chromedp.WithErrorf(func(string, ...any) {}))
	c.remove = append(c.remove, cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	c.browser = ctx
	return ctx
}

// chromium returns the browser; tests skip if there is none.
func chromium(t *testing.T) string {
	t.Helper()
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if path, err := exec.LookPath(name); err == nil {
			return path
		}
	}
	t.Skip("there is no Chromium on this machine")
	return ""
}

// open opens an address in a new tab with a width. Every request of the page outside own, every
// error in its console and every dialog is a problem, and fails the test.
func open(t *testing.T, address, own string, width int64) *tab {
	t.Helper()
	ctx, cancel := chromedp.NewContext(all.start(t))
	t.Cleanup(cancel)
	ctx, cancel = context.WithTimeout(ctx, 2*time.Minute)
	t.Cleanup(cancel)
	b := &tab{t: t, ctx: ctx}
	chromedp.ListenTarget(ctx, func(ev any) {
		switch ev := ev.(type) {
		case *runtime.EventExceptionThrown:
			b.problem("exception: %s", ev.ExceptionDetails.Error())
		case *runtime.EventConsoleAPICalled:
			b.problem("console: %s", ev.Type)
		case *log.EventEntryAdded:
			b.problem("log: %s %s", ev.Entry.Text, ev.Entry.URL)
		case *page.EventJavascriptDialogOpening:
			b.problem("dialog: %s", ev.Message)
		case *network.EventRequestWillBeSent:
			if to := ev.Request.URL; !strings.HasPrefix(to, own) && !strings.HasPrefix(to, "data:") {
				b.problem("request: %s", to)
			}
		}
	})
	// A tab stays visible and keeps the focus even if another one is opened after it.
	b.run(network.Enable(), log.Enable(), page.Enable(), emulation.SetFocusEmulationEnabled(true),
		chromedp.EmulateViewport(width, 900), chromedp.Navigate(address))
	t.Cleanup(func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, p := range b.problems {
			t.Error(p)
		}
	})
	return b
}

func (b *tab) problem(format string, args ...any) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.problems = append(b.problems, fmt.Sprintf(format, args...))
}

func (b *tab) run(actions ...chromedp.Action) {
	b.t.Helper()
	if err := chromedp.Run(b.ctx, actions...); err != nil {
		b.t.Fatal(err)
	}
}

// says verifies that an expression soon has a value: a page that is being left has no answer.
func (b *tab) says(expression string, want any) {
	b.t.Helper()
	var got any
	for range 400 {
		got = nil // otherwise it is decoded into the last value
		err := chromedp.Run(b.ctx, chromedp.Evaluate("("+expression+") ?? null", &got))
		if err != nil {
			got = err
		}
		if fmt.Sprint(got) == fmt.Sprint(want) {
			return
		}
		b.run(chromedp.Sleep(50 * time.Millisecond))
	}
	b.t.Errorf("%s: got %v, want %v", expression, got, want)
}

// press presses keys like a keyboard: whether a key's character is typed depends on how the page
// handles the key. chromedp.KeyEvent always types it.
func (b *tab) press(keys string) {
	b.t.Helper()
	for _, r := range keys {
		for _, e := range kb.Encode(r) {
			if e.Type == input.KeyChar {
				continue
			}
			if k := kb.Keys[r]; k != nil && k.Print && e.Type == input.KeyDown {
				e.Text, e.UnmodifiedText = k.Text, k.Unmodified
			}
			b.run(e)
		}
	}
}

// hostile are texts that try to run.
var hostile = []string{
	`<script>window.pwned=1</script>`, `<img src=x onerror="window.pwned=1">`,
	`"><svg onload=window.pwned=1>`, `</script><script>window.pwned=1</script>`,
	`[a](javascript:window.pwned=1) ![p](https://tracker.example/p.png)`,
	"<iframe srcdoc='<script>parent.pwned=1</script>'></iframe>\n\n<style>body{display:none}</style>",
	`' onmouseover='window.pwned=1`, "\u202egnp.exe \x1b]0;x\x07", "{{constructor.constructor('window.pwned=1')()}}",
}

// site returns a folder of pages that the program has made: a talk of three turns, a hostile one,
// one with a line of ten megabytes, and the commit that added them.
func site(t *testing.T) string {
	t.Helper()
	if all.site == "" {
		dir, err := os.MkdirTemp("", "site")
		if err != nil {
			t.Fatal(err)
		}
		all.remove = append(all.remove, func() { _ = os.RemoveAll(dir) })
		all.site = makeSite(t, dir)
	}
	return all.site
}

func makeSite(t *testing.T, dir string) string {
	t.Helper()
	talks(t, dir)
	for _, args := range [][]string{
		{"init", "-q"}, {"add", "."}, {"commit", "-q", "--date", "2026-01-01T00:00:00Z", "-m", hostile[0]},
	} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=" + hostile[1], "-c", "user.email=a@b"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, said)
		}
	}
	out := filepath.Join(dir, "site")
	if said, err := program(t, dir, "site", out).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return "file://" + out + "/"
}

// commitPage returns the page of the one commit of a site.
func commitPage(t *testing.T, own string) string {
	t.Helper()
	all, err := filepath.Glob(strings.TrimPrefix(own, "file://") + "commit-*.html")
	if err != nil || len(all) != 1 {
		t.Fatalf("got pages of commits %q, %v, want one", all, err)
	}
	return filepath.Base(all[0])
}

// program returns a command of the program.
func program(t *testing.T, dir string, args ...string) *exec.Cmd {
	t.Helper()
	name := os.Getenv("GIT_JP")
	if name == "" {
		t.Skip("GIT_JP names no program: use make test-browser")
	}
	cmd := exec.Command(name, args...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "HOME="+dir, "XDG_CONFIG_HOME="+dir, "XDG_DATA_HOME="+dir)
	return cmd
}

// talks makes a workspace.
func talks(t *testing.T, dir string) {
	t.Helper()
	talk := newTalk()
	for i := range 3 {
		talk.ask(fmt.Sprintf("question %d", i+1))
		talk.call("fs_read_file", map[string]any{"path": "a.go"}, fmt.Sprintf("package needle%d\n", i))
		talk.call("Edit", map[string]any{"file_path": "a.go", "old_string": "a", "new_string": "b"}, "ok")
		talk.say(fmt.Sprintf("answer %d", i+1))
	}
	talk.write(t, dir, "17000000001", "Three turns")
	bad := newTalk()
	for _, text := range hostile {
		bad.ask(text)
		bad.call(text, map[string]any{"command": text, text: text}, text)
		bad.say(text)
	}
	bad.write(t, dir, "17000000002", hostile[0])
	longTalk().write(t, dir, "17000000003", "Long")
	identify(t, dir)
}

// longTalk has a line of ten megabytes.
func longTalk() *talk {
	k := newTalk()
	k.ask("long")
	k.call("y", map[string]any{}, strings.Repeat("line\n", 1000))
	k.call("x", map[string]any{}, strings.Repeat("0123456789", 1_000_000))
	k.say("done")
	return k
}

// TestKeysAndFolding uses a page with the keyboard.
func TestKeysAndFolding(t *testing.T) {
	own := site(t)
	b := open(t, own+"17000000001.html", own, 1400)
	b.says(`document.querySelectorAll("details.work[open]").length`, 0)
	b.press("j")
	b.press("j")
	b.says(`document.querySelector(".outline a[aria-current]")?.textContent`, "question 2")
	b.press("k")
	b.says(`document.querySelector(".outline a[aria-current]")?.textContent`, "question 1")
	b.press("f")
	b.says(`document.querySelectorAll("details.work[open]").length`, 3)
	b.says(`new URLSearchParams(location.search).get("full")`, "1")
	b.press("e")
	b.says(`[...document.querySelectorAll("details.call")].every(d => d.open)`, true)
	b.press("f")
	b.says(`document.querySelectorAll("details.work[open]").length`, 0)
	b.press("?")
	b.says(`document.querySelector("#help").open`, true)
	b.press(kb.Escape)
	b.says(`document.querySelector("#help").open`, false)
	b.press("/")
	b.says(`document.activeElement.id`, "find")
	b.press("package needle1")
	b.says(`document.querySelector("#found").value`, "0 of 1")
	b.press(kb.Enter)
	b.says(`document.querySelector("#found")?.value`, "1 of 1")
	b.says(`document.querySelectorAll("details.work[open]").length`, 1)
	b.press(kb.Escape)
	b.run(chromedp.Click("#show-calls", chromedp.ByQuery))
	b.says(`getComputedStyle(document.querySelector("details.call")).display`, "none")
	b.says(`new URLSearchParams(location.search).get("hide")`, "calls")
}

// TestLinksOpenWhatIsFolded follows a permalink into a folded call.
func TestLinksOpenWhatIsFolded(t *testing.T) {
	own := site(t)
	b := open(t, own+"17000000001.html", own, 800)
	var key string
	b.run(chromedp.Evaluate(`document.querySelectorAll("details.call")[3].id`, &key))
	b = open(t, own+"17000000001.html#"+key, own, 800)
	b.says(`(e => e.open && e.closest("details.work").open)(document.getElementById("`+key+`"))`, true)
	b.says(`(r => r.top >= 0 && r.top < innerHeight)(document.getElementById("`+key+`").getBoundingClientRect())`, true)
}

// TestListIsSortedAndSearched sorts by the address and by clicks, and finds words in results.
func TestListIsSortedAndSearched(t *testing.T) {
	own := site(t)
	b := open(t, own+"index.html?sort=-turns", own, 1400)
	first := `document.querySelector("#list tbody a").textContent`
	b.says(first, hostile[0])
	b.run(chromedp.Click(`th[data-sort=turns] button`, chromedp.ByQuery))
	b.says(first, "Long")
	b.says(`new URLSearchParams(location.search).get("sort")`, "turns")
	b.press("/")
	b.press("needle2")
	b.says(`[...document.querySelectorAll(".hits a")].map(a => a.textContent).join()`, "turn 3")
	b.run(chromedp.Click(`.hits a`, chromedp.ByQuery))
	b.says(`document.querySelector("#found")?.value`, "1 of 1")
	b.says(`document.querySelectorAll(".turn")[2].querySelector("details.work").open`, true)
}

// TestCommitsLeadToTurns goes from the list to a commit, and from there to a turn.
func TestCommitsLeadToTurns(t *testing.T) {
	own := site(t)
	b := open(t, own+"index.html", own, 800)
	b.run(chromedp.Click(`.links a`, chromedp.ByQuery))
	b.says(`document.querySelector("#main tbody")?.rows.length`, 1)
	b.run(chromedp.Click(`#main tbody a`, chromedp.ByQuery))
	b.says(`document.querySelector(".hits a")?.textContent`, "Three turns, turn 1")
	b.run(chromedp.Click(`.hits li:nth-child(2) a`, chromedp.ByQuery))
	b.says(`document.querySelector(".turn:target h2")?.textContent`, "Turn 2, Ada")
}

// TestLongTextsAreAtHand follows a link to text that a page has no room for, and back; with a
// server, the text is loaded into its place.
func TestLongTextsAreAtHand(t *testing.T) {
	own := site(t)
	b := open(t, own+"17000000003.html?full=1", own, 800)
	b.says(`document.documentElement.textContent.length < 100000`, true)
	b.run(chromedp.Evaluate(`document.querySelectorAll("details.call").forEach(d => d.open = true)`, nil),
		chromedp.Click(`p.rest a`, chromedp.ByQuery))
	b.says(`location.pathname.endsWith("17000000003-rest.html") && document.querySelector("#r1")?.textContent.length > 9990000`, true)
	b.run(chromedp.Click(`#r1 a`, chromedp.ByQuery))
	b.says(`location.pathname.endsWith("17000000003.html") && document.querySelector("#r1")?.checkVisibility()`, true)

	dir, k := t.TempDir(), longTalk()
	k.write(t, dir, "17000000003", "Long")
	identify(t, dir)
	served := serve(t, dir)
	b = open(t, served+"17000000003.html?full=1", served, 800)
	b.run(chromedp.Evaluate(`document.querySelectorAll("details.call").forEach(d => d.open = true)`, nil),
		chromedp.Click(`p.rest a`, chromedp.ByQuery))
	inPlace := `location.pathname.endsWith("17000000003.html") && document.querySelector(".call #r1")?.textContent.length > 9990000`
	b.says(inPlace, true)
	k.ask("more") // the page follows its conversation
	k.say("yes")
	k.write(t, dir, "17000000003", "Long")
	b.says(`document.querySelectorAll(".turn").length`, 2)
	b.says(inPlace, true)
}

// TestHostileConversationsRunNothing opens everything of a hostile page, and of the list.
func TestHostileConversationsRunNothing(t *testing.T) {
	own := site(t)
	for _, name := range []string{"17000000002.html", "index.html", "commits.html", commitPage(t, own)} {
		b := open(t, own+name, own, 1400)
		b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
		b.says(`window.pwned === undefined`, true)
		b.says(`document.querySelectorAll("iframe, object, embed, base").length`, 0)
		b.says(`getComputedStyle(document.body).display !== "none"`, true)
	}
}

// TestFoldingNeedsNoScript opens and switches folded blocks without a script.
func TestFoldingNeedsNoScript(t *testing.T) {
	own := site(t)
	b := open(t, own+"index.html", own, 800)
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(own+"17000000001.html"),
		chromedp.Click("details.work > summary", chromedp.ByQuery),
		chromedp.WaitVisible("details.call > summary", chromedp.ByQuery),
		chromedp.Click("details.call > summary", chromedp.ByQuery),
		chromedp.WaitVisible("details.call .result", chromedp.ByQuery),
		chromedp.Click("#show-calls", chromedp.ByQuery),
		chromedp.WaitNotVisible("details.call", chromedp.ByQuery))
}

// axeCore returns the script of axe-core, which npm installs on first use in a cache of the user.
// If npm reaches no registry, the test is skipped.
func axeCore(t *testing.T) string {
	t.Helper()
	const version = "4.14.1"
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	dir := filepath.Join(cache, "git-jp-axe-core-"+version)
	name := filepath.Join(dir, "node_modules", "axe-core", "axe.min.js")
	if data, err := os.ReadFile(name); err == nil {
		return string(data)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	out, err := exec.CommandContext(ctx, "npm", "install", "--ignore-scripts", "--no-audit",
		"--no-fund", "--prefix", dir, "axe-core@"+version).CombinedOutput()
	if err != nil {
		t.Skipf("npm cannot install axe-core %s: %v\n%s", version, err, out)
	}
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestPagesAreAccessible runs axe-core on pages in both themes and three widths: the rules of WCAG
// 2 A and AA, and its best practices.
func TestPagesAreAccessible(t *testing.T) {
	axe := axeCore(t)
	own := site(t)
	for _, file := range []string{"index.html", "17000000001.html", "17000000002.html", "commits.html", commitPage(t, own)} {
		for _, theme := range []string{"light", "dark"} {
			for _, width := range []int64{360, 1400} {
				b := open(t, own+file, own, width)
				b.isAccessible(axe, own+file, theme)
			}
		}
	}
}

// isAccessible runs axe-core on a page.
func (b *tab) isAccessible(axe, address, theme string) {
	b.t.Helper()
	b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme},
	}), page.SetBypassCSP(true), chromedp.Navigate(address),
		chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
	var found []string
	b.run(chromedp.Evaluate(axe+`; axe.run({resultTypes: ["violations"]}).then(r =>
		r.violations.map(v => v.id + ": " + v.nodes.slice(0, 3).map(n => n.html.slice(0, 160)).join(" | ")))`,
		&found, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
			return p.WithAwaitPromise(true)
		}))
	slices.Sort(found)
	for _, v := range found {
		b.t.Errorf("%s, %s: %s", address, theme, v)
	}
}

// TestNothingIsWiderThanTheScreen verifies that a narrow page scrolls down and not sideways.
func TestNothingIsWiderThanTheScreen(t *testing.T) {
	own := site(t)
	for _, file := range []string{
		"index.html", "17000000001.html", "17000000002.html", "17000000003.html", "commits.html", commitPage(t, own),
	} {
		b := open(t, own+file, own, 360)
		if strings.HasPrefix(file, "17000000002") {
			b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil))
		}
		b.says(`[...document.querySelectorAll("body *")].filter(e => document.documentElement.scrollWidth > 360 &&
			e.getBoundingClientRect().right > 361).map(e => e.outerHTML.slice(0, 120)).slice(0, 5).join("\n")`, "")
	}
}
