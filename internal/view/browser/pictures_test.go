package browser

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// TestPictures makes the screenshots of the documentation, from the site of the demo that make
// pictures has kept: light, dark and narrow.
func TestPictures(t *testing.T) {
	site, dir := os.Getenv("GIT_JP_SITE"), os.Getenv("GIT_JP_PICTURES")
	if site == "" || dir == "" {
		t.Skip("GIT_JP_SITE and GIT_JP_PICTURES are not set: use make pictures")
	}
	own := "file://" + site + "/"
	const page = "17812345670.html"
	for _, p := range []struct {
		name, address, theme string
		width, height        int64
		open                 string // what is opened before
	}{
		{"page-light", page + "?full=1", "light", 1200, 860, `[id*=tool_call_request]:has(.patch)`},
		{"page-dark", page + "?full=1", "dark", 1200, 860, `[id*=tool_call_request]:has(.patch)`},
		{"page-narrow", page, "light", 390, 860, ""},
		{"list", "index.html?q=index", "light", 1000, 520, ""},
	} {
		t.Run(p.name, func(t *testing.T) {
			b := open(t, "about:blank", own, p.width)
			var image []byte
			b.run(emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{
				{Name: "prefers-color-scheme", Value: p.theme},
			}), chromedp.EmulateViewport(p.width, p.height), chromedp.Navigate(own+p.address))
			if p.open != "" {
				b.run(chromedp.Evaluate(`document.querySelector("`+p.open+`").open = true;
					document.querySelectorAll(".turn")[1].scrollIntoView()`, nil))
			}
			b.says(`document.readyState`, "complete")
			b.run(chromedp.CaptureScreenshot(&image))
			if err := os.WriteFile(filepath.Join(dir, p.name+".png"), image, 0o644); err != nil {
				t.Error(err)
			}
		})
	}
}
