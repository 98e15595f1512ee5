package secrets

import (
	"bytes"
	"slices"
	"strings"
)

// maxCookies is how much of a header is looked at, and minCookie the length of a value in it that
// may be one of a session.
const (
	maxCookies = 4 << 10
	minCookie  = 16
)

// cookies returns the range from the first to the last secret value in a header Cookie or
// Set-Cookie, or in an option of that name, whose name ends at end. Of a header without any, it
// returns the empty range behind it: what was examined counts, as of an expression.
func cookies(text []byte, start, end int) (from, to int) {
	i := end
	if i < len(text) && isQuote(text[i]) {
		i++
	}
	i = skipBlanks(text, i)
	switch {
	case separator(text[i:]) == 1:
		i = skipBlanks(text, i+1)
	case i > end && isMember(text, start):
		i = valueBeside(text, i)
	case i == end || !isOption(nameAt(text, start, end)):
		return 0, 0
	}
	if i < len(text) && isQuote(text[i]) {
		i++
	}
	if i == len(text) {
		return 0, 0
	}
	rest := text[i:min(len(text), i+maxCookies)]
	if n := bytes.IndexAny(rest, "\"'`\\\r\n"); n >= 0 {
		rest = rest[:n]
	}
	examined := i + len(rest)
	for pair := range bytes.SplitSeq(rest, []byte(";")) {
		name, v, _ := bytes.Cut(bytes.TrimSpace(pair), []byte("="))
		if isSession(name, v) {
			to = i + bytes.LastIndex(pair, v) + len(v)
			if from == 0 {
				from = to - len(v)
			}
		}
		i += len(pair) + 1
	}
	if to == 0 {
		return examined, examined
	}
	return from, to
}

// isSession reports whether a cookie may be that of a session: that has a random value.
func isSession(name, v []byte) bool {
	return len(name) > 0 && !slices.ContainsFunc(name, func(c byte) bool { return !isName(c) }) &&
		len(v) >= minCookie && bytes.ContainsAny(v, "0123456789") && !bytes.ContainsRune(v, ' ') &&
		isRandom(v) && !isSelector(v)
}

// addressed returns the range of the password in a name of a data source, as those of drivers for
// Go, "user:password@tcp(host)", whose address begins at i.
func addressed(text []byte, i int) (int, int) {
	user := i
	for user > 0 && i-user <= maxValue+maxName && text[user-1] > ' ' && !isQuote(text[user-1]) &&
		strings.IndexByte("<>", text[user-1]) < 0 {
		user--
	}
	n := bytes.IndexByte(text[user:i], ':')
	from := user + n + 1
	if v := text[from:i]; n < 0 || len(v) < minValue || len(v) > maxValue || !isRandom(v) {
		return 0, 0
	}
	return from, i
}
