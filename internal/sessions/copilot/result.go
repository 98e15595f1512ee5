package copilot

import (
	"cmp"
	"encoding/base64"
	"regexp"
	"strings"
	"sync"

	"github.com/git-jp/git-jp/internal/sessions"
	"github.com/go-json-experiment/json/jsontext"
)

// A shown result has what the model was given, under the names of two generations, and what a
// screen shows.
type shown struct {
	Content sessions.Text  `json:"content"`
	Old     sessions.Text  `json:"text_result_for_llm"`
	Text    sessions.Text  `json:"textResultForLlm"`
	Type    sessions.Text  `json:"result_type"`
	Kind    sessions.Text  `json:"resultType"`
	Message sessions.Text  `json:"message"` // of an error
	Detail  sessions.Text  `json:"detailedContent"`
	Media   jsontext.Value `json:"binaryResultsForLlm"`
	Pieces  jsontext.Value `json:"contents"`
}

// exitCode matches the end of a shell's result.
var exitCode = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`completed with exit code (-?\d+)>\s*$`)
})

func (m *mapper) result(e *event) {
	d := &e.d
	var s shown
	switch d.Result.Kind() {
	case '{':
		_ = sessions.Unmarshal(d.Result, &s) // an object, by its kind
	case '"':
		_ = sessions.Unmarshal(d.Result, &s.Content) // a string, by its kind
	case 0, 'n':
	default:
		s.Content = sessions.Text(d.Result)
	}
	text := string(cmp.Or(s.Content, s.Text, s.Old))
	beside := []string{string(s.Text), string(s.Old)}
	failed := d.Success.Kind() == 'f' || d.Shell.Value.Code != 0 ||
		s.Type == "failure" || s.Kind == "failure"
	if found := exitCode().FindStringSubmatch(text); found != nil && found[1] != "0" {
		failed = true
	}
	if d.Error != nil && d.Error.Kind() != 'n' {
		var broken shown
		_ = sessions.Unmarshal(d.Error, &broken) // empty if it is no object
		said := string(cmp.Or(broken.Message, sessions.Text(d.Error)))
		if text == "" {
			text = said
		} else {
			beside = append(beside, said)
		}
	}
	blocks, others := media(s.Media, s.Pieces)
	if text != "" || len(blocks) == 0 {
		blocks = append([]sessions.Block{{Text: text}}, blocks...)
	}
	m.Result(m.key(e, 0), e.Time.Time, string(d.CallID), failed, blocks...)
	for _, raw := range others {
		var p part
		_ = sessions.Unmarshal(raw, &p) // empty if it is no object
		if p.Text == "" || !strings.Contains(text, string(p.Text)) {
			m.Record(e.Time.Time, "tool.execution_complete/content", raw)
		}
	}
	for _, said := range beside {
		if !strings.Contains(text, said) {
			m.Record(e.Time.Time, "tool.execution_complete/result", sessions.Marshal(said))
		}
	}
	if detail := string(s.Detail); detail != "" && detail != text {
		m.Record(e.Time.Time, "tool.execution_complete/detail", sessions.Marshal(map[string]string{
			"toolCallId": string(d.CallID), "detailedContent": detail,
		}))
	}
	m.Drop("tool.execution_complete/telemetry", len(e.Data)-len(d.Result))
}

// A part is a piece of a result.
type part struct {
	MIME sessions.Text `json:"mimeType"`
	Data sessions.Text `json:"data"`
	Text sessions.Text `json:"text"`
}

// media returns images and sounds of a result, and its other parts.
func media(lists ...jsontext.Value) (out []sessions.Block, others []jsontext.Value) {
	for _, list := range lists {
		var all []jsontext.Value
		if list.Kind() != '[' || sessions.Unmarshal(list, &all) != nil {
			continue
		}
		for _, raw := range all {
			var p part
			_ = sessions.Unmarshal(raw, &p) // empty if it is no object
			data, err := base64.StdEncoding.DecodeString(string(p.Data))
			if err == nil && len(data) > 0 && p.MIME != "" {
				out = append(out, sessions.Block{MIMEType: string(p.MIME), Data: data})
			} else {
				others = append(others, raw)
			}
		}
	}
	return out, others
}
