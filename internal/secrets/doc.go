// Package secrets finds keys, passwords and tokens in text, and redacts them.
//
//	rules := secrets.Builtin()
//	rules = rules.With(committed)            // of secrets/rules.toml, see ParseRules
//	rules.Digest()                           // what a conversation records as having redacted it
//	found := rules.Scan(text)                // in order, without overlaps
//	text, found = rules.Redact(text)         // with "[redacted:<rule>]" in their place
//
// # What it keeps true
//
// The result depends only on the bytes and the rules. Rules are data: a keyword, a regular
// expression that is matched at the keyword, and conditions that make a match implausible. The time
// of a scan is linear in the text, for any text and any rules, including untrusted ones: if a rule
// that a workspace adds would take longer, it counts the rest of the text as a match. Nothing is
// built before the first scan, and no expression is compiled before its keyword occurs.
//
// Text is scanned as it is, with its escapes undone (those of JSON and of URLs, and the colors of
// terminals), and inside base64, up to three levels deep. A [Match] is a range of the given text
// that contains the complete secret.
//
// # Words
//
// A rule's public part is the prefix that its provider gives to all tokens; it may be shown. A
// fingerprint names one finding of one event, see [Finding]. A redaction names the ranges of one
// text that are replaced, see [Redaction]. A check is one byte of a value's hash: it usually
// detects that the value has changed, and is no help in guessing a password.
//
// # What it does not promise
//
// It finds tokens with a known form, private keys, credentials in URIs, headers and commands, and
// values assigned to names such as "password". It does not find a password in a sentence. It reads
// no file and asks no user: the caller decides who may switch a rule off.
package secrets
