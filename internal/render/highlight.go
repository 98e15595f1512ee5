package render

import (
	"slices"
	"strings"
	"sync"
)

// A syntax describes how the lines of code in a language are coloured. Each line is coloured alone,
// so that a line that has just come looks as it will in print: of a comment or a string over
// several lines only the part with its mark on the line is known.
type syntax struct {
	comments []string // what begins a comment up to the end of the line
	quotes   string   // what begins and ends a string
	keywords map[string]bool
}

// tokenStyles are the colours of the kinds.
var tokenStyles = [...]style{
	TokenKeyword: blue, TokenString: green, TokenNumber: magenta, TokenComment: faint,
}

// languages are those that are coloured, by the words after a fence. The others have one colour.
var languages = [...]struct{ names, comments, quotes, keywords string }{
	{
		"go", "//", "\"'`",
		"break case chan const continue default defer else fallthrough for func go " +
			"goto if import interface map package range return select struct switch type " +
			"var nil true false",
	},
	{
		"rust rs", "//", `"`,
		"as async await break const continue crate dyn else enum extern false fn for " +
			"if impl in let loop match mod move mut pub ref return self Self static " +
			"struct super trait true type unsafe use where while",
	},
	{
		"javascript js jsx mjs typescript ts tsx", "//", "\"'`",
		"async await break case catch class const continue debugger default delete do " +
			"else enum export extends false finally for from function if implements " +
			"import in instanceof interface let new null of return static super switch " +
			"this throw true try type typeof undefined var void while yield",
	},
	{
		"c h cpp c++ cc hpp java kotlin kt cs csharp c# swift scala dart", "//", `"'`,
		"abstract auto bool boolean break case catch char class const continue " +
			"default delete do double else enum extends extern false final finally float " +
			"for fun func goto if implements import in int interface internal let long " +
			"namespace new null nullptr object override package private protected public " +
			"return short signed sizeof static string struct super switch template this " +
			"throw throws true try typedef typename union unsigned using val var virtual " +
			"void volatile when while",
	},
	{
		"python py", "#", `"'`,
		"and as assert async await break class continue def del elif else except " +
			"False finally for from global if import in is lambda match None nonlocal not " +
			"or pass raise return self True try while with yield",
	},
	{
		"ruby rb", "#", `"'`,
		"alias and begin break case class def do else elsif end ensure false for if " +
			"in module next nil not or redo rescue retry return self super then true " +
			"undef unless until when while yield require",
	},
	{
		"sh bash zsh shell console fish", "#", `"'`,
		"case do done elif else end esac exec exit export fi for function if in local " +
			"read return select set shift then trap until while",
	},
	{"toml ini conf", "# ;", `"'`, "true false"},
	{"yaml yml", "#", `"'`, "true false null yes no on off"},
	{"json json5 jsonc jsonl ndjson", "//", `"`, "true false null"},
	{
		"sql", "--", `'"`,
		"select from where and or not in is null insert into values update set delete " +
			"create table index view drop alter add primary key foreign references join " +
			"left right inner outer on group by order having limit offset union all " +
			"distinct as case when then else end begin commit rollback with SELECT FROM " +
			"WHERE AND OR NOT IN IS NULL INSERT INTO VALUES UPDATE SET DELETE CREATE " +
			"TABLE INDEX VIEW DROP ALTER ADD PRIMARY KEY FOREIGN REFERENCES JOIN LEFT " +
			"RIGHT INNER OUTER ON GROUP BY ORDER HAVING LIMIT OFFSET UNION ALL DISTINCT " +
			"AS CASE WHEN THEN ELSE END BEGIN COMMIT ROLLBACK WITH",
	},
	{
		"lua", "--", `"'`,
		"and break do else elseif end false for function goto if in local nil not or " +
			"repeat return then true until while",
	},
	{
		"php", "// #", `"'`,
		"abstract array as break case catch class const continue default do echo else " +
			"elseif extends false final for foreach function if implements interface " +
			"namespace new null private protected public return static switch this throw " +
			"true try use var while",
	},
	{
		"make makefile dockerfile docker", "#", `"'`,
		"FROM RUN CMD COPY ADD ENV ARG WORKDIR ENTRYPOINT EXPOSE USER VOLUME LABEL " +
			"ifeq ifneq ifdef ifndef else endif include define endef export",
	},
}

// syntaxes returns the table by name.
var syntaxes = sync.OnceValue(func() map[string]syntax {
	table := make(map[string]syntax)
	for _, l := range languages {
		s := syntax{strings.Fields(l.comments), l.quotes, make(map[string]bool)}
		for word := range strings.FieldsSeq(l.keywords) {
			s.keywords[word] = true
		}
		for name := range strings.FieldsSeq(l.names) {
			table[name] = s
		}
	}
	return table
})

// codeLine colours a line of code. Its text is the same as from [Output.Text].
func (o Output) codeLine(language, line string) string {
	if !o.Color {
		return o.Text(line)
	}
	language = strings.ToLower(language)
	if language == "diff" || language == "patch" {
		return o.styled(patchStyle(line), line)
	}
	if !IsLanguage(language) {
		return o.styled(styleCode, line)
	}
	var b strings.Builder
	Tokens(language, o.Text(line), func(kind TokenKind, text string) {
		if kind != TokenPlain {
			text = o.styled(tokenStyles[kind], text)
		}
		b.WriteString(text)
	})
	return b.String()
}

// token returns the next piece of a line that has a kind, from an index on, or an empty piece at
// the end if there is none. s belongs to one line. An opening quote without an end removes that
// quote from the quotes: no later one ends either, and searching for the end of each would take
// quadratic time.
func (s *syntax) token(line string, from int) (at, end int, kind TokenKind) {
	for i := from; i < len(line); {
		switch c := line[i]; {
		case s.commentAt(line, i):
			return i, len(line), TokenComment
		case strings.IndexByte(s.quotes, c) >= 0:
			if n := stringLen(line[i:]); n > 0 {
				return i, i + n, TokenString
			}
			s.quotes = strings.ReplaceAll(s.quotes, line[i:i+1], "")
			i++
		case isWord(c):
			n := wordLen(line[i:])
			switch {
			case c >= '0' && c <= '9':
				return i, i + n, TokenNumber
			case s.keywords[line[i:i+n]]:
				return i, i + n, TokenKeyword
			}
			i += n
		default:
			i++
		}
	}
	return len(line), len(line), TokenPlain
}

// commentAt reports whether a comment begins at an index: at the beginning of the line or after
// white space, so that neither a URL nor $# begins one.
func (s syntax) commentAt(line string, i int) bool {
	if i > 0 && line[i-1] != ' ' && line[i-1] != '\t' {
		return false
	}
	return slices.ContainsFunc(s.comments, func(mark string) bool {
		return strings.HasPrefix(line[i:], mark)
	})
}

// stringLen returns the length of the string that text begins with, 0 if it does not end: then the
// quote may be an apostrophe.
func stringLen(text string) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case text[0]:
			return i + 1
		}
	}
	return 0
}

func wordLen(text string) int {
	n := 1
	for n < len(text) && isWord(text[n]) {
		n++
	}
	return n
}

func isWord(c byte) bool {
	lower := c | 0x20
	return c == '_' || c >= 0x80 || c >= '0' && c <= '9' || lower >= 'a' && lower <= 'z'
}
