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
	case r.shape == piped:
		from, to = r.pipedValue(text, start)
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
	if entropy(value) < minEntropy || isSequence(value) || standsForUser(value) {
		return false
	}
	return !isPlaceholder(value) && !isWords(value) || isMixed(value, true)
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

// minMixed is the minimum length of a value that punctuation shows to be a password, and longWord
// that of a word that shows that it is none.
const (
	minMixed = 10
	longWord = 5
)

// isMixed reports whether a value has what generated passwords have, which neither words nor paths
// nor templates nor code have together: small letters, capitals, digits and two signs, and no word.
// Without quotes it may be code, whose signs do not count.
func isMixed(v []byte, quoted bool) bool {
	const inCode = "(){}[]<>$?;&|"
	var small, capitals, digits, signs, word int
	for _, c := range v {
		if word++; !isLetter(c) || isUpper(c) {
			word = 1
		}
		switch {
		case word == longWord || c >= 0x80 || !quoted && strings.IndexByte(inCode, c) >= 0:
			return false
		case isUpper(c):
			capitals++
		case isLetter(c):
			small++
		case isDigit(c):
			digits++
		case strings.IndexByte("/.,:_-=", c) < 0:
			signs++
		}
	}
	return len(v) >= minMixed && signs > 1 && min(small, capitals, digits) > 0 && !hasWord(v)
}

// hasWord reports whether a value has a word that marks it as a placeholder, or the beginning of a
// variable.
func hasWord(v []byte) bool {
	return slices.ContainsFunc(placeholders(), func(p string) bool {
		return isLetter(p[0]) && isPlaceholderWith(v, p)
	}) || bytes.Contains(v, []byte("${")) || bytes.HasPrefix(v, []byte("{{"))
}

// minRandom is the entropy of a path that is none: base64 may begin with a slash.
const minRandom = 4.5

func isPlaceholder(value []byte) bool {
	return slices.ContainsFunc(placeholders(), func(p string) bool {
		return isPlaceholderWith(value, p)
	})
}

func isPlaceholderWith(value []byte, p string) bool {
	return bytes.Contains(bytes.ToLower(value), []byte(p)) &&
		(len(p) != shortWord || isWritten(string(value), p))
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
