package repair

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/internal/workspace"
	"pgregory.net/rapid"
)

// A sketch is a version of a conversation as a list of parts that a person would recognize. Its
// marks are texts that occur nowhere else.
type sketch struct {
	turns       []sketchTurn
	compactions []string
	labels      map[string]string
	title       string
	config      map[string]string
}

type sketchTurn struct {
	minute         int
	delta          string // "" for none
	question, said string
}

func (s sketch) clone() sketch {
	s.turns, s.compactions = slices.Clone(s.turns), slices.Clone(s.compactions)
	s.labels, s.config = maps.Clone(s.labels), maps.Clone(s.config)
	return s
}

// conversation returns the conversation of the sketch.
func (s sketch) conversation(t *rapid.T, at string) *workspace.Conversation {
	var elems []string
	for _, turn := range s.turns {
		clock := fmt.Sprintf("2026-01-01 %02d:%02d", turn.minute/60, turn.minute%60)
		if turn.delta != "" {
			elems = append(elems, fmt.Sprintf(
				`{"timestamp": "%s:00.0", "type": "config_delta", "delta": {"key": %q}}`, clock, turn.delta))
		}
		elems = append(elems,
			fmt.Sprintf(`{"timestamp": "%s:01.0", "type": "turn_start"}`, clock),
			fmt.Sprintf(`{"timestamp": "%s:02.0", "type": "chat_request", "content": %q}`,
				clock, turn.question),
			fmt.Sprintf(`{"timestamp": "%s:03.0", "type": "chat_response", "message": %q}`,
				clock, turn.said))
	}
	for i, mark := range s.compactions {
		elems = append(elems, fmt.Sprintf(`{"timestamp": "2026-01-02 00:%02d:00.0", `+
			`"type": "compaction", "from_turn": 0, "to_turn": 0, "summary": {"summary": %q}}`, i, mark))
	}
	stream, err := events.Decode([]byte("[" + strings.Join(elems, ",") + "]"))
	if err != nil {
		t.Fatal(err)
	}
	c := &workspace.Conversation{
		Stream: stream, Details: &events.Details{Title: &s.title, Labels: maps.Clone(s.labels)},
	}
	var members []string
	for _, key := range slices.Sorted(maps.Keys(s.config)) {
		members = append(members, fmt.Sprintf("%q: %q", key, s.config[key]))
	}
	c.BaseConfig = []byte("{" + strings.Join(members, ", ") + "}")
	c.ID, c.Dirname, c.Path = 1, path1(at), ".jp/conversations/"+path1(at)
	return c
}

func path1(at string) string { return "1-" + at }

// change makes one change as a person would, with a mark of its own.
func (s *sketch) change(t *rapid.T, mark string, minute int) {
	n := len(s.turns)
	switch what := rapid.IntRange(0, 6).Draw(t, "change"); {
	case what == 0 && n > 0:
		i := rapid.IntRange(0, n-1).Draw(t, "removed")
		s.turns = slices.Delete(s.turns, i, i+1)
		s.compactions = nil // together with the turn that it covers
	case what == 1 && n > 0:
		s.turns[rapid.IntRange(0, n-1).Draw(t, "edited")].said = mark
	case what == 2 && n > 0:
		s.compactions = append(s.compactions, mark)
	case what == 3:
		s.labels[rapid.SampledFrom([]string{"a", "b"}).Draw(t, "label")] = mark
	case what == 4:
		s.title = mark
	case what == 5:
		s.config[rapid.SampledFrom([]string{"x", "y"}).Draw(t, "key")] = mark
	default:
		turn := sketchTurn{minute: minute, question: "q " + mark, said: "s " + mark}
		if rapid.Bool().Draw(t, "with a delta") {
			turn.delta = "d " + mark
		}
		s.turns = append(s.turns, turn)
	}
}

func drawSketches(t *rapid.T) (base *sketch, versions []sketch) {
	from := sketch{labels: map[string]string{}, config: map[string]string{}, title: "title"}
	if rapid.Bool().Draw(t, "with a base") {
		for i := range rapid.IntRange(1, 4).Draw(t, "turns") {
			from.turns = append(from.turns, sketchTurn{
				minute: i, question: fmt.Sprintf("q base%d", i), said: fmt.Sprintf("s base%d", i),
			})
		}
		base = &from
	}
	for v := range rapid.IntRange(2, 3).Draw(t, "versions") {
		s := from.clone()
		for i := range rapid.IntRange(1, 4).Draw(t, "changes") {
			s.change(t, fmt.Sprintf("v%dc%d", v, i), 10+10*v+i)
		}
		versions = append(versions, s)
	}
	return base, versions
}

// texts returns the marks of a sketch that must not be lost. For a single-valued part it also
// returns the name of the value.
func (s sketch) texts() map[string]string {
	all := make(map[string]string)
	for _, turn := range s.turns {
		all[fmt.Sprintf("%q", turn.question)] = ""
		all[fmt.Sprintf("%q", turn.said)] = ""
		if turn.delta != "" {
			all[fmt.Sprintf("%q", turn.delta)] = ""
		}
	}
	for _, mark := range s.compactions {
		all[fmt.Sprintf("%q", mark)] = "compaction"
	}
	for key, mark := range s.labels {
		all[fmt.Sprintf("%q", mark)] = "label " + key
	}
	for key, mark := range s.config {
		all[fmt.Sprintf("%q", mark)] = "key " + key
	}
	all[fmt.Sprintf("%q", s.title)] = "title"
	return all
}

// TestUnitingLosesNothing: the result has, once, everything of a version that no other removed or
// changed. A single-valued part has one of the given values. The expectation is computed from
// marks, not from streams.
func TestUnitingLosesNothing(t *testing.T) {
	united, conflicts := 0, 0
	rapid.Check(t, func(t *rapid.T) {
		base, versions := drawSketches(t)
		u := new(union)
		if base != nil {
			c := base.conversation(t, "base")
			u.base = ancestor{c.Details.Encode(), c.BaseConfig, c.Stream.Encode()}
		}
		var all []*workspace.Conversation
		for i, s := range versions {
			all = append(all, s.conversation(t, fmt.Sprint(i)))
		}
		is, err := u.of(all)
		if errors.Is(err, errConflict) {
			conflicts++
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		united++
		text := string(is.stream.Encode()) + string(is.details.Encode()) + string(is.baseConfig)
		for mark, valueOf := range required(base, versions) {
			n := strings.Count(text, mark)
			if valueOf == "" && (n == 0 || n > 1 && !strings.HasPrefix(mark, `"d `)) {
				t.Fatalf("%s is there %d times:\n%s", mark, n, text)
			}
			if valueOf == "compaction" {
				if n == 0 && !lacksATurn(u, is.stream) {
					t.Fatalf("the compaction %s is lost:\n%s", mark, text)
				}
				continue
			}
			if valueOf != "" && n == 0 && !replaced(mark, valueOf, versions, text) {
				t.Fatalf("%s, a %s, gave way to nothing:\n%s", mark, valueOf, text)
			}
			if valueOf == "title" && n == 0 && !strings.Contains(is.note, mark) {
				t.Fatalf("nobody was told that %s gave way: %q", mark, is.note)
			}
		}
		lessIsNoticed(t, u, all, is)
	})
	if united == 0 {
		t.Errorf("none was united, %d conflicts", conflicts)
	}
}

// required returns the marks that must be in the result: those of a version, unless they are in the
// base and another version lacks them.
func required(base *sketch, versions []sketch) map[string]string {
	all := make(map[string]string)
	for _, s := range versions {
		for mark, valueOf := range s.texts() {
			if base != nil && has(*base, mark) && slices.ContainsFunc(versions,
				func(other sketch) bool { return !has(other, mark) }) {
				continue
			}
			all[mark] = valueOf
		}
	}
	return all
}

func has(s sketch, mark string) bool {
	_, ok := s.texts()[mark]
	return ok
}

// replaced reports whether the result has the value of another version.
func replaced(mark, valueOf string, versions []sketch, text string) bool {
	for _, s := range versions {
		for other, of := range s.texts() {
			if of == valueOf && other != mark && strings.Contains(text, other) {
				return true
			}
		}
	}
	return false
}

// lessIsNoticed removes something from a result and expects the account to report it.
func lessIsNoticed(t *rapid.T, u *union, all []*workspace.Conversation, is *unified) {
	for i, e := range is.stream.All() {
		if key, _ := keyOf(e); key == "" || e.Kind() == events.KindTurnStart {
			continue
		}
		less := is.stream.Clone()
		less.Remove(i, 1)
		if slices.ContainsFunc(slices.Collect(elements(less)), func(o *events.Element) bool {
			return bytes.Equal([]byte(o.Sum().String()), []byte(e.Sum().String()))
		}) {
			continue // a delta that precedes several turns
		}
		err := u.account(all, &unified{
			details: is.details, stream: less, baseConfig: is.baseConfig,
		}, nil)
		if errors.Is(err, errUncounted) {
			continue
		}
		if e.Kind() != events.KindCompaction || !lacksATurn(u, less) {
			t.Fatalf("without %s: %v", e.Raw(), err)
		}
	}
	for key := range is.details.Labels {
		d := is.details.Clone()
		delete(d.Labels, key)
		err := u.account(all, &unified{details: d, stream: is.stream, baseConfig: is.baseConfig}, nil)
		if !errors.Is(err, errUncounted) {
			t.Fatalf("without the label %s: %v", key, err)
		}
	}
}

func elements(s *events.Stream) func(yield func(*events.Element) bool) {
	return func(yield func(*events.Element) bool) {
		for _, e := range s.All() {
			if !yield(e) {
				return
			}
		}
	}
}

// lacksATurn reports whether a turn of base was removed: its compaction may be removed too.
func lacksATurn(u *union, s *events.Stream) bool {
	for i := range 4 {
		mark := fmt.Sprintf("q base%d", i)
		if bytes.Contains(u.base.stream, []byte(mark)) && !bytes.Contains(s.Encode(), []byte(mark)) {
			return true
		}
	}
	return false
}

// TestSessionsAreUnited: the longer record of a session says what was in a turn that was open in
// the shorter one, and what was rewound. Anything else that the result lacks is noticed.
func TestSessionsAreUnited(t *testing.T) {
	event := func(second int, source, members string) string {
		return fmt.Sprintf(`{"timestamp": "2026-01-01 00:00:%02d.0", %s,
			"metadata": {"git_jp_source": %q}}`, second, members,
			base64.StdEncoding.EncodeToString([]byte(source)))
	}
	start := func(second int, metadata string) string {
		return fmt.Sprintf(`{"timestamp": "2026-01-01 00:00:%02d.0", "type": "turn_start"%s}`,
			second, metadata)
	}
	const open = `, "metadata": {"git_jp_open": "dHJ1ZQ=="}`
	first := event(2, "q1", `"type": "chat_request", "content": "first"`)
	back := event(5, "q2", `"type": "chat_request", "content": "taken back"`)
	next := event(8, "q3", `"type": "chat_request", "content": "next"`)
	said := func(text string) string {
		return event(3, "a1", fmt.Sprintf(`"type": "chat_response", "message": %q`, text))
	}
	imported := func(at, version, members string, elements ...string) *workspace.Conversation {
		stream, err := events.Decode([]byte("[" + strings.Join(elements, ",") + "]"))
		if err != nil {
			t.Fatal(err)
		}
		details, err := events.DecodeDetails([]byte(fmt.Sprintf(
			`{"title": "x", "last_activated_at": "2026-01-01 00:00:00.0",
			"labels": {"agent-session": "codex-s", "agent-import": %q}, %s}`,
			version, members)))
		if err != nil {
			t.Fatal(err)
		}
		c := &workspace.Conversation{Stream: stream, Details: details}
		c.ID, c.Dirname, c.Path = 1, path1(at), ".jp/conversations/"+path1(at)
		return c
	}
	base := imported("base", "3.1.0123456789abcdef", `"git_jp_imported": "11111111"`,
		start(1, open), first)
	short := imported("short", "3.2.0123456789abcdef", fmt.Sprintf(
		`"git_jp_imported": "11111111%s"`, blobs.Sum([]byte("q2")).String()[:8]),
		start(1, open), first, said("more"), start(4, ""), back)
	long := imported("long", "3.3.0123456789abcdef", `"git_jp_imported": "1111111133333333"`,
		start(1, ""), first, said("all"), start(7, ""), next)
	err := long.Details.SetRewound(map[string][]string{
		"codex-s@q3": append(
			short.Stream.At(3).RewoundNames(), short.Stream.At(4).RewoundNames()...),
	})
	if err != nil {
		t.Fatal(err)
	}
	all := []*workspace.Conversation{short, long}
	u := &union{base: ancestor{base.Details.Encode(), nil, base.Stream.Encode()}}
	is, err := u.of(all)
	if err != nil {
		t.Fatal(err)
	}
	text := string(is.stream.Encode())
	if !strings.Contains(text, "all") || !strings.Contains(text, "next") ||
		strings.Contains(text, "more") || strings.Contains(text, "taken") {
		t.Errorf("the result is\n%s", text)
	}
	for i, e := range is.stream.All() {
		less := is.stream.Clone()
		less.Remove(i, 1)
		err := u.account(all, &unified{details: is.details, stream: less}, nil)
		if e.Kind() != events.KindTurnStart && !errors.Is(err, errUncounted) {
			t.Errorf("without %s: %v", e.Raw(), err)
		}
	}
	less := is.details.Clone()
	if err := less.SetImportedTurns(less.ImportedTurns()[1:]); err != nil {
		t.Fatal(err)
	}
	err = u.account(all, &unified{details: less, stream: is.stream}, nil)
	if !errors.Is(err, errUncounted) {
		t.Errorf("without the name of a turn: %v", err)
	}
}
