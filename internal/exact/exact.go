package exact

import (
	"github.com/go-json-experiment/json"
	v1 "github.com/go-json-experiment/json/v1"
)

// A Number is a number as it is written.
type Number = v1.Number

// Unmarshal is Unmarshal of encoding/json, except that the name of a member has to be the name of
// its field in every letter.
func Unmarshal(data []byte, v any) error {
	return json.Unmarshal(data, v, v1.DefaultOptionsV1(), json.MatchCaseInsensitiveNames(false))
}
