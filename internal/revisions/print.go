package revisions

import (
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// Print prints the commits that changed a conversation.
func Print(p *render.Printer, all []Revision) error {
	if p.JSON {
		lines := render.NewJSONLines(p.Out, p.Output)
		for _, r := range all {
			if err := lines.Write(r); err != nil {
				return err
			}
		}
		return nil
	}
	table := render.NewTable(p.Output, render.Column{Head: "COMMIT"},
		render.Column{Head: "DATE"}, render.Column{Head: "AUTHOR"},
		render.Column{Head: "CHANGE"}, render.Column{Head: "SUBJECT", Shrink: true})
	for _, r := range all {
		table.Row(r.Commit[:12], p.Ago(r.Date), r.Author, strings.Join(r.Did, ", "), r.Subject)
	}
	return table.Write(p.Out)
}
