package doctor

import (
	"fmt"

	"github.com/git-jp/git-jp/internal/render"
)

// Print prints the findings.
func Print(p *render.Printer, found []Finding) error {
	for i, f := range found {
		if p.JSON {
			if err := p.Records(f); err != nil {
				return err
			}
			continue
		}
		if err := p.Line(fmt.Sprintf("%s: %s", f.Subject, f.Problem)); err != nil {
			return err
		}
		// A command that fixes several consecutive findings is printed once, below the last.
		if again := found[i+1:]; f.Next != "" && (len(again) == 0 || again[0].Next != f.Next) {
			if err := p.Entry("  " + f.Next); err != nil {
				return err
			}
		}
	}
	if len(found) == 0 {
		p.Note("no problems found")
	}
	return nil
}
