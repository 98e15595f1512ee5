package anthropic

import (
	"context"
	"net/url"
	"time"

	"github.com/git-jp/git-jp/internal/llm"
)

// An offer is a model as the provider lists it.
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

// maxPages bounds the list of models.
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
		for _, one := range page.Data {
			infos = append(infos, m.info(one))
		}
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
	info.ID = m.ID() // the answer names the release that an alias stands for
	return info, nil
}

// listWait is how long the provider may take to say how long an answer may be.
const listWait = 2 * time.Second

// longest returns how many tokens an answer may have, as the provider lists the model; 0 where it
// does not, and then it is asked for what the newest may have.
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

// info takes what the provider tells, and from what is known here what it leaves out.
func (m *Model) info(one offer) llm.Info {
	known := traitOf(one.ID)
	info := llm.Info{
		ID: m.at.ID(one.ID), Title: one.Title, Tools: true,
		Window: one.Input, MaxOutput: one.Output,
		Reasoning: known.think != thinksNever,
		Accepts:   llm.Inputs{Images: true, PDFs: true},
	}
	if info.Window == 0 {
		info.Window = known.window
	}
	if info.MaxOutput == 0 {
		info.MaxOutput = known.output
	}
	if c := one.Can; c.Images != nil {
		info.Accepts = llm.Inputs{Images: c.Images.Supported, PDFs: c.PDFs.Supported}
		info.Reasoning = c.Thinking.Supported
	}
	return info
}

// offer asks what the provider lists of the model.
func (m *Model) offer(ctx context.Context, at llm.Endpoint) (one offer, err error) {
	err = m.ask(ctx, at, "v1/models/"+url.PathEscape(m.name), &one)
	return one, err
}

// ask reads a document that is no answer of a model.
func (m *Model) ask(ctx context.Context, at llm.Endpoint, path string, into any) error {
	return at.Fetch(ctx, m.name, at.At(path), m.header(), into)
}
