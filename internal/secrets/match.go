package secrets

import (
	"bytes"
	"math"
	"slices"
	"strings"
)

// begins reports whether a match can begin with a keyword at i. The keyword of a token must not
// continue a longer word. An escape sequence, and the hyphen of a diff or of a line number, are not
// part of a word.
func (r *compiled) begins(text []byte, i int) bool {
	switch {
	case i == 0 || r.shape >= guessed || !isWord(text[i]):
		return true
	case text[i-1] == '-':
		return !r.alone || i == 1 || !isLetter(text[i-2])
	}
	return !isInWord(text, i-1, -1) || endsEscape(text[:i])
}

// isInWord reports whether the byte at i belongs to a word that continues at i+step. An underscore
// that marks emphasis in Markdown does not.
func isInWord(text []byte, i, step int) bool {
	if i < 0 || i >= len(text) || !isWord(text[i]) {
		return false
	}
	return text[i] != '_' || i+step >= 0 && i+step < len(text) && isWord(text[i+step])
}

// endsEscape reports whether text ends with an escape of a URL, "%3A", or of a terminal, "ESC[0m".
// The ESC itself is not required: sources write it as \e, \033 or \x1b.
func endsEscape(text []byte) bool {
	n := len(text)
	if n >= 3 && text[n-3] == '%' && isHex(text[n-2]) && isHex(text[n-1]) {
		return true
	}
	if n < 2 || !isLetter(text[n-1]) {
		return false
	}
	for i := n - 2; i >= max(0, n-maxEscape); i-- {
		if text[i] == '[' {
			return true
		}
		if !isDigit(text[i]) && text[i] != ';' && text[i] != ':' && text[i] != '?' {
			return false
		}
	}
	return false
}

// maxEscape bounds the length of an escape sequence: two colors of 24 bits.
const maxEscape = 40

// match returns the range of the secret at a keyword, and whether it is plausible. If it is not,
// the range ends behind what was examined; of what matches nothing, only if measured is set.
func (r *compiled) match(text []byte, start, end int, measured bool) (from, to int, ok bool) {
	switch {
	case r.shape == assigned:
		from, to = assignedValue(text, start, end)
		return from, to, to > from
	case r.shape == option:
		from, to = r.optionValue(text, start, end)
		return from, to, to > from
	case r.shape == header:
		from, to = cookies(text, start, end)
		return from, to, to > from
	case r.shape == behind:
		from, to = addressed(text, start)
		return from, to, to > from
	case r.Regex == "":
		return start, end, true
	}
	window := text[start:min(len(text), start+r.within)]
	at, examined := r.find(window, measured)
	if at == nil {
		return start, start + examined, false
	}
	group := at[:2]
	if r.shape == guessed || r.added && len(at) > 2 && at[2] >= 0 {
		group = at[2:4]
	}
	from, to = start+group[0], start+group[1]
	if r.shape == armored {
		end := start + armoredEnd(window, group[1])
		return from, end, end > to // not only the header
	}
	return from, to, r.plausible(text, from, to)
}

// find applies the expression. If measured is set, it takes longer and returns the number of bytes
// that were examined.
func (r *compiled) find(window []byte, measured bool) (at []int, examined int) {
	if !measured {
		return r.expr().FindSubmatchIndex(window), 0
	}
	reader := bytes.NewReader(window)
	at = r.expr().FindReaderSubmatchIndex(reader)
	return at, len(window) - reader.Len()
}

// minAdded is the minimum length of a match of a workspace's rule.
const minAdded = 8

func (r *compiled) plausible(text []byte, from, to int) bool {
	value := text[from:to]
	switch {
	case r.added:
		return len(value) >= minAdded
	case r.shape == certain:
		return true
	case r.shape == guessed:
		return isRandom(value)
	}
	if isWord(text[to-1]) && isInWord(text, to, 1) {
		return false // part of something longer
	}
	tail := value[min(r.Public, len(value)):]
	return !isSample(value) && !isSequence(tail) && entropy(tail) >= minEntropy-0.4
}

// isRandom reports whether a value is no placeholder and no words.
func isRandom(value []byte) bool {
	return !isPlaceholder(value) && !isWords(value) && !isSequence(value) &&
		entropy(value) >= minEntropy && !standsForUser(value)
}

// standsForUser reports whether a value is base64 of a user and a password that is a placeholder,
// as documentation has it.
func standsForUser(value []byte) bool {
	plain, err := encodingOf(value).DecodeString(strings.TrimRight(string(value), "="))
	if err != nil || !isText(plain) {
		return false
	}
	_, password, ok := strings.Cut(string(plain), ":")
	return ok && standsIn(password)
}

// minEntropy is the minimum entropy of a guessed secret, in bits per character.
const minEntropy = 3

// entropy returns the Shannon entropy of s, in bits per byte.
func entropy(s []byte) float64 {
	var counts [256]int
	for _, b := range s {
		counts[b]++
	}
	bits := 0.0
	for _, n := range counts {
		if n > 0 {
			p := float64(n) / float64(len(s))
			bits -= p * math.Log2(p)
		}
	}
	return bits
}

// isSample reports whether a token contains a word or a run of characters that marks it as an
// example.
func isSample(s []byte) bool {
	lower := string(bytes.ToLower(s))
	return slices.ContainsFunc([]string{
		"example", "xxxxx", "12345678", "00000000", "redacted", "your-", "your_",
	}, func(word string) bool { return strings.Contains(lower, word) })
}

// isSequence reports whether most characters equal or follow the one before them.
func isSequence(s []byte) bool {
	steps := 0
	for i := 1; i < len(s); i++ {
		if d := int(s[i]) - int(s[i-1]); d == 0 || d == 1 {
			steps++
		}
	}
	return steps*2 > len(s)
}

// placeholders lists strings that mark a value as a placeholder.
func placeholders() []string {
	return []string{
		"example", "your", "changeme", "change-me", "change_me", "placeholder", "dummy",
		"sample", "redacted", "xxxx", "****", "....", "…", "todo", "fake", "mock", "insert",
		"replace", "12345678", "abcdef", "password", "passwd", "secret", "token", "<", ">", "{",
		"}", "$", "(", "%s", "%v", "%d", "\\", "…", "://", "test",
		"qwxhzgrpbjpvcgvu", "dxnlcjpwyxnz", // Aladdin:open, user:pass
	}
}

// isHarmless reports whether a value is a placeholder, a name, a path or words.
func isHarmless(value []byte) bool {
	return isPlaceholder(value) || isWords(value) || isSequence(value) ||
		strings.IndexByte("/.@~", value[0]) >= 0 && entropy(value) < minRandom
}

// minRandom is the entropy of a path that is none: base64 may begin with a slash.
const minRandom = 4.5

func isPlaceholder(value []byte) bool {
	text, lower := string(value), string(bytes.ToLower(value))
	return slices.ContainsFunc(placeholders(), func(p string) bool {
		return strings.Contains(lower, p) && (len(p) != shortWord || isWritten(text, p))
	})
}

// shortWord is the length of a word that one of some thousand random keys has, in any case.
const shortWord = 4

// isWritten reports whether a text has a word in lower case, in capitals, or with one, as people
// write it.
func isWritten(text, word string) bool {
	capital := strings.ToUpper(word)
	return strings.Contains(text, word) || strings.Contains(text, capital) ||
		strings.Contains(text, capital[:1]+word[1:])
}

// isWords reports whether a value consists of words and numbers, as identifiers, paths, versions
// and prose do: each run of letters and digits is letters, perhaps followed by a few digits, or
// digits.
func isWords(value []byte) bool {
	longest := 0
	for i := 0; i < len(value); {
		if !isAlnum(value[i]) && value[i] < 0x80 {
			i++
			continue
		}
		start := i
		for i < len(value) && (isLetter(value[i]) || value[i] >= 0x80) {
			i++
		}
		letters := i - start
		for i < len(value) && isDigit(value[i]) {
			i++
		}
		digits := i - start - letters
		if i < len(value) && isAlnum(value[i]) || letters > 0 && digits > 4 || digits > 12 {
			return false
		}
		longest = max(longest, jumps(value[start:start+letters]))
	}
	return longest < 6
}

// jumps counts the lower-case letters after two capitals and the capitals after a capital and a
// lower-case letter: words in camel case have few of these, random letters many.
func jumps(letters []byte) (n int) {
	for i := 2; i < len(letters); i++ {
		a, b, c := isUpper(letters[i-2]), isUpper(letters[i-1]), isUpper(letters[i])
		if a && b && !c || c && !b && a {
			n++
		}
	}
	return n
}

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
	i := end
	for i < len(text) && i-end < maxName && isName(text[i]) {
		i++
	}
	bare := i
	for i < len(text) && i-bare < maxGap && strings.IndexByte("\"'`])", text[i]) >= 0 {
		i++
	}
	closed := i > bare
	if isKeyID(text[:bare]) || closed && isMarker(text[:bare+1]) {
		return 0, 0
	}
	i = skipBlanks(text, i)
	sep := separator(text[i:])
	switch {
	case sep > 0:
		return assignedTo(text, skipBlanks(text, i+sep), closed || sep > 1)
	case i < len(text) && text[i] == '{':
		return besideName(text, i+1)
	case i == bare && i < len(text) && text[i] == '>':
		return element(text, i+1)
	case closed && isOption(nameAt(text, start, bare)) && nextString(text, i) > i:
		return listed(text, nextString(text, i))
	case (closed || i < len(text) && strings.IndexByte("\r\n,<", text[i]) >= 0) &&
		isMember(text, start):
		return besideName(text, i)
	case i > bare && !closed:
		return argument(text, start, bare, i)
	}
	return 0, 0
}

// assignedTo returns the range of the value at from, of a name in code if the value must have
// quotes: code quotes its literals.
func assignedTo(text []byte, from int, quotes bool) (int, int) {
	if from < len(text) && text[from] == '{' {
		return besideName(text, from+1)
	}
	if from+1 < len(text) && text[from] == '[' && isQuote(text[from+1]) {
		from++
	}
	if from == len(text) || quotes && !isQuote(text[from]) {
		return 0, 0
	}
	return literal(text, from)
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

// argument returns the range of the value that follows a blank: that of an option, or of a variable
// in capitals, as for setx, set -x and a Dockerfile's ENV.
func argument(text []byte, start, end, from int) (int, int) {
	name := nameAt(text, start, end)
	capitals := bytes.IndexByte(name, '_') > 0 && bytes.Equal(name, bytes.ToUpper(name))
	if !isOption(name) && !capitals {
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
	for _, s := range []string{":=", "=>"} {
		if bytes.HasPrefix(text, []byte(s)) {
			return len(s)
		}
	}
	if len(text) > 1 && (text[0] == '=' || text[0] == ':') && text[1] != '=' && text[1] != ':' {
		return 1
	}
	return 0
}

// quoted returns the range of the value of a quoted string.
func quoted(text []byte, open int) (int, int) {
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
	if len(v) < minValue || len(v) > maxValue || isHarmless(v) || entropy(v) < minEntropy {
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
