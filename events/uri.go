package events

import "strings"

// URIScheme returns the scheme of the URI of a resource, in lower case, and "" for what is no
// URI, such as a path. One letter before a colon is a drive of Windows.
func URIScheme(uri string) string {
	name, _, ok := strings.Cut(uri, ":")
	if !ok || len(name) < 2 {
		return ""
	}
	for i, c := range name {
		letter := 'a' <= c|0x20 && c|0x20 <= 'z'
		if !letter && (i == 0 || !strings.ContainsRune("0123456789+-.", c)) {
			return ""
		}
	}
	return strings.ToLower(name)
}
