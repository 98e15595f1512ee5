package leaks_test

import (
	"errors"
	"io/fs"
	"path"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
	"github.com/git-jp/git-jp/internal/workspace"
)

// redaction returns an entry that redacts a word of a conversation's request.
func redaction(of events.ID) secrets.Redaction {
	text := "it is tulip-4711"
	m := secrets.Match{Start: 6, End: len(text), Rule: "word"}
	return secrets.Redaction{
		Conversation: of.Digits(), Event: "e", Ranges: []secrets.Range{secrets.NewRange([]byte(text), m)},
	}
}

// TestRedacts checks which files, if they are removed, bring text back.
func TestRedacts(t *testing.T) {
	entry := redaction(id)
	name := path.Join(".jp", entry.Name())
	allowed := secrets.Allowed{
		Rule: "word", Conversation: id.Digits(), Event: "e", Check: entry.Ranges[0].Check,
	}
	none := tree{fstest.MapFS{}, "none"}
	allowing := none.with(path.Join(".jp", allowed.Name()), string(allowed.Encode()))
	other := allowed
	other.Rule = "other"
	wrong := none.with(path.Join(".jp", other.Name()), string(other.Encode()))
	damaged := none.with(path.Join(".jp", allowed.Name()), "{")
	for i, tt := range []struct {
		name, data string
		allowing   tree
		want       bool
	}{
		{name, string(entry.Encode()), none, true},
		{"sub/" + name, string(entry.Encode()), none, true},
		{name, string(entry.Encode()), allowing, false},
		{"sub/" + name, string(entry.Encode()), allowing, true}, // of another workspace
		{name, string(entry.Encode()), wrong, true},
		{name, string(entry.Encode()), damaged, true},
		{name, "{", none, false},
		{name, string(redaction(id + 1).Encode()), none, false},
		{strings.Replace(name, "redacted", "allowed", 1), string(entry.Encode()), none, false},
		{path.Join(".jp", secrets.RedactedDir, "deeper", path.Base(name)), string(entry.Encode()), none, false},
		{path.Join(".jp", secrets.RedactedDir, "x.json"), string(entry.Encode()), none, false},
		{strings.TrimPrefix(name, ".jp/"), string(entry.Encode()), none, false},
	} {
		if _, _, is := leaks.IsRedaction(tt.name); is != (i < 8) {
			t.Errorf("%s is a redaction: %t", tt.name, is)
		}
		read := func() ([]byte, error) { return []byte(tt.data), nil }
		got, err := leaks.Redacts(tt.name, read, tt.allowing)
		if got != tt.want || err != nil {
			t.Errorf("%s, allowed by %v: %t, %v", tt.name, tt.allowing, got, err)
		}
	}
	unread := func() ([]byte, error) { return nil, fs.ErrPermission }
	if got, err := leaks.Redacts(name, unread, none); got || err != nil {
		t.Errorf("what cannot be read: %t, %v", got, err)
	}
	f := leaks.RemovedEntry("now", "sub/"+name, gitint.OID{})
	if want := "git restore --source=000000000000 --staged --worktree -- "; f.Conversation != id.String() ||
		f.Path != "sub/"+name || f.Severity != check.Warning || !strings.HasPrefix(f.Next, want) ||
		!strings.Contains(f.Next, name) {
		t.Errorf("%+v", f)
	}
}

// TestBeside checks to which conversation files beside the conversations belong, by their name alone
// and by their content.
func TestBeside(t *testing.T) {
	entry := redaction(id)
	allowed := secrets.Allowed{Rule: "word", Conversation: id.Digits(), Event: "e"}
	other := allowed
	other.Conversation = "x"
	digits := id.Digits()
	for _, tt := range []struct {
		name, data string
		named, is  bool
	}{
		{entry.Name(), string(entry.Encode()), true, true},
		{entry.Name(), string(redaction(id + 1).Encode()), true, false},
		{entry.Name(), "{", true, false},
		{allowed.Name(), string(allowed.Encode()), false, true},
		{allowed.Name(), string(other.Encode()), false, false},
		{other.Name(), string(other.Encode()), false, false},
		{workspace.RemovedDir + "/" + digits + ".json", "{", true, false},
		{workspace.RemovedDir + "/" + digits + ".json", `{"session":"s"}`, true, false},
		{workspace.RemovedDir + "/x.json", `{"session":"s"}`, false, false},
	} {
		if got, ok := leaks.BesideNamed(tt.name); ok != tt.named || ok && got != id {
			t.Errorf("%s is named after %v, %t", tt.name, got, ok)
		}
		for _, wanted := range []bool{true, false} {
			may := leaks.MayBeside(tt.name, func(events.ID) bool { return wanted })
			if want := tt.named && wanted || strings.HasPrefix(tt.name, secrets.AllowedDir); may != want {
				t.Errorf("%s may belong to one that is wanted %t: %t", tt.name, wanted, may)
			}
		}
		got, err := leaks.NewMemo().Beside(tt.name, check.Entry{}, func() ([]byte, error) { return []byte(tt.data), nil })
		if (err == nil) != tt.is || tt.is && got != id {
			t.Errorf("%s with %s belongs to %v, %v", tt.name, tt.data, got, err)
		}
		if _, err := leaks.NewMemo().Beside(tt.name, check.Entry{}, func() ([]byte, error) { return nil, fs.ErrPermission }); !errors.Is(err, fs.ErrPermission) {
			t.Errorf("%s that cannot be read: %v", tt.name, err)
		}
	}
	const session = "agent/session"
	for i, of := range events.SessionIDs(session) {
		name := events.Dirname(of, "")
		for file, want := range map[string]bool{
			name + ".json": true, name + "-slug.json": false, name + ".txt": false, name: false,
		} {
			got, err := leaks.NewMemo().Beside(workspace.RemovedDir+"/"+file, check.Entry{}, func() ([]byte, error) { return []byte(`{"session":"` + session + `"}`), nil })
			if (err == nil) != want || want && got != of {
				t.Errorf("%d: %s belongs to %v, %v", i, file, got, err)
			}
		}
	}
}
