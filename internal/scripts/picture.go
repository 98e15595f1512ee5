package scripts

import (
	"fmt"
	"html"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/testscript"
)

// transcriptFile records the commands of a picture, with their output.
const transcriptFile = ".transcript"

// shown is the script command
//
//	shown LINE
//
// It runs LINE in a shell and records it with its output, as a user would see it. It does not judge
// the exit code: the output is compared.
func shown(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: shown LINE")
	}
	printed := filepath.Join(ts.Getenv("WORK"), ".printed")
	ts.Check(ts.Exec("sh", "-c", "{ "+args[0]+"\n} > \"$1\" 2>&1; true", "sh", printed))
	noted, err := os.OpenFile(transcriptOf(ts), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	ts.Check(err)
	_, err = fmt.Fprintf(noted, "$ %s\n%s", args[0], ts.ReadFile(printed))
	ts.Check(err)
	ts.Check(noted.Close())
}

// picture is the script command
//
//	picture NAME
//
// It draws what was shown and compares it with docs/pictures/NAME.svg, or writes that file
// when the test runs with -update.
func picture(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: picture NAME")
	}
	var lines []string
	for line := range strings.Lines(ts.ReadFile(transcriptOf(ts))) {
		lines = append(lines, folded(strings.TrimSuffix(line, "\n"))...)
	}
	drawn := draw(lines)
	file := filepath.Join(ts.Getenv("DOCS"), "pictures", args[0]+".svg")
	if *updating {
		ts.Check(os.WriteFile(file, []byte(drawn), 0o600))
		return
	}
	if kept := ts.ReadFile(file); kept != drawn {
		ts.Fatalf("%s: got\n%s\nwant\n%s", file, drawn, kept)
	}
}

func transcriptOf(ts *testscript.TestScript) string {
	return filepath.Join(ts.Getenv("WORK"), transcriptFile)
}

// folded returns a line as a terminal of 110 columns breaks it.
func folded(line string) []string {
	const columns = 110
	var rows []string
	for row := range slices.Chunk([]rune(line), columns) {
		rows = append(rows, string(row))
	}
	return rows
}

// draw returns an SVG of lines as a terminal shows them, typed ones bright.
func draw(lines []string) string {
	const column, row, margin = 8, 20, 16
	widest := 0
	for _, line := range lines {
		widest = max(widest, utf8.RuneCountInString(line))
	}
	var b strings.Builder
	width, height := widest*column+2*margin, len(lines)*row+2*margin
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" `+
		`viewBox="0 0 %[1]d %[2]d">`+"\n", width, height)
	b.WriteString(`<rect width="100%" height="100%" rx="8" fill="#1e2127"/>` + "\n" +
		`<g font-family="ui-monospace,Menlo,Consolas,monospace" font-size="13" ` +
		`fill="#abb2bf" xml:space="preserve">` + "\n")
	for i, line := range lines {
		fill := ""
		if strings.HasPrefix(line, "$ ") {
			fill = ` fill="#ffffff" font-weight="bold"`
		}
		fmt.Fprintf(&b, `<text x="%d" y="%d"%s>%s</text>`+"\n",
			margin, margin+i*row+row*3/4, fill, html.EscapeString(line))
	}
	b.WriteString("</g>\n</svg>\n")
	return b.String()
}
