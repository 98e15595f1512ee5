package revisions

import (
	"errors"
	"io"
	"strings"
	"testing"
)

func TestLongConversationsAreNotCompared(t *testing.T) {
	var text comparedText
	half := strings.Repeat("x", maxCompared/2)
	for i, want := range []error{nil, nil, ErrLongText} {
		if _, err := io.WriteString(&text, half); !errors.Is(err, want) {
			t.Errorf("half %d: %v, want %v", i+1, err, want)
		}
	}
	if n := text.b.Len(); n != maxCompared {
		t.Errorf("%d bytes are kept", n)
	}
}
