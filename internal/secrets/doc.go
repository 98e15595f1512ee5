// Package secrets finds keys, passwords and tokens in text, and says what is done about them.
//
//	rules := secrets.Builtin()
//	rules = rules.With(committed)            // of secrets/rules.toml, see ParseRules
//	rules.Digest()                           // what a conversation records as having redacted it
//	found := rules.Scan(text)                // in order, apart from each other
//	text, found = rules.Redact(text)         // "[redacted:<rule>]" in their place
//
// # What it keeps true
//
// The result depends on the bytes and the rules alone. Rules are data: a keyword, a regular
// expression that is matched where the keyword is, and what makes a match implausible. The time
// of a scan is linear in the text, whatever is in it, also with rules of strangers: where these
// would take longer, all that follows counts as found. Nothing is built before the first scan, and
// no expression compiled before its keyword occurs.
//
// Text is looked at as it is, with its JSON escapes undone, and inside base64, in up to three
// levels. A [Match] is a range of the text as it was given, which has all of the secret.
//
// # Words
//
// A rule's public part is the prefix that its provider gives to all tokens; it may be shown. A
// fingerprint names one finding of one event, see [Finding]. A redaction says which ranges of one
// text are replaced, see [Redaction]. A check is one byte of a hash: it tells another text from
// the right one, and is no help in guessing a password.
//
// # What it does not promise
//
// It finds tokens with a known form, private keys, credentials in URIs and values assigned to
// names that say what they are. A password in a sentence is found by nobody. It reads no file and
// asks nobody for permission: who may switch a rule off is for the caller to know.
package secrets
