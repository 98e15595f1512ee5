package browser

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// pages makes a folder of pages of conversations, by name and id.
func pages(t *testing.T, talks map[string]*talk, args ...string) string {
	t.Helper()
	dir := t.TempDir()
	for id, k := range talks {
		k.write(t, dir, id, "Talk "+id)
	}
	identify(t, dir)
	if said, err := program(t, dir, append([]string{"site", "pages"}, args...)...).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return "file://" + dir + "/pages/"
}

// TestKindsAreSwitched folds reasoning, and switches kinds of blocks off and on: the address
// records it, and a page that is opened by it is the same.
func TestKindsAreSwitched(t *testing.T) {
	k := newTalk()
	k.ask("question")
	k.add("chat_response", map[string]any{"reasoning": "first the index"})
	k.call("Read", map[string]any{"path": "a.go"}, "package a\n")
	k.add("config_delta", map[string]any{"delta": map[string]any{"style": map[string]any{"code": map[string]any{"color": false}}}})
	k.say("answer")
	own := pages(t, map[string]*talk{"17000000001": k})
	b := open(t, own+"17000000001.html?full=1", own, 800)
	kinds := `["details.reasoning", "details.call", ".work p.note"].map(s => document.querySelector(s).checkVisibility()).join()`
	b.says(`document.querySelector("details.reasoning").open`, false)
	b.says(kinds, "true,true,true")
	b.run(chromedp.Click("#show-reasoning", chromedp.ByQuery), chromedp.Click("#show-notes", chromedp.ByQuery))
	b.says(kinds, "false,true,false")
	b.says(`new URLSearchParams(location.search).get("hide")`, "reasoning notes")
	b.run(chromedp.Reload())
	b.says(kinds, "false,true,false")
	b.says(`document.querySelector("#show-notes").checked`, false)
	b.run(chromedp.Click("#show-notes", chromedp.ByQuery))
	b.says(kinds, "false,true,true")
	b.says(`new URLSearchParams(location.search).get("hide")`, "reasoning")
	b.run(chromedp.Click("#show-reasoning", chromedp.ByQuery))
	b.says(`new URLSearchParams(location.search).has("hide")`, false)
}

// TestImagesAreOnlyPainted shows a picture, and verifies that SVG that tries to run is text,
// whatever type it claims.
func TestImagesAreOnlyPainted(t *testing.T) {
	const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
	svg := base64.StdEncoding.EncodeToString([]byte(
		`<svg xmlns="http://www.w3.org/2000/svg" onload="window.pwned=1"><script>window.pwned=1</script></svg>`))
	k := newTalk()
	k.ask("look")
	k.add("tool_call_request", map[string]any{"id": "a", "name": "shot", "arguments": map[string]any{}})
	var blocks []any
	for _, c := range [][2]string{
		{"image/png", png}, {"image/svg+xml", svg}, {"image/png", svg}, {"image/png;base64,x\" onerror=\"window.pwned=1", svg},
	} {
		blocks = append(blocks, map[string]any{"type": "image", "mimeType": c[0], "content": map[string]any{"blob": c[1]}})
	}
	k.add("tool_call_response", map[string]any{"id": "a", "content": blocks, "is_error": false})
	k.say("done")
	own := pages(t, map[string]*talk{"17000000001": k})
	b := open(t, own+"17000000001.html?full=1", own, 800)
	b.run(chromedp.Evaluate(`document.querySelectorAll("details").forEach(d => d.open = true)`, nil),
		chromedp.Evaluate(`document.querySelectorAll("img").forEach(i => i.loading = "eager")`, nil))
	b.says(`document.querySelector("img")?.naturalWidth`, 1)
	b.says(`[...document.querySelectorAll("img")].filter(i => !i.src.startsWith("data:image/png;base64,")).length`, 0)
	b.says(`document.querySelectorAll(".result svg").length`, 0)
	b.says(`window.pwned === undefined`, true)
}

// TestLinksFollowWhatWasLeft follows a link to a turn from which a person has gone back, to the
// conversation that has it now.
func TestLinksFollowWhatWasLeft(t *testing.T) {
	dir := t.TempDir()
	record := func(n, after, role, text string) string {
		id := func(n string) string { return `"00000000-0000-4000-8000-00000000000` + n + `"` }
		parent := "null"
		if after != "" {
			parent = id(after)
		}
		content := `"content":"` + text + `"`
		if role == "assistant" {
			content = `"id":"m` + n + `","model":"m","stop_reason":"end_turn","content":[{"type":"text","text":"` + text + `"}]`
		}
		return `{"type":"` + role + `","uuid":` + id(n) + `,"parentUuid":` + parent +
			`,"sessionId":"left","timestamp":"2026-05-02T10:00:0` + n + `Z","cwd":"/srv/proj","message":{"role":"` + role + `",` + content + "}}\n"
	}
	session := record("1", "", "user", "First") + record("2", "1", "assistant", "Yes") +
		record("3", "2", "user", "A bad idea") + record("4", "3", "assistant", "Taken back") +
		record("5", "2", "user", "Another") + record("6", "5", "assistant", "Better")
	if err := os.WriteFile(filepath.Join(dir, "left.jsonl"), []byte(session), 0o644); err != nil {
		t.Fatal(err)
	}
	git := exec.Command("git", "init", "-q")
	git.Dir = dir
	if said, err := git.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, args := range [][]string{
		{"init", "-q", "--no-hooks"}, {"import", "--foreign", "--yes", "-q", "left.jsonl"}, {"site", "pages"},
	} {
		if said, err := program(t, dir, args...).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v: %s", args[0], err, said)
		}
	}
	own := "file://" + dir + "/pages/"
	b := open(t, own+"index.html", own, 800)
	b.run(chromedp.Evaluate(`location.href = [...document.querySelectorAll("#list a")].find(a => a.textContent.includes("First")).href`, nil))
	b.says(`document.querySelector(".moved a")?.textContent`, "A bad idea")
	var address string
	b.run(chromedp.Evaluate(`location.href`, &address))
	b.isAccessible(axeCore(t), address, "light")
	var page, at string
	b.run(chromedp.Evaluate(`location.pathname`, &page), chromedp.Evaluate(`document.querySelector(".moved span:last-of-type").id`, &at))
	b = open(t, "file://"+page+"#"+at, own, 800)
	b.says(`document.getElementById("`+at+`")?.textContent.trim()`, "Taken back")
	b.says(`location.pathname !== "`+page+`"`, true)
}

// TestFilesLeadToTurns goes from the list to a file, and from its lines to the call that wrote them.
func TestFilesLeadToTurns(t *testing.T) {
	dir := t.TempDir()
	k := newTalk()
	k.ask("write it")
	k.call("Write", map[string]any{"path": "a.go", "content": "package written\n"}, "ok")
	k.say("done")
	k.write(t, dir, "17000000001", "Writing")
	for name, text := range map[string]string{"a.go": "package written\n", "b.go": "package other\n", ".jp/.id": "ab12c"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, args := range [][]string{{"init", "-q"}, {"add", "."}, {"commit", "-q", "-m", "Write"}} {
		cmd := exec.Command("git", append([]string{"-c", "user.name=A", "-c", "user.email=a@b"}, args...)...)
		cmd.Dir, cmd.Env = dir, append(os.Environ(), "HOME="+dir, "GIT_CONFIG_NOSYSTEM=1")
		if said, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("git %s: %v: %s", args[0], err, said)
		}
	}
	if said, err := program(t, dir, "site", "pages", "--files", "**").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	own := "file://" + dir + "/pages/"
	b := open(t, own+"index.html", own, 360)
	b.run(chromedp.Click(`.links a[href="files.html"]`, chromedp.ByQuery))
	b.says(`[...document.querySelectorAll("#main tbody a")].map(a => a.textContent).join()`, "a.go")
	b.run(chromedp.Click(`#main tbody a`, chromedp.ByQuery))
	b.says(`document.querySelector(".span .label")?.textContent`, "recorded, wrote 1 line")
	b.says(`document.documentElement.scrollWidth <= 360`, true)
	b.run(chromedp.Click(`.hits a`, chromedp.ByQuery))
	b.says(`document.querySelector("details.call:target")?.open`, true)
	b.run(chromedp.Click(`p.file a`, chromedp.ByQuery))
	b.says(`document.querySelector("h1")?.textContent`, "a.go")
	axe := axeCore(t)
	var file string
	b.run(chromedp.Evaluate(`location.href`, &file))
	for _, theme := range []string{"light", "dark"} {
		b.isAccessible(axe, file, theme)
		b.isAccessible(axe, own+"files.html", theme)
	}
}

// TestSearchReadsWhatIsTyped verifies that a list reads nothing of the index before a word is
// typed, and then the piece that has it.
func TestSearchReadsWhatIsTyped(t *testing.T) {
	k := newTalk()
	k.ask("needle in the hay")
	own := pages(t, map[string]*talk{"17000000001": k})
	b := open(t, own+"index.html", own, 800)
	read := `document.querySelectorAll("script[src*=search]").length`
	b.says(`document.querySelector("#list tbody tr") && `+read, 0)
	b.press("/")
	b.press("needle")
	b.says(`document.querySelectorAll(".hits a").length`, 1)
	b.says(read, 1)
}
