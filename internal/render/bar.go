package render

import "strings"

// barWidth is the width of a full bar in columns.
const barWidth = 24

// Bar draws a share of the total in eighths of a column. Its first part, also a share of the total,
// has a paler shade.
func Bar(share, first float64) string {
	light := int(clamped(first)*barWidth + 0.5)
	eighths := max(int(clamped(share)*barWidth*8+0.5)-8*light, 0)
	tail := []string{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"}[eighths%8]
	return strings.Repeat("░", light) + strings.Repeat("█", eighths/8) + tail
}

func clamped(share float64) float64 { return min(max(share, 0), 1) }
