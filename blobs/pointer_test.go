package blobs_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
)

// TestPointers reads what "git lfs pointer --check" of git-lfs 3.8.1 accepts, and not what only
// begins like it.
func TestPointers(t *testing.T) {
	oid := strings.Repeat("0d8a79a3", 8)
	rest := "oid sha256:" + oid + "\nsize 38\n"
	for _, tt := range []struct {
		text    string
		is, all bool // a pointer, and one with all that it needs
	}{
		{"version https://git-lfs.github.com/spec/v1\n" + rest, true, true},
		{"version https://hawser.github.com/spec/v1\n" + rest, true, true},
		{"version http://git-media.io/v/2\n" + rest, true, true},
		{"version http://git-media.io/v/2\r\n" + strings.ReplaceAll(rest, "\n", "\r\n"), true, true},
		{"version https://git-lfs.github.com/spec/v1\nsize 38\n", true, false},
		{"version https://git-lfs.github.com/spec/v1", false, false},
		{"version https://git-lfs.github.com/spec/v10\n" + rest, false, false},
		{"version http://git-media.io/v/3\n" + rest, false, false},
		{" version http://git-media.io/v/2\n" + rest, false, false},
		{"", false, false},
	} {
		got, size, all := blobs.ParsePointer([]byte(tt.text))
		if is := blobs.IsPointer([]byte(tt.text)); is != tt.is || all != tt.all {
			t.Errorf("%q: a pointer %t, complete %t", tt.text, is, all)
		}
		if all && (got != oid || size != 38) {
			t.Errorf("%q: %s of %d bytes", tt.text, got, size)
		}
	}
}

// TestPointsTo compares a pointer with files: a wrong size or sum is another file.
func TestPointsTo(t *testing.T) {
	const file = "text\n"
	sum := fmt.Sprintf("%x", sha256.Sum256([]byte(file)))
	pointer := func(oid string, size int) []byte {
		return fmt.Appendf(nil, "version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize %d\n", oid, size)
	}
	for _, tt := range []struct {
		pointer []byte
		file    string
		want    bool
	}{
		{pointer(sum, 5), file, true},
		{pointer(sum, 6), file, false},
		{pointer(sum, 5), "other", false},
		{pointer(strings.Repeat("0", 64), 5), file, false},
		{[]byte(file), file, false},
		{nil, "", false},
	} {
		if got := blobs.PointsTo(tt.pointer, []byte(tt.file)); got != tt.want {
			t.Errorf("%q points to %q: %t", tt.pointer, tt.file, got)
		}
	}
}
