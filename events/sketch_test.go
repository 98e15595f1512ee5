package events

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// sketched reads a stream in the notation of these tests, one word an element,
// each a second after the one before it, beginning with second 1:
//
//	T    turn_start            +a   call with id a, of the tool "read"; +a:grep of "grep"
//	q    chat_request          -a   its response; !a an error
//	m    message               ?a   inquiry
//	r    reasoning             =a   its answer
//	D    config_delta          C0-2s:x  compaction of turns 0 to 2: s summary x, r reasoning,
//	U    unknown element            t tools, a arguments, o omit
//
// A word that ends in @9 is of second 9.
func sketched(t testing.TB, sketch string) *Stream {
	t.Helper()
	var elems []string
	for i, word := range strings.Fields(sketch) {
		sec := i + 1
		word, at, ok := strings.Cut(word, "@")
		if ok {
			sec = atoi(t, at)
		}
		stamp := fmt.Sprintf("2026-01-01 00:%02d:%02d.0", sec/60, sec%60)
		elems = append(elems, sketchedElement(t, word, stamp))
	}
	s, err := Decode([]byte("[" + strings.Join(elems, ",\n ") + "]\n"))
	if err != nil {
		t.Fatalf("sketch %q: %v", sketch, err)
	}
	return s
}

// second returns the time of the n-th word of a sketch, counted from 1.
func second(n int) time.Time { return time.Date(2026, 1, 1, 0, 0, n, 0, time.UTC) }

func sketchedElement(t testing.TB, word, at string) string {
	t.Helper()
	event := func(kind, members string) string {
		return fmt.Sprintf(`{"timestamp":%q,"type":%q%s}`, at, kind, members)
	}
	id, name, _ := strings.Cut(word[1:], ":")
	switch word[0] {
	case 'T':
		return event("turn_start", "")
	case 'q':
		return event("chat_request", `,"content":"q"`)
	case 'm':
		return event("chat_response", `,"message":"m"`)
	case 'r':
		return event("chat_response", `,"reasoning":"r"`)
	case 'D':
		return event("config_delta", `,"delta":{}`)
	case 'U':
		return event("future", "")
	case '+':
		if name == "" {
			name = "read"
		}
		return event("tool_call_request",
			fmt.Sprintf(`,"id":%q,"name":%q,"arguments":{"p":"eA=="}`, id, name))
	case '-', '!':
		return event("tool_call_response",
			fmt.Sprintf(`,"id":%q,"content":"b2s=","is_error":%t`, id, word[0] == '!'))
	case '?':
		return event("inquiry_request", fmt.Sprintf(`,"id":%q,"source":{"source":"user"},`+
			`"question":{"text":"?","answer_type":{"type":"boolean"}}`, id))
	case '=':
		return event("inquiry_response", fmt.Sprintf(`,"id":%q,"answer":true`, id))
	case 'C':
		return event("compaction", sketchedCompaction(t, word))
	}
	t.Fatalf("unknown word %q", word)
	return ""
}

func sketchedCompaction(t testing.TB, word string) string {
	t.Helper()
	head, summary, _ := strings.Cut(word, ":")
	var from, to int
	var flags string
	if _, err := fmt.Sscanf(head, "C%d-%d%s", &from, &to, &flags); err != nil {
		t.Fatalf("compaction %q: %v", word, err)
	}
	members := fmt.Sprintf(`,"from_turn":%d,"to_turn":%d`, from, to)
	for _, flag := range flags {
		members += map[rune]string{
			's': fmt.Sprintf(`,"summary":{"summary":%q}`, summary),
			'r': `,"reasoning":"strip"`,
			't': `,"tool_calls":{"policy":"strip","request":true,"response":true}`,
			'a': `,"tool_calls":{"policy":"strip","request":true,"response":false}`,
			'o': `,"tool_calls":{"policy":"omit"}`,
		}[flag]
	}
	return members
}

// sketch writes a stream in the notation that [sketched] reads. Anything that the notation lacks,
// such as text that differs from the one word, is added in parentheses.
func sketch(s *Stream) string {
	var words []string
	for _, e := range s.All() {
		words = append(words, sketchOf(e))
	}
	return strings.Join(words, " ")
}

func sketchOf(e *Element) string {
	switch ev := e.Event().(type) {
	case *TurnStart:
		return "T"
	case *ChatRequest:
		return textOf("q", ev.Content)
	case *ChatResponse:
		if ev.Form == FormReasoning {
			return textOf("r", ev.Text)
		}
		return textOf("m", ev.Text)
	case *ToolCallRequest:
		word := "+" + ev.ID
		if ev.Name != "read" {
			word += ":" + ev.Name
		}
		if string(ev.Arguments) == "{}" {
			word += "({})"
		}
		return word
	case *ToolCallResponse:
		word := "-" + ev.ID
		if ev.IsError {
			word = "!" + ev.ID
		}
		if text, err := ev.Text(nil); text != "ok" {
			word += fmt.Sprintf("(%s%v)", text, orNothing(err))
		}
		return word
	case *InquiryRequest:
		return "?" + ev.ID
	case *InquiryResponse:
		return "=" + ev.ID
	case *ConfigDelta:
		return "D"
	case *Compaction:
		return sketchOfCompaction(ev)
	}
	return "U"
}

func textOf(word, text string) string {
	if text == word {
		return word
	}
	return word + "(" + text + ")"
}

func orNothing(err error) string {
	if err == nil {
		return ""
	}
	return " " + err.Error()
}

func sketchOfCompaction(c *Compaction) string {
	word := fmt.Sprintf("C%d-%d", c.FromTurn, c.ToTurn)
	if c.StripReasoning {
		word += "r"
	}
	switch p := c.ToolCalls; {
	case p == nil:
	case p.Omit:
		word += "o"
	case p.Response:
		word += "t"
	default:
		word += "a"
	}
	if c.Summary != nil {
		word += "s:" + *c.Summary
	}
	return word
}
