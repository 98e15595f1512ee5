package browser

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

// TestLongPagesPaintSoon opens pages of a conversation of 10 MB in 500 turns, and logs when
// something is visible (300 ms are promised): a test asserts no time.
func TestLongPagesPaintSoon(t *testing.T) {
	k := newTalk()
	for range 500 {
		k.ask("question")
		k.call("Read", map[string]any{"path": "a.txt"}, strings.Repeat("a line of a file that somebody has read\n", 400))
		k.say(strings.Repeat("An answer of a few words. ", 170))
	}
	own := pages(t, map[string]*talk{"17000000001": k})
	dir := filepath.Dir(strings.TrimSuffix(strings.TrimPrefix(own, "file://"), "/"))
	if said, err := program(t, dir, "export", "--format", "html", "-o", "pages/all.html", "17000000001").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	for _, name := range []string{"17000000001.html", "all.html"} {
		info, err := os.Stat(filepath.Join(dir, "pages", name))
		if err != nil {
			t.Fatal(err)
		}
		best := 0.0
		for range 3 {
			b := open(t, own+name, own, 1400)
			var at float64
			b.run(chromedp.Evaluate(`new Promise(done => new PerformanceObserver(all => done(all.getEntries()[0].startTime))
				.observe({ type: "paint", buffered: true }))`, &at, func(p *runtime.EvaluateParams) *runtime.EvaluateParams {
				return p.WithAwaitPromise(true)
			}))
			if best == 0 || at < best {
				best = at
			}
		}
		t.Logf("%s, %d bytes: first paint after %.0f ms", name, info.Size(), best)
		if best <= 0 {
			t.Errorf("%s: nothing was painted", name)
		}
	}
}
