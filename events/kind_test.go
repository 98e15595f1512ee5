package events

import "testing"

// Every read decodes the kind of each element, so it must not allocate.
func TestKindsAreNamedWithoutMemory(t *testing.T) {
	kinds := []Kind{
		KindTurnStart, KindChatRequest, KindChatResponse, KindToolCallRequest,
		KindToolCallResponse, KindInquiryRequest, KindInquiryResponse, KindConfigDelta,
		KindCompaction,
	}
	for _, want := range kinds {
		name, got := []byte(want), Kind("")
		if n := testing.AllocsPerRun(100, func() { got = kindNamed(name) }); n != 0 || got != want {
			t.Errorf("%s became %s with %v allocations", want, got, n)
		}
	}
	if got := kindNamed([]byte("new")); got != "new" {
		t.Errorf("a new kind is %s", got)
	}
}
