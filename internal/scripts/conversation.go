package scripts

import (
	"encoding/base64"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

func base64Text(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// Conversation returns the files of a conversation as today's jp writes it.
func Conversation(title string, results []string) map[string]string {
	elements := []string{
		Element(0, "turn_start"),
		Element(1, "chat_request", "content", strconv.Quote("What is in the files?")),
	}
	for i, result := range expand(results) {
		id := strconv.Quote(fmt.Sprintf("call_%d", i+1))
		path := strconv.Quote(base64Text(fmt.Sprintf("file%d.txt", i+1)))
		elements = append(elements,
			Element(10*i+10, "tool_call_request", "id", id, "name", `"fs_read_file"`,
				"arguments", "{\n      \"path\": "+path+"\n    }"),
			Element(10*i+15, "tool_call_response", "id", id,
				"content", strconv.Quote(base64Text(result)), "is_error", "false"))
	}
	elements = append(elements,
		Element(36000, "chat_response", "message", `"They hold **text**."`))
	return map[string]string{
		"metadata.json": fmt.Sprintf(
			"{\n  \"title\": %q,\n  \"last_activated_at\": \"2026-01-01 01:00:00.0\"\n}\n", title),
		"base_config.json": "{}\n",
		"events.json":      "[\n" + strings.Join(elements, ",\n") + "\n]\n",
	}
}

// Element returns an element of a stream, at a time in tenths of a second after the new year, with
// further members, each a key and a value in JSON.
func Element(tenths int, kind string, members ...string) string {
	at := time.Date(2026, 1, 1, 0, 0, 0, tenths*100_000_000, time.UTC)
	s := fmt.Sprintf("  {\n    \"timestamp\": %q,\n    \"type\": %q",
		at.Format("2006-01-02 15:04:05.0"), kind)
	for i := 0; i < len(members); i += 2 {
		s += fmt.Sprintf(",\n    %q: %s", members[i], members[i+1])
	}
	return s + "\n  }"
}

// expand expands the abbreviated results in the arguments of a script.
func expand(args []string) []string {
	var results []string
	for _, arg := range args {
		times, text, ok := strings.Cut(arg, "*")
		n, err := strconv.Atoi(times)
		if !ok || err != nil {
			results = append(results, arg)
			continue
		}
		for i := range n {
			results = append(results, fmt.Sprintf("%s %d", text, i+1))
		}
	}
	return results
}

// Soaks reports whether tests run for long.
func Soaks() bool { return os.Getenv("GIT_JP_SOAK") != "" }
