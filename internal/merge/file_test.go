package merge

import (
	"bytes"
	"compress/gzip"
	"os"
	"path"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/threeway"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/gittest"
)

const (
	baseStream = `[
  {
    "timestamp": "2026-01-01 00:00:00.0",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-01-01 00:00:01.0",
    "type": "chat_request",
    "content": "What?"
  }
]
`
	blobPath = ".jp/blobs/"
)

// gzipOf encodes as another program would.
func gzipOf(t *testing.T, content string) []byte {
	t.Helper()
	var b bytes.Buffer
	w, err := gzip.NewWriterLevel(&b, gzip.BestSpeed)
	if err != nil {
		t.Fatal(err)
	}
	w.Name = "other"
	if _, err := w.Write([]byte(content)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestBlobs(t *testing.T) {
	canonical, other := blobs.Encode([]byte("content")), gzipOf(t, "content")
	wrong, cut := blobs.Encode([]byte("another")), canonical[:len(canonical)-3]
	name := blobPath + blobs.Sum([]byte("content")).Path()
	for _, test := range []struct {
		name         string
		ours, theirs []byte
		ok           bool
	}{
		{"two encodings", canonical, other, true},
		{"the other way round", other, canonical, true},
		{"ours is cut", cut, other, true},
		{"theirs is of something else", other, wrong, true},
		{"theirs is empty", other, nil, true},
		{"both are damaged", cut, wrong, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := File{Kind: Blob, Path: name, Ours: test.ours, Theirs: test.theirs}.Merge()
			if (err == nil) != test.ok {
				t.Fatalf("got %v", err)
			}
			if err == nil && !bytes.Equal(m.Data, canonical) {
				t.Error("the result is not the canonical encoding")
			}
		})
	}
	if _, err := (File{Kind: Blob, Path: ".jp/blobs/aa/x", Ours: canonical}).Merge(); err == nil {
		t.Error("a file that is no blob was merged")
	}
}

// called runs a driver on three files and returns the merged text.
func called(t *testing.T, kind Kind, base, ours, theirs string) (string, *Merged, error) {
	t.Helper()
	return calledWith(t, Call{Kind: kind, MarkerSize: plainMarker}, base, ours, theirs)
}

func calledWith(t *testing.T, c Call, base, ours, theirs string) (string, *Merged, error) {
	t.Helper()
	dir := t.TempDir()
	names := make([]string, 3)
	for i, text := range []string{base, ours, theirs} {
		names[i] = filepath.Join(dir, "version"+string(rune('0'+i)))
		if err := os.WriteFile(names[i], []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c.Base, c.Ours, c.Theirs = names[0], names[1], names[2]
	c.Path, c.Now = ".jp/conversations/17000000001-a/events.json", time.Now
	c.Repo = func() (*gitint.Repo, error) { return nil, gitint.ErrNotRepository }
	m, err := c.Run(t.Context())
	data, readErr := os.ReadFile(names[1])
	if readErr != nil {
		t.Fatal(readErr)
	}
	entries, readErr := os.ReadDir(dir)
	if readErr != nil || len(entries) != len(names) {
		t.Errorf("%d files are left: %v", len(entries), readErr)
	}
	return string(data), m, err
}

const testMetadata = `{"last_activated_at": "2026-01-01 01:00:00.0"}`

// TestFailureLeavesOurs checks that a failed merge changes nothing.
func TestFailureLeavesOurs(t *testing.T) {
	for _, test := range []struct {
		name, base, ours, theirs string
		kind                     Kind
	}{
		{"theirs has markers", baseStream, baseStream, "<<<<<<< a\n" + baseStream, Events},
		{"ours is cut", baseStream, baseStream[:40], baseStream, Events},
		{"base is something else", "{}", baseStream, strings.Replace(baseStream, "W", "w", 1), Events},
		{"ours is empty", baseStream, "", strings.Replace(baseStream, "W", "w", 1), Events},
		{"theirs is empty", baseStream, baseStream, "", Events},
		{"metadata is none", "{}", "{", `{"title": 1}`, Metadata},
		{"metadata is empty", testMetadata, testMetadata, "", Metadata},
		{"configuration is empty", `{"a": 1}`, "", `{"a": 2}`, Config},
		{"a kind of a newer release", "a", "b", "c", "future"},
	} {
		t.Run(test.name, func(t *testing.T) {
			got, m, err := called(t, test.kind, test.base, test.ours, test.theirs)
			if err == nil {
				t.Fatalf("merged to %q", m.Data)
			}
			if got != test.ours {
				t.Errorf("ours became %q", got)
			}
		})
	}
}

// TestConflictLoads checks that a conflict leaves a readable stream, also outside of repositories,
// which differs from our version.
func TestConflictLoads(t *testing.T) {
	ours := strings.Replace(baseStream, "What?", "Ours?", 1)
	got, m, err := called(t, Events, baseStream, ours, strings.Replace(baseStream, "What?", "Theirs?", 1))
	if err != nil || len(m.Conflicts) != 1 {
		t.Fatalf("got %v, %v", m, err)
	}
	if _, err := events.Decode([]byte(got)); err != nil || !strings.Contains(got, "Ours?") {
		t.Errorf("left %q: %v", got, err)
	}
	if got == ours {
		t.Error("git cannot tell it from our version")
	}
}

// TestVirtualBase merges bases of a criss-cross merge, which git marks by longer markers: a
// conflict keeps its old form, for the following merge to report.
func TestVirtualBase(t *testing.T) {
	ours := strings.Replace(baseStream, "What?", "Ours?", 1)
	theirs := strings.Replace(baseStream, "What?", "Theirs?", 1)
	c := Call{Kind: Events, MarkerSize: plainMarker + 2}
	got, m, err := calledWith(t, c, baseStream, ours, theirs)
	if err != nil || len(m.Conflicts) > 0 || !strings.Contains(got, "What?") {
		t.Errorf("got %q, %v, %v", got, m, err)
	}
	// Markers are longer by one if both sides renamed the file, which is no virtual base.
	c.MarkerSize = plainMarker + 1
	if _, m, err = calledWith(t, c, baseStream, ours, theirs); err != nil || len(m.Conflicts) == 0 {
		t.Errorf("renamed on both sides: %v, %v", m, err)
	}
}

// TestMarkerSizeOfTheUser distinguishes bases from a user's long markers.
func TestMarkerSizeOfTheUser(t *testing.T) {
	r := gittest.Repo(t)
	r.WriteFile(".gitattributes", "*.json conflict-marker-size=32\n")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // was only read
	for size, want := range map[int]bool{7: false, 8: false, 32: false, 33: false, 34: true} {
		c := Call{
			Path: ".jp/conversations/17000000001-a/events.json", MarkerSize: size,
			Repo: func() (*gitint.Repo, error) { return repo, nil },
		}
		if got := c.virtual(t.Context()); got != want {
			t.Errorf("markers of %d: %v, want %v", size, got, want)
		}
	}
}

// TestDriverStartsNoGit: a merge of two hundred conversations runs two hundred drivers.
func TestDriverStartsNoGit(t *testing.T) {
	r := gittest.Repo(t)
	const name = ".jp/conversations/17000000001-a/events.json"
	r.WriteFile(name, `[{"timestamp":"2026-05-29 19:42:30.0","type":"turn_start"}]`)
	r.Commit("one")
	theirs := strings.TrimSpace(r.Run("rev-parse", "HEAD"))
	env := append(r.Env, headPrefix+theirs+"=side")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: env})
	if err != nil {
		t.Fatal(err)
	}
	c := Call{
		Kind: Events, Path: name, MarkerSize: plainMarker, Now: time.Now,
		Base: r.Path(name), Ours: r.Path(name), Theirs: r.Path(name),
		Repo: func() (*gitint.Repo, error) { return repo, nil },
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if n := repo.Processes(); n != 0 {
		t.Errorf("git was started %d times", n)
	}
}

// TestBeside finds the merged commits, which git does not pass to a driver.
func TestBeside(t *testing.T) {
	r := gittest.Repo(t)
	const name = ".jp/conversations/17000000001-a/base_config.json"
	write := func(text string) {
		r.WriteFile(name, text)
		r.Commit(text)
	}
	write("base")
	r.Run("checkout", "-q", "-b", "side")
	write("theirs")
	theirs := strings.TrimSpace(r.Run("rev-parse", "HEAD"))
	r.Run("checkout", "-q", "-")
	write("ours")
	for _, test := range []struct {
		env  []string
		want [3]string
	}{
		{nil, [3]string{"ours", "ours", "ours"}},
		{[]string{headPrefix + theirs + "=side"}, [3]string{"base", "ours", "theirs"}},
	} {
		repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: append(r.Env, test.env...)})
		if err != nil {
			t.Fatal(err)
		}
		configs, err := beside(t.Context(), repo, headOf(t.Context(), repo), path.Dir(name)+"/events.json", path.Base(name))
		if err != nil {
			t.Fatal(err)
		}
		for i, want := range test.want {
			if string(configs[i]) != want {
				t.Errorf("%q: version %d is %q, want %q", test.env, i, configs[i], want)
			}
		}
		if err := repo.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestBesideOfALonePick finds the files beside the versions of a stream, of which git names no commit.
func TestBesideOfALonePick(t *testing.T) {
	r := gittest.Repo(t)
	const dir = ".jp/conversations/17000000001-a/"
	write := func(text string) []byte {
		stream := `["` + deltaMark + events.MetadataSource + text + `"]`
		r.WriteFile(dir+"events.json", stream)
		r.WriteFile(dir+"base_config.json", text)
		r.WriteFile(dir+"metadata.json", text)
		r.Commit(text)
		return []byte(stream)
	}
	f := File{Kind: Events, Path: dir + "events.json", Base: write("base")}
	r.Run("checkout", "-q", "-b", "side")
	f.Theirs = write("theirs")
	r.Run("checkout", "-q", "-")
	f.Ours = write("ours")
	repo, err := gitint.Open(t.Context(), gitint.Options{Dir: r.Dir, Env: r.Env})
	if err != nil {
		t.Fatal(err)
	}
	defer repo.Close() // was only read
	if err := f.lookBeside(t.Context(), repo, headOf(t.Context(), repo)); err != nil {
		t.Fatal(err)
	}
	for _, got := range [][3][]byte{f.Configs, f.Details} {
		if got := string(bytes.Join(got[:], []byte(" "))); got != "base ours theirs" {
			t.Errorf("got %s", got)
		}
	}
}

// TestNoBase merges a conversation that both sides began: git passes an empty ancestor.
func TestNoBase(t *testing.T) {
	got, m, err := called(t, Events, "", baseStream, baseStream)
	if err != nil || len(m.Conflicts) > 0 || got != baseStream {
		t.Errorf("got %q, %v, %v", got, m, err)
	}
}

func TestRecordsKeepBytes(t *testing.T) {
	rs := RecordsOf(t.TempDir())
	const odd = `{"timestamp":"2026-01-01 00:00:00.0",  "type":"chat_request","content":"<&>\u2028"}`
	stream, err := events.Decode([]byte("[" + odd + "]"))
	if err != nil {
		t.Fatal(err)
	}
	want := Record{
		Path: "a\nb/events.json", Left: "00", At: time.Unix(1, 0).UTC(),
		Conflicts: []threeway.Conflict{{Kind: threeway.ConflictEdited, Ours: []*events.Element{stream.At(0)}}},
		Theirs:    []byte("[" + odd + "]"),
	}
	if err := rs.Save(want); err != nil {
		t.Fatal(err)
	}
	all, err := rs.All()
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	got := all[0]
	if got.Path != want.Path || !got.At.Equal(want.At) || !bytes.Equal(got.Theirs, want.Theirs) ||
		string(got.Conflicts[0].Ours[0].Raw()) != odd {
		t.Errorf("got %+v", got)
	}
	if err := rs.Remove(want.Path); err != nil {
		t.Fatal(err)
	}
	if all, err := rs.All(); err != nil || len(all) != 0 {
		t.Errorf("left %v, %v", all, err)
	}
}

// TestTitleThatGivesWay: if both sides set a title the dropped one is reported, and nothing else.
func TestTitleThatGivesWay(t *testing.T) {
	metadata := func(day, title string) string {
		return `{"last_activated_at":"2026-01-` + day + ` 00:00:00.0","title":"` + title + `"}`
	}
	base := metadata("01", "Base")
	for _, tt := range []struct{ ours, theirs, want string }{
		{metadata("02", "Ours"), metadata("03", "Theirs"), `the title "Ours" was replaced by "Theirs"`},
		{metadata("03", "Ours"), metadata("02", "Theirs"), `the title "Theirs" was replaced by "Ours"`},
		{metadata("02", "Ours"), metadata("03", "Base"), ""},
		{metadata("02", "Same"), metadata("03", "Same"), ""},
		{metadata("02", "Base"), metadata("03", "Base"), ""},
	} {
		_, m, err := called(t, Metadata, base, tt.ours, tt.theirs)
		if err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(m.Warnings, "\n"); got != tt.want {
			t.Errorf("%s and %s: %q, want %q", tt.ours, tt.theirs, got, tt.want)
		}
	}
}
