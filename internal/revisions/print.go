package revisions

import (
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// Print prints the commits that changed a conversation.
func Print(p *render.Printer, all []Revision) error {
	if p.JSON {
		return render.Records(p, all)
	}
	table := render.NewTable(p.Output, render.Column{Head: "COMMIT"},
		render.Column{Head: "DATE", Optional: 1}, render.Column{Head: "AUTHOR", Optional: 2},
		render.Column{Head: "CHANGE", Shrink: true}, render.Column{Head: "SUBJECT", Shrink: true})
	for _, r := range all {
		table.Row(r.Commit[:12], p.Ago(r.Date), r.Author, strings.Join(r.Did, ", "), r.Subject)
	}
	return table.Write(p.Out)
}
