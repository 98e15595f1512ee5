package importer

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/git-jp/git-jp/internal/workspace"
	"github.com/google/go-cmp/cmp"
	"github.com/klauspost/compress/zstd"
)

// A machine has a copy of a session, which begins as the other copy does.
type machine struct {
	*desk
	author author
	where  string // what its answers end with
}

func newMachine(agent string) *machine {
	d := &desk{Rand: rand.New(rand.NewPCG(3, 1)), files: map[string]string{}}
	m := &machine{desk: d, author: agents[agent](d)}
	m.asks(2)
	m.asks(10)
	return m
}

// asks asks at a time, and returns the state of the session after the answer.
func (m *machine) asks(at int) map[string]string {
	m.n = at
	m.author.prompt(fmt.Sprint("Prompt ", at))
	m.author.answer(fmt.Sprint("Answer ", at, m.where), true)
	return maps.Clone(m.files)
}

// checkSaid checks that each prompt and answer is said in some conversation, once in each, and that
// those of the session itself are all there if all is set.
func checkSaid(t *testing.T, w *workspace.Workspace, all bool, at ...int) {
	t.Helper()
	main := mainOf(t, w).ID
	in := map[string]int{}
	for name, c := range conversations(t, w) {
		for _, text := range texts.FindAllString(string(c.Stream.Encode()), -1) {
			in[name+" "+text]++
			if in[name+" "+text] > 1 {
				t.Errorf("%s has %s twice", name, text)
			}
			if !all || c.ID == main {
				in[text] = 1
			}
		}
	}
	for _, n := range at {
		for _, text := range []string{fmt.Sprint("Prompt ", n), fmt.Sprint("Answer ", n)} {
			if in[text] == 0 {
				t.Errorf("%s is lost", text)
			}
		}
	}
}

// TestCopiesOnTwoMachines imports a session that was copied and continued on two machines into one
// workspace, in any order: nothing of either copy is lost, and importing them again changes nothing.
// Both are in the session's own conversation, unless nothing tells a copy that was continued later
// from a source in which an agent deleted what was taken back.
func TestCopiesOnTwoMachines(t *testing.T) {
	for agent := range agents {
		for name, times := range map[string][3]int{
			"in turns": {20, 30, 40}, "one after the other": {20, 40, 30}, "later": {40, 20, 50},
		} {
			first, then, more := times[0], times[1], times[2]
			for _, order := range []string{"ab", "ba", "abA", "baA", "bA", "Ab"} {
				t.Run(agent+"/"+name+"/"+order, func(t *testing.T) {
					a, b := newMachine(agent), newMachine(agent)
					b.where = " elsewhere"
					states := map[rune]map[string]string{
						'a': a.asks(first), 'b': b.asks(then), 'A': a.asks(more),
					}
					s := a.author.written()
					w := newWorkspace(t)
					at := []int{2, 10, first, then}
					for _, which := range order {
						s.brings(t, w, states[which])
					}
					if strings.Contains(order, "A") {
						at = append(at, more)
					}
					all := s.says != nil || name == "in turns" && strings.Contains("ba Ab", order)
					checkSaid(t, w, all, at...)
					before := has(t, w)
					for _, which := range order + order {
						s.brings(t, w, states[which])
					}
					if diff := cmp.Diff(inOrder(before), inOrder(has(t, w))); diff != "" {
						t.Errorf("imported again: %s", diff)
					}
				})
			}
		}
	}
}

// TestCopiesOnTwoBranches is the same on two branches that are merged.
func TestCopiesOnTwoBranches(t *testing.T) {
	for agent := range agents {
		for _, times := range [][2]int{{20, 30}, {30, 20}} {
			t.Run(fmt.Sprint(agent, times), func(t *testing.T) {
				a, b := newMachine(agent), newMachine(agent)
				b.where = " elsewhere"
				base := maps.Clone(a.files)
				mine, theirs := a.asks(times[0]), b.asks(times[1])
				s := a.author.written()
				all := randomImports{
					nil, s.imported(t, base), s.imported(t, base, mine), s.imported(t, base, theirs),
				}
				if lost := lostBy(t, all.merge(t)); len(lost) > 0 {
					t.Errorf("merged, it lost %s", lost)
				}
				checkSaid(t, all.long, true, 2, 10, 20, 30)
				for range 2 {
					s.brings(t, all.long, mine)
					s.brings(t, all.long, theirs)
				}
				checkSaid(t, all.long, false, 2, 10, 20, 30)
				for _, more := range []map[string]string{a.asks(40), b.asks(50)} {
					s.brings(t, all.long, more)
				}
				checkSaid(t, all.long, false, 2, 10, 20, 30, 40, 50)
			})
		}
	}
}

// TestTakenBackBetweenImports goes back while nothing imports, as with capture, which imports when
// a turn has ended: what an agent deletes from its source is a conversation of its own.
func TestTakenBackBetweenImports(t *testing.T) {
	for agent := range agents {
		t.Run(agent, func(t *testing.T) {
			m := newMachine(agent)
			m.n = 20
			back := m.author.prompt("Prompt 20")
			m.author.answer("Answer 20", true)
			was := maps.Clone(m.files)
			m.asks(30)
			long := maps.Clone(m.files)
			m.n = 40
			m.author.back(back, 2)
			now := m.asks(50)
			s := m.author.written()
			w := s.imported(t, was, long, now)
			checkSaid(t, w, false, 2, 10, 20, 30, 50)
			main := string(mainOf(t, w).Stream.Encode())
			for _, n := range []int{20, 30} {
				if strings.Contains(main, fmt.Sprintf(`"Prompt %d"`, n)) {
					t.Errorf("Prompt %d was taken back", n)
				}
			}
			names := slices.Sorted(maps.Keys(conversations(t, w)))
			if len(names) != 2 {
				t.Errorf("conversations are %s", names)
			}
			rewound := mainOf(t, w).Details.Rewound()
			if len(rewound) != 1 || len(rewound[names[1]]) == 0 {
				t.Errorf("rewound is %v", rewound)
			}
			before := has(t, w)
			for _, state := range []map[string]string{was, long, now} {
				s.brings(t, w, state)
			}
			if diff := cmp.Diff(before, has(t, w)); diff != "" {
				t.Errorf("imported again: %s", diff)
			}
			s.brings(t, w, m.asks(60))
			if got := mainOf(t, w).Details.Rewound(); len(got) != 1 {
				t.Errorf("later rewound is %v", got)
			}
			checkSaid(t, w, false, 2, 10, 20, 30, 50, 60)
		})
	}
}

// TestCopiesInTwoHomes imports both copies of a session at once.
func TestCopiesInTwoHomes(t *testing.T) {
	for agent := range agents {
		t.Run(agent, func(t *testing.T) {
			a, b := newMachine(agent), newMachine(agent)
			b.where = " elsewhere"
			a.asks(20)
			s, w := a.author.written(), newWorkspace(t)
			var found []Found
			for _, state := range []map[string]string{b.asks(30), a.asks(40)} {
				path := filepath.Join(homeOf(t, state), filepath.FromSlash(s.path))
				for _, one := range must(s.dialect.List(t.Context(), path)) {
					found = append(found, Found{Session: one, Dialect: s.dialect})
				}
			}
			for range 2 {
				found := unique(found)
				for r := range (&Importer{Workspace: w}).All(t.Context(), found) {
					if r.Err != nil {
						t.Error(r.Err)
					}
				}
				checkSaid(t, w, false, 2, 10, 20, 30, 40)
			}
		})
	}
}

// TestRemovedPromptLeavesNothing removes a prompt here: the rest of its turn is still the source's.
func TestRemovedPromptLeavesNothing(t *testing.T) {
	for agent := range agents {
		t.Run(agent, func(t *testing.T) {
			m := newMachine(agent)
			s := m.author.written()
			w := s.imported(t, m.files)
			change(t, w, mainOf(t, w).ID, func(s *events.Stream) {
				s.Remove(slices.IndexFunc(elements(s), func(e *events.Element) bool {
					r, ok := e.Event().(*events.ChatRequest)
					return ok && r.Content == "Prompt 10"
				}), 1)
			})
			all := mainOf(t, s.imported(t, m.asks(20)))
			now := &sessions.Conversation{Stream: all.Stream, Details: all.Details}
			if part := partingOf(mainOf(t, w), now); len(part.left) > 0 || part.copied {
				t.Errorf("it parts: %+v", part)
			}
		})
	}
}

// TestCopyInPlaceOfADamagedOne imports copies of a session that say the same, of which one cannot be
// read: that one is named, and another is imported.
func TestCopyInPlaceOfADamagedOne(t *testing.T) {
	for agent, spoil := range map[string]func(t *testing.T, dir string){
		"opencode": func(t *testing.T, dir string) {
			parts := filepath.Join(dir, "storage", "part", "msg_0003")
			if err := errors.Join(os.RemoveAll(parts), os.WriteFile(parts, nil, 0o600)); err != nil {
				t.Fatal(err)
			}
		},
		"codex": func(t *testing.T, dir string) {
			names := must(filepath.Glob(filepath.Join(dir, "*.zst")))
			data := must(os.ReadFile(names[0]))
			data[len(data)-len(data)/8] ^= 1
			if err := os.WriteFile(names[0], data, 0o600); err != nil {
				t.Fatal(err)
			}
		},
	} {
		for bad := range 2 {
			t.Run(fmt.Sprint(agent, bad), func(t *testing.T) {
				m, dirs := newMachine(agent), [2]string{}
				var long strings.Builder // so that its beginning can be read
				for range 40_000 {
					fmt.Fprintf(&long, " %x", m.Uint64())
				}
				m.where = long.String()
				files := m.asks(20)
				for name, data := range m.files {
					if strings.HasSuffix(name, ".jsonl") {
						delete(files, name)
						files[name+".zst"] = string(must(zstd.NewWriter(nil)).EncodeAll([]byte(data), nil))
					}
				}
				for i := range dirs {
					dirs[i] = homeOf(t, files)
				}
				spoil(t, dirs[bad])
				for _, dir := range dirs { // which one is found first does not depend on the time
					sameTimes(t, dir)
				}
				w := newWorkspace(t)
				found, _ := Find(t.Context(), sessions.Places{}, Selection{Paths: dirs[:], Foreign: true})
				var failed []string
				for r := range (&Importer{Workspace: w}).All(t.Context(), found) {
					if r.Err != nil {
						failed = append(failed, r.Path)
					}
				}
				checkSaid(t, w, true, 2, 10, 20)
				if len(failed) > 1 || len(failed) == 1 && !strings.HasPrefix(failed[0], dirs[bad]) ||
					bad == 0 && failed == nil {
					t.Errorf("not imported: %q", failed)
				}
			})
		}
	}
}

// sameTimes gives all files in a directory the same time.
func sameTimes(t *testing.T, dir string) {
	t.Helper()
	at := time.Date(2026, 5, 2, 12, 0, 0, 0, time.UTC)
	err := filepath.WalkDir(dir, func(name string, _ fs.DirEntry, err error) error {
		return errors.Join(err, os.Chtimes(name, at, at))
	})
	if err != nil {
		t.Fatal(err)
	}
}
