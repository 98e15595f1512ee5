package prepare

import (
	"fmt"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// PrintModels prints the known data of models.
func PrintModels(p *render.Printer, models []KnownModel) error {
	if p.JSON {
		return render.Records(p, models)
	}
	table := render.NewTable(p.Output,
		render.Column{}, render.Column{Head: "MODEL"},
		render.Column{Head: "WINDOW", Align: render.AlignRight, Optional: 3},
		render.Column{Head: "IN", Align: render.AlignRight, Optional: 1},
		render.Column{Head: "OUT", Align: render.AlignRight, Optional: 1},
		render.Column{Head: "AS OF", Optional: 4}, render.Column{Head: "KEY", Optional: 1},
		render.Column{Head: "ALIASES", Shrink: true, Optional: 2})
	for _, r := range models {
		mark, in, out, asOf := "", "", "", ""
		if r.Chosen {
			mark = "*"
		}
		if r.Price != nil {
			in, out = dollars(r.Price.Input), dollars(r.Price.Output)
			asOf = r.Price.AsOf
		}
		table.Row(mark, r.ID, tokens(r.Window), in, out, asOf, keyText(r),
			strings.Join(r.Aliases, " "))
	}
	return table.Write(p.Out)
}

func keyText(r KnownModel) string {
	switch {
	case r.Local:
		return "none needed"
	case r.KeyEnv == "":
		return ""
	case r.KeyPresent:
		return r.KeyEnv + " is set"
	default:
		return r.KeyEnv + " is not set"
	}
}

func tokens(n int) string {
	if n == 0 {
		return "?"
	}
	return render.Number(int64(n))
}

func dollars(usd float64) string { return fmt.Sprintf("%.2f", usd) }
