package events

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"
)

const interruptedSketch = "(Tool call was interrupted.)"

func TestSanitize(t *testing.T) {
	for _, test := range []struct{ name, sketch, want string }{
		{"nothing at all", "", ""},
		{"nothing but the rest", "D U C0-0r", "D U C0-0r"},
		{"sound", "D T q r +a -a m U T q ?x =x m D", "D T q r +a -a m U T q ?x =x m D"},
		{"legacy gains its start", "D q m q m", "D T q m q m"},
		{"turn of the system", "T m +a -a T q m", "T q m"},
		{"requests that go take their responses", "+a T q -a m", "T q m"},
		{"stale turns collapse into the last", "T U T D T q m", "U D T q m"},
		{"double start inside stays", "T q m T T q m", "T q m T T q m"},
		{"empty turn at the end", "T q m T D U", "T q m D U"},
		{"one only", "T q m T T", "T q m T"},
		{"each open call is answered", "T q +a +b +a m", "T q +a !a" + interruptedSketch +
			" +b !b" + interruptedSketch + " +a !a" + interruptedSketch + " m"},
		{"ids count in the whole stream", "T q +a T q +a -a m", "T q +a T q +a -a m"},
		{"a response too early closes", "T q -a +a m", "T q -a +a m"},
		{"inquiries need both", "T q ?x =y ?z =z m", "T q ?z =z m"},
		{"compactions do not move", "m T q m T q C1-1r", "T q m T q C1-1r"},
		{"no request gains a start", "T m", "T T m"},
		{"no request, no start", "D m", "T D m"},
	} {
		t.Run(test.name, func(t *testing.T) {
			if got := sketch(sketched(t, test.sketch).Sanitize()); got != test.want {
				t.Errorf("Sanitize(%s)\n got %s\nwant %s", test.sketch, got, test.want)
			}
		})
	}
}

func TestSanitizeTimes(t *testing.T) {
	for _, test := range []struct {
		sketch string
		at     int // position of the inserted element
		want   int // its second, 0 for the epoch
	}{
		{"D q m", 1, 2},
		{"m +a -a", 0, 1},
		{"D m", 0, 0},
		{"T q +a m", 3, 3},
	} {
		s := sketched(t, test.sketch).Sanitize()
		got := s.At(test.at).Time()
		if test.want == 0 && got.Unix() != 0 || test.want != 0 && !got.Equal(second(test.want)) {
			t.Errorf("Sanitize(%s) dates element %d to %v", test.sketch, test.at, got)
		}
	}
}

func TestSanitizeProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := stream().Draw(t, "stream")
		before := s.Encode()
		once := s.Sanitize()
		if !bytes.Equal(s.Encode(), before) {
			t.Fatal("the source was changed")
		}
		if want := slowSanitize(sketchedWords(s)); !equalWords(sketchedWords(once), want) {
			t.Fatalf("Sanitize(%s)\n got %s\nwant %v", sketch(s), sketch(once), want)
		}
		checkShared(t, s, once)
		twice := once.Sanitize()
		asks := firstOf(once.pieces(), KindChatRequest) >= 0
		if asks && sketch(once) == sketch(s) && !bytes.Equal(once.Encode(), before) {
			t.Error("bytes differ although nothing was repaired")
		}
		// Sanitizing is idempotent except for jp's oddities: a stream without a request gains a
		// turn_start each time, and each run removes one of several at the end.
		if ended := endsInTurnStart(once); asks && !ended &&
			!bytes.Equal(twice.Encode(), once.Encode()) {
			t.Errorf("sanitizing again makes\n%s of\n%s", sketch(twice), sketch(once))
		}
	})
}

func endsInTurnStart(s *Stream) bool {
	turns := s.Turns()
	return len(turns) > 0 && s.At(turns[len(turns)-1].Last).Kind() == KindTurnStart
}

// checkShared fails if an element of the result that equals one of the source was built again,
// because the bytes of other writers are kept.
func checkShared(t *rapid.T, s, result *Stream) {
	source := map[*Element]bool{}
	for _, e := range s.All() {
		source[e] = true
	}
	for _, e := range result.All() {
		ok := source[e]
		switch ev := e.Event().(type) {
		case *TurnStart:
			ok = true
		case *ToolCallResponse:
			ok = ok || ev.IsError
		}
		if !ok {
			t.Errorf("%s is not the source's", sketchOf(e))
		}
	}
}

// A word holds the parts of an element that jp's sanitizer reads.
type word struct {
	kind Kind
	id   string
	text string
}

func sketchedWords(s *Stream) []word {
	var words []word
	for _, e := range s.All() {
		w := word{kind: e.Kind(), id: e.EventID(), text: e.Time().String()}
		if r, ok := e.Event().(*ToolCallResponse); ok && r.IsError {
			if text, _ := r.Text(nil); text == interrupted {
				w.text += "!"
			}
		}
		words = append(words, w)
	}
	return words
}

func equalWords(a, b []word) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// slowSanitize implements the description of jp's sanitizer step by step, without regard to speed.
func slowSanitize(words []word) []word {
	has := func(kind Kind, id string) bool {
		for _, w := range words {
			if w.kind == kind && w.id == id {
				return true
			}
		}
		return false
	}
	find := func(kind Kind) int {
		for i, w := range words {
			if w.kind == kind {
				return i
			}
		}
		return -1
	}
	remove := func(drop func(i int, w word) bool) {
		var kept []word
		for i, w := range words {
			if !drop(i, w) {
				kept = append(kept, w)
			}
		}
		words = kept
	}
	insert := func(i int, w word) {
		words = append(words[:i:i], append([]word{w}, words[i:]...)...)
	}
	if request := find(KindChatRequest); request >= 0 {
		remove(func(i int, w word) bool {
			return i < request && w.kind.IsEvent() && w.kind != KindTurnStart
		})
	}
	remove(func(_ int, w word) bool {
		return w.kind == KindToolCallResponse && !has(KindToolCallRequest, w.id)
	})
	var open []int
	for i, w := range words {
		if w.kind == KindToolCallRequest && !has(KindToolCallResponse, w.id) {
			open = append([]int{i}, open...)
		}
	}
	for _, i := range open {
		insert(i+1, word{KindToolCallResponse, words[i].id, words[i].text + "!"})
	}
	remove(func(_ int, w word) bool {
		return w.kind == KindInquiryResponse && !has(KindInquiryRequest, w.id)
	})
	remove(func(_ int, w word) bool {
		return w.kind == KindInquiryRequest && !has(KindInquiryResponse, w.id)
	})
	last, content := -1, false
	for i, w := range words {
		if w.kind.IsEvent() {
			last = i
		}
	}
	if last >= 0 && words[last].kind == KindTurnStart {
		remove(func(i int, _ word) bool { return i == last })
	}
	for _, w := range words {
		content = content || w.kind.IsEvent() && w.kind != KindTurnStart
	}
	if !content {
		return words
	}
	request, start := find(KindChatRequest), -1
	for i, w := range words {
		if i < request && w.kind == KindTurnStart {
			start = i
		}
	}
	remove(func(i int, w word) bool { return i < start && w.kind == KindTurnStart })
	if start < 0 {
		at := "1970-01-01 00:00:00 +0000 UTC"
		if request = max(request, 0); words[request].kind.IsEvent() {
			at = words[request].text
		}
		insert(request, word{kind: KindTurnStart, text: at})
	}
	return words
}
