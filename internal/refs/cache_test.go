package refs

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/gitint"
	"github.com/git-jp/git-jp/internal/realdata"
)

// stream returns an events.json with one call for each of n results.
func stream(seed string, n int, open bool) []byte {
	type m = map[string]any
	at := "2026-05-29 19:42:36.0"
	all := []m{
		{"timestamp": at, "type": "turn_start"},
		{"timestamp": at, "type": "chat_request", "content": "Read " + seed},
	}
	for i := range n {
		id := fmt.Sprintf("toolu_%d", i)
		body := fmt.Appendf(nil, "%s %d", seed, i)
		all = append(all,
			m{
				"timestamp": at, "type": "tool_call_request", "id": id, "name": "fs_read_file",
				"arguments": m{},
			},
			m{
				"timestamp": at, "type": "tool_call_response", "id": id, "is_error": false,
				"content": []m{{"type": "resource", "resource": m{
					"uri": "file:///$WORKSPACE/" + seed, "mimeType": "text/plain",
					"content": m{"$blob": blobs.Sum(body).String(), "size": len(body)},
				}}},
			},
		)
	}
	if open {
		all = append(all, m{
			"timestamp": at, "type": "tool_call_request", "id": "toolu_open",
			"name": "fs_grep", "arguments": m{},
		})
	}
	data, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		panic(err)
	}
	return append(data, '\n')
}

// corpus returns files of all kinds: good, broken in various ways, and real ones.
func corpus(tb testing.TB) [][]byte {
	files := [][]byte{
		stream("a", 3, false), stream("b", 20, true), stream("c", 0, false),
		[]byte("[]"),
		{},
		[]byte("{}"), []byte("<<<<<<< ours"), []byte(`[{"type":"turn_start"}]`),
		[]byte(`[{"timestamp":"2026-05-29 19:42:36.0","type":"chat_request"}]`),
		[]byte(`[{"timestamp":"2026-05-29 19:42:36.0","type":"later","x":{"$blob":"` +
			strings.Repeat("ab", 32) + `","size":5}}]`),
		[]byte(`[{"timestamp":"2026-05-29 19:42:36.0","type":"turn_start","type":"turn_start"}]`),
		[]byte(`{"title":"T","last_activated_at":"2026-05-29 19:42:36.0"}`), []byte(`{"title":1}`),
		[]byte("version https://git-lfs.github.com/spec/v1\noid sha256:x\n"),
		[]byte(`{"a":1} x`), []byte("\xff"), []byte("1 2"),
	}
	for i := range 12 {
		files = append(files, stream(fmt.Sprint("many ", i), i%7, i%3 == 0))
	}
	return files
}

// answers holds everything that a cache knows of a file, in a form that can be compared.
type answers struct {
	Refs      Result
	Verdict   Verdict
	Details   *events.SyntaxError
	JSON      *events.SyntaxError
	Pointer   bool
	Blobs     []BlobFile
	ErrorText string
}

// parsed returns the id with these digits.
func parsed(tb testing.TB, digits string) gitint.OID {
	tb.Helper()
	id, err := gitint.ParseOID(digits)
	if err != nil {
		tb.Fatal(err)
	}
	return id
}

// shortened returns an id of the length used in SHA-1 repositories.
func shortened(id gitint.OID) gitint.OID {
	short, _ := gitint.OIDOf(id.AppendBytes(nil)[:20])
	return short
}

func ask(tb rapid.TB, c *Cache, data []byte) answers {
	tb.Helper()
	id, read := Sum(data), func() ([]byte, error) { return data, nil }
	var a answers
	var errs [6]error
	a.Refs, errs[0] = c.References(id, read)
	a.Verdict, _, errs[1] = c.Stream(id, read)
	a.Details, errs[2] = c.Details(id, read)
	a.JSON, errs[3] = c.JSON(id, read)
	a.Pointer, errs[4] = c.IsPointer(id, read)
	a.Blobs, errs[5] = c.Blobs().Or(id, func() ([]BlobFile, error) {
		return []BlobFile{{blobs.Sum(data), id}, {blobs.Hash{1}, shortened(id)}}, nil
	})
	if err := errors.Join(errs[:]...); err != nil {
		tb.Fatal(err)
	}
	for _, e := range []*events.SyntaxError{a.Refs.Err, a.Verdict.Err, a.Details, a.JSON} {
		if e != nil {
			a.ErrorText += e.Error() + "\n"
		}
	}
	return a
}

// sameAnswer compares the reasons of errors by their text, because a cache keeps no types.
func sameAnswer(tb rapid.TB, want, got answers) {
	tb.Helper()
	reason := cmp.FilterPath(func(p cmp.Path) bool {
		return p.Last().String() == ".Err" && p.Index(-2).Type() != nil &&
			p.Index(-2).Type().Name() == "SyntaxError"
	}, cmp.Ignore())
	if d := cmp.Diff(want, got, reason, cmpopts.EquateEmpty(), cmpopts.EquateComparable(gitint.OID{})); d != "" {
		tb.Errorf("answers differ (-uncached +cached):\n%s", d)
	}
}

func uncached(tb rapid.TB, data []byte) answers { return ask(tb, &Cache{}, data) }

func fill(tb testing.TB, dir string, files [][]byte) {
	tb.Helper()
	c := Open(dir)
	for _, data := range files {
		sameAnswer(tb, uncached(tb, data), ask(tb, c, data))
	}
	if err := c.Close(); err != nil {
		tb.Fatal(err)
	}
}

func TestCachedAnswersEqualUncachedOnes(t *testing.T) {
	dir, files := filepath.Join(t.TempDir(), "jp", "cache"), corpus(t)
	fill(t, dir, files)
	c := Open(dir)
	defer c.Close()
	for _, data := range files {
		sameAnswer(t, uncached(t, data), ask(t, c, data))
	}
	if s := c.Stats(); s.Misses != 0 || s.Hits != int64(6*len(files)) {
		t.Errorf("second run: %+v, want hits alone", s)
	}
}

func TestRealConversations(t *testing.T) {
	names, err := filepath.Glob(filepath.Join(realdata.Dir(t, "conversations"), "*", "events.json"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no real conversations: %v", err)
	}
	c := Open(t.TempDir())
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		want := uncached(t, data)
		if want.Verdict.Err != nil {
			t.Errorf("%s: %v", name, want.Verdict.Err)
		}
		sameAnswer(t, want, ask(t, c, data))
		sameAnswer(t, want, ask(t, c, data))
	}
}

func TestPropertyCachedEqualsUncached(t *testing.T) {
	dir, all := t.TempDir(), corpus(t)
	rapid.Check(t, func(rt *rapid.T) {
		base := rapid.SampledFrom(all).Draw(rt, "base")
		data := bytes.Clone(base)
		for range rapid.IntRange(0, 3).Draw(rt, "edits") {
			if len(data) > 0 {
				at := rapid.IntRange(0, len(data)-1).Draw(rt, "at")
				data[at] = rapid.Byte().Draw(rt, "byte")
			}
		}
		c := Open(dir)
		want := uncached(rt, data)
		sameAnswer(rt, want, ask(rt, c, data))
		if err := c.Close(); err != nil {
			rt.Fatal(err)
		}
		sameAnswer(rt, want, ask(rt, c, data))
		c.Close()
	})
}

// shardFiles returns the cache's files, largest first.
func shardFiles(tb testing.TB, dir string) []string {
	tb.Helper()
	names, err := filepath.Glob(filepath.Join(dir, "refs-*"))
	if err != nil || len(names) == 0 {
		tb.Fatalf("no cache files: %v", err)
	}
	size := func(name string) int64 {
		info, err := os.Stat(name)
		if err != nil {
			tb.Fatal(err)
		}
		return info.Size()
	}
	slices.SortFunc(names, func(a, b string) int { return int(size(b) - size(a)) })
	return names
}

// abuse damages one file of a cache, then asks for everything.
func abuse(t *testing.T, files [][]byte, damage func(name string, data []byte)) Stats {
	t.Helper()
	dir := t.TempDir()
	fill(t, dir, files)
	name := shardFiles(t, dir)[0]
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	damage(name, data)
	c := Open(dir)
	for _, f := range files {
		sameAnswer(t, uncached(t, f), ask(t, c, f))
	}
	if err := c.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	// The cache works again afterwards, whatever was done to it.
	healed := Open(dir)
	defer healed.Close()
	for _, f := range files {
		sameAnswer(t, uncached(t, f), ask(t, healed, f))
	}
	if s := healed.Stats(); s.Misses != 0 {
		t.Errorf("after the damage was seen once: %+v, want hits alone", s)
	}
	return c.Stats()
}

func write(t *testing.T, name string, data []byte) {
	t.Helper()
	if err := os.WriteFile(name, data, 0o644); err != nil {
		t.Fatal(err)
	}
}

func TestDeletedAndForeignFiles(t *testing.T) {
	files := corpus(t)
	tests := map[string]func(name string, data []byte){
		"deleted":       func(name string, _ []byte) { os.Remove(name) },
		"empty":         func(name string, _ []byte) { write(t, name, nil) },
		"other version": func(name string, d []byte) { d[len(header)-2]++; write(t, name, d) },
		"garbage":       func(name string, _ []byte) { write(t, name, bytes.Repeat([]byte(mark), 999)) },
		"garbage behind": func(name string, d []byte) {
			write(t, name, append(d, bytes.Repeat([]byte{0xff, 'j'}, 99)...))
		},
		"doubled": func(name string, d []byte) { write(t, name, append(d, d[len(header):]...)) },
		"symlink": func(name string, _ []byte) {
			os.Remove(name)
			if err := os.Symlink(os.DevNull, name); err != nil {
				t.Skip(err)
			}
		},
	}
	for name, damage := range tests {
		t.Run(name, func(t *testing.T) { abuse(t, files, damage) })
	}
}

// TestTruncatedAnywhere truncates a file after every byte.
func TestTruncatedAnywhere(t *testing.T) {
	files := [][]byte{stream("a", 1, true)}
	dir := t.TempDir()
	fill(t, dir, files)
	want := uncached(t, files[0])
	for _, name := range shardFiles(t, dir) {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			write(t, name, whole[:n])
			c := Open(dir)
			sameAnswer(t, want, ask(t, c, files[0]))
			c.Close()
			healed, err := os.ReadFile(name)
			if err != nil || !bytes.HasPrefix(healed, []byte(header)) {
				t.Fatalf("cut at %d: file is not written again: %v", n, err)
			}
		}
		write(t, name, whole)
	}
}

func TestFlippedBits(t *testing.T) {
	files := [][]byte{stream("a", 1, true)}
	dir := t.TempDir()
	fill(t, dir, files)
	want := make([]answers, len(files))
	for i, f := range files {
		want[i] = uncached(t, f)
	}
	for _, name := range shardFiles(t, dir) {
		whole, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		for n := range whole {
			flipped := bytes.Clone(whole)
			flipped[n] ^= 1 << (n % 8)
			write(t, name, flipped)
			c := Open(dir)
			for i, f := range files {
				sameAnswer(t, want[i], ask(t, c, f))
			}
			c.Close()
		}
		write(t, name, whole)
	}
}

// TestDamageCostsOnlyItsRecords: records after a damaged one are still found.
func TestDamageCostsOnlyItsRecords(t *testing.T) {
	stats := abuse(t, corpus(t), func(name string, data []byte) {
		data[len(header)+frameSize] ^= 0xff
		write(t, name, data)
	})
	if stats.Misses != 1 {
		t.Errorf("one damaged record: %d misses, want 1", stats.Misses)
	}
}

// TestDamageAfterLoad damages the file of a cache that has indexed it.
func TestDamageAfterLoad(t *testing.T) {
	dir, files := t.TempDir(), corpus(t)
	fill(t, dir, files)
	c := Open(dir)
	defer c.Close()
	for _, f := range files {
		ask(t, c, f)
	}
	for _, name := range shardFiles(t, dir) {
		if err := os.Truncate(name, int64(len(header)+5)); err != nil {
			t.Fatal(err)
		}
	}
	for _, f := range files {
		sameAnswer(t, uncached(t, f), ask(t, c, f))
	}
}

func TestReadOnlyDirectory(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, file, nil)
	c := Open(filepath.Join(file, "cache")) // cannot be created
	for range 2 {
		for _, f := range corpus(t) {
			sameAnswer(t, uncached(t, f), ask(t, c, f))
		}
	}
	if s := c.Stats(); s.Hits == 0 {
		t.Errorf("%+v: nothing remembered in memory", s)
	}
	c.Close()
	if s := c.Stats(); s.Hits == 0 {
		t.Error("lost on close")
	}
}

func TestReadErrorIsNotRemembered(t *testing.T) {
	c, id := Open(t.TempDir()), Sum([]byte("[]"))
	defer c.Close()
	boom := errors.New("boom")
	if _, err := c.References(id, func() ([]byte, error) { return nil, boom }); !errors.Is(err, boom) {
		t.Fatalf("error %v, want %v", err, boom)
	}
	res, err := c.References(id, func() ([]byte, error) { return []byte("[]"), nil })
	if err != nil || res.Err != nil {
		t.Errorf("after an error: %v, %v", res.Err, err)
	}
}

func TestNoObjectID(t *testing.T) {
	c := Open(t.TempDir())
	defer c.Close()
	for range 2 {
		none := gitint.OID{}
		if _, err := c.References(none, func() ([]byte, error) { return []byte("[]"), nil }); err != nil {
			t.Fatal(err)
		}
	}
	if s := c.Stats(); s.Hits != 0 {
		t.Errorf("%+v: something was remembered under no id", s)
	}
}

// TestManyProcesses fills one cache from many processes and goroutines at once, while another
// process deletes it.
func TestManyProcesses(t *testing.T) {
	const env = "GIT_JP_TEST_REFS_DIR"
	if dir := os.Getenv(env); dir != "" {
		for range 3 {
			fill(t, dir, corpus(t))
		}
		return
	}
	dir := t.TempDir()
	var group sync.WaitGroup
	for range 6 {
		group.Go(func() {
			cmd := exec.Command(os.Args[0], "-test.run=^TestManyProcesses$")
			cmd.Env = append(os.Environ(), env+"="+dir)
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v\n%s", err, out)
			}
		})
	}
	for range 3 {
		for _, f := range corpus(t) {
			c := Open(dir)
			sameAnswer(t, uncached(t, f), ask(t, c, f))
			c.Close()
		}
		names, _ := filepath.Glob(filepath.Join(dir, "refs-*"))
		for _, name := range names {
			os.Remove(name)
		}
	}
	group.Wait()
	fill(t, dir, corpus(t))
}

func TestFullFileIsStartedAnew(t *testing.T) {
	dir, data := t.TempDir(), stream("a", 1, false)
	fill(t, dir, [][]byte{data})
	name := shardFiles(t, dir)[0]
	if err := os.Truncate(name, maxShard+1); err != nil {
		t.Fatal(err)
	}
	first := strings.TrimPrefix(filepath.Base(name), current)
	other := parsed(t, first+strings.Repeat("0", 38)+"1")
	c := Open(dir)
	if _, err := c.References(other, func() ([]byte, error) { return data, nil }); err != nil {
		t.Fatal(err)
	}
	c.Close()
	if info, err := os.Stat(name); err != nil || info.Size() > 4096 {
		t.Errorf("file of %d bytes, %v; want a small one", info.Size(), err)
	}
}

func TestBatchesAreFound(t *testing.T) {
	dir := t.TempDir()
	c := Open(dir)
	defer c.Close()
	big := stream("big", 4000, false) // one record is larger than a batch
	for i := range 6 {
		id := parsed(t, fmt.Sprintf("1%039x", i))
		for range 2 {
			res, err := c.References(id, func() ([]byte, error) { return big, nil })
			if err != nil || len(res.Refs) != 4000 {
				t.Fatalf("%d references, %v", len(res.Refs), err)
			}
		}
	}
	if s := c.Stats(); s.Misses != 6 || s.Hits != 6 {
		t.Errorf("%+v, want 6 of each", s)
	}
}

// TestOneDecodingAnswersBoth: a check allocates as much as one decoding of the stream and the
// cached result, not as much as two.
func TestOneDecodingAnswersBoth(t *testing.T) {
	data := stream("a", 200, false)
	reads := 0
	read := func() ([]byte, error) { reads++; return data, nil }
	const runs = 5
	decoding := testing.AllocsPerRun(runs, func() {
		if _, err := events.Decode(data); err != nil {
			t.Fatal(err)
		}
	})
	both := testing.AllocsPerRun(runs, func() {
		v, res, err := new(Cache).Stream(Sum(data), read)
		if err != nil || v.Err != nil || len(res.Refs) != 200 {
			t.Fatalf("%v, %v, %d references", err, v.Err, len(res.Refs))
		}
	})
	if reads != runs+1 || both > 1.5*decoding {
		t.Errorf("%d reads and %v allocations of %d questions; decoding once takes %v",
			reads, both, runs+1, decoding)
	}
}

// TestStreamKnowsEither asks if only one of the two answers is remembered.
func TestStreamKnowsEither(t *testing.T) {
	for i, data := range corpus(t) {
		want := uncached(t, data)
		c, id := &Cache{}, Sum(data)
		read := func() ([]byte, error) { return data, nil }
		if _, err := c.References(id, read); err != nil {
			t.Fatal(err)
		}
		v, res, err := c.Stream(id, read)
		if err != nil {
			t.Fatal(err)
		}
		got := want
		got.Verdict, got.Refs = v, res
		t.Run(fmt.Sprint(i), func(t *testing.T) { sameAnswer(t, want, got) })
	}
}

func BenchmarkWarm(b *testing.B) {
	dir, data := b.TempDir(), stream("a", 25, false)
	c := Open(dir)
	const n = 4000
	ids := make([]gitint.OID, n)
	for i := range ids {
		ids[i] = Sum(fmt.Append(nil, i))
		if _, err := c.References(ids[i], func() ([]byte, error) { return data, nil }); err != nil {
			b.Fatal(err)
		}
	}
	c.Close()
	for b.Loop() {
		c := Open(dir)
		for _, id := range ids {
			if _, err := c.References(id, nil); err != nil {
				b.Fatal(err)
			}
		}
		c.Close()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n/25, "ns/ref")
}
