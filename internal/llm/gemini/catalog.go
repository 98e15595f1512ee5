package gemini

import (
	"context"
	"net/url"
	"slices"
	"strings"

	"github.com/git-jp/git-jp/internal/llm"
)

// An offer is an entry of the provider's list of models.
type offer struct {
	Name     string   `json:"name"`
	Title    string   `json:"displayName"`
	Input    int      `json:"inputTokenLimit"`
	Output   int      `json:"outputTokenLimit"`
	Methods  []string `json:"supportedGenerationMethods"`
	Thinking bool     `json:"thinking"`
}

func (o offer) info() llm.Info {
	return llm.Info{
		ID: strings.TrimPrefix(o.Name, "models/"), Title: o.Title, Window: o.Input,
		MaxOutput: o.Output, Reasoning: o.Thinking, Tools: true,
		Accepts: llm.Inputs{Images: true, PDFs: true, Audio: true},
	}
}

// Models implements [llm.Catalog]. It leaves out models that do not generate answers, such as those
// for embeddings.
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var infos []llm.Info
	for page := ""; ; {
		var list struct {
			Models []offer `json:"models"`
			Next   string  `json:"nextPageToken"`
		}
		query := url.Values{"pageSize": {"1000"}}
		if page != "" {
			query.Set("pageToken", page)
		}
		if err := m.ask(ctx, "models?"+query.Encode(), &list); err != nil {
			return nil, err
		}
		for _, o := range list.Models {
			if slices.Contains(o.Methods, "generateContent") {
				infos = append(infos, o.info())
			}
		}
		if list.Next == "" || list.Next == page {
			return infos, nil
		}
		page = list.Next
	}
}

// Describe implements [llm.Describer]. It asks the provider.
func (m *Model) Describe(ctx context.Context) (llm.Info, error) {
	var o offer
	if err := m.ask(ctx, m.path(), &o); err != nil {
		return llm.Info{}, err
	}
	return o.info(), nil
}

// ask reads a document that is not a model's answer.
func (m *Model) ask(ctx context.Context, path string, into any) error {
	return m.at.Fetch(ctx, m.address(path), m.at.Bearer(), into)
}
