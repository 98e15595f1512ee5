package sessions

import (
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/google/go-cmp/cmp"
)

// A specimen has a field of each type that records have.
type specimen struct {
	Text    Text            `json:"text"`
	Flag    Flag            `json:"flag"`
	Number  Number          `json:"number"`
	Time    Moment          `json:"time"`
	Raw     jsontext.Value  `json:"raw"`
	Loose   Loose[*inside]  `json:"loose"`
	Plain   inside          `json:"plain"`
	Pointer *inside         `json:"pointer"`
	List    []Text          `json:"list"`
	Entries map[string]Text `json:"entries"`
	inside
}

type inside struct {
	Deep Text     `json:"deep"`
	Rows []inside `json:"rows"`
}

// asWritten parses as [Unmarshal] does, with package json alone.
func asWritten(data []byte, v any) error {
	return json.Unmarshal(data, v, lenient)
}

var specimens = []string{
	`{"text":"a","flag":true,"number":12,"time":"2026-01-02T03:04:05Z","raw":{"a": [1, 2]}}`,
	`{"text":"\ud83d\ude00 \u00e4\n\"\\\/\b\f\r\t","deep":"x","rows":[{"deep":"y"},null,{}]}`,
	`{"text":"\ud800","list":["\udc00\ud800"],"raw":"\ud800"}`,
	"{\"text\":\"\xff\",\"raw\":\"\xff\",\"entries\":{\"\xff\":\"b\",\"ä\":\"\xc3\"},\"\xff\":1}",
	`{"te\u0078t":"escaped","text":"plain"}`, `{"te\u0078t":"escaped"}`, `{"plain":{"d\u0065ep":"a"}}`,
	`{"pointer":{"deep":"a"},"pointer":{"rows":[]}}`, `{"entries":{"a":"b"},"entries":{"c":"d"}}`,
	`{"text":"twice","text":null}`, `{"plain":{"deep":"a"},"plain":{"rows":[]}}`,
	`{"entries":{"a":"b","a":null,"c":"d"}}`, `{"entries":{"\u0061":"b"}}`,
	`{"loose":5}`, `{"loose":{"deep":"a"},"loose":[]}`, `{"loose":null}`, `{"loose":{"rows":7}}`,
	`{"plain":5}`, `{"plain":null}`, `{"pointer":null}`, `{"pointer":{"deep":"a"}}`,
	`{"list":null}`, `{"list":[]}`, `{"list":["a", 1, null, {"b":2}]}`, `{"list":{}}`,
	`{"text":{"a": [1]},"flag":"true","number":"17","time":1700000000}`,
	`{"number":-3,"time":1700000000000}`, `{"number":1.5e3}`, `{"number":1e400}`, `{"number":""}`,
	`{"number":123456789012345678901234567890,"time":-1}`, `{"number":null,"time":null,"flag":null}`,
	`{"number":01}`, `{"other":00}`, `{"number":007}`, `{"number":1.}`, `{"number":.5}`, `{"number":1e}`, `{"number":-}`, `{"number":+1}`,
	` { "text" : "a" , "raw" : [ 1 , "b" ] } `, "\t{\r\n}\n", ``, ` `, `null`, `5`, `"a"`, `[]`, `[{}]`,
	`{`, `{"text"`, `{"text":`, `{"text":"a"`, `{"text":"a",`, `{"text":"a",}`, `{,}`, `{"text" "a"}`,
	`{"text":"a"}x`, `{"text":"a"} {}`, `{"other":tru}`, `{"other":nul}`, `{"other":[1,]}`,
	`{"text":"` + "\x01" + `"}`, `{"text":"\x"}`, `{"text":"\u12"}`, `{"text":"\u12g4"}`, `{"text":"\`,
	`{"other":{"a":{"b":["c",{"d":"e\n"}]}},"text":"behind"}`,
	`{"raw":` + strings.Repeat("[", 600) + strings.Repeat("]", 600) + `}`,
	`{"raw":` + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000) + `}`,
	"\xef\xbb\xbf{}",
}

func checkUnmarshal(t *testing.T, data []byte) {
	t.Helper()
	var got, want specimen
	errGot, errWant := Unmarshal(data, &got), asWritten(data, &want)
	if (errGot == nil) != (errWant == nil) {
		t.Errorf("%.200q: error %v, not %v", data, errGot, errWant)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(specimen{})); diff != "" {
		t.Errorf("%.200q (-want +got):\n%s", data, diff)
	}
	if errGot == nil { // a validated text parses the same without validation
		var inner specimen
		if err := UnmarshalInner(data, &inner); err != nil {
			t.Errorf("%.200q as a part: %v", data, err)
		}
		if diff := cmp.Diff(want, inner, cmp.AllowUnexported(specimen{})); diff != "" {
			t.Errorf("%.200q as a part (-want +got):\n%s", data, diff)
		}
	}
	var asMap, wantMap map[string]jsontext.Value
	errGot, errWant = Unmarshal(data, &asMap), asWritten(data, &wantMap)
	if (errGot == nil) != (errWant == nil) || !cmp.Equal(asMap, wantMap) {
		t.Errorf("%.200q as a map: %q, %v, not %q, %v", data, asMap, errGot, wantMap, errWant)
	}
	var text, wantText Text
	errGot, errWant = Unmarshal(data, &text), asWritten(data, &wantText)
	if (errGot == nil) != (errWant == nil) || text != wantText {
		t.Errorf("%.200q as text: %q, %v, not %q, %v", data, text, errGot, wantText, errWant)
	}
}

func TestUnmarshal(t *testing.T) {
	for _, s := range specimens {
		checkUnmarshal(t, []byte(s))
		for n := range min(len(s), 200) { // at each offset within eight bytes, and truncated
			checkUnmarshal(t, []byte(strings.Repeat(" ", n%9)+s[:n]))
		}
	}
}

func FuzzUnmarshal(f *testing.F) {
	for _, s := range specimens {
		f.Add([]byte(s))
	}
	f.Fuzz(checkUnmarshal)
}

// TestUnmarshalAllocates checks that the usual forms are parsed without a decoder for each value.
func TestUnmarshalAllocates(t *testing.T) {
	line := []byte(`{"text":"` + strings.Repeat("abä", 1000) + `","raw":{"a":"` +
		strings.Repeat("def", 1000) + `"},"other":[` + strings.Repeat(`["a",{"b":1}],`, 100) + `1]}`)
	var s specimen
	to := reflect.ValueOf(&s).Elem()
	if !unmarshal(line, to, false) {
		t.Fatalf("%.100s… is left to package json", line)
	}
	if n := testing.AllocsPerRun(100, func() { unmarshal(line, to, false) }); n > 1 { // the text
		t.Errorf("%v allocations", n)
	}
}

// TestMarshal verifies that what [Unmarshal] accepts can be written again.
func TestMarshal(t *testing.T) {
	for _, v := range []string{`{"a":1,"a":2}`, "\"\xff\""} {
		want := strings.ToValidUTF8(v, "\uFFFD")
		if got := Marshal(jsontext.Value(v)); string(got) != want {
			t.Errorf("%q becomes %q", v, got)
		}
	}
}
