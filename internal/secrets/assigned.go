package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// Limits of the names and values of assignments.
const (
	maxName  = 48
	minValue = 8
	maxValue = 200
	maxGap   = 4
)

// assignedValue returns the range of the value assigned to the name whose keyword is at start to
// end.
func assignedValue(text []byte, start, end int) (int, int) {
	for !isName(text[end-1]) { // what tells a short keyword from the beginning of a word
		end--
	}
	i := end
	for i < len(text) && i-end < maxName && isName(text[i]) {
		i++
	}
	const short = "pass"
	if end < i && bytes.EqualFold(text[max(start, end-len(short)):end], []byte(short)) {
		return 0, 0 // "_passed"
	}
	if isOrdinary(text[:end]) {
		return 0, 0
	}
	bare := i
	for i < len(text) && i-bare < maxGap && strings.IndexByte("\"'`])*", text[i]) >= 0 {
		i++
	}
	closed := i > bare && text[bare] != '*'
	if isKeyID(text[:bare]) || closed && isMarker(text[:bare+1]) {
		return 0, 0
	}
	i = skipBlanks(text, i)
	if sep := separator(text[i:]); sep > 0 {
		code := sep > 1 && text[i+1] != '-'
		return assignedTo(text, i+sep, closed || code)
	}
	member := isMember(text, start)
	switch rest := text[i:]; {
	case bytes.HasPrefix(rest, []byte("{")):
		return besideName(text, i+1)
	case i == bare && bytes.HasPrefix(rest, []byte(">")):
		return element(text, i+1)
	case len(rest) > 1 && rest[0] == '(' && isQuote(rest[1]) &&
		bytes.IndexByte(text[end:bare], '.') < 0: // not Tokenizer.from_file("x")
		return quoted(text, i+1)
	case closed && !member && nextString(text, i) > i:
		from, to := listed(text, nextString(text, i))
		if !isOption(nameAt(text, start, bare)) && !isKey(text[from:to]) {
			return 0, 0
		}
		return from, to
	case (closed || len(rest) > 0 && strings.IndexByte("\r\n,<", rest[0]) >= 0) && member:
		return besideName(text, i)
	case i > bare && !closed:
		return argument(text, i, isMarked(nameAt(text, start, bare), end == bare))
	}
	return 0, 0
}

// assignedTo returns the range of the value behind the separator that ends at from, of a name in
// code if the value must have quotes: code quotes its literals.
func assignedTo(text []byte, from int, quotes bool) (int, int) {
	from = skipBlanks(text, from)
	if from < len(text) && text[from] == '{' {
		return besideName(text, from+1)
	}
	from = skipStars(text, from)
	switch next := skipToValue(text, from); {
	case next == len(text):
		return 0, 0
	case isQuote(text[next]):
		from = next
	case quotes:
		return 0, 0
	case blockIndicator(text[from:]) > 0:
		from = next
	}
	return literal(text, from)
}

// skipStars skips the end of what Markdown emphasizes with its colon, as in "**Password:** x".
func skipStars(text []byte, i int) int {
	if bytes.HasPrefix(text[i:], []byte("**")) {
		return skipBlanks(text, i+len("**"))
	}
	return i
}

// maxIndent is how much white space may be in front of a value on its own line.
const maxIndent = 80

// skipToValue skips what may be between a separator and the string that is assigned: a type, a line
// break, the beginning of a block in YAML, of a list, and of a call.
func skipToValue(text []byte, i int) int {
	n := blockIndicator(text[i:])
	if end := i + n; end < len(text) && (text[end] == '\n' || text[end] == '\r') {
		for i = end; i < len(text) && i-end < maxIndent && text[i] <= ' '; {
			i++
		}
		return i
	}
	line := text[i:min(len(text), i+maxIndent)]
	open := bytes.IndexAny(line, "\"'`\n")
	if open <= 0 || !isBeforeString(line[:open]) {
		return i
	}
	return i + open
}

// isBeforeString reports whether text, which a quote follows, is a type and an equals sign, the
// name of a function and a parenthesis, or a bracket: "&str = ", "Some(", "[".
func isBeforeString(text []byte) bool {
	text = bytes.TrimRight(text, " ")
	last := len(text) - 1
	if last < 0 || strings.IndexByte("=([", text[last]) < 0 {
		return false
	}
	if text[last] == '(' && last > 0 && !isWrapper(text[:last]) {
		return false
	}
	return !bytes.ContainsFunc(text[:last], func(r rune) bool {
		return r > 0x7f || !isName(byte(r)) && strings.IndexByte("=([<>&|?: ", byte(r)) < 0
	})
}

// isWrapper reports whether text ends with a function whose result is its argument: others look
// something up, as AutoTokenizer.from_pretrained does.
func isWrapper(text []byte) bool {
	for _, name := range []string{" Some", " Ok", "String", "String::from", "::new", "SecretStr"} {
		if bytes.HasSuffix(text, []byte(name)) || string(text) == strings.TrimSpace(name) {
			return true
		}
	}
	return false
}

// isOrdinary reports whether text ends with an ordinary word that ends as names of passwords do.
func isOrdinary(text []byte) bool {
	return slices.ContainsFunc(ordinary, func(word []byte) bool {
		return len(text) >= len(word) && bytes.EqualFold(text[len(text)-len(word):], word)
	})
}

var ordinary = [][]byte{[]byte("bypass"), []byte("compass"), []byte("surpass"), []byte("trespass")}

// blockIndicator returns the length of what begins a block of text in YAML, such as ">-".
func blockIndicator(text []byte) (n int) {
	if len(text) == 0 || text[0] != '|' && text[0] != '>' {
		return 0
	}
	for n = 1; n < len(text) && (text[n] == '-' || text[n] == '+' || isDigit(text[n])); {
		n++
	}
	return n
}

// isKey reports whether a value in a list with a name can be that of the name, and no other name,
// such as "symbol2label".
func isKey(v []byte) bool {
	digits := bytes.FieldsFunc(v, func(r rune) bool { return r < '0' || r > '9' })
	return len(digits) > 1 && bytes.IndexByte(v, '_') < 0
}

// listed returns the range of the string of a list at from, unless that is another option.
func listed(text []byte, from int) (int, int) {
	if from+1 >= len(text) || !isQuote(text[from]) || text[from+1] == '-' {
		return 0, 0
	}
	return quoted(text, from)
}

// isKeyID reports whether text ends with the name of an ID of a key, which is no secret.
func isKeyID(text []byte) bool {
	end := strings.ToLower(string(text[max(0, len(text)-len("key_id")):]))
	return strings.HasSuffix(strings.ReplaceAll(end, "_", ""), "keyid")
}

// isMarker reports whether text ends with what replaces a secret. Its rule is not a name to which
// what follows is assigned.
func isMarker(text []byte) bool {
	const longest = len(markerPrefix) + maxRuleName + len("]")
	text = text[max(0, len(text)-longest):]
	i := bytes.LastIndexByte(text, markerPrefix[0])
	return i >= 0 && bytes.HasPrefix(text[i:], []byte(markerPrefix)) && text[len(text)-1] == ']'
}

// element returns the range of the content of an XML element.
func element(text []byte, from int) (int, int) {
	for to := from; to < len(text) && to-from <= maxValue && text[to] > ' '; to++ {
		if text[to] == '<' {
			return value(text, from, to)
		}
	}
	return 0, 0
}

// minArgument is the minimum length of a value that only a blank separates from its name.
const minArgument = 12

// isMarked reports whether a name is that of an option or, as for setx, set -x, a Dockerfile's ENV
// and "aws configure set", of a variable or a setting. If the name does not end with what makes it
// secret, it needs two hyphens or capitals.
func isMarked(name []byte, ends bool) bool {
	underscore := bytes.IndexByte(name, '_')
	if ends {
		return name[0] == '-' || underscore >= 0
	}
	return isOption(name) || underscore > 0 && bytes.Equal(name, bytes.ToUpper(name))
}

// argument returns the range of the value that follows a blank: of a marked name, or one in quotes,
// as in SQL.
func argument(text []byte, from int, marked bool) (int, int) {
	if !marked && (from == len(text) || !isQuote(text[from])) {
		return 0, 0
	}
	from, to := literal(text, from)
	if to-from < minArgument || !bytes.ContainsAny(text[from:to], "0123456789") {
		return 0, 0
	}
	return from, to
}

// nameAt returns the name of which the bytes from start to end are the last.
func nameAt(text []byte, start, end int) []byte {
	for start > 0 && end-start < maxName && isName(text[start-1]) {
		start--
	}
	return text[start:end]
}

// isOption reports whether a name is that of an option.
func isOption(name []byte) bool { return len(name) > 2 && name[0] == '-' && name[1] == '-' }

// literal returns the range of a value with or without quotes.
func literal(text []byte, from int) (int, int) {
	if from < len(text) && isQuote(text[from]) {
		return quoted(text, from)
	}
	return unquotedLiteral(text, from)
}

func skipBlanks(text []byte, i int) int {
	for end := i + maxGap; i < len(text) && i < end && (text[i] == ' ' || text[i] == '\t'); {
		i++
	}
	return i
}

// separator returns the length of the assignment operator at the beginning of text, or 0.
func separator(text []byte) int {
	for _, s := range []string{":=", "=>", "||=", "??=", "||", "??"} {
		if bytes.HasPrefix(text, []byte(s)) {
			return len(s)
		}
	}
	switch {
	case len(text) < 2 || text[0] != '=' && text[0] != ':' || text[1] == '=' || text[1] == ':':
		return 0
	case text[0] == ':' && text[1] == '-' && len(text) > 2 && text[2] != ' ':
		return len(":-") // the default of a shell's variable
	}
	return 1
}

// quoted returns the range of the value of a quoted string.
func quoted(text []byte, open int) (int, int) {
	if q := text[open : open+1]; bytes.HasPrefix(text[open:], bytes.Repeat(q, len(`"""`))) {
		open += len(`""`)
		if end := open + 1; end < len(text) && text[end] == '\n' {
			open = end
		}
		return unquotedLiteral(text, open+1)
	}
	from := open + 1
	for to := from; to < len(text) && to-from <= maxValue; to++ {
		switch c := text[to]; {
		case c == text[open]:
			return value(text, from, to)
		case c <= ' ' || c == '\\':
			return 0, 0
		}
	}
	return 0, 0
}

// unquotedLiteral returns the range of a value without quotes, as in an .env file, in YAML or in a
// command line. It ends at the next blank. Any text may precede the name: the output of tools has
// file names, line numbers, signs of a diff and colors there.
func unquotedLiteral(text []byte, from int) (int, int) {
	to := from
	for to < len(text) && to-from <= maxValue && text[to] > ' ' && text[to] != '"' &&
		text[to] != '\'' && text[to] != '`' {
		to++
	}
	if v := text[from:to]; bytes.HasSuffix(v, []byte("}")) && bytes.IndexByte(v, '{') < 0 {
		to -= len(v) - len(bytes.TrimRight(v, "},"))
	}
	if v := text[from:to]; isNumber(v) || isSelector(v) {
		return 0, 0
	}
	return value(text, from, to)
}

// isNumber reports whether a value consists of digits and punctuation, such as a count of tokens.
func isNumber(v []byte) bool { return len(bytes.Trim(v, "0123456789.,;")) == 0 }

// isSelector reports whether a value is an expression such as "mode.ansi8Bit": identifiers that
// dots join.
func isSelector(v []byte) bool {
	names := bytes.Split(bytes.TrimRight(v, ",;"), []byte("."))
	return len(names) > 1 && !slices.ContainsFunc(names, func(name []byte) bool {
		return len(name) == 0 || !isLetter(name[0]) && name[0] != '_' ||
			bytes.ContainsFunc(name, func(r rune) bool { return r > 0x7f || !isWord(byte(r)) })
	})
}

func value(text []byte, from, to int) (int, int) {
	v := text[from:to]
	if len(v) < minValue || len(v) > maxValue || entropy(v) < minEntropy ||
		isHarmless(v) && !isMixed(v, from > 0 && isQuote(text[from-1])) {
		return 0, 0
	}
	return from, to
}

func isQuote(c byte) bool  { return c == '"' || c == '\'' || c == '`' }
func isUpper(c byte) bool  { return c >= 'A' && c <= 'Z' }
func isLetter(c byte) bool { return c|0x20 >= 'a' && c|0x20 <= 'z' }
func isDigit(c byte) bool  { return c >= '0' && c <= '9' }
func isAlnum(c byte) bool  { return isLetter(c) || isDigit(c) }
func isWord(c byte) bool   { return isAlnum(c) || c == '_' }
func isHex(c byte) bool    { return isDigit(c) || c|0x20 >= 'a' && c|0x20 <= 'f' }

func isName(c byte) bool { return isWord(c) || c == '-' || c == '.' }
