package workspace

import (
	"errors"
	"io/fs"
	"path"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/atomicfile"
)

// createAll creates families and returns the publishing and syncing steps, in order.
func createAll(
	t *testing.T, ws *Workspace, families [][]*NewConversation,
) (steps []string, made [][]Entry, errs []error) {
	t.Helper()
	var mu sync.Mutex
	hook := func(step atomicfile.Step, name string) error {
		mu.Lock()
		defer mu.Unlock()
		switch {
		case strings.HasPrefix(name, ConversationsDir) && step == atomicfile.StepRename:
			steps = append(steps, path.Base(name))
		case strings.Contains(string(step), "sync") && !strings.HasPrefix(name, "blobs"):
			steps = append(steps, string(step))
		}
		return nil
	}
	v := ws.Blobs().Volume()
	if v == nil {
		t.Skip("files are synced one by one here")
	}
	ws.main.hook, v.Hook = hook, hook
	made, errs, settle := ws.CreateAll(t.Context(), families)
	if err := settle(); err != nil {
		t.Error(err)
	}
	ws.main.hook, v.Hook = nil, nil
	return steps, made, errs
}

// TestCreateAllSyncsThreeTimes checks that any number of conversations needs three syncs: after all
// was written, after the others of each family were published, and after the first ones were.
func TestCreateAllSyncsThreeTimes(t *testing.T) {
	w := newWorld(t)
	ws := w.open()
	var families [][]*NewConversation
	for i := range events.ID(10) {
		at := id1 + 3*i
		families = append(families, []*NewConversation{
			made(at, "x"), made(at+1, "x"), made(at+2, "x"),
		})
	}
	steps, entries, errs := createAll(t, ws, families)
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	var order []string
	for _, step := range steps {
		id, ok := events.ParseDirname(step)
		switch {
		case !ok:
			order = append(order, step)
		case (id-id1)%3 == 0:
			order = append(order, "first")
		default:
			order = append(order, "other")
		}
	}
	want := []string{"syncvolume", "other", "syncvolume", "first", "syncvolume"}
	if got := slices.Compact(slices.Clone(order)); !slices.Equal(got, want) || len(order) != 33 {
		t.Errorf("%d steps, %v; want 33, %v", len(order), got, want)
	}
	for i, family := range entries {
		for j, e := range family {
			if c, err := ws.Load(e); err != nil || e.ID != families[i][j].ID || c.Stream.Len() != 2 {
				t.Errorf("family %d, %d: %+v, %v", i, j, e, err)
			}
		}
	}
	w.noTrash()
}

// TestCreateAllLeavesOutFamilies checks that a family fails if an id of it is taken or locked,
// except for those already published, and that other families are created.
func TestCreateAllLeavesOutFamilies(t *testing.T) {
	w := newWorld(t)
	w.conversation(live+"17800836876-taken", "taken")
	ws, other := w.open(), w.open()
	unlock, err := other.Lock(t.Context(), id1+3)
	if err != nil {
		t.Fatal(err)
	}
	_, _, errs := createAll(t, ws, [][]*NewConversation{
		{made(id1, "first"), made(id1+1, "taken")},
		{made(id1+2, "first"), made(id1+3, "held")},
		{made(id1+4, "first"), made(id1+5, "other")},
		{made(id1+5, "twice")},
	})
	if err := unlock(); err != nil {
		t.Error(err)
	}
	var held *LockedError
	if !errors.Is(errs[0], fs.ErrExist) || !errors.As(errs[1], &held) || errs[2] != nil ||
		!errors.As(errs[3], &held) { // by the other one of the same call
		t.Errorf("errors are %v", errs)
	}
	want := []string{"17800836876-taken", "17800836879-first", "17800836880-other"}
	if got := w.dirs(); !slices.Equal(got, want) {
		t.Errorf("directories are %v, want %v", got, want)
	}
	w.noTrash()
}
