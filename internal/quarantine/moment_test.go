package quarantine_test

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/git-jp/git-jp/internal/quarantine"
)

func TestMoment(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{
		"20260101T000000.001Z-7", "20260101T000000.000Z-9", "repair-20260101T000000.009Z-7",
		"other", "20269901T000000.000Z-7", "2026",
	} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, tt := range []struct {
		prefix, want string
		now          time.Time
	}{
		{"", "20260101T000000.002", at(0)},
		{"", "20260101T000000.002", at(0).Add(-30 * day)},
		{"", "20260101T010000.000", at(0).Add(time.Hour)},
		{"repair-", "20260101T000000.010", at(0)},
		{"redacted-", "20260101T000000.000", at(0)},
	} {
		got, err := quarantine.Moment(dir, tt.prefix, tt.now)
		if err != nil || got != tt.want {
			t.Errorf("%q at %v: %s, %v, want %s", tt.prefix, tt.now, got, err, tt.want)
		}
	}
	if got, err := quarantine.Moment(filepath.Join(dir, "none"), "", at(0)); err != nil ||
		got != "20260101T000000.000" {
		t.Errorf("no directory: %s, %v", got, err)
	}
	// No name that git jp reads is later.
	if err := os.Mkdir(filepath.Join(dir, "last-99991231T235959.999Z-7"), 0o700); err != nil {
		t.Fatal(err)
	}
	if got, err := quarantine.Moment(dir, "last-", at(0)); err == nil {
		t.Errorf("behind the last moment that a name can have: %s", got)
	}
	if _, err := quarantine.Moment(filepath.Join(dir, "other", "\x00"), "", at(0)); err == nil {
		t.Error("a directory that cannot be read: no error")
	}
}

// TestClockSetBack: what is kept later comes later, whatever the clock says.
func TestClockSetBack(t *testing.T) {
	was, is, store := conversation(t)
	q := quarantine.Quarantine{Dir: filepath.Join(t.TempDir(), "trash")}
	put := func(n int) string {
		a, err := q.Put(quarantine.Change{ID: id, At: at(n), Was: was, Is: is, Contents: store})
		if err != nil {
			t.Fatal(err)
		}
		return a.Name
	}
	keep := func(n int) string {
		k := quarantine.Keeper{Quarantine: q, Now: func() time.Time { return at(n) }, PID: 7}
		if err := k.Keep("a", nil); err != nil {
			t.Fatal(err)
		}
		return k.Name()
	}
	for _, add := range []func(int) string{put, keep} {
		if first, second := add(9), add(3); second <= first {
			t.Errorf("%s came after %s", second, first)
		}
	}
}
