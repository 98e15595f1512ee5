package anthropic

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// betasOf returns the beta features that a request must name for its context edits.
// https://platform.claude.com/docs/en/build-with-claude/compaction and …/context-editing
func betasOf(context jsontext.Value) (betas []string) {
	var given struct {
		Edits []struct {
			Type string `json:"type"`
		} `json:"edits"`
	}
	if json.Unmarshal(context, &given) != nil {
		return nil
	}
	for _, edit := range given.Edits {
		beta := "context-management-2025-06-27"
		if strings.HasPrefix(edit.Type, "compact_") {
			beta = compactBeta
		}
		if !slices.Contains(betas, beta) {
			betas = append(betas, beta)
		}
	}
	return betas
}

const compactBeta = "compact-2026-01-12"

// compacts reports whether the request may use the provider's earlier compactions.
func (b *builder) compacts() bool {
	context := b.request.Params.Services.Context
	return context.Kind() == '{' && slices.Contains(betasOf(context), compactBeta)
}
