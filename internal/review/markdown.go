package review

import (
	"cmp"
	"fmt"
	"html"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/render"
)

// Limits for the text in a comment. Forges accept 65,536 characters.
const (
	mostPrompt  = 1500
	mostAnswer  = 3000
	mostComment = 60_000
)

// Mark is in every comment, so that the next one can replace it.
const Mark = "<!-- git-jp review -->"

// Markdown writes the comment for a pull request.
func Markdown(w io.Writer, all []Conversation) error {
	c := comment{}
	var body strings.Builder
	turns := 0
	for _, conv := range all {
		turns += len(conv.Turns)
		text := c.conversation(conv)
		if body.Len()+len(text) > mostComment {
			c.left += len(conv.Turns)
			continue
		}
		body.WriteString(text)
	}
	head := Mark + "\n### What was asked on this branch\n\n"
	if len(all) == 0 {
		head += "No conversation was added to.\n"
	} else {
		head += fmt.Sprintf("%s in %s · %d redacted, %d left out\n",
			render.Count(turns, "turn"), render.Count(len(all), "conversation"), c.redacted, c.left)
	}
	_, err := io.WriteString(w, head+body.String())
	return err
}

// A comment counts the parts that it does not show.
type comment struct{ redacted, left int }

func (c *comment) conversation(conv Conversation) string {
	var b strings.Builder
	o := render.OutlineOf(conv.Stream, conv.BaseConfig, 0)
	title := cmp.Or(conv.Title(), o.First, conv.ID.String())
	fmt.Fprintf(&b, "\n<details>\n<summary><b>%s</b> %s", htmlText(render.Clip(title)), conv.ID)
	if o.Model != "" {
		fmt.Fprintf(&b, " · %s", htmlText(o.Model))
	}
	fmt.Fprintf(&b, " · %s</summary>\n", render.Count(len(conv.Turns), "turn"))
	turns := conv.Stream.Turns()
	for _, i := range conv.Turns {
		c.turn(&b, conv.Stream, turns[i])
	}
	b.WriteString("\n</details>\n")
	return b.String()
}

func (c *comment) turn(b *strings.Builder, s *events.Stream, t events.Turn) {
	author, prompt, answer, calls := Asked(s, t)
	fmt.Fprintf(b, "\n**%d. %s**\n\n", t.Index+1, plain(render.Sanitize(cmp.Or(author, "User"))))
	b.WriteString(c.quoted(prompt, mostPrompt))
	if calls > 0 {
		fmt.Fprintf(b, "\n*%s*\n", render.Count(calls, "call"))
	}
	if answer != "" {
		fmt.Fprintf(b, "\n%s", c.quoted(answer, mostAnswer))
	}
}

// quoted returns a text as a quotation in which no line is a command of the forge, and no word
// mentions a user or an issue.
func (c *comment) quoted(text string, most int) string {
	c.redacted += strings.Count(text, "[redacted:")
	rest := ""
	if len(text) > most {
		n := most
		for !utf8.RuneStart(text[n]) {
			n--
		}
		rest = "… " + render.Bytes(int64(len(text)-n)) + " more"
		text = text[:n]
		c.left++
	}
	var b strings.Builder
	for line := range strings.Lines(strings.TrimSpace(render.Sanitize(text))) {
		line = strings.TrimRight(line, "\n")
		indent := line[:len(line)-len(strings.TrimLeft(line, " \t"))]
		b.WriteString("> " + strings.Repeat("&nbsp;", min(len(indent), mostIndent)) +
			plain(strings.TrimSpace(line)))
		b.WriteString("  \n")
	}
	if rest != "" {
		b.WriteString("> \n> *" + rest + "*\n")
	}
	return b.String()
}

// mostIndent is how much of a line's indentation is kept.
const mostIndent = 24

// plain returns a line of text that has no Markdown syntax and mentions no users or issues.
func plain(line string) string {
	line = render.EscapeInline(unlinked.Replace(line))
	if line != "" && strings.ContainsRune("-+=0123456789", rune(line[0])) {
		line = joiner + line // neither list nor rule
	}
	return line
}

const joiner = "\u2060" // zero-width: separates a sign from its word

// unlinked separates what a forge makes links of: users, issues, commits by their address.
var unlinked = strings.NewReplacer(
	"@", "@"+joiner, "#", "#"+joiner, "://", ":"+joiner+"//",
	"GH-", "GH"+joiner+"-", "gh-", "gh"+joiner+"-",
)

// htmlText returns text for an element of HTML that mentions no users or issues.
func htmlText(s string) string {
	return html.EscapeString(unlinked.Replace(render.Sanitize(s)))
}
