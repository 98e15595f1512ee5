package importer

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
)

// ofEach is how many sessions make a part in these tests.
const ofEach = 10

// familiesWithContents writes n sessions with contents that are blobs, which some of them share, and
// with two forks that were rewound. Sessions before the number grown lack their last two turns.
func familiesWithContents(t *testing.T, dir string, n, grown int) []Found {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		fork := fmt.Sprintf(`{"type":"user","uuid":"fork","parentUuid":"%08x-0000-4000-8000-%012x",`+
			`"sessionId":"grow","timestamp":"2026-05-02T11:00:00Z","cwd":"/home/ada/proj",`+
			`"message":{"role":"user","content":"Otherwise"}}`+"\n", 6*7919, 6)
		lines := slices.Collect(bytes.Lines(transcript()))
		then := []byte(strings.Repeat(fmt.Sprint(i%7), 9000))
		for l, line := range lines {
			content := then
			if l < len(lines)-8 {
				content = append([]byte("before "), then...)
			}
			lines[l] = bytes.ReplaceAll(line, []byte(`a\nb`), content)
		}
		all := slices.Insert(lines, 12, []byte(fork))
		if i < grown {
			all = all[:len(all)-12]
		}
		data := bytes.ReplaceAll(bytes.Join(all, nil), []byte(`"grow"`), fmt.Appendf(nil, "%q", id))
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
	if len(found) != n {
		t.Fatalf("found %d sessions, want %d", len(found), n)
	}
	for i := range found {
		found[i].Size = maxPartBytes / ofEach
	}
	return found
}

// tree has the files of a workspace by name, without locks.
type tree map[string]string

func treeOf(t *testing.T, dir string) tree {
	t.Helper()
	all := tree{}
	err := filepath.WalkDir(dir, func(name string, d fs.DirEntry, err error) error {
		if errors.Is(err, fs.ErrNotExist) || err == nil && d.IsDir() {
			return nil
		}
		data, readErr := os.ReadFile(name)
		if err = errors.Join(err, readErr); errors.Is(err, fs.ErrNotExist) {
			return nil
		}
		name, _ = filepath.Rel(dir, name)
		if !strings.HasPrefix(name, workspace.LocksDir) {
			all[filepath.ToSlash(name)] = string(data)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func isTemp(name string) bool { return strings.HasPrefix(name, "blobs/.tmp/") }

// named returns the files that have their names.
func (tr tree) named() tree {
	named := maps.Clone(tr)
	maps.DeleteFunc(named, func(name, _ string) bool { return isTemp(name) })
	return named
}

// units are the names that a tree has after another one, each of which the system may write before
// all others: that of a blob, and that of the directory of a conversation. Of a new one only those
// bytes are on the disk that were when it got its name, which is after the other tree was: whoever
// makes it here syncs nothing else. One that was changed was synced by itself.
func (tr tree) units(before tree) map[string]tree {
	durable := map[string]bool{}
	for _, data := range before {
		durable[data] = true
	}
	units := map[string]tree{}
	for name, data := range tr.named() {
		was, has := before[name]
		if has && was == data {
			continue
		}
		unit := name
		if strings.HasPrefix(name, "conversations") {
			unit = filepath.Dir(name)
		}
		if units[unit] == nil {
			units[unit] = tree{}
		}
		if !has && !durable[data] {
			data = ""
		}
		units[unit][name] = data
	}
	return units
}

// opened opens a workspace that has the files.
func (tr tree) opened(t *testing.T) *workspace.Workspace {
	t.Helper()
	dir := t.TempDir()
	for name, data := range tr {
		name = filepath.Join(dir, ".jp", filepath.FromSlash(name))
		err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o755), os.WriteFile(name, []byte(data), 0o600))
		if err != nil {
			t.Fatal(err)
		}
	}
	home := t.TempDir()
	w, err := workspace.Open(dir, workspace.Env{
		Getenv: func(name string) string { return map[string]string{"JP_USER_DATA_DIR": home}[name] },
		Now:    time.Now, Dir: dir,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = w.Close() })
	return w
}

// sound checks that a workspace has nothing that is not complete.
func sound(t *testing.T, what string, w *workspace.Workspace) {
	t.Helper()
	all, problems, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil || len(problems) > 0 {
		t.Errorf("%s: %v, %v", what, problems, err)
	}
	has, firsts := map[events.ID]bool{}, map[sessions.Name]*events.Details{}
	for _, e := range all {
		c, err := w.Load(e)
		if err != nil {
			t.Errorf("%s: %v", what, err)
			continue
		}
		has[e.ID] = true
		if name, ok := sessions.ParseName(c.Details.Labels[sessions.LabelSession]); ok {
			firsts[name] = c.Details
		}
		for content := range c.Stream.Contents() {
			if _, err := content.Content.Bytes(w.Blobs()); err != nil {
				t.Errorf("%s: %s: %v", what, e.ID, err)
			}
		}
	}
	for name, d := range firsts {
		for fork := range d.Rewound() {
			n, _ := sessions.ParseName(fork)
			if !has[n.IDs()[0]] {
				t.Errorf("%s: the conversation of %s is there, and not its fork %s", what, name, fork)
			}
		}
	}
	for h, err := range w.Blobs().All() {
		gz, readErr := os.ReadFile(workspace.BlobPath(w.Dir(), h))
		if _, decodeErr := blobs.DecodeHash(gz, h); errors.Join(err, readErr, decodeErr) != nil {
			t.Errorf("%s: %s: %v", what, h, errors.Join(err, readErr, decodeErr))
		}
	}
}

// importAll imports sessions, all of which must succeed.
func importAll(t *testing.T, w *workspace.Workspace, found []Found) {
	t.Helper()
	for r := range (&Importer{Workspace: w}).All(context.Background(), found) {
		if r.Err != nil {
			t.Errorf("%s: %v", r.Name, r.Err)
		}
	}
}

// TestPowerFailuresLeaveOnlyWhatIsComplete imports sessions, and looks at what is on the disk if the
// power fails at any moment: all that the last sync made durable, and of what was done since only
// one name that the system wrote before all others, or nothing. All of it must be complete, and the
// next import must bring the rest.
func TestPowerFailuresLeaveOnlyWhatIsComplete(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "some")
	const parts, grown = 2, ofEach - minJoint
	tests := map[string]struct {
		first []Found
		syncs int // at least
	}{
		"new":             {nil, parts*3 + 1},
		"some have grown": {familiesWithContents(t, dir, grown, grown), parts*3 + 1},
		"a part has grown": {
			familiesWithContents(t, filepath.Join(t.TempDir(), "all"), ofEach, ofEach), 2 + 3,
		},
	}
	for what, tt := range tests {
		t.Run(what, func(t *testing.T) {
			w := newWorkspace(t)
			v := w.Blobs().Volume()
			if v == nil {
				t.Skip("files are synced one by one here")
			}
			importAll(t, w, tt.first)
			at := t.TempDir()
			if tt.first != nil {
				at = filepath.Dir(tt.first[0].Path)
			}
			then := familiesWithContents(t, at, parts*ofEach, 0)
			states := []tree{treeOf(t, w.Dir())}
			v.Hook = func(atomicfile.Step, string) error {
				states = append(states, treeOf(t, w.Dir()))
				return nil
			}
			importAll(t, w, then)
			end := treeOf(t, w.Dir()).named()
			if n := len(states) - 1; n < tt.syncs {
				t.Errorf("%d syncs, want at least %d", n, tt.syncs)
			}
			states = append(states, end)
			for i, state := range states[:len(states)-1] {
				what := fmt.Sprintf("after %d syncs", i)
				looksAtOneNameLater(t, what, state, states[i+1])
				again := state.opened(t)
				sound(t, what, again)
				importAll(t, again, then)
				if got := treeOf(t, again.Dir()).named(); !maps.Equal(got, end) {
					t.Errorf("%s: the next import makes %d files, not all as one that is not "+
						"interrupted, %d", what, len(got), len(end))
				}
			}
		})
	}
}

// looksAtOneNameLater looks at what is on the disk if the power fails while a tree becomes another
// one, and one name of that was written.
func looksAtOneNameLater(t *testing.T, what string, state, next tree) {
	t.Helper()
	units := next.units(state)
	looked := map[string]int{}
	for _, unit := range slices.Sorted(maps.Keys(units)) {
		kind, _, _ := strings.Cut(unit, "/")
		if looked[kind]++; looked[kind] > 4 {
			continue // they are all alike
		}
		with := state.named()
		maps.Copy(with, units[unit])
		sound(t, what+", only "+unit+" later", with.opened(t))
	}
}

// TestOnlyWhatIsDurableIsToldOf lets each sync of an import fail: a session is imported if a sync that
// did not fail made its conversation durable, and else it has an error.
func TestOnlyWhatIsDurableIsToldOf(t *testing.T) {
	toldOf(t, familiesWithContents(t, t.TempDir(), 2*ofEach, 0), true)
	found := familiesWithContents(t, t.TempDir(), maxCreated/3+minJoint, 0)
	for i := range found {
		found[i].Size = 1 // one part, of more conversations than are created together
	}
	toldOf(t, found, false)
}

// toldOf imports sessions, and again with each sync failing. If exact is set, only what may be lost
// then fails.
func toldOf(t *testing.T, found []Found, exact bool) {
	t.Helper()
	broken := errors.New("broken")
	for fails, isLast := 1, false; !isLast; fails++ {
		w := newWorkspace(t)
		v := w.Blobs().Volume()
		if v == nil {
			t.Skip("files are synced one by one here")
		}
		var durable tree
		isLast = true
		n := 0
		v.Hook = func(atomicfile.Step, string) error {
			if n++; n == fails {
				isLast = false
				return broken
			}
			durable = treeOf(t, w.Dir())
			return nil
		}
		good := 0
		for r := range (&Importer{Workspace: w}).All(t.Context(), found) {
			id := r.Name.IDs()[0].Digits()
			_, is := durable["conversations/.archive/"+id+"/metadata.json"]
			if r.Err == nil && !is || exact && is && r.Err != nil || r.Err != nil && !errors.Is(r.Err, broken) {
				t.Errorf("sync %d fails: %s is durable: %t, and told of with %v", fails, id, is, r.Err)
			}
			if is {
				good++
			}
		}
		if locks, err := w.Locks(); err != nil || len(locks) > 0 {
			t.Errorf("sync %d fails: locks %v, %v", fails, locks, err)
		}
		if isLast && good != len(found) {
			t.Errorf("%d sessions are imported, want all", good)
		}
	}
}

// TestSessionFoundTwiceIsImportedOnce checks that a session of a part may continue what was just
// created for another one, and is still locked then.
func TestSessionFoundTwiceIsImportedOnce(t *testing.T) {
	w := newWorkspace(t)
	found := familiesWithContents(t, t.TempDir(), ofEach-1, 0)
	importAll(t, w, append(found, found[0]))
	all, _, err := w.List(workspace.ListOptions{Archived: true})
	if want := 3 * len(found); err != nil || len(all) != want {
		t.Errorf("%d conversations, %v; want %d", len(all), err, want)
	}
}

// TestSyncsOfAnImport counts the waits for the disk: three for each part, of which the first also
// serves the part before, and one at the end.
func TestSyncsOfAnImport(t *testing.T) {
	found := familiesWithContents(t, t.TempDir(), 3*ofEach, 0)
	w := newWorkspace(t)
	v := w.Blobs().Volume()
	if v == nil {
		t.Skip("files are synced one by one here")
	}
	im := &Importer{Workspace: w}
	read := func(ctx context.Context, found []Found) *part {
		p := im.begin(ctx, found)
		<-p.ready // or the part before would not wait for it
		return p
	}
	inParts(t.Context(), found, read, func(r Result) bool {
		if r.Err != nil || r.Outcome.State != New {
			t.Errorf("%s is %q, %v; want new", r.Name, r.Outcome.State, r.Err)
		}
		return true
	})
	if n := v.Mark(); n != 3*3+1 {
		t.Errorf("%d syncs, want 10", n)
	}
	importAll(t, w, found)
	if n := v.Mark(); n != 3*3+1 {
		t.Errorf("%d more for nothing new", n-10)
	}
}

// TestPartBeginsWithTheLastSession checks that a part is begun while the last sessions of the part
// before are being read.
func TestPartBeginsWithTheLastSession(t *testing.T) {
	found := familiesWithContents(t, t.TempDir(), 2*ofEach, 0)
	im := &Importer{Workspace: newWorkspace(t)}
	second := make(chan struct{})
	begun := 0
	begin := func(ctx context.Context, found []Found) *part {
		p := im.begin(ctx, found[:ofEach])
		if begun++; begun > 1 {
			close(second)
			return p
		}
		<-p.ready
		p.ready = make(chan struct{}) // as if its last session took longer
		go func() {
			select {
			case <-second:
			case <-time.After(10 * time.Second):
				t.Error("the second part was not begun while the first one is read")
			}
			close(p.ready)
		}()
		return p
	}
	inParts(t.Context(), found, begin, func(r Result) bool { return r.Err == nil })
	if begun != 2 {
		t.Errorf("%d parts, want 2", begun)
	}
}

// TestStoppedImportLeavesNothing checks that an import that is stopped while the next part is read
// waits for it, and leaves no file of it and no lock.
func TestStoppedImportLeavesNothing(t *testing.T) {
	found := familiesWithContents(t, t.TempDir(), 3*ofEach, 0)
	w := newWorkspace(t)
	im := &Importer{Workspace: w}
	var begun []*part
	begin := func(ctx context.Context, found []Found) *part {
		begun = append(begun, im.begin(ctx, found[:ofEach]))
		return begun[len(begun)-1]
	}
	inParts(t.Context(), found, begin, func(Result) bool { return false })
	for i, p := range begun {
		if !p.isRead() {
			t.Errorf("part %d of %d is still being read", i+1, len(begun))
		}
		<-p.ready
	}
	for name := range treeOf(t, w.Dir()) {
		if isTemp(name) {
			t.Errorf("%s is left", name)
		}
	}
	if locks, err := w.Locks(); err != nil || len(locks) > 0 || len(begun) < 2 {
		t.Errorf("%d parts, locks %v, %v; want at least 2 parts, no locks", len(begun), locks, err)
	}
}

// TestFewSessionsBehindAPart checks that sessions too few to be a part of their own are imported,
// and that the part in front of them is imported once.
func TestFewSessionsBehindAPart(t *testing.T) {
	w := newWorkspace(t)
	found := familiesWithContents(t, t.TempDir(), ofEach+2, 0)
	told := map[string]int{}
	for r := range (&Importer{Workspace: w}).All(t.Context(), found) {
		if told[r.Name.String()]++; r.Err != nil || r.Outcome.State != New {
			t.Errorf("%s is %q, %v; want new", r.Name, r.Outcome.State, r.Err)
		}
	}
	if len(told) != len(found) {
		t.Errorf("told of %d sessions, want %d", len(told), len(found))
	}
}
