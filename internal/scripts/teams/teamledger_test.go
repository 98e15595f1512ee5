package teams_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// The model of TestTeams reads files as any program would. It uses none of our packages, so that it
// does not share their faults.

// A said is the content of one turn: its question is the key, the answers below it, and the
// settings that it ran under.
type said struct{ answers, settings string }

// A ledger is the content of a conversation, each entry separate: the same keys and values in two
// versions are the same entry.
type ledger struct {
	turns    map[string]said
	labels   map[string]string
	notes    map[string]string // of the files beside it
	title    string
	archived bool
}

// readLedger reads the only directory of a conversation below a .jp.
func readLedger(jp, id string) (ledger, error) {
	dir, err := onlyDirectory(jp, id)
	if err != nil {
		return ledger{}, err
	}
	l := ledger{
		turns: map[string]said{}, notes: map[string]string{},
		archived: filepath.Base(filepath.Dir(dir)) == ".archive",
	}
	var meta struct {
		Title  string            `json:"title"`
		Labels map[string]string `json:"labels"`
	}
	if err := readJSON(filepath.Join(dir, "metadata.json"), &meta); err != nil {
		return ledger{}, err
	}
	l.title, l.labels = meta.Title, meta.Labels
	if l.labels == nil {
		l.labels = map[string]string{}
	}
	if err := l.readTurns(filepath.Join(dir, "events.json")); err != nil {
		return ledger{}, err
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.md*"))
	for _, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return ledger{}, err
		}
		l.notes[string(text)] = "here"
	}
	return l, err
}

func onlyDirectory(jp, id string) (string, error) {
	var dirs []string
	for _, pattern := range []string{"conversations/", "conversations/.archive/"} {
		found, err := filepath.Glob(filepath.Join(jp, pattern+id+"*"))
		if err != nil {
			return "", err
		}
		dirs = append(dirs, found...)
	}
	if len(dirs) != 1 {
		return "", fmt.Errorf("%d directories of %s: %v", len(dirs), id, dirs)
	}
	return dirs[0], nil
}

func readJSON(name string, v any) error {
	data, err := os.ReadFile(name)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(data, v); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

type streamElement struct {
	Type     string         `json:"type"`
	Content  any            `json:"content"`
	Message  string         `json:"message"`
	Delta    map[string]any `json:"delta"`
	Metadata struct {
		Unset []string `json:"git_jp_unset"`
	} `json:"metadata"`
}

func (l *ledger) readTurns(name string) error {
	var elems []streamElement
	if err := readJSON(name, &elems); err != nil {
		return err
	}
	settings := map[string]any{}
	asked, ran := "", ""
	for _, e := range elems {
		switch e.Type {
		case "config_delta":
			maps.Copy(settings, flat("", e.Delta))
		case "turn_start":
			now := maps.Clone(settings)
			for _, text := range e.Metadata.Unset { // jp writes metadata in this form
				pointer, err := base64.StdEncoding.DecodeString(text)
				if err != nil {
					return fmt.Errorf("%s: %w", name, err)
				}
				maps.DeleteFunc(now, func(k string, _ any) bool {
					return strings.HasPrefix(k+"/", string(pointer)+"/")
				})
			}
			asked, ran = "", settingsText(now)
		case "chat_request":
			asked, _ = e.Content.(string)
			// If both sides answered differently there may be two turns.
			l.turns[asked] = said{l.turns[asked].answers, ran}
		case "chat_response":
			now := l.turns[asked]
			now.answers += e.Message + "\n"
			l.turns[asked] = now
		}
	}
	return nil
}

// flat returns the leaves of a tree of settings by their JSON pointers.
func flat(at string, tree map[string]any) map[string]any {
	leaves := map[string]any{}
	for key, value := range tree {
		if below, ok := value.(map[string]any); ok {
			maps.Copy(leaves, flat(at+"/"+key, below))
		} else {
			leaves[at+"/"+key] = value
		}
	}
	return leaves
}

func settingsText(settings map[string]any) string {
	var b strings.Builder
	for _, key := range slices.Sorted(maps.Keys(settings)) {
		fmt.Fprintf(&b, "%s=%v ", key, settings[key])
	}
	return b.String()
}

// mergedLedger returns the required merge of two versions with a common one: the three-way merge of
// entries, and of single values. An entry that both changed differently is open, and any of these
// versions is right.
func mergedLedger(base, ours, theirs ledger) (want ledger, open map[string][]ledger) {
	open = map[string][]ledger{}
	want.turns = mergedEntries(base.turns, ours.turns, theirs.turns, func(key string) {
		open["turn "+key] = []ledger{ours, theirs}
	})
	want.labels = mergedEntries(base.labels, ours.labels, theirs.labels, func(key string) {
		open["label "+key] = []ledger{ours, theirs}
	})
	want.notes = mergedEntries(base.notes, ours.notes, theirs.notes, func(string) {})
	want.title = ours.title
	if ours.title == base.title {
		want.title = theirs.title
	} else if theirs.title != base.title && theirs.title != ours.title {
		open["title"] = []ledger{ours, theirs}
	}
	want.archived = ours.archived
	if ours.archived == base.archived {
		want.archived = theirs.archived
	}
	return want, open
}

func mergedEntries[V comparable](
	base, ours, theirs map[string]V, open func(string),
) map[string]V {
	all := map[string]V{}
	keys := maps.Clone(base)
	maps.Copy(keys, ours)
	maps.Copy(keys, theirs)
	for key := range keys {
		b, inBase := base[key]
		o, inOurs := ours[key]
		t, inTheirs := theirs[key]
		switch {
		case inOurs == inTheirs && o == t, inTheirs == inBase && t == b:
			if inOurs {
				all[key] = o
			}
		case inOurs == inBase && o == b:
			if inTheirs {
				all[key] = t
			}
		default:
			open(key)
			if all[key] = o; !inOurs {
				all[key] = t
			}
		}
	}
	return all
}

// readForks reads the new conversations.
func readForks(jp string, known map[string]ledger) ([]ledger, error) {
	dirs, err := filepath.Glob(filepath.Join(jp, "conversations", "[0-9]*"))
	var all []ledger
	for _, dir := range dirs {
		id, _, _ := strings.Cut(filepath.Base(dir), "-")
		if _, is := known[id]; is {
			continue
		}
		l, err := readLedger(jp, id)
		if err != nil {
			return nil, err
		}
		all = append(all, l)
	}
	return all, err
}

// unanswered returns the open turns that do not match the result of one answer for all of them.
func (l ledger) unanswered(
	open map[string][]ledger, answer string, forks []ledger,
) (all []string) {
	for name, sides := range open {
		key, isTurn := strings.CutPrefix(name, "turn ")
		if !isTurn {
			continue
		}
		have := l.turns[key].answers
		ours, theirs := sides[0].turns[key].answers, sides[1].turns[key].answers
		inFork := slices.ContainsFunc(forks, func(f ledger) bool {
			return strings.Contains(f.turns[key].answers, theirs)
		})
		var right bool
		switch answer {
		case "--ours":
			right = have == ours
		case "--theirs":
			right = have == theirs
		case "--both":
			right = strings.Contains(have, ours) && strings.Contains(have, theirs)
		case "--fork":
			right = have == ours && (inFork || ours == theirs)
		default:
			right = ours == theirs
		}
		if !right {
			all = append(all, fmt.Sprintf("of %q there is %q; ours had %q and theirs %q",
				key, have, ours, theirs))
		}
	}
	return all
}

// differences returns where a conversation differs from its required content. An open entry may be
// either side's, or, for answers, both.
func (l ledger) differences(want ledger, open map[string][]ledger) []string {
	var all []string
	miss := func(format string, args ...any) { all = append(all, fmt.Sprintf(format, args...)) }
	for key, w := range want.turns {
		have, ok := l.turns[key]
		switch sides := open["turn "+key]; {
		case !ok && sides != nil && (!has(sides[0].turns, key) || !has(sides[1].turns, key)):
		case !ok:
			miss("the turn %q is lost", key)
		case sides != nil:
			if !strings.Contains(have.answers, sides[0].turns[key].answers) &&
				!strings.Contains(have.answers, sides[1].turns[key].answers) {
				miss("the turn %q has the answers %q, nobody's", key, have.answers)
			}
		case have != w:
			miss("the turn %q is %q, was %q", key, have, w)
		}
	}
	for key := range l.turns {
		if !has(want.turns, key) {
			miss("the turn %q is back", key)
		}
	}
	for key, w := range want.labels {
		if open["label "+key] == nil && l.labels[key] != w {
			miss("the label %s is %q, was %q", key, l.labels[key], w)
		}
	}
	for text := range want.notes {
		if !has(l.notes, text) {
			miss("the note %q is lost", text)
		}
	}
	if l.title != want.title && (open["title"] == nil || l.title != open["title"][1].title) {
		miss("the title is %q, was %q", l.title, want.title)
	}
	if l.archived != want.archived {
		miss("archived is %s", strconv.FormatBool(l.archived))
	}
	return all
}

func has[V any](m map[string]V, key string) bool { _, ok := m[key]; return ok }
