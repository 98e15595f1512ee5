package browser

import (
	"strings"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// media makes pages behave as on a kind of screen or paper, in a theme.
func media(kind, theme string) *emulation.SetEmulatedMediaParams {
	return emulation.SetEmulatedMedia().WithMedia(kind).WithFeatures([]*emulation.MediaFeature{
		{Name: "prefers-color-scheme", Value: theme},
		{Name: "prefers-reduced-motion", Value: "reduce"},
	})
}

// TestPaperHasWhatIsFolded prints a page without its script: folded blocks are open, nothing is
// there that a reader would click on, and it is dark on light in both themes. A long text has its
// beginning, and how much more there is.
func TestPaperHasWhatIsFolded(t *testing.T) {
	own := site(t)
	b := open(t, "about:blank", own, 800)
	seen := func(selector string) string {
		return `[...document.querySelectorAll("` + selector + `")].filter(e => e.checkVisibility({contentVisibilityAuto: false})).length`
	}
	for _, theme := range []string{"light", "dark"} {
		b.run(emulation.SetScriptExecutionDisabled(true), media("print", theme),
			chromedp.Navigate(own+"17000000001.html"), emulation.SetScriptExecutionDisabled(false))
		b.says(seen(".work .call > .result"), 6)
		b.says(seen(".patch ins"), 3)
		b.says(seen(".figures .chart")+" > 0", true)
		b.says(seen(".bar, .outline, .skip, dialog, button, input"), 0)
		b.says(`getComputedStyle(document.body).backgroundColor`, "rgb(255, 255, 255)")
		b.says(`getComputedStyle(document.querySelector(".patch ins")).color`, "rgb(17, 75, 39)")
		b.run(chromedp.Navigate(own + "17000000003.html"))
		b.says(seen("p.rest a"), 1)
		b.says(seen("details.rest > summary"), 1)
		b.says(seen("details.rest > pre"), 0)
		b.run(chromedp.Navigate(own + "index.html"))
		b.says(seen("#words, .filters, .more"), 0)
		b.says(seen("#list tbody tr"), 3)
	}
	b.run(media("", "light"), chromedp.Navigate(own+"17000000001.html"))
	b.says(seen(".work .call > .result"), 0)
}

// TestNothingMoves verifies that pages have no motion that a user could want reduced.
func TestNothingMoves(t *testing.T) {
	own := site(t)
	b := open(t, "about:blank", own, 800)
	for _, name := range []string{"index.html", "17000000001.html"} {
		b.run(media("", "light"), chromedp.Navigate(own+name))
		b.press("?")
		b.press(kb.Escape)
		b.says(`document.getAnimations().length`, 0)
		b.says(`[...document.querySelectorAll("*")].filter(e => {
			const s = getComputedStyle(e);
			return s.transitionDuration !== "0s" || s.animationName !== "none" || s.scrollBehavior !== "auto";
		}).length`, 0)
	}
}

// TestKeysAreListed verifies that the keys that a page handles are those that it lists.
func TestKeysAreListed(t *testing.T) {
	own := site(t)
	b := open(t, own+"17000000001.html", own, 800)
	b.says(`[...document.querySelectorAll("#help dt")].flatMap(d => d.textContent.split(", "))
		.filter(k => k.length === 1).sort().join("")`, "/?cefjknp")
	b.says(`Array.from({length: 95}, (_, i) => String.fromCharCode(32 + i)).filter(key => {
		const e = new KeyboardEvent("keydown", {key, bubbles: true, cancelable: true});
		document.body.dispatchEvent(e);
		document.activeElement.blur();
		document.querySelector("#help").close();
		return e.defaultPrevented;
	}).sort().join("")`, "/?cefjknp")
}

// TestTheKeyboardIsEnough goes through a page with Tab: first past the reader's choices, then to
// folded blocks, which open and close; on a narrow screen too.
func TestTheKeyboardIsEnough(t *testing.T) {
	own := site(t)
	for _, width := range []int64{360, 1400} {
		b := open(t, own+"17000000001.html", own, width)
		b.press(kb.Tab)
		b.says(`document.activeElement.className`, "skip")
		b.says(`document.activeElement.getBoundingClientRect().left >= 0`, true)
		b.press(kb.Enter)
		b.says(`location.hash`, "#main")
		focus := `document.activeElement.closest("details")?.className`
		for range 30 {
			b.press(kb.Tab)
			var at string
			b.run(chromedp.Evaluate(`document.activeElement.parentElement.className`, &at))
			if strings.HasPrefix(at, "work") {
				break
			}
		}
		b.says(focus, "work")
		b.says(`getComputedStyle(document.activeElement).outlineStyle`, "solid")
		b.press(kb.Enter)
		b.says(`document.activeElement.parentElement.open`, true)
		b.press(kb.Tab)
		b.says(focus, "call")
		b.press(kb.Enter)
		b.says(`document.activeElement.parentElement.open`, true)
		b.press(kb.Enter)
		b.says(`document.activeElement.parentElement.open`, false)
	}
}
