package view

import (
	"io"

	"github.com/git-jp/git-jp/internal/render"
)

// A File is one of a site, whose page has the turns behind its lines.
type File struct {
	Name, Page   string
	Lines, Turns int    // the turns that wrote some of the lines
	Left         string // why it has no page
}

// WriteFiles writes a page that lists files; home is the address of the index. More files were not
// looked at, since there are too many.
func WriteFiles(w io.Writer, home string, all []File, more int) error {
	return plain(w, home, "Files", func(m *markup) {
		m.put("p", "Files that calls of tools wrote, and what was asked when their lines came "+
			"about.")
		var shown, left []File
		for _, f := range all {
			if f.Left == "" {
				shown = append(shown, f)
			} else {
				left = append(left, f)
			}
		}
		m.open("table", class("list"))
		m.put("caption", render.Count(len(shown), "file"))
		m.open("thead")
		m.open("tr")
		m.put("th", "File", attr{"scope", "col"})
		m.put("th", "Lines", attr{"scope", "col"}, class("n"))
		m.put("th", "Turns", attr{"scope", "col"}, class("n"))
		m.end("tr")
		m.end("thead")
		m.open("tbody")
		for _, f := range shown {
			m.open("tr")
			m.open("td")
			m.put("a", f.Name, href(f.Page))
			m.end("td")
			m.put("td", render.Number(int64(f.Lines)), class("n"))
			m.put("td", render.Number(int64(f.Turns)), class("n"))
			m.end("tr")
		}
		m.end("tbody")
		m.end("table")
		if len(left)+more == 0 {
			return
		}
		m.open("details", class("left"))
		m.put("summary", render.Count(len(left)+more, "file")+" left out")
		m.open("ul")
		for _, f := range left {
			m.put("li", f.Name+": "+f.Left)
		}
		if more > 0 {
			m.put("li", render.Count(more, "file")+" behind these: there are too many")
		}
		m.end("ul")
		m.end("details")
	})
}
