package update

import "github.com/git-jp/git-jp/internal/render"

// A Record is the result for a branch, in JSON.
type Record struct {
	Branch string `json:"branch"`
	Base   string `json:"base"`
	Before string `json:"before"`
	After  string `json:"after"`
	Pushed bool   `json:"pushed"`
}

// Print prints it.
func (r Record) Print(p *render.Printer) error {
	if p.JSON {
		return p.Records(r)
	}
	if r.Before == r.After {
		p.Note("%s has all of %s", r.Branch, r.Base)
	} else {
		p.Note("merged %s into %s", r.Base, r.Branch)
	}
	if r.Pushed {
		p.Note("pushed %s", r.Branch)
	}
	return nil
}
