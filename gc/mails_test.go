package gc_test

import (
	"encoding/base64"
	"mime/quotedprintable"
	"slices"
	"strings"
)

// A mailForm is a form in which a mail can contain a commit.
type mailForm int

const (
	inPlainText mailForm = iota
	inBase64
	inQuotedPrintable
	inBinaryPatch
	mailForms // the number of forms
)

// mailOf returns a mail of a commit.
func (f *fixture) mailOf(commit string, form mailForm) string {
	f.tb.Helper()
	args := []string{"format-patch", "--root", "-1", "--stdout", "--binary", commit}
	if form == inBinaryPatch {
		f.WriteFile("../attributes", "* -diff\n")
		args = append([]string{"-c", "core.attributesFile=" + f.Path("../attributes")}, args...)
	}
	head, body, _ := strings.Cut(f.Run(args...)+"\n", "\n\n")
	const mime = "\nMIME-Version: 1.0\nContent-Type: text/plain; charset=UTF-8\n" +
		"Content-Transfer-Encoding: "
	var b strings.Builder
	b.WriteString(head)
	switch form {
	case inBase64:
		b.WriteString(mime + "base64\n\n")
		text := base64.StdEncoding.EncodeToString([]byte(body))
		for line := range slices.Chunk([]byte(text), 76) {
			b.Write(append(line, '\n'))
		}
	case inQuotedPrintable:
		b.WriteString(mime + "quoted-printable\n\n")
		w := quotedprintable.NewWriter(&b)
		_, _ = w.Write([]byte(body)) // to memory
		_ = w.Close()
	default:
		b.WriteString("\n\n" + body)
	}
	return b.String()
}

// applyMails starts git am, which stops at a mail before the given one.
func (f *fixture) applyMails(behind string) {
	f.tb.Helper()
	f.WriteFile("../mails", "From "+strings.Repeat("0", 40)+" Mon Sep 17 00:00:00 2001\n"+
		"From: a <a@b>\nSubject: fails\n\n---\n--- a/nothing\n+++ b/nothing\n"+
		"@@ -1 +1 @@\n-x\n+y\n-- \n2\n\n"+behind)
	if _, err := f.Try("am", "-q", f.Path("../mails")); err == nil {
		f.tb.Fatal("am did not stop")
	}
	f.Remove("../mails")
}
