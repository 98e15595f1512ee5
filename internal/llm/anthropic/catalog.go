package anthropic

import (
	"cmp"
	"context"
	"net/url"
	"time"

	"github.com/git-jp/git-jp/internal/lists"
	"github.com/git-jp/git-jp/internal/llm"
)

// An offer is an entry of the provider's list of models.
// https://platform.claude.com/docs/en/api/models/list
type offer struct {
	ID     string `json:"id"`
	Title  string `json:"display_name"`
	Input  int    `json:"max_input_tokens"`
	Output int    `json:"max_tokens"`
	Can    struct {
		Images   *capability `json:"image_input"`
		PDFs     capability  `json:"pdf_input"`
		Thinking capability  `json:"thinking"`
	} `json:"capabilities"`
}

type capability struct {
	Supported bool `json:"supported"`
}

// maxPages limits the pages of the list of models.
const maxPages = 20

// Models implements [llm.Catalog].
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var infos []llm.Info
	query := url.Values{"limit": {"1000"}}
	for range maxPages {
		var page struct {
			Data    []offer `json:"data"`
			HasMore bool    `json:"has_more"`
			LastID  string  `json:"last_id"`
		}
		if err := m.ask(ctx, m.at, "v1/models?"+query.Encode(), &page); err != nil {
			return nil, err
		}
		infos = append(infos, lists.Map(page.Data, m.info)...)
		if !page.HasMore || page.LastID == "" {
			break
		}
		query.Set("after_id", page.LastID)
	}
	return infos, nil
}

// Describe implements [llm.Describer].
func (m *Model) Describe(ctx context.Context) (llm.Info, error) {
	one, err := m.offer(ctx, m.at)
	if err != nil {
		return llm.Info{}, err
	}
	info := m.info(one)
	info.ID = m.ID() // the response names the release behind an alias
	return info, nil
}

// listWait limits the wait for the entry of a model.
const listWait = 2 * time.Second

// longest returns the maximum tokens of an answer by the provider's list; 0 if the list does not
// have the model, for which the limit of the newest models is used.
func (m *Model) longest(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	once := m.at
	once.Retry = llm.Retry{}
	one, err := m.offer(ctx, once)
	if err != nil {
		return 0
	}
	return one.Output
}

// info returns the provider's entry, completed by what is known here.
func (m *Model) info(one offer) llm.Info {
	known := traitOf(one.ID)
	info := llm.Info{
		ID: m.at.ID(one.ID), Title: one.Title, Tools: true,
		Window: one.Input, MaxOutput: one.Output,
		Reasoning: known.think != thinksNever,
		Accepts:   llm.Inputs{Images: true, PDFs: true},
	}
	info.Window = cmp.Or(info.Window, known.window)
	info.MaxOutput = cmp.Or(info.MaxOutput, known.output)
	if c := one.Can; c.Images != nil {
		info.Accepts = llm.Inputs{Images: c.Images.Supported, PDFs: c.PDFs.Supported}
		info.Reasoning = c.Thinking.Supported
	}
	return info
}

// offer requests the provider's entry of the model.
func (m *Model) offer(ctx context.Context, at llm.Endpoint) (one offer, err error) {
	err = m.ask(ctx, at, "v1/models/"+url.PathEscape(m.name), &one)
	return one, err
}

// ask reads a document that is not a model's answer.
func (m *Model) ask(ctx context.Context, at llm.Endpoint, path string, into any) error {
	return at.Fetch(ctx, at.At(path), m.header(), into)
}
