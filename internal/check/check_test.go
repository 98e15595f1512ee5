package check

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/realdata"
	"github.com/git-jp/git-jp/internal/refs"

	"github.com/git-jp/git-jp/internal/regular"
)

const (
	first  = "17800836875-first"
	second = "17800836876"
	firstE = ".jp/conversations/" + first + "/events.json"
)

// base returns an intact tree with two conversations.
func base() forest {
	return forest{}.
		conversation(first, "First", "alpha", "beta").
		conversation(second, "", "beta", "gamma").
		conversation(".archive/17800836877-old", "Old", "delta").
		write(".jp/config.toml", "").write(".jp/blobs/.gitattributes", "*.gz -text\n").
		write("main.go", "package main\n")
}

// pointerTo returns the Git LFS pointer for the blob file of some content.
func pointerTo(content string) (pointer, oid string) {
	file := blobs.Encode([]byte(content))
	oid = blobs.Sum(file).String()
	return "version https://git-lfs.github.com/spec/v1\noid sha256:" + oid + "\nsize " +
		bytesOnly(int64(len(file))) + "\n", oid
}

func bytesOnly(n int64) string {
	return strings.NewReplacer(" ", "", "bytes", "", "byte", "").Replace(bytesText(n))
}

func symlink(f forest, name string) forest {
	f[name] = &fstest.MapFile{Data: []byte("target"), Mode: fs.ModeSymlink | 0o777}
	return f
}

func lfsStore(content string) fstest.MapFS {
	_, oid := pointerTo(content)
	return fstest.MapFS{oid[:2] + "/" + oid[2:4] + "/" + oid: {Data: blobs.Encode([]byte(content))}}
}

func pointer(content string) string {
	p, _ := pointerTo(content)
	return p
}

// expect is an expected finding.
type expect struct {
	State State
	Path  string
	Turn  int
	Call  string
	Hash  string // the content
}

func missingBeta() []expect {
	return []expect{
		{Missing, firstE, 2, "toolu_01", "beta"},
		{Missing, ".jp/conversations/" + second + "/events.json", 1, "toolu_00", "beta"},
	}
}

func TestStates(t *testing.T) {
	const conv = ".jp/conversations/"
	pointed := []expect{{State: Unchecked, Path: ".jp/blobs"}}
	inFirst := func(s State, content string, turn int, call string) []expect {
		return []expect{{s, firstE, turn, call, content}}
	}
	tests := []struct {
		name string
		tree forest
		opts Options
		want []expect
	}{
		{"sound", base(), Options{Content: true}, nil},
		{"empty", forest{}.write("README", ""), Options{}, nil},
		{"no blobs, no references", forest{}.conversation(first, "x"), Options{}, nil},
		{"missing", base().remove(blobPath("beta")), Options{}, missingBeta()},
		{
			"link in place of a blob", symlink(base(), blobPath("alpha")),
			Options{},
			inFirst(Missing, "alpha", 1, "toolu_00"),
		},
		{
			"directory in place of a blob",
			base().remove(blobPath("alpha")).write(blobPath("alpha")+"/x", ""),
			Options{},
			[]expect{
				{State: Foreign, Path: blobPath("alpha") + "/x"},
				{Missing, firstE, 1, "toolu_00", "alpha"},
			},
		},
		{"corrupt, not looked at", base().write(blobPath("alpha"), "junk"), Options{}, nil},
		{
			"corrupt", base().write(blobPath("alpha"), "junk"),
			Options{Content: true},
			inFirst(Corrupt, "alpha", 1, "toolu_00"),
		},
		{
			"other content", base().write(blobPath("alpha"), string(blobs.Encode([]byte("other")))),
			Options{Content: true},
			inFirst(Corrupt, "alpha", 1, "toolu_00"),
		},
		{
			"wrong size", base().write(firstE, encode(turn(0, 4, "alpha")...)),
			Options{Content: true},
			inFirst(SizeMismatch, "alpha", 1, "toolu_00"),
		},
		{
			"one of two sizes is wrong",
			base().write(firstE, encode(append(turn(0, 5, "alpha"), turn(1, 6, "alpha")...)...)),
			Options{Content: true},
			inFirst(SizeMismatch, "alpha", 2, "toolu_01"),
		},
		{
			"not fetched from lfs", base().write(blobPath("alpha"), pointer("alpha")),
			Options{Content: true},
			pointed,
		},
		{
			"not fetched from lfs, and looked for", base().write(blobPath("alpha"), pointer("alpha")),
			Options{NoPointers: true},
			inFirst(LFSPointer, "alpha", 1, "toolu_00"),
		},
		{
			"damaged pointer", base().write(blobPath("alpha"),
				strings.Replace(pointer("alpha"), "oid sha256:", "oid sha257:", 1)),
			Options{},
			inFirst(Corrupt, "alpha", 1, "toolu_00"),
		},
		{
			"conflict markers", base().write(firstE, "<<<<<<< ours\n[]\n"),
			Options{},
			[]expect{{State: Malformed, Path: firstE}},
		},
		{
			"no stream", base().remove(firstE),
			Options{},
			[]expect{{State: Malformed, Path: firstE}},
		},
		{
			"stream of an old generation",
			base().remove(firstE).write(conv+first+"/messages.json", "[]"),
			Options{},
			nil,
		},
		{
			"element without a time", base().write(firstE, encode(object{"type": "later"})),
			Options{},
			[]expect{{State: Malformed, Path: firstE}},
		},
		{
			"link in place of a stream", symlink(base(), firstE),
			Options{},
			[]expect{{State: Malformed, Path: firstE}},
		},
		{
			"metadata", base().write(conv+first+"/metadata.json", `{"title":1}`),
			Options{},
			[]expect{{State: Malformed, Path: conv + first + "/metadata.json"}},
		},
		{
			"no metadata", base().remove(conv + first + "/metadata.json"),
			Options{},
			[]expect{{State: Malformed, Path: conv + first + "/metadata.json"}},
		},
		{
			"base config", base().write(conv+first+"/base_config.json", "{,}"),
			Options{},
			[]expect{{State: Malformed, Path: conv + first + "/base_config.json"}},
		},
		{"no base config", base().remove(conv + first + "/base_config.json"), Options{}, nil},
		{
			"archived and live", base().conversation(".archive/"+second+"-again", "x"),
			Options{},
			[]expect{{State: DuplicateID, Path: conv + second}},
		},
		{
			"renamed twice", base().conversation(second+"-a", "").conversation(second+"-b", ""),
			Options{},
			[]expect{
				{State: DuplicateID, Path: conv + second + "-a"},
				{State: DuplicateID, Path: conv + second + "-b"},
			},
		},
		{
			"foreign directory", base().write(conv+"notes/x.md", ""),
			Options{},
			[]expect{{State: Foreign, Path: conv + "notes"}},
		},
		{
			"what jp does not look at",
			base().write(conv+"README.md", "").write(conv+".trash/x/y", "").
				write(conv+first+"/notes.md", ""),
			Options{},
			nil,
		},
		{"draft", base().write(conv+"17800836999/QUERY_MESSAGE.md", ""), Options{}, nil},
		{
			"draft beside something else",
			base().write(conv+"17800836999/QUERY_MESSAGE.md", "").
				write(conv+"17800836999/notes.md", ""),
			Options{},
			[]expect{
				{State: Malformed, Path: conv + "17800836999/events.json"},
				{State: Malformed, Path: conv + "17800836999/metadata.json"},
			},
		},
		{
			"foreign files in the store",
			base().write(".jp/blobs/x", "").write(".jp/blobs/aa/bb/cc.blob.gz", ""),
			Options{},
			[]expect{
				{State: Foreign, Path: ".jp/blobs/aa/bb/cc.blob.gz"},
				{State: Foreign, Path: ".jp/blobs/x"},
			},
		},
		{
			"larger than the limit", base(),
			Options{MaxBlobBytes: 4},
			[]expect{
				{Oversize, conv + ".archive/17800836877-old/events.json", 1, "toolu_00", "delta"},
				{Oversize, firstE, 1, "toolu_00", "alpha"},
				{Oversize, conv + second + "/events.json", 2, "toolu_01", "gamma"},
			},
		},
		{
			"call without a response", base().write(firstE, encode(turn(0, 5, "alpha")[:3]...)),
			Options{},
			[]expect{{State: Incomplete, Path: firstE, Turn: 1, Call: "toolu_00"}},
		},
		{
			"a damaged conversation hides no other",
			base().remove(blobPath("beta")).write(conv+"1-x/events.json", "[").
				write(conv+"1-x/metadata.json", "{"),
			Options{},
			append([]expect{
				{State: Malformed, Path: conv + "1-x/events.json"},
				{State: Malformed, Path: conv + "1-x/metadata.json"},
			}, missingBeta()...),
		},
		{
			"only one conversation", base().remove(blobPath("beta")).write(conv+"notes/x.md", ""),
			Options{Select: func(id events.ID) bool { return id.Digits() == second }},
			missingBeta()[1:],
		},
		{
			"other workspace",
			forest{}.write("sub/"+firstE, "[").write("sub/.jp/conversations/"+first+
				"/metadata.json", `{"last_activated_at":"`+stamp+`"}`),
			Options{Dirs: []string{".jp", "sub/.jp"}},
			[]expect{{State: Malformed, Path: "sub/" + firstE}},
		},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			sources := map[string]Source{
				"files": FS("working tree", fstest.MapFS(tt.tree), regular.Limits{}), "git": tt.tree.source("c1"),
			}
			for kind, src := range sources {
				r, err := Tree(context.Background(), src, tt.opts)
				if err != nil {
					t.Fatal(err)
				}
				if d := cmp.Diff(tt.want, expectations(r)); d != "" {
					t.Errorf("%s (-want +got):\n%s", kind, d)
				}
			}
			opts := tt.opts
			opts.Rules, opts.Cache = "ours", &refs.Cache{}
			for range 3 {
				same(t, "remembered", tt.want, checked(t, sources["git"], opts))
			}
		})
	}
}

// TestLeftover checks a directory without any file of a conversation, which has the
// id of one: git leaves it in a working tree because of files that it does not have, or someone has
// added them.
func TestLeftover(t *testing.T) {
	const left = ".jp/conversations/" + first + "-left"
	tree := base().write(left+"/QUERY_MESSAGE.md", "").write(left+"/.DS_Store", "")
	files := FS("working tree", fstest.MapFS(tree), regular.Limits{})
	same(t, "files", nil, checked(t, files, Options{}))
	same(t, "git", nil, checked(t, tree.source("c1"), Options{}))
}

// TestFetchedPointer checks a pointer whose content Git LFS has fetched: in a commit the content is
// here, but commands that read a working tree find the pointer.
func TestFetchedPointer(t *testing.T) {
	tree := base().write(blobPath("alpha"), pointer("alpha"))
	o := Options{LFS: lfsStore("alpha"), Rules: "ours", Cache: &refs.Cache{}}
	commit := tree.source("c1")
	files := FS(WorkTreeName, fstest.MapFS(tree), regular.Limits{})
	pointed := []expect{{State: Unchecked, Path: ".jp/blobs"}}
	same(t, "commit", nil, checked(t, commit, o))
	same(t, "commit, read", nil, checked(t, commit, Options{LFS: o.LFS, Content: true}))
	for _, content := range []bool{false, true} {
		all, err := Tree(t.Context(), files, Options{LFS: o.LFS, Content: content})
		if err != nil {
			t.Fatal(err)
		}
		same(t, "working tree", pointed, expectations(all))
		if got := all.Findings[0].Detail; got != blobs.FetchedPointersText(1) {
			t.Errorf("content %t: %s", content, got)
		}
	}
	o.LFS = nil
	same(t, "commit, content gone", pointed, checked(t, commit, o))
}

// TestDamagedInLFS checks that the hint for damaged content is for Git LFS, not for the author.
func TestDamagedInLFS(t *testing.T) {
	store := lfsStore("alpha")
	for _, f := range store {
		f.Data = bytes.Repeat([]byte("x"), len(f.Data))
	}
	tree := base().write(blobPath("alpha"), pointer("alpha"))
	r, err := Tree(t.Context(), tree.source("c1"), Options{LFS: store, Content: true})
	if err != nil || len(r.Findings) != 1 || r.Findings[0].State != Corrupt || r.Findings[0].Next != ByLFS {
		t.Errorf("found %+v, %v", r.Findings, err)
	}
}

// expectations converts findings to expected ones, for comparison.
func expectations(r *Report) []expect {
	names := map[blobs.Hash]string{{}: ""}
	for _, c := range []string{"alpha", "beta", "gamma", "delta"} {
		names[blobs.Sum([]byte(c))] = c
	}
	var all []expect
	for _, f := range r.Findings {
		all = append(all, expect{f.State, f.Path, f.Turn, f.Call, names[f.Hash]})
	}
	return all
}

func TestFindingIsWhole(t *testing.T) {
	tree := base().remove(blobPath("beta"))
	tree.write(firstE, encode(append(turn(0, 5, "alpha"),
		append(turn(1, 4, "beta"), turn(2, 4, "beta")...)...)...))
	r, err := Tree(context.Background(), tree.source("c1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	hash := blobs.Sum([]byte("beta"))
	before, _, _ := strings.Cut(string(tree[firstE].Data), `"$blob": "`+hash.String())
	line := strings.Count(before, "\n") // that of the object, one line above
	want := Finding{
		State: Missing, Severity: Error, Commit: "c1", Commits: 1, Path: firstE, Line: line,
		Conversation: "jp-c17800836875", Title: "First", Turn: 2, Element: 8,
		Call: "toolu_01", Tool: "fs_read_file", Hash: hash, Size: 4, References: 2,
		Detail: "is not in the commit", Next: AskAuthor("jp-c17800836875"),
	}
	if d := cmp.Diff(want, r.Findings[0]); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

// TestSecondDirectoryHasATitle checks what a finding says of the second directory of an id.
func TestSecondDirectoryHasATitle(t *testing.T) {
	tree := base().conversation(second+"-again", "")
	tree.write(".jp/conversations/"+second+"-again/metadata.json",
		`{"title": "Again", "last_activated_at": "`+stamp+`"}`)
	r, err := Tree(t.Context(), tree.source("c1"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Findings) != 1 || r.Findings[0].Title != "Again" ||
		r.Findings[0].Conversation != "jp-c"+second {
		t.Errorf("found %+v", r.Findings)
	}
}

// absentObjects is a source whose tree lists files that the repository does not have.
type absentObjects struct {
	*source
	absent string
}

func (s absentObjects) ReadFile(name string) ([]byte, error) {
	if strings.HasPrefix(name, s.absent) {
		return nil, fs.ErrNotExist
	}
	return s.source.ReadFile(name)
}

func (s absentObjects) ObjectSizes(ctx context.Context, ids []gitint.OID) ([]int64, error) {
	var files []File
	for _, id := range ids {
		files = append(files, File{s.path(id), id})
	}
	return s.Sizes(ctx, files)
}

func (s absentObjects) ReadObjectsOf(
	ctx context.Context, ids []gitint.OID, wanted func(int64) bool,
	f func(int, int64, []byte, error) error,
) error {
	return readObjectsOf(ctx, s, ids, wanted, f)
}

func (s absentObjects) Sizes(ctx context.Context, files []File) ([]int64, error) {
	sizes, err := s.source.Sizes(ctx, files)
	for i, f := range files {
		if strings.HasPrefix(f.Path, s.absent) {
			sizes[i] = -1
		}
	}
	return sizes, err
}

func TestAbsentObjects(t *testing.T) {
	partial := []Gap{{Reason: "partial", Detail: ""}}
	tests := []struct {
		absent string
		gaps   []Gap
		want   []State
	}{
		{blobPath("alpha"), nil, []State{Missing}},
		{blobPath("alpha"), partial, []State{Unchecked, Unchecked}},
		{firstE, nil, []State{Unreadable}},
		{firstE, partial, []State{Unchecked, Unchecked}},
		{"nothing", []Gap{{Reason: "shallow", Detail: ""}}, []State{Unchecked}},
	}
	for _, tt := range tests {
		src := absentObjects{base().source("c1"), tt.absent}
		r, err := Tree(context.Background(), src, Options{Gaps: tt.gaps})
		if err != nil {
			t.Fatal(err)
		}
		var got []State
		for _, f := range r.Findings {
			got = append(got, f.State)
		}
		if d := cmp.Diff(tt.want, got); d != "" {
			t.Errorf("%s absent, %v (-want +got):\n%s", tt.absent, tt.gaps, d)
		}
		if r.Problems() != (tt.gaps == nil) {
			t.Errorf("%s absent, %v: problems %v", tt.absent, tt.gaps, r.Problems())
		}
	}
}

func TestStrict(t *testing.T) {
	tree := base().write(firstE, encode(turn(0, 5, "alpha")[:3]...))
	for _, strict := range []bool{false, true} {
		r, err := Tree(context.Background(), tree.source("c1"), Options{Strict: strict})
		if err != nil {
			t.Fatal(err)
		}
		if r.Problems() != strict || r.Worst() != Warning {
			t.Errorf("strict %v: problems %v, worst %v", strict, r.Problems(), r.Worst())
		}
	}
}

func TestUnlistableSourceIsAnError(t *testing.T) {
	boom := errors.New("boom")
	_, err := Range(context.Background(), func(yield func(Source, error) bool) {
		_ = yield(base().source("c1"), nil) && yield(nil, boom)
	}, Options{})
	if !errors.Is(err, boom) {
		t.Errorf("error %v, want %v", err, boom)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Tree(ctx, base().source("c1"), Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want a cancelled context", err)
	}
}

func TestWorkTree(t *testing.T) {
	dir := t.TempDir()
	tree := base().remove(blobPath("alpha")).write(".jp/blobs/.tmp/x", "").write(".jp/blobs/y", "")
	if err := os.CopyFS(dir, fstest.MapFS(tree)); err != nil {
		t.Fatal(err)
	}
	outside := filepath.Join(t.TempDir(), "blob")
	if err := os.WriteFile(outside, blobs.Encode([]byte("alpha")), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, blobPath("alpha"))), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, filepath.Join(dir, blobPath("alpha"))); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWorkTree(dir, regular.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	r, err := Tree(context.Background(), w, Options{Content: true})
	if err != nil {
		t.Fatal(err)
	}
	want := []expect{
		{State: Foreign, Path: ".jp/blobs/y"},
		{Missing, firstE, 1, "toolu_00", "alpha"},
	}
	if d := cmp.Diff(want, expectations(r)); d != "" {
		t.Errorf("(-want +got):\n%s", d)
	}
}

func TestRealConversations(t *testing.T) {
	dir := realdata.Dir(t, "conversations")
	tree := t.TempDir()
	if err := os.CopyFS(filepath.Join(tree, ".jp", "conversations"), os.DirFS(dir)); err != nil {
		t.Fatal(err)
	}
	w, err := OpenWorkTree(tree, regular.Limits{})
	if err != nil {
		t.Fatal(err)
	}
	defer w.Close()
	cache := refs.Open(t.TempDir())
	defer cache.Close()
	for range 2 {
		r, err := Tree(context.Background(), w, Options{Content: true, Cache: cache})
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range r.Findings {
			if f.Severity == Error {
				t.Errorf("%+v", f)
			} else {
				t.Logf("%s %s: %s", f.State, f.Path, f.Detail)
			}
		}
		if r.Conversations == 0 {
			t.Error("no conversation was looked at")
		}
	}
	if s := cache.Stats(); s.Hits < s.Misses {
		t.Errorf("%+v: the second run asked again", s)
	}
}
