package events

import "strings"

// URIScheme returns the scheme of a resource's URI, in lower case, or "" if it is not a URI, such
// as a path. A single letter before a colon is a Windows drive, not a scheme.
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
