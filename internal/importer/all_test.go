package importer

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
)

// manySessions writes n sessions of one turn each, and returns them in order.
func manySessions(t *testing.T, n int) []Found {
	t.Helper()
	dir := t.TempDir()
	for i := range n {
		id := fmt.Sprintf("%08d-0000-4000-8000-000000000000", i)
		line := fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":%q,"cwd":"/w",`+
			`"timestamp":"2026-10-01T10:00:00Z","message":{"role":"user","content":"ask %d"}}`+"\n",
			id, id, i)
		if err := os.WriteFile(filepath.Join(dir, id+".jsonl"), []byte(line), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
	if len(found) != n {
		t.Fatalf("found %d sessions, want %d", len(found), n)
	}
	return found
}

// TestLinksBelowNamedDirectories checks that an import of a directory follows no link below it,
// which the owner of a repository may have made, and names those that look like sessions.
func TestLinksBelowNamedDirectories(t *testing.T) {
	there, dir := filepath.Dir(manySessions(t, 1)[0].Path), t.TempDir()
	for _, name := range []string{"dir", "s.jsonl", "other"} {
		target := there
		if name != "dir" {
			target = filepath.Join(there, "00000000-0000-4000-8000-000000000000.jsonl")
		}
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Skip("no links here: ", err) // for some users of Windows
		}
	}
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
	if len(found) != 1 || !errors.Is(found[0].Err, sessions.ErrLink) {
		t.Errorf("found %v", found)
	}
	named := Selection{Paths: []string{filepath.Join(dir, "s.jsonl")}, Foreign: true}
	if found, _ := Find(t.Context(), sessions.Places{}, named); len(found) != 1 || found[0].Err != nil {
		t.Errorf("found %v by the name of a link", found)
	}
}

// TestLongFirstRecord checks that a file is recognized whose first record is long and is none by
// which an agent is known.
func TestLongFirstRecord(t *testing.T) {
	path := manySessions(t, 1)[0].Path
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	long := fmt.Sprintf(`{"type":"x","text":%q}`+"\n", strings.Repeat("long ", 20_000))
	if err := os.WriteFile(path, append([]byte(long), data...), 0o600); err != nil {
		t.Fatal(err)
	}
	named := Selection{Paths: []string{path}, Foreign: true}
	found, _ := Find(t.Context(), sessions.Places{}, named)
	if len(found) != 1 || found[0].Err != nil || found[0].Name.Agent != sessions.ClaudeCode {
		t.Errorf("found %+v, want a session of Claude Code", found)
	}
}

// TestAllYieldsInOrder checks that sessions imported at the same time are reported in the order in
// which they were found, and that the outcome does not depend on it.
func TestAllYieldsInOrder(t *testing.T) {
	found := manySessions(t, 40)
	for _, hold := range []bool{false, true} {
		im := &Importer{Workspace: newWorkspace(t), Hold: hold}
		i := 0
		for r := range im.All(t.Context(), found) {
			if r.Err != nil || r.Outcome.State != New || r.Name != found[i].Name {
				t.Errorf("hold %t, %d: %s is %q, %v; want %s, new", hold, i, r.Name,
					r.Outcome.State, r.Err, found[i].Name)
			}
			i++
		}
		if i != len(found) {
			t.Errorf("hold %t: told of %d sessions, want %d", hold, i, len(found))
		}
		all, _, err := im.Workspace.List(workspace.ListOptions{Archived: true, Local: true})
		if err != nil || len(all) != len(found) {
			t.Errorf("hold %t: %d conversations, %v; want %d", hold, len(all), err, len(found))
		}
	}
}

// TestExportsWaitForEarlierParts checks that the next part is read while one is saved, except if a
// session in it continues a conversation that is being saved.
func TestExportsWaitForEarlierParts(t *testing.T) {
	found := manySessions(t, maxPart+minJoint-1)
	for _, d := range resumable {
		before := &Importer{Workspace: newWorkspace(t)}
		first, err := before.Import(t.Context(), found[0].Dialect, found[0].Session)
		if err != nil {
			t.Fatal(err)
		}
		x := export(t, before.Workspace, first.Made[0].ID, d)
		x.asks(t, "and then?", "this")
		all := append(slices.Clone(found), Found{Session: x.session(t), Dialect: d})
		im := &Importer{Workspace: newWorkspace(t)}
		var last Outcome
		for r := range im.All(t.Context(), all) {
			if r.Err != nil {
				t.Errorf("%s: %v", r.Name, r.Err)
			}
			last = r.Outcome
		}
		if len(last.Made) != 1 || last.Made[0].ID != first.Made[0].ID || last.Made[0].State != Grown {
			t.Errorf("%s went on with %s: %+v", d.Agent(), first.Made[0].ID, last)
		}
	}
}

// TestAllEndsWhereTheCallerDoes: nothing is at work after the loop is left.
func TestAllEndsWhereTheCallerDoes(t *testing.T) {
	im := &Importer{Workspace: newWorkspace(t)}
	found := manySessions(t, maxPart+minJoint)
	for range im.All(t.Context(), found) {
		break
	}
	made := func() int {
		all, problems, err := im.Workspace.List(workspace.ListOptions{Archived: true})
		if err != nil || len(problems) > 0 {
			t.Fatalf("%v, %v", problems, err)
		}
		return len(all)
	}
	first := made()
	time.Sleep(10 * time.Millisecond)
	if then := made(); first == 0 || first == len(found) || then != first {
		t.Errorf("%d conversations, then %d; want some of %d, and no more then",
			first, then, len(found))
	}
}

// TestPartsAreBounded checks that a part has as many sessions as fit in memory, also if their sizes
// are unknown.
func TestPartsAreBounded(t *testing.T) {
	for size, want := range map[int64]int{
		1: maxPart, 0: maxPartBytes / unknownBytes, maxPartBytes / 4: 4, maxPartBytes + 1: 1,
	} {
		found := make([]Found, 2*maxPart)
		for i := range found {
			found[i].Size = size
		}
		if n := partOf(found); n != want {
			t.Errorf("a part has %d sessions of %d bytes, want %d", n, size, want)
		}
	}
}

// TestAllOfAPartIsCreatedTogether checks that no conversation of a part is left to be saved by
// itself, also if there are more than may be locked at a time.
func TestAllOfAPartIsCreatedTogether(t *testing.T) {
	w := newWorkspace(t)
	im := &Importer{Workspace: w}
	_, errs, _ := w.CreateAll(t.Context(), make([][]*workspace.NewConversation, 1))
	if errors.Is(errs[0], errors.ErrUnsupported) {
		t.Skip("files are synced one by one here")
	}
	var jobs []*job
	for _, f := range manySessions(t, maxCreated+minJoint) {
		j := im.newJob(f.Dialect, f.Session)
		if err := j.prepare(t.Context(), (*blobs.Store).NewBatch); err != nil {
			t.Fatal(err)
		}
		defer j.batch.Discard()
		jobs = append(jobs, j)
	}
	if err := im.createAll(t.Context(), jobs)(); err != nil {
		t.Fatal(err)
	}
	if locks, err := w.Locks(); err != nil || len(locks) > 0 {
		t.Errorf("%d are locked, %v", len(locks), err)
	}
	for i, j := range jobs {
		if len(j.made) != 1 || j.saving != nil {
			t.Fatalf("session %d: made %v, %v; want one conversation", i, j.made, j.saving)
		}
	}
}

// TestAPartWithOneThatWasOvertaken checks that a session is read again only when the others of its
// part are durable and unlocked: it may wait for another import, which waits for them.
func TestAPartWithOneThatWasOvertaken(t *testing.T) {
	w := newWorkspace(t)
	p := (&Importer{Workspace: w}).begin(t.Context(), manySessions(t, minJoint+1))
	<-p.ready
	p.results[0].Err, p.jobs[0] = errOvertaken, nil
	p.save(t.Context())
	if err := p.results[0].Err; err != nil {
		t.Error(err)
	}
	if locks, err := w.Locks(); err != nil || len(locks) > 0 || p.created != nil {
		t.Errorf("%d are locked, %v", len(locks), err)
	}
}

// TestWhatOthersDoMeanwhileIsSeen checks that an import notices conversations imported, moved or
// removed by others, although one listing serves many sessions.
func TestWhatOthersDoMeanwhileIsSeen(t *testing.T) {
	w := newWorkspace(t)
	found := manySessions(t, 3)
	im, other := &Importer{Workspace: w}, &Importer{Workspace: w}
	if state, err := im.Look(found[0].Session); state != New || err != nil {
		t.Fatalf("Look = %q, %v; want new", state, err)
	}
	for r := range other.All(t.Context(), found) {
		if r.Err != nil {
			t.Fatal(r.Err)
		}
	}
	for r := range im.All(t.Context(), found) { // with an outdated listing
		if r.Err != nil || r.Outcome.State != Unchanged {
			t.Errorf("%s is %q, %v; want unchanged", r.Name, r.Outcome.State, r.Err)
		}
	}
	all, _, err := w.List(workspace.ListOptions{Archived: true})
	if err != nil || len(all) != 3 {
		t.Fatalf("%d conversations, %v; want 3", len(all), err)
	}
	if _, err := w.Unarchive(t.Context(), all[0].ID); err != nil {
		t.Fatal(err)
	}
	for r := range im.All(t.Context(), found) {
		if r.Err != nil || r.Outcome.State != Unchanged {
			t.Errorf("after a move %s is %q, %v; want unchanged", r.Name, r.Outcome.State, r.Err)
		}
	}
}

// TestDirectoriesNameWhatCannotBeRead checks that in a directory only unreadable files with names
// of sessions are reported; other files are ignored.
func TestDirectoriesNameWhatCannotBeRead(t *testing.T) {
	dir := t.TempDir()
	for name, data := range map[string]string{
		"a.jsonl.zst": "\x28\xb5\x2f\xfd\x04", "b.jsonl": "\xff\xfe{}\n",
		"c.txt": "text", "d.jsonl": "{}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
	var named []string
	for _, f := range found {
		if f.Err != nil {
			named = append(named, filepath.Base(f.Path))
		}
	}
	if got := fmt.Sprint(named); got != "[a.jsonl.zst b.jsonl]" || len(found) != 2 {
		t.Errorf("%d found, named are %s", len(found), got)
	}
}

// TestCopyThatDiffers imports a copy of a session that has a turn of it otherwise: it is named, and
// no import fails for it, at each time.
func TestCopyThatDiffers(t *testing.T) {
	dir, w := t.TempDir(), newWorkspace(t)
	const begin = `{"timestamp":"2026-10-01T10:00:00Z","type":"session_meta","payload":` +
		`{"id":"00000000-0000-4000-8000-000000000000","cwd":"/w"}}` + "\n" +
		`{"timestamp":"2026-10-01T10:00:01Z","type":"turn_context","payload":{"turn_id":"t","cwd":"/w"}}` + "\n"
	item := func(payload string) string {
		return `{"timestamp":"2026-10-01T10:00:02Z","type":"response_item","payload":` + payload + "}\n"
	}
	asked := func(text string) string {
		return item(`{"type":"message","role":"user","content":[{"type":"input_text","text":"` + text + `"}]}`)
	}
	answer := func(text string) string {
		return item(`{"type":"message","role":"assistant","content":[{"type":"output_text","text":"` + text + `"}]}`)
	}
	call := item(`{"type":"function_call","name":"shell","arguments":"{}","call_id":"c"}`)
	for name, data := range map[string]string{
		"long":  begin + asked("said here") + call + answer("done, tests pass"),
		"short": begin + asked("said there") + answer("done"),
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
		im := &Importer{Workspace: w}
		for r := range im.All(t.Context(), found) {
			if r.Err != nil || r.Copy != errors.Is(r.Outcome.Apart, ErrOtherCopy) {
				t.Errorf("%s: %v, apart: %v", r.Path, r.Err, r.Outcome.Apart)
			}
		}
	}
	for _, c := range has(t, w) {
		if !strings.Contains(c, "said here") || strings.Contains(c, "said there") {
			t.Errorf("the conversation is\n%s", c)
		}
	}
}

// TestContinuedInTwoPlaces imports a session that was copied and continued in both places, as in
// the directories of two working trees, and copies that only end earlier.
func TestContinuedInTwoPlaces(t *testing.T) {
	const id = "00000000-0000-4000-8000-000000000000"
	var n int
	ask := func(prompts ...string) (lines string) {
		for _, p := range prompts {
			n++
			lines += fmt.Sprintf(`{"type":"user","uuid":%q,"sessionId":%q,"cwd":"/w",`+
				`"timestamp":"2026-10-01T10:00:00Z","message":{"role":"user","content":%q}}`+"\n",
				uuidOf(n), id, p)
		}
		return lines
	}
	both, dir := ask("both"), t.TempDir()
	for name, data := range map[string]string{
		"a": both + ask("here"), "b": both, "c": both + ask("there", "longer"), "d": both[:9],
	} {
		if err := os.WriteFile(filepath.Join(dir, name+".jsonl"), []byte(data), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	find := func() []Found {
		all, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: []string{dir}, Foreign: true})
		return slices.DeleteFunc(all, func(f Found) bool { return f.Err != nil })
	}
	var names []string
	for _, f := range find() {
		names = append(names, fmt.Sprint(filepath.Base(f.Path), f.Copy))
	}
	if diff := cmp.Diff([]string{"c.jsonlfalse", "a.jsonltrue"}, names); diff != "" {
		t.Errorf("-want +found: %s", diff)
	}
	w := newWorkspace(t)
	for _, want := range []State{Grown, Unchanged} {
		im := &Importer{Workspace: w}
		for r := range im.All(t.Context(), find()) {
			if r.Err != nil || r.Copy && r.Outcome.State != want {
				t.Errorf("%s: %s, %v, want %s", r.Path, r.Outcome.State, r.Err, want)
			}
		}
	}
	for _, c := range has(t, w) {
		for _, prompt := range []string{"both", "here", "there", "longer"} {
			if n := strings.Count(c, `"content": `+strconv.Quote(prompt)); n != 1 {
				t.Errorf("%q is there %d times in\n%s", prompt, n, c)
			}
		}
	}
}
