package prepare

import (
	"github.com/git-jp/git-jp/internal/compaction"
	"github.com/git-jp/git-jp/internal/config"
	"github.com/git-jp/git-jp/internal/query"
	"github.com/git-jp/git-jp/internal/render"
	"github.com/git-jp/git-jp/internal/tool/file"
)

// Given returns a conversation as a model is given it: with compactions applied, and references for
// repeated content. Without a root, its files are named with $WORKSPACE.
func Given(c render.Conversation, settings *config.Config) (render.Conversation, error) {
	o := compaction.Settings{Config: settings}.Dedup()
	o.URI = func(uri string) string {
		if c.Root == "" {
			return uri
		}
		return file.Expand(c.Root, uri)
	}
	p, err := query.Given(c.Stream, o, c.Contents)
	c.Stream, c.Origins = p.Stream, p.Origins
	return c, err
}
