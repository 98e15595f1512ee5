package blobs

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxPointer is the size from which a file is not a Git LFS pointer, by its specification.
const maxPointer = 1024

const (
	pointerVersion = "version "
	pointerOID     = "oid sha256:"
	pointerSize    = "size "
)

// pointerVersions returns the names of version 1. Git LFS reads the older two like its own.
func pointerVersions() [3]string {
	return [...]string{
		"https://git-lfs.github.com/spec/v1", "https://hawser.github.com/spec/v1",
		"http://git-media.io/v/2",
	}
}

// FetchPointers is the command that replaces pointers with the files that they refer to.
const FetchPointers = "git lfs pull"

// ErrPointer reports that a file other than a blob is a Git LFS pointer.
var ErrPointer = errors.New("a Git LFS pointer: its content is missing locally")

// PointersText says that n blobs are pointers.
func PointersText(n int) string {
	if n == 1 {
		return "1 blob is a Git LFS pointer: its content is missing locally"
	}
	return fmt.Sprintf("%d blobs are Git LFS pointers: their content is missing locally", n)
}

// FetchedPointersText says that n blobs are pointers whose content Git LFS has.
func FetchedPointersText(n int) string {
	if n == 1 {
		return "1 blob is a Git LFS pointer: its content was fetched and is not checked out"
	}
	return fmt.Sprintf(
		"%d blobs are Git LFS pointers: their content was fetched and is not checked out", n)
}

// IsPointer reports whether a file that begins with head may be a Git LFS pointer of version 1.
func IsPointer(head []byte) bool {
	rest, ok := bytes.CutPrefix(head, []byte(pointerVersion))
	version, _, ends := bytes.Cut(rest, []byte("\n"))
	all := pointerVersions()
	return ok && ends && slices.Contains(all[:], string(bytes.TrimSuffix(version, []byte("\r"))))
}

// ParsePointer parses a complete Git LFS pointer of version 1. It returns the SHA-256 of the file
// that the pointer refers to, in hexadecimal, and that file's size. Lines of extensions are
// skipped, and line ends may be CRLF, as after a checkout on Windows.
func ParsePointer(b []byte) (oid string, size int64, ok bool) {
	if len(b) >= maxPointer || !IsPointer(b) {
		return "", 0, false
	}
	size = -1
	for line := range strings.Lines(string(b)) {
		line = strings.TrimRight(line, "\r\n")
		if digits, found := strings.CutPrefix(line, pointerOID); found {
			oid = digits
		}
		if digits, found := strings.CutPrefix(line, pointerSize); found {
			n, err := strconv.ParseInt(digits, 10, 64)
			if err != nil {
				return "", 0, false
			}
			size = n
		}
	}
	sum, err := hex.DecodeString(oid)
	if err != nil || len(sum) != len(Hash{}) || size < 0 {
		return "", 0, false
	}
	return oid, size, true
}

// PointsTo reports whether a pointer refers to a file with the given bytes.
func PointsTo(pointer, file []byte) bool {
	oid, size, ok := ParsePointer(pointer)
	sum := sha256.Sum256(file)
	return ok && size == int64(len(file)) && oid == hex.EncodeToString(sum[:])
}
