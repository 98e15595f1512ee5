package events_test

import (
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/git-jp/git-jp/events"
)

// file is an events.json as jp writes it, shortened.
const file = `[
  {
    "timestamp": "2026-05-29 19:42:36.46732",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-05-29 19:42:36.467321",
    "type": "chat_request",
    "content": "What does a.txt say?"
  },
  {
    "timestamp": "2026-05-29 19:42:43.5",
    "type": "tool_call_request",
    "id": "toolu_01",
    "name": "fs_read_file",
    "arguments": {
      "path": "YS50eHQ="
    }
  },
  {
    "timestamp": "2026-05-29 19:42:43.75",
    "type": "tool_call_response",
    "id": "toolu_01",
    "content": "aGVsbG8K",
    "is_error": false
  },
  {
    "timestamp": "2026-05-29 19:42:45.0",
    "type": "chat_response",
    "message": "It says hello."
  },
  {
    "timestamp": "2026-05-29 19:50:00.0",
    "type": "turn_start"
  },
  {
    "timestamp": "2026-05-29 19:50:00.1",
    "type": "chat_request",
    "content": "Thanks."
  }
]
`

func mustDecode(data string) *events.Stream {
	s, err := events.Decode([]byte(data))
	if err != nil {
		panic(err)
	}
	return s
}

func ExampleDecode() {
	s, err := events.Decode([]byte(file))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, e := range s.All() {
		switch ev := e.Event().(type) {
		case *events.ChatRequest:
			fmt.Println(">", ev.Content)
		case *events.ChatResponse:
			fmt.Println("<", ev.Text)
		case *events.ToolCallRequest:
			fmt.Printf("- %s(%s)\n", ev.Name, ev.Arguments)
		}
	}
	// Output:
	// > What does a.txt say?
	// - fs_read_file({"path":"a.txt"})
	// < It says hello.
	// > Thanks.
}

func ExampleDecode_error() {
	_, err := events.Decode([]byte(`[{"timestamp": "2026-05-29 19:42:36", "type": "chat_request"}
	]`))
	var syntax *events.SyntaxError
	if errors.As(err, &syntax) {
		fmt.Println("element", syntax.Element, "is a", syntax.Kind)
	}
	// Output:
	// element 0 is a chat_request
}

func ExampleStream_Turns() {
	for _, turn := range mustDecode(file).Turns() {
		fmt.Printf("turn %d: elements %d to %d\n", turn.Index+1, turn.First, turn.Last)
	}
	// Output:
	// turn 1: elements 0 to 4
	// turn 2: elements 5 to 6
}

func ExampleStream_Calls() {
	s := mustDecode(file)
	for _, call := range s.Calls() {
		if call.Open() {
			fmt.Println(call.Name, "was interrupted")
			continue
		}
		response := s.At(call.Response).Event().(*events.ToolCallResponse)
		text, err := response.Text(nil) // there is no blob to read
		fmt.Printf("%s: %q, %v\n", call.Name, text, err)
	}
	// Output:
	// fs_read_file: "hello\n", <nil>
}

// One answer is changed. Every other byte of the file is kept.
func ExampleElement_With() {
	s := mustDecode(file)
	for i, e := range s.All() {
		if ev, ok := e.Event().(*events.ChatResponse); ok {
			edited := *ev // events are shared: change a copy
			edited.Text = "It greets you."
			s.Set(i, e.With(&edited))
		}
	}
	encoded := string(s.Encode())
	fmt.Println(encoded == strings.Replace(file, "It says hello.", "It greets you.", 1))
	// Output:
	// true
}

func ExampleStream_Append() {
	s := events.New()
	at := time.Date(2026, 5, 29, 19, 42, 36, 0, time.UTC)
	s.Append(
		events.NewElement(at, &events.TurnStart{}, events.Metadata{}),
		events.NewElement(at, &events.ChatRequest{Content: "Hello?"}, events.Metadata{}),
	)
	if err := s.Validate(); err != nil {
		fmt.Println(err)
	}
	fmt.Printf("%s", s.Encode())
	// Output:
	// [
	//   {
	//     "timestamp": "2026-05-29 19:42:36.0",
	//     "type": "turn_start"
	//   },
	//   {
	//     "timestamp": "2026-05-29 19:42:36.0",
	//     "type": "chat_request",
	//     "content": "Hello?"
	//   }
	// ]
}

func ExampleStream_Incomplete() {
	in, ok := mustDecode(file).Incomplete()
	fmt.Println(ok, "turn", in.Turn+1, "unanswered:", in.Unanswered)
	// Output:
	// true turn 2 unanswered: true
}

func ExampleStream_Project() {
	s := mustDecode(file)
	summary := "Ada asked what a.txt says."
	s.Append(events.NewElement(time.Unix(0, 0),
		&events.Compaction{FromTurn: 0, ToTurn: 0, Summary: &summary}, events.Metadata{}))
	p := s.Project()
	for n, origin := range p.Origins {
		fmt.Printf("turn %d: %+v\n", n+1, origin)
	}
	fmt.Println(len(p.Stream.Turns()), "turns,", p.Stream.Len(), "elements")
	// Output:
	// turn 1: {From:0 To:0 Summary:true}
	// turn 2: {From:1 To:1 Summary:false}
	// 2 turns, 5 elements
}

func ExampleStream_Fork() {
	fork := mustDecode(file).Fork(events.ForkOptions{First: 1})
	fmt.Println(len(fork.Turns()), "turn")
	// Output:
	// 1 turn
}

func ExampleParseTurnRange() {
	from, to, err := events.ParseTurnRange("-1")
	if err != nil {
		fmt.Println(err)
		return
	}
	r, ok := mustDecode(file).ResolveRange(from, to)
	fmt.Println(r, ok)
	// Output:
	// {1 1} true
}

func ExampleDirname() {
	id := events.IDAt(time.Date(2026, 5, 29, 19, 41, 27, 500_000_000, time.UTC))
	fmt.Println(id)
	fmt.Println(events.Dirname(id, "jp init: XDG directory?"))
	// Output:
	// jp-c17800836875
	// 17800836875-jp-init--xdg-directory
}
