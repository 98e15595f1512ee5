package compact

import (
	"testing"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
)

type countingReader int

func (n *countingReader) Read(blobs.Ref) ([]byte, error) {
	*n++
	return []byte("ok"), nil
}

// TestResultsAreLookedAtOnce checks that rules may ask repeatedly whether a result is plain: each
// rule asks for each result, and a long conversation has thousands.
func TestResultsAreLookedAtOnce(t *testing.T) {
	var reads countingReader
	l := listen(events.New(), &reads)
	r := &events.ToolCallResponse{Blocks: []events.Block{
		{Type: events.BlockText, Content: blobs.Refer(blobs.RefTo([]byte("ok")))},
	}}
	once := l.plain(r)
	looked := reads
	if again := l.plain(r); again != once || reads != looked || looked == 0 {
		t.Errorf("%d reads, then %d more; %v and %v", looked, reads-looked, once, again)
	}
}
