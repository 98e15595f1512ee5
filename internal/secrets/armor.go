package secrets

import "bytes"

// Limits of armored keys: how far before a line of base64 the line before it, or the header, may
// end, and how short a line may be.
const (
	headGap   = 400 // Proc-Type, DEK-Info and comments
	lineGap   = 160 // a line number, a file name, colors, a comment sign, quotes
	firstLine = 32
	otherLine = 16
)

// armoredEnd returns the end of the key whose header ends at from, or from if no line of base64
// follows. The lines may have anything in front of them and behind them, as in the output of cat
// -n, of grep and of a diff, or where a program joins quoted lines.
func armoredEnd(text []byte, from int) int {
	end, least, gap := from, firstLine, headGap
	for i := from; i < len(text) && i-end <= gap; {
		if bytes.HasPrefix(text[i:], []byte(dashes)) {
			return footer(text, i, from, end)
		}
		run := i
		for run < len(text) && isArmor(text[run]) {
			run++
		}
		line := text[i:run]
		if len(line) >= least && !isWords(line) && entropy(line) >= minEntropy {
			end, least, gap = run, otherLine, lineGap
		}
		i = max(run, i+1)
	}
	return end
}

const dashes = "-----"

// footer returns the end of the line "-----END ... KEY-----" at i, or end if there is none or the
// key is empty.
func footer(text []byte, i, from, end int) int {
	const begin, longest = dashes + "END ", 80
	rest := text[i:min(len(text), i+longest)]
	if end == from || !bytes.HasPrefix(rest, []byte(begin)) {
		return end
	}
	if n := bytes.Index(rest[len(begin):], []byte(dashes)); n >= 0 {
		return i + len(begin) + n + len(dashes)
	}
	return end
}

func isArmor(c byte) bool { return isAlnum(c) || c == '+' || c == '/' || c == '=' }
