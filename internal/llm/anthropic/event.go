package anthropic

import (
	"encoding/json"
	"maps"

	"github.com/git-jp/git-jp/internal/llm"
)

// An event has the members that are read of a stream event. The provider's library has types for
// all members, which take five times as long and eight kilobytes for each word of an answer.
type event struct {
	Type    string `json:"type"`
	Index   int    `json:"index"`
	Message struct {
		Model string `json:"model"`
		Usage tokens `json:"usage"`
	} `json:"message"`
	Block startedBlock `json:"content_block"`
	Delta struct {
		Type        string `json:"type"`
		Text        string `json:"text"`
		Thinking    string `json:"thinking"`
		PartialJSON string `json:"partial_json"`
		Signature   string `json:"signature"`
		StopReason  string `json:"stop_reason"`
		StopDetails struct {
			Category    string `json:"category"`
			Explanation string `json:"explanation"`
		} `json:"stop_details"`
	} `json:"delta"`
	Usage   tokens `json:"usage"`
	Context struct {
		Edits []json.RawMessage `json:"applied_edits"`
	} `json:"context_management"`
}

type startedBlock struct {
	Type      string `json:"type"`
	ID        string `json:"id"`
	Name      string `json:"name"`
	Text      string `json:"text"`
	Thinking  string `json:"thinking"`
	Signature string `json:"signature"`
	Data      string `json:"data"`
}

type tokens struct {
	Input      int64 `json:"input_tokens"`
	Output     int64 `json:"output_tokens"`
	CacheRead  int64 `json:"cache_read_input_tokens"`
	CacheWrite int64 `json:"cache_creation_input_tokens"`
	// Iterations add up to the figures. They also have compactions, which the figures leave out but
	// which are charged.
	Iterations []tokens `json:"iterations"`
}

// usage replaces earlier figures by later ones: the figures of a stream only grow.
func (t tokens) usage(before llm.Usage) llm.Usage {
	var all tokens
	for _, it := range t.Iterations {
		all.Input, all.Output = all.Input+it.Input, all.Output+it.Output
		all.CacheRead, all.CacheWrite = all.CacheRead+it.CacheRead, all.CacheWrite+it.CacheWrite
	}
	if len(t.Iterations) > 0 {
		t = all
	}
	before.Input = max(before.Input, t.Input)
	before.Output = max(before.Output, t.Output)
	before.CacheRead = max(before.CacheRead, t.CacheRead)
	before.CacheWrite = max(before.CacheWrite, t.CacheWrite)
	return before
}

// member returns a member of an object, nil if it is missing.
func member(data []byte, name string) json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(data, &members) != nil {
		return nil
	}
	return members[name]
}

// block returns a block of a server's tool as if it had arrived in one piece.
func (s *said) block() json.RawMessage {
	var members map[string]json.RawMessage
	if json.Unmarshal(s.raw, &members) != nil || members == nil {
		return nil
	}
	if input := s.text.String(); json.Valid([]byte(input)) {
		members["input"] = json.RawMessage(input)
	}
	switch {
	case s.began.Type == "compaction":
		for _, d := range s.deltas { // each has some of the members, or is null
			var part map[string]json.RawMessage
			_ = json.Unmarshal(d, &part) // valid, since it was read before
			maps.Copy(members, part)
		}
		members["type"] = json.RawMessage(`"compaction"`)
	case len(s.deltas) > 0:
		deltas, err := json.Marshal(s.deltas)
		if err != nil {
			return nil
		}
		members["deltas"] = deltas
	}
	whole, err := json.Marshal(members)
	if err != nil {
		return nil
	}
	return whole
}
