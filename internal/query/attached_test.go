package query

import (
	"fmt"
	"testing"
	"time"

	"github.com/git-jp/git-jp/blobs"
	"github.com/git-jp/git-jp/events"
	"github.com/git-jp/git-jp/events/settings"
)

// TestAttachedIsLinear checks that the declared attachments are not computed anew for each delta.
func TestAttachedIsLinear(t *testing.T) {
	cost := func(n int) float64 {
		all := []*events.Element{events.NewElement(time.Unix(0, 0), withResource(),
			withAttached(events.Metadata{}, []string{"file:a"}))}
		for i := range n {
			all = append(all, events.NewElement(time.Unix(0, 0), &events.ConfigDelta{
				Delta: fmt.Appendf(nil, `{"assistant":{"name":"%d"}}`, i),
			}, events.Metadata{}))
		}
		s := events.New(all...)
		return testing.AllocsPerRun(1, func() {
			found := Attached(s, settings.Config{}, func(settings.Config) []string { return nil })
			if len(found) != 1 {
				t.Fatalf("%v is attached", found)
			}
		})
	}
	if one, two := cost(500), cost(1000); two > 2.3*one {
		t.Errorf("500 deltas allocate %.0f times, 1,000 %.0f times", one, two)
	}
}

func withResource() *events.ChatRequest {
	return &events.ChatRequest{Resources: []events.Resource{{
		URI: "file:///$WORKSPACE/a", Content: blobs.Loaded([]byte("a")),
	}}}
}

// TestDroppedIsAttachedAgain checks that a request counts as having its attachments only while it
// has their resources: jp 4c1c39f1 saves it without them, with the metadata that lists them. A
// resource whose content a compaction removed was attached.
func TestDroppedIsAttachedAgain(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    *events.ChatRequest
		md   events.Metadata
		want int
	}{
		{"complete", withResource(), events.Metadata{}, 1},
		{"dropped", &events.ChatRequest{}, events.Metadata{}, 0},
		{
			"stripped", &events.ChatRequest{},
			events.Metadata{}.WithStripped(withResource().Resources[0]), 1,
		},
	} {
		s := events.New(events.NewElement(time.Unix(0, 0), tt.r,
			withAttached(tt.md, []string{"file:a"})))
		found := Attached(s, settings.Config{}, func(settings.Config) []string { return nil })
		if len(found) != tt.want {
			t.Errorf("%s: %v is attached", tt.name, found)
		}
	}
}
