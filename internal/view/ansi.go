package view

import (
	"strconv"
	"strings"

	"github.com/git-jp/git-jp/internal/render"
)

// An ink is the state that colour sequences have set: a class for each property.
type ink struct {
	fore, back            string
	bold, faint, under, i bool
}

// classes returns the classes of an ink, "" for plain text.
func (k ink) classes() string {
	var all []string
	for _, c := range []struct {
		on   bool
		name string
	}{
		{k.fore != "", "f" + k.fore},
		{k.back != "", "g" + k.back},
		{k.bold, "bo"},
		{k.faint, "fa"},
		{k.under, "un"},
		{k.i, "it"},
	} {
		if c.on {
			all = append(all, c.name)
		}
	}
	return strings.Join(all, " ")
}

// writeANSI writes the output of a program, with the colours that it had on a terminal.
func writeANSI(m *markup, s string) {
	var k ink
	for s != "" {
		at := strings.Index(s, "\x1b[")
		if at < 0 {
			at = len(s)
		}
		if classes := k.classes(); at > 0 && classes != "" {
			m.put("span", s[:at], class(classes))
		} else if at > 0 {
			m.text(s[:at])
		}
		s = s[at:]
		n := render.SGRLen(s)
		switch {
		case n > 0:
			k = k.with(s[2 : n-1])
			s = s[n:]
		case s != "":
			m.text(s[:1]) // no colour: it is shown as an escape
			s = s[1:]
		}
	}
}

// with returns the ink after a sequence. Colours other than the sixteen named ones are left out:
// without style attributes a document cannot have them.
func (k ink) with(codes string) ink {
	parts := strings.FieldsFunc(codes, func(r rune) bool { return r == ';' || r == ':' })
	if len(parts) == 0 {
		return ink{}
	}
	for i := 0; i < len(parts); i++ {
		n, err := strconv.Atoi(parts[i])
		if err != nil {
			return k
		}
		switch {
		case n == 0:
			k = ink{}
		case n == 1:
			k.bold = true
		case n == 2:
			k.faint = true
		case n == 3:
			k.i = true
		case n == 4:
			k.under = true
		case n == 22:
			k.bold, k.faint = false, false
		case n == 23:
			k.i = false
		case n == 24:
			k.under = false
		case n >= 30 && n <= 37:
			k.fore = strconv.Itoa(n - 30)
		case n == 39:
			k.fore = ""
		case n >= 40 && n <= 47:
			k.back = strconv.Itoa(n - 40)
		case n == 49:
			k.back = ""
		case n >= 90 && n <= 97:
			k.fore = strconv.Itoa(n - 90)
		case n == 38 || n == 48:
			color, skip := indexed(parts[i+1:])
			i += skip
			if n == 38 {
				k.fore = color
			} else {
				k.back = color
			}
		}
	}
	return k
}

// indexed parses the colour after 38 or 48, and returns how many numbers it has.
func indexed(parts []string) (color string, skip int) {
	if len(parts) >= 2 && parts[0] == "5" {
		if n, err := strconv.Atoi(parts[1]); err == nil && n < 16 {
			return strconv.Itoa(n % 8), 2
		}
		return "", 2
	}
	if len(parts) >= 4 && parts[0] == "2" {
		return "", 4
	}
	return "", len(parts)
}
