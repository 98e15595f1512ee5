package command

import (
	"fmt"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// A Script is a shell template with positional parameters in place of placeholders.
type Script struct {
	Text  string
	Exprs []string // the expressions for $1, $2 …
}

// refused returns an error with the reason and the safe form. The hole is the placeholder that it
// is about, "" for the whole template.
func refused(hole, reason string) error {
	what := hole + " " + reason + ": it"
	if hole == "" {
		hole, what = "{{…}}", reason+": a placeholder"
	}
	return fmt.Errorf("template of a shell: %s has to be a word of a simple command, "+
		"or in double quotes there: printf '%%s' %s | program", what, hole)
}

// ParseScript reads a shell template.
func ParseScript(source string) (Script, error) {
	if strings.Contains(source, "{%") || strings.Contains(source, "{#") {
		return Script{}, refused("", "{% %} cannot be given to one")
	}
	if _, end := placeholder(source); end < 0 {
		return Script{Text: source}, nil
	}
	l := &lexer{src: source}
	if err := l.list(0); err != nil {
		return Script{}, err
	}
	return Script{Text: l.out.String(), Exprs: l.exprs}, nil
}

// A lexer copies a template, with parameters in place of placeholders.
type lexer struct {
	src   string
	at    int
	out   strings.Builder
	exprs []string

	nested int      // depth of $( )
	words  []string // of the simple command so far, without quotes
	opaque bool     // the first word is known only at run time
}

// A shellWord is the analysis of a word.
type shellWord struct {
	text    string
	holes   []string // placeholders in it
	quoted  bool
	dynamic bool // it has an expansion
	code    bool // it has more than a placeholder
}

func (l *lexer) refuse(hole, format string, args ...any) error {
	return refused(hole, fmt.Sprintf(format, args...))
}

func (l *lexer) peek(s string) bool { return strings.HasPrefix(l.src[l.at:], s) }

// take copies n bytes.
func (l *lexer) take(n int) string {
	n = min(n, len(l.src)-l.at)
	s := l.src[l.at : l.at+n]
	l.out.WriteString(s)
	l.at += n
	return s
}

// list reads commands up to the end byte, 0 for the end of the template.
func (l *lexer) list(end byte) error {
	l.words, l.opaque = nil, false
	depth := 0
	for l.at < len(l.src) {
		var err error
		switch c := l.src[l.at]; {
		case c == end && depth == 0:
			return nil
		case c == ' ' || c == '\t':
			l.take(1)
		case c == '(':
			depth++
			l.operator()
		case c == ')':
			depth--
			l.operator()
		case strings.IndexByte("\n;&|", c) >= 0:
			l.operator()
		case c == '#':
			err = l.comment()
		case c == '<' || c == '>':
			err = l.redirection()
		default:
			var w shellWord
			if w, err = l.word(); err == nil {
				err = l.judge(w)
			}
		}
		if err != nil {
			return err
		}
	}
	if end != 0 {
		return l.refuse("", "a ( is not closed")
	}
	return nil
}

// operator ends a simple command.
func (l *lexer) operator() {
	l.take(1)
	l.words, l.opaque = nil, false
}

func (l *lexer) comment() error {
	n := strings.IndexByte(l.src[l.at:], '\n')
	if n < 0 {
		n = len(l.src) - l.at
	}
	return l.bare(n, "stands in a comment")
}

// bare copies n bytes in which a placeholder is not allowed.
func (l *lexer) bare(n int, why string) error {
	if s := l.src[l.at : l.at+n]; strings.Contains(s, "{{") {
		start, end := placeholder(s)
		if end < 0 {
			end = len(s)
		}
		return l.refuse(s[start:end], "%s", why)
	}
	l.take(n)
	return nil
}

func (l *lexer) redirection() error {
	op := l.take(1)
	for l.at < len(l.src) && strings.IndexByte("<>&|-", l.src[l.at]) >= 0 {
		op += l.take(1)
	}
	switch {
	case strings.HasPrefix(op, "<<"):
		return l.refuse("", "it has a here-document; pass text by printf and a pipe")
	case l.peek("("):
		return l.refuse("", "it has a process substitution")
	}
	for l.peek(" ") || l.peek("\t") {
		l.take(1)
	}
	if l.at == len(l.src) {
		return nil
	}
	w, err := l.word()
	if err == nil && len(w.holes) > 0 {
		err = l.refuse(w.holes[0], "is where a redirection leads")
	}
	return err
}

// word reads a word, interpreting quotes in the order of a shell.
func (l *lexer) word() (w shellWord, err error) {
	for l.at < len(l.src) && err == nil {
		switch c := l.src[l.at]; {
		case strings.IndexByte(" \t\n;&|<>)", c) >= 0:
			return w, nil
		case c == '(':
			return w, l.refuse("", "it has a function, an array or a pattern with ( )")
		case c == '\'':
			w.quoted, w.code = true, true
			err = l.single(&w)
		case c == '"':
			w.quoted = true
			err = l.double(&w)
		case l.peek("{{"):
			err = l.hole(&w, false)
		case c == '\\':
			w.quoted, w.code = true, true
			err = l.escaped(&w)
		case c == '$' || c == '`':
			w.dynamic, w.code = true, true
			err = l.expansion()
		default:
			w.code = true
			w.text += l.take(1)
		}
	}
	return w, err
}

// hole replaces a placeholder by a parameter.
func (l *lexer) hole(w *shellWord, inQuotes bool) error {
	_, end := placeholder(l.src[l.at:])
	if end < 0 {
		return l.refuse("", "a {{ is not closed")
	}
	hole := l.src[l.at : l.at+end]
	if l.nested > 0 {
		return l.refuse(hole, "stands in $( )")
	}
	l.at += end
	l.exprs = append(l.exprs, expression(hole))
	parameter := "${" + strconv.Itoa(len(l.exprs)) + "}"
	if !inQuotes {
		parameter = `"` + parameter + `"`
	}
	l.out.WriteString(parameter)
	w.holes = append(w.holes, hole)
	if len(w.holes) > 1 {
		w.code = true
	}
	return nil
}

func (l *lexer) single(w *shellWord) error {
	n := strings.IndexByte(l.src[l.at+1:], '\'')
	if n < 0 {
		return l.refuse("", "a quote is not closed")
	}
	w.text += l.src[l.at+1 : l.at+1+n]
	return l.bare(n+2, "stands in single quotes")
}

func (l *lexer) double(w *shellWord) error {
	l.take(1)
	for l.at < len(l.src) {
		var err error
		switch c := l.src[l.at]; {
		case c == '"':
			l.take(1)
			return nil
		case l.peek("{{"):
			err = l.hole(w, true)
		case c == '\\':
			w.code = true
			err = l.escaped(w)
		case c == '$' || c == '`':
			w.dynamic, w.code = true, true
			err = l.expansion()
		default:
			w.code = true
			w.text += l.take(1)
		}
		if err != nil {
			return err
		}
	}
	return l.refuse("", "a quote is not closed")
}

func (l *lexer) escaped(w *shellWord) error {
	l.take(1)
	if l.at == len(l.src) {
		return l.refuse("", "it ends in a backslash")
	}
	if _, end := placeholder(l.src[l.at:]); l.peek("{{") && end > 0 {
		return l.refuse(l.src[l.at:l.at+end], "stands behind a backslash")
	}
	w.text += l.take(1)
	return nil
}

// expansion reads an expansion that begins with $ or a backquote.
func (l *lexer) expansion() error {
	if l.peek("`") {
		n := strings.IndexByte(l.src[l.at+1:], '`')
		if n < 0 {
			return l.refuse("", "a backquote is not closed")
		}
		return l.bare(n+2, "stands in backquotes")
	}
	l.take(1)
	if l.at == len(l.src) {
		return nil
	}
	switch c := l.src[l.at]; {
	case l.peek("{{"):
		return l.refuse("", "a placeholder stands behind $")
	case c == '(':
		return l.substitution()
	case c == '{':
		return l.braces()
	case c == '\'' || c == '"':
		return l.refuse("", "shells differ about $%c", c)
	case strings.IndexByte("123456789@*#", c) >= 0:
		return l.refuse("", "it has $%c, and parameters are what stands for the placeholders", c)
	}
	return nil
}

// substitution reads a $( ) as separate commands.
func (l *lexer) substitution() error {
	words, opaque := l.words, l.opaque
	l.nested++
	l.take(1)
	err := l.list(')')
	l.nested--
	l.take(1)
	l.words, l.opaque = words, opaque
	return err
}

// braces reads a ${ }.
func (l *lexer) braces() error {
	n := strings.IndexByte(l.src[l.at:], '}')
	if n < 0 {
		return l.refuse("", "a ${ is not closed")
	}
	inner := l.src[l.at+1 : l.at+n]
	switch {
	case strings.ContainsAny(inner, "'\"`\\$"):
		return l.refuse("", "it has quotes or an expansion in ${ }")
	case inner != "" && strings.IndexByte("123456789@*", inner[0]) >= 0 || inner == "#":
		return l.refuse("", "it has ${%s}, and parameters are what stands for the placeholders",
			inner)
	}
	return l.bare(n+1, "stands in ${ }")
}

// Words before a command that are not its name.
var openers = []string{"if", "then", "else", "elif", "do", "while", "until", "!", "{", "time"}

// Words with a grammar of their own, or that change the parameters.
var unknown = []string{"function", "[[", "set", "shift", "select", "coproc", "alias"}

// Commands that evaluate an argument, as a command or as a name with a subscript.
var evaluating = []string{
	"eval", ".", "source", "exec", "command", "builtin", "trap", "let", "declare", "typeset",
	"local", "export", "readonly", "unset", "unalias", "read", "mapfile", "readarray", "getopts",
	"bind", "complete", "compgen", "enable", "fc", "wait", "hash", "for", "case",
}

// Operators of test after which a word is only text.
var harmlessTests = []string{
	"-n", "-z", "-f", "-d", "-e", "-r", "-w", "-x", "-s", "-L", "-h", "=", "==", "!=",
}

var assignment = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*\+?=`)
})

// judge decides whether a word is allowed at its position.
func (l *lexer) judge(w shellWord) error {
	plain := !w.quoted && !w.dynamic && len(w.holes) == 0
	if len(l.words) > 0 {
		l.words = append(l.words, w.text)
		if len(w.holes) == 0 {
			return nil
		}
		return l.argument(w)
	}
	switch {
	case plain && slices.Contains(openers, w.text):
		return nil
	case slices.Contains(unknown, w.text):
		return l.refuse("", "it has %q", w.text)
	case assignment().MatchString(w.text):
		if len(w.holes) > 0 {
			return l.refuse(w.holes[0], "is given to a variable")
		}
		return nil
	case len(w.holes) > 0:
		return l.refuse(w.holes[0], "is the name of a program")
	}
	l.words, l.opaque = []string{w.text}, w.dynamic
	return nil
}

// argument decides about a word with a placeholder, which is the last of the words.
func (l *lexer) argument(w shellWord) error {
	hole, name := w.holes[0], path.Base(l.words[0])
	before := l.words[1 : len(l.words)-1]
	switch {
	case l.opaque:
		return l.refuse(hole, "is given to a program that is known only when it runs")
	case slices.Contains(evaluating, name):
		return l.refuse(hole, "is read by %s as more than text", name)
	case name == "test" || name == "[":
		if len(before) == 0 || !slices.Contains(harmlessTests, before[len(before)-1]) {
			return l.refuse(hole, "may be an operator of %s", name)
		}
	case name == "printf":
		if len(before) == 0 || strings.HasPrefix(before[0], "-") {
			return l.refuse(hole, "is the format of printf")
		}
	case w.code && isCode(l.words[:len(l.words)-1]):
		return l.refuse(hole, "is part of what %s runs", name)
	}
	return nil
}
