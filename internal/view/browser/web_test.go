package browser

import (
	"bufio"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// serve starts the server of a workspace and returns its address.
func serve(t *testing.T, dir string) string {
	t.Helper()
	cmd := program(t, dir, "web")
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Signal(os.Interrupt)
		_ = cmd.Wait()
	})
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatalf("no address: %v", err)
	}
	return strings.TrimSpace(line)
}

// TestPagesGrow follows a conversation that grows: its page gets the new turn, open blocks stay
// open, the reader's position stays, and the outline and the list get the turn too.
func TestPagesGrow(t *testing.T) {
	dir := t.TempDir()
	k := newTalk()
	turn := func(n int) {
		k.ask(fmt.Sprintf("question %d", n))
		k.call("Read", map[string]any{"path": "a.go"}, fmt.Sprintf("result %d\n", n))
		k.say(fmt.Sprintf("answer %d", n))
	}
	k.ask("question 0")
	k.say(strings.Repeat("line\n\n", 100))
	turn(1)
	turn(2)
	k.write(t, dir, "17000000001", "Growing")
	identify(t, dir)
	own := serve(t, dir)
	b, list := open(t, own+"17000000001.html", own, 1400), open(t, own, own, 1400)
	list.says(`document.querySelector("#list tbody tr").cells[5].textContent`, "3")
	b.run(chromedp.Evaluate(`document.querySelector("details.work").open = true;
		window.same = document.querySelector(".turn"); scrollTo(0, 300)`, nil))
	k.call("Read", map[string]any{"path": "a.go"}, "result 2 again\n")
	k.say("answer 2, in full")
	turn(3)
	k.write(t, dir, "17000000001", "Growing")
	turns := `[...document.querySelectorAll(".turn")]`
	b.says(turns+`.slice(1).map(t => [...t.querySelectorAll(":scope > .answer")].at(-1).textContent.trim()).join()`,
		"answer 1,answer 2, in full,answer 3")
	b.says(`[...document.querySelectorAll(".outline a")].map(a => a.textContent).join()`, "question 0,question 1,question 2,question 3")
	b.says(`document.querySelector("details.work").open && window.same === document.querySelector(".turn")`, true)
	b.says(`scrollY`, 300)
	b.press("j")
	b.press("j")
	b.press("j")
	b.press("j")
	b.says(`document.querySelector(".outline a[aria-current]")?.textContent`, "question 3")
	list.says(`document.querySelector("#list tbody tr").cells[5].textContent`, "4")
	k.write(t, dir, "17000000009", "Another")
	list.says(`[...document.querySelectorAll("#list tbody a")].map(a => a.textContent).sort().join()`, "Another,Growing")
	list.says(`document.querySelector("#list caption").textContent`, "2 conversations")
}

// TestLongListsAreShownInPart shows the first rows of a long list, by its order and its filter, and
// the rest on demand; without a script all rows.
func TestLongListsAreShownInPart(t *testing.T) {
	dir := t.TempDir()
	for i := range 310 {
		k := newTalk()
		k.ask("q")
		k.write(t, dir, fmt.Sprint(17000000001+i), fmt.Sprintf("Talk %03d", i))
	}
	identify(t, dir)
	if said, err := program(t, dir, "site", "pages").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	own := "file://" + dir + "/pages/"
	b := open(t, own+"index.html?sort=-title", own, 1400)
	shown := `[...document.querySelectorAll("#list tbody tr")].filter(r => r.offsetHeight).length`
	b.says(shown, 300)
	b.says(`document.querySelector("#list tbody a").textContent`, "Talk 309")
	b.says(`document.querySelector(".more").textContent`, "Show 10 more")
	b.run(chromedp.Click(".more", chromedp.ByQuery))
	b.says(shown, 310)
	b = open(t, own+"index.html?title=talk+30", own, 1400)
	b.says(shown, 10)
	b.says(`document.querySelector(".more").hidden`, true)
	b.run(emulation.SetScriptExecutionDisabled(true), chromedp.Navigate(own+"index.html"))
	b.says(shown, 310)
}

// TestListIsFiltered chooses rows by fields and by the address.
func TestListIsFiltered(t *testing.T) {
	own := site(t)
	b := open(t, own+"index.html?title=three&since=2025-12-31", own, 1400)
	shown := `[...document.querySelectorAll("#list tbody tr:not([hidden]) a")].map(a => a.textContent).join()`
	b.says(shown, "Three turns")
	b.says(`document.querySelector("#list caption").textContent`, "1 of 3 conversations")
	b.run(chromedp.Evaluate(`(f => { f.value = ""; f.dispatchEvent(new Event("input")); })(document.querySelector("#filters [name=title]"))`, nil))
	b.says(`document.querySelector("#list caption").textContent`, "3 conversations")
	b.says(`new URLSearchParams(location.search).get("title")`, "<nil>")
	b = open(t, own+"index.html?until=2025-12-31", own, 1400)
	b.says(shown, "")
}
