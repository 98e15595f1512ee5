package leaks_test

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/check"
	"github.com/git-jp/git-jp/internal/leaks"
	"github.com/git-jp/git-jp/internal/secrets"
)

// A tree is a source of files.
type tree struct {
	fstest.MapFS
	name string
}

func (t tree) Name() string { return t.name }

func (t tree) Sizes(context.Context, []check.File) ([]int64, error) { return nil, nil }

func (t tree) List(dir string) ([]check.Entry, error) {
	listed, err := t.ReadDir(dir)
	var entries []check.Entry
	for _, e := range listed {
		entries = append(entries, check.Entry{Name: e.Name(), Mode: e.Type()})
	}
	return entries, err
}

func (t tree) with(name, data string) tree {
	files := maps.Clone(t.MapFS)
	files[name] = &fstest.MapFile{Data: []byte(data)}
	return tree{files, t.name + "'"}
}

const id = events.ID(17000000000)

const dir = ".jp/conversations/17000000000/"

// said returns a tree with a conversation in which a user wrote some texts and got a result.
func said(name, result string, texts ...string) tree {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s := events.New(events.NewElement(at, &events.TurnStart{}, events.Metadata{}))
	for i, text := range texts {
		s.Append(events.NewElement(at.Add(time.Duration(i+1)*time.Second),
			&events.ChatRequest{Content: text}, events.Metadata{}))
	}
	content := blobs.Loaded([]byte(result))
	s.Append(events.NewElement(at.Add(time.Hour), &events.ToolCallResponse{ID: "c", Blocks: []events.Block{
		{Type: events.BlockText, Content: blobs.Refer(content.Ref())},
	}}, events.Metadata{}))
	t := tree{fstest.MapFS{}, name}.with(dir+"events.json", string(s.Encode())).
		with(dir+"metadata.json", `{"title": "t", "x": {"$blob": "0000000000000000000000000000000000000000000000000000000000000000", "size": 1}, "last_activated_at": "2026-01-01 00:00:00.0"}`).
		with(".jp/blobs/"+content.Ref().Hash.Path(), string(blobs.Encode([]byte(result))))
	t.name = name
	return t
}

func token(n int) string {
	return "np" + "m_" + "8sKd02mXo3Qp9vTz4Lr7Wn1Yc5Hb6Jf0Ge" + fmt.Sprintf("%02d", n)
}

func scan(t *testing.T, o leaks.Options, base *tree, trees ...tree) []check.Finding {
	t.Helper()
	o.Dirs = []string{".jp"}
	s := leaks.NewScanner(o)
	if base != nil {
		if err := s.Skip(t.Context(), base); err != nil {
			t.Fatal(err)
		}
	}
	for _, src := range trees {
		if err := s.Scan(t.Context(), src); err != nil {
			t.Fatal(err)
		}
	}
	r := &check.Report{}
	s.Report(r)
	return r.Findings
}

func states(found []check.Finding) (all []string) {
	for _, f := range found {
		all = append(all, fmt.Sprintf("%s %s", f.Commit, f.State))
	}
	return all
}

// TestWhatIsNewIsFound follows a conversation from commit to commit.
func TestWhatIsNewIsFound(t *testing.T) {
	base := said("base", "ok", token(1))
	one := said("one", "out "+token(2), token(1), "fine")
	two := said("two", "out "+token(2), token(1), "fine", "oh "+token(3))
	found := scan(t, leaks.Options{}, &base, one, two)
	if got := states(found); !slices.Equal(got, []string{"one secret", "two secret"}) {
		t.Fatalf("found %q", got)
	}
	f := found[0]
	if f.Path != dir+"events.json" || f.Turn != 1 || f.Line < 2 || f.Call != "c" || f.Title != "t" ||
		f.Rule != "npm-token" || f.Severity != check.Error {
		t.Errorf("%+v", f)
	}
	if text := fmt.Sprintf("%+v", found); strings.Contains(text, "8sKd") ||
		!strings.Contains(f.Detail, "40 bytes, begins with npm_") {
		t.Errorf("a finding shows what it found, or not its prefix: %s", text)
	}
	if got := scan(t, leaks.Options{Select: func(events.ID) bool { return false }}, nil, two); len(got) > 0 {
		t.Errorf("what was not selected was scanned: %v", got)
	}
}

// TestTitleIsNotShown checks that a finding prints neither a secret in the title nor the name of
// the directory, which is made from the title.
func TestTitleIsNotShown(t *testing.T) {
	const value = "d41f8c2a9b7e4063a5f1c8e2"
	named := strings.Replace(dir, "17000000000", "17000000000-api-key--"+value, 1)
	src := tree{fstest.MapFS{}, "a"}.
		with(named+"events.json", string(said("b", "x", `api_key="`+value+`" fails`).MapFS[dir+"events.json"].Data)).
		with(named+"metadata.json", `{"title": "api_key=\"`+value+`\" fails", "last_activated_at": "2026-01-01 00:00:00.0"}`)
	found := scan(t, leaks.Options{}, nil, src)
	if len(found) != 2 {
		t.Fatalf("found %+v, want two", found)
	}
	for _, f := range found {
		if text := fmt.Sprintf("%+v", f); strings.Contains(text, value) ||
			!strings.HasPrefix(f.Path, ".jp/conversations/17000000000-*/") {
			t.Errorf("finding %s", text)
		}
	}
}

// TestAllowedIsListed verifies that a later commit allows what an earlier one has, and that a range
// lists what it newly allows.
func TestAllowedIsListed(t *testing.T) {
	one := said("one", "ok", token(1))
	f := scan(t, leaks.Options{}, nil, one)[0]
	stream, err := events.Decode(one.MapFS[dir+"events.json"].Data)
	if err != nil {
		t.Fatal(err)
	}
	all, err := (&secrets.Scanner{Rules: secrets.Builtin()}).Stream(id, stream, nil, nil)
	if err != nil || len(all) != 1 || all[0].Fingerprint() != f.Fingerprint {
		t.Fatalf("%+v, %v", all, err)
	}
	a := all[0].Allowed
	two := one.with(".jp/"+a.Name(), string(a.Encode()))
	if got := states(scan(t, leaks.Options{}, nil, one, two)); !slices.Equal(got, []string{"one' allowed"}) {
		t.Errorf("found %q", got)
	}
	if got := states(scan(t, leaks.Options{}, &two, two)); got != nil {
		t.Errorf("found again %q", got)
	}
	moved := one.with(".jp/secrets/allowed/all.json", string(a.Encode()))
	if got := states(scan(t, leaks.Options{}, nil, moved)); !slices.Equal(got,
		[]string{"one' foreign", "one' secret"}) {
		t.Errorf("an entry of another name: %q", got)
	}
}

// TestEntryInLFS checks an entry that Git LFS has not checked out: nothing is written without what
// the working tree lists, but one commit with a pointer must not stop those that read all of them.
func TestEntryInLFS(t *testing.T) {
	name := ".jp/secrets/redacted/17000000000-" + strings.Repeat("0", 32) + ".json"
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		strings.Repeat("0", 64) + "\nsize 9\n"
	for source, stops := range map[string]bool{check.WorkTreeName: true, "c1": false} {
		src := tree{fstest.MapFS{}, source}.with(name, pointer)
		src.name = source
		entries, err := leaks.ReadRedactions(src, ".jp", nil, nil)
		if stops != errors.Is(err, blobs.ErrPointer) || !stops && err != nil {
			t.Fatalf("%s: %v", source, err)
		}
		if !stops && (len(entries.Problems) != 1 || entries.Problems[0].Next != blobs.FetchPointers) {
			t.Errorf("%s: problems %+v", source, entries.Problems)
		}
	}
}

// TestRulesThatCannotBeRead checks that rules which do not count are an error where they matter, and
// what a later version added to them is not.
func TestRulesThatCannotBeRead(t *testing.T) {
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" +
		strings.Repeat("0", 64) + "\nsize 9\n"
	correct := "correct the file, then 'git add' it"
	for rules, want := range map[string]struct {
		severity check.Severity
		next     string
	}{
		"x": {check.Error, correct}, "[[rule]]\nname = 'jwt'": {check.Error, correct},
		pointer:     {check.Error, blobs.FetchPointers},
		"later = 1": {check.Warning, "git log -1 -- :/.jp/secrets/rules.toml"},
	} {
		src := said("one", "ok", "hello").with(".jp/secrets/rules.toml", rules)
		got := scan(t, leaks.Options{RulesMatter: true}, nil, src)
		if len(got) != 1 || got[0].Next != want.next || got[0].Severity != want.severity {
			t.Errorf("%q: %+v", rules, got)
		}
	}
}

// TestEntriesOfStrangersCountForNothing tests everything that may be in the place of our files.
func TestEntriesOfStrangersCountForNothing(t *testing.T) {
	one := said("one", "ok", token(1))
	for name, f := range map[string]*fstest.MapFile{
		"rules.toml":                          {Data: []byte("x")},
		"redacted":                            {Mode: fs.ModeSymlink, Data: []byte("/etc")},
		"allowed/" + strings.Repeat("0", 32):  {Mode: fs.ModeNamedPipe},
		"redacted/1-2.json":                   {Data: []byte(strings.Repeat(" ", secrets.MaxFile+1))},
		"other":                               {},
		"allowed/" + strings.Repeat("a", 300): {Mode: fs.ModeDir},
	} {
		src := one.with("x", "")
		src.MapFS[path.Join(".jp/secrets", name)] = f
		if got := states(scan(t, leaks.Options{}, nil, src)); !slices.Equal(got,
			[]string{"one' foreign", "one' secret"}) {
			t.Errorf("%s: %q", name, got)
		}
	}
}

// TestRulesThatAreOffAreApproved verifies that a committed file alone turns no rule off.
func TestRulesThatAreOffAreApproved(t *testing.T) {
	one := said("one", "ok", token(1)).with(".jp/secrets/rules.toml", `off = ["npm-token"]`)
	if got := scan(t, leaks.Options{}, nil, one); len(got) != 1 {
		t.Errorf("without an approval: %v", got)
	}
	approve := func(_ string, names []string) []string { return names }
	if got := scan(t, leaks.Options{Off: approve}, nil, one); len(got) != 0 {
		t.Errorf("approved: %v", got)
	}
}

// TestOwnSecretsAndFiles verifies what stops a commit: the user's own secrets, in any form, and
// attached files that Git does not have.
func TestOwnSecretsAndFiles(t *testing.T) {
	own := secrets.OwnValues([]byte("# A_KEY=zzzz9zzzzzz8zy\nexport DB_PASSWORD='vb7.Kq-22x9'\nNAME=vb7.Kq-22x8\n" +
		"TEST_TOKEN=placeholder\n"))
	if !slices.Equal(own, []string{"vb7.Kq-22x9"}) {
		t.Fatalf("own: %q", own)
	}
	one := said("one", "it is "+base64.StdEncoding.EncodeToString([]byte("the vb7.Kq-22x9 of it")), "vb7.Kq-22x9", "b")
	if got := scan(t, leaks.Options{}, nil, one); len(got) != 0 {
		t.Errorf("without own: %v", got)
	}
	if got := scan(t, leaks.Options{Own: own}, nil, one); len(got) != 2 || got[0].Rule != secrets.Own {
		t.Errorf("own: %v", got)
	}
	s := events.New(events.NewElement(time.Unix(5, 0), &events.ChatRequest{Resources: []events.Resource{
		{URI: "file:///$WORKSPACE/a%20b.txt#L1", Content: blobs.Loaded(nil)},
		{URI: "file:///$WORKSPACE/.env", Content: blobs.Loaded(nil)},
		{URI: "https://x.invalid/"},
	}}, events.Metadata{}))
	tracked := func(name string) bool { return name == "a b.txt" }
	got := scan(t, leaks.Options{Tracked: tracked}, nil, tree{fstest.MapFS{}, "x"}.with(dir+"events.json", string(s.Encode())))
	if len(got) != 1 || got[0].Rule != "untracked-file" || !strings.Contains(got[0].Detail, ".env") {
		t.Errorf("attached: %+v", got)
	}
}

// TestWhatWasRedactedIsFoundAgain verifies that a text that an entry names is a finding by itself.
func TestWhatWasRedactedIsFoundAgain(t *testing.T) {
	text := "the word is sesame"
	one := said("one", "ok", text)
	stream, err := events.Decode(one.MapFS[dir+"events.json"].Data)
	if err != nil {
		t.Fatal(err)
	}
	r := secrets.Redaction{
		Conversation: id.Digits(), Event: stream.Keys()[1], Member: "/content",
		Ranges: []secrets.Range{secrets.NewRange([]byte(text), secrets.Match{Rule: "text", Start: 12, End: 18})},
	}
	other := one // another branch, without the entry
	one = one.with(".jp/"+r.Name(), string(r.Encode()))
	if got := states(scan(t, leaks.Options{}, nil, one)); !slices.Equal(got, []string{"one' unredacted"}) {
		t.Errorf("found %q", got)
	}
	if got := scan(t, leaks.Options{}, &one, one); got != nil {
		t.Errorf("found again: %v", got)
	}
	if got := scan(t, leaks.Options{}, &other, one); len(got) != 1 {
		t.Errorf("the entry is new: %v", got)
	}
	s := leaks.NewScanner(leaks.Options{Dirs: []string{".jp"}})
	if err := errors.Join(s.SkipMerged(t.Context(), one), s.Scan(t.Context(), one)); err != nil {
		t.Fatal(err)
	}
	report := &check.Report{}
	if s.Report(report); len(report.Findings) != 1 {
		t.Errorf("merged from a branch that has both: %v", report.Findings)
	}
}
