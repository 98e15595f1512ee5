package render

import "strings"

// Patch is [Output.Text] for a unified diff, in git's colours. A terminal shows colour sequences of
// the text as well, since a patch is compared and approved.
func (o Output) Patch(diff string) string {
	if o.Terminal || o.Color {
		diff = Exact(diff)
	}
	if !o.Color {
		return diff
	}
	var b strings.Builder
	n := 0
	for line := range strings.Lines(diff) {
		text, end := strings.CutSuffix(line, "\n")
		st := patchStyle(text)
		if n++; n <= patchHead {
			st = bold
		}
		b.WriteString(o.styled(st, text))
		if end {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// Titled returns a patch below a title, which is highlighted like the lines that name its sides.
func (o Output) Titled(title, diff string) string {
	return o.styled(bold, oneLine(title)) + "\n" + o.Patch(diff)
}

// patchHead is the number of lines that name the two sides. Later lines that look the same were
// removed or added.
const patchHead = 2

func patchStyle(line string) style {
	switch {
	case strings.HasPrefix(line, "@@"):
		return cyan
	case strings.HasPrefix(line, "-"):
		return red
	case strings.HasPrefix(line, "+"):
		return green
	default:
		return 0
	}
}
