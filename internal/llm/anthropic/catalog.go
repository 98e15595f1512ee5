package anthropic

import (
	"context"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/git-jp/git-jp/internal/llm"
)

// maxPages bounds the list of models.
const maxPages = 20

// Models implements [llm.Catalog].
func (m *Model) Models(ctx context.Context) ([]llm.Info, error) {
	var infos []llm.Info
	err := m.at.Retry.Do(ctx, func(ctx context.Context) error {
		infos = nil
		params := sdk.ModelListParams{Limit: sdk.Int(1000)}
		for range maxPages {
			page, err := m.sdk.Models.List(ctx, params)
			if err != nil {
				return m.failure(nil, err)
			}
			for _, one := range page.Data {
				infos = append(infos, m.info(one))
			}
			if !page.HasMore || page.LastID == "" {
				return nil
			}
			params.AfterID = sdk.String(page.LastID)
		}
		return nil
	})
	return infos, err
}

// Describe implements [llm.Describer].
func (m *Model) Describe(ctx context.Context) (llm.Info, error) {
	var info llm.Info
	err := m.at.Retry.Do(ctx, func(ctx context.Context) error {
		one, err := m.sdk.Models.Get(ctx, m.name, sdk.ModelGetParams{})
		if err != nil {
			return m.failure(nil, err)
		}
		info = m.info(*one)
		return nil
	})
	info.ID = m.ID() // the answer names the release that an alias stands for
	return info, err
}

// listWait is how long the provider may take to say how long an answer may be.
const listWait = 2 * time.Second

// longest returns how many tokens an answer may have, as the provider lists the model; 0 where it
// does not, and then it is asked for what the newest may have.
func (m *Model) longest(ctx context.Context) int {
	ctx, cancel := context.WithTimeout(ctx, listWait)
	defer cancel()
	one, err := m.sdk.Models.Get(ctx, m.name, sdk.ModelGetParams{})
	if err != nil {
		return 0
	}
	return int(one.MaxTokens)
}

// info takes what the provider tells, and from what is known here what it leaves out.
func (m *Model) info(one sdk.ModelInfo) llm.Info {
	known := traitOf(one.ID)
	info := llm.Info{
		ID: m.at.ID(one.ID), Title: one.DisplayName, Tools: true,
		Window: int(one.MaxInputTokens), MaxOutput: int(one.MaxTokens),
		Reasoning: known.think != thinksNever,
		Accepts:   llm.Inputs{Images: true, PDFs: true},
	}
	if info.Window == 0 {
		info.Window = known.window
	}
	if info.MaxOutput == 0 {
		info.MaxOutput = known.output
	}
	if c := one.Capabilities; c.JSON.ImageInput.Valid() {
		info.Accepts = llm.Inputs{Images: c.ImageInput.Supported, PDFs: c.PDFInput.Supported}
		info.Reasoning = c.Thinking.Supported
	}
	return info
}
