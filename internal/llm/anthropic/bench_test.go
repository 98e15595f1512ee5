package anthropic_test

import (
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/git-jp/git-jp/internal/llm/llmtest"
	"github.com/git-jp/git-jp/internal/llm/wire"
)

// BenchmarkStream compares an answer of ten thousand deltas with reading the same bytes.
func BenchmarkStream(b *testing.B) {
	body := reply("end_turn", text(strings.Split(strings.Repeat("x", 10_000), "")...)...)
	server := llmtest.Serve(b, llmtest.Reply{Body: body})
	b.Run("ours", func(b *testing.B) {
		m := model(haiku)(server.Endpoint(b, wire.FormatAnthropic))
		b.SetBytes(int64(len(body)))
		b.ReportAllocs()
		for b.Loop() {
			for _, err := range m.Stream(b.Context(), uncached(user(say("q")))) {
				if err != nil {
					b.Fatal(err)
				}
			}
		}
	})
	b.Run("bytes", func(b *testing.B) {
		b.SetBytes(int64(len(body)))
		for b.Loop() {
			res, err := http.Get(server.URL)
			if err != nil {
				b.Fatal(err)
			}
			_, err = io.Copy(io.Discard, res.Body)
			if err != nil {
				b.Fatal(err)
			}
			res.Body.Close()
		}
		http.DefaultClient.CloseIdleConnections()
	})
}
