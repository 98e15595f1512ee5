package unfinished

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
)

// A git am in progress has patches that are not applied yet. A content in them is found by its name
// only if the file has the text of the patch; what git decodes first would have to be decoded here
// in the same way. So every other form counts as unknown.

const applyDir = "rebase-apply/"

// isMail reports whether a file of git am is one of the mails into which git has split its input;
// isPatch whether it is that, or the patch of the mail that is being applied.
func isMail(name string) bool {
	number, ok := strings.CutPrefix(name, applyDir)
	return ok && number != "" && strings.Trim(number, "0123456789") == ""
}

func isPatch(name string) bool { return isMail(name) || name == applyDir+"patch" }

// patchDamage returns why a patch that is not applied yet is not plain text; "" if it is.
func patchDamage(name string, data []byte) string {
	switch {
	case !isPatch(name):
		return ""
	case isMail(name) && len(data) == 0:
		return "is empty"
	case len(data) > 0 && data[len(data)-1] != '\n':
		return "ends within a line"
	case bytes.IndexByte(data, 0) >= 0:
		return "contains zero bytes: it is not plain text"
	case bytes.HasPrefix(data, []byte("GIT binary patch")),
		bytes.Contains(data, []byte("\nGIT binary patch")):
		return "has a binary patch, in which no content is named in plain text"
	case !isMail(name):
		return ""
	}
	for _, h := range contentHeaders(data) {
		if damage := h.damage(); damage != "" {
			return damage
		}
	}
	return ""
}

// A contentHeader is a header with the encoding of a mail, or a part of one.
type contentHeader struct{ name, value string }

const contentPrefix = "content-"

// contentHeaders returns the headers with the encoding of the mail and its parts. A line of a patch
// begins with a space or a sign, so it cannot be taken for one; a line of a message can, which is
// safe.
func contentHeaders(data []byte) []contentHeader {
	var all []contentHeader
	folded := false // into the header before
	for line := range bytes.Lines(data) {
		text := string(bytes.TrimRight(line, "\r\n"))
		if folded && strings.HasPrefix(text, " ") || folded && strings.HasPrefix(text, "\t") {
			all[len(all)-1].value += text
			continue
		}
		name, value, ok := strings.Cut(text, ":")
		name = strings.ToLower(name)
		if folded = ok && strings.HasPrefix(name, contentPrefix); folded {
			all = append(all, contentHeader{strings.TrimSpace(name), value})
		}
	}
	return all
}

// damage returns why a header is not that of plain text; "" if it is.
func (h contentHeader) damage() string {
	value, parameters, _ := strings.Cut(strings.ToLower(h.value), ";")
	value = strings.TrimSpace(value)
	switch h.name {
	case "content-transfer-encoding":
		if value != "7bit" && value != "8bit" {
			return fmt.Sprintf("is a mail in the transfer encoding %q", value)
		}
	case "content-encoding":
		return fmt.Sprintf("is a mail that is compressed or encrypted (%q)", value)
	case "content-type":
		if !isTextType(value) {
			return fmt.Sprintf("is a mail with content of the type %q", value)
		}
		if set := charset(parameters); !isPlainCharset(set) {
			return fmt.Sprintf("is a mail in the charset %q", set)
		}
	}
	return ""
}

// isTextType reports whether content of a type can be, or contain, a patch.
func isTextType(value string) bool {
	kind, _, _ := strings.Cut(value, "/")
	if kind == "text" || kind == "multipart" {
		return true
	}
	types := []string{
		"", "message/rfc822", "application/octet-stream", "application/mbox", "application/x-patch",
		"application/x-diff", "application/pgp-signature", "application/pkcs7-signature",
		"application/x-pkcs7-signature",
	}
	return slices.Contains(types, value)
}

// charset returns the charset in the parameters of a type, "" if there is none.
func charset(parameters string) string {
	for p := range strings.SplitSeq(parameters, ";") {
		name, value, _ := strings.Cut(p, "=")
		if name = strings.TrimSpace(name); strings.HasPrefix(name, "charset") {
			return strings.Trim(strings.TrimSpace(value), `"'`)
		}
	}
	return ""
}

// isPlainCharset reports whether a charset encodes digits and letters as ASCII, and nothing else
// with these bytes.
func isPlainCharset(name string) bool {
	plain := []string{"", "ascii", "us-ascii", "utf-8", "utf8", "latin1", "koi8-r", "koi8-u"}
	families := []string{"iso-8859-", "iso8859-", "windows-125", "cp125"}
	return slices.Contains(plain, name) || slices.ContainsFunc(families, func(f string) bool {
		rest, ok := strings.CutPrefix(name, f)
		return ok && strings.Trim(rest, "0123456789") == ""
	})
}
