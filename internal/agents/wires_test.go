//go:build agents

package agents

import (
	"strings"
)

// wireOf returns the function that writes answers in the format of a path.
func wireOf(path string) func(*voice, answer) {
	switch {
	case strings.HasSuffix(path, "/messages"):
		return (*voice).anthropic
	case strings.HasSuffix(path, "/responses"):
		return (*voice).openai
	case strings.HasSuffix(path, "enerateContent"):
		return (*voice).gemini
	}
	return nil
}

// prompted returns the reported number of tokens of the prompt.
func (a answer) prompted() int { return max(a.tokens, 1200) }

// anthropic answers like the Messages API.
func (v *voice) anthropic(a answer) {
	v.begin()
	reason := "end_turn"
	switch {
	case a.refuses:
		reason = "refusal"
	case len(a.calls) > 0:
		reason = "tool_use"
	}
	blocks := v.anthropicBlocks(a)
	message := map[string]any{
		"id": v.id("msg_"), "type": "message", "role": "assistant", "model": "claude-sonnet-4-5",
		"content": blocks, "stop_reason": reason, "stop_sequence": nil,
		"usage": map[string]any{
			"input_tokens": a.prompted(), "output_tokens": 60,
			"cache_read_input_tokens": 800, "cache_creation_input_tokens": 40,
		},
	}
	if !v.stream {
		v.object(message)
		return
	}
	usage := message["usage"]
	message["content"], message["stop_reason"] = []any{}, nil
	v.event("message_start", map[string]any{"message": message})
	for i, block := range blocks {
		v.anthropicBlock(i, block)
	}
	if a.hangs {
		return
	}
	v.event("message_delta", map[string]any{
		"delta": map[string]any{"stop_reason": reason, "stop_sequence": nil}, "usage": usage,
	})
	v.event("message_stop", map[string]any{})
}

func (v *voice) anthropicBlocks(a answer) []map[string]any {
	var blocks []map[string]any
	if a.think != "" {
		blocks = append(blocks, map[string]any{
			"type": "thinking", "thinking": a.think, "signature": "c2lnbmVkIGJ5IGEgc2NyaXB0",
		})
	}
	if a.text != "" {
		blocks = append(blocks, map[string]any{"type": "text", "text": a.text})
	}
	for _, c := range a.calls {
		blocks = append(blocks, map[string]any{
			"type": "tool_use", "id": v.id("toolu_"), "name": c.name, "input": c.args,
		})
	}
	return blocks
}

// anthropicBlock sends one block: an empty one, its content, and its end.
func (v *voice) anthropicBlock(i int, block map[string]any) {
	start := map[string]any{"type": block["type"]}
	var deltas []map[string]any
	switch block["type"] {
	case "thinking":
		start["thinking"], start["signature"] = "", ""
		deltas = []map[string]any{
			{"type": "thinking_delta", "thinking": block["thinking"]},
			{"type": "signature_delta", "signature": block["signature"]},
		}
	case "text":
		start["text"] = ""
		deltas = []map[string]any{{"type": "text_delta", "text": block["text"]}}
	default:
		start["id"], start["name"], start["input"] = block["id"], block["name"], map[string]any{}
		args := call{args: block["input"].(map[string]any)}.arguments()
		deltas = []map[string]any{{"type": "input_json_delta", "partial_json": args}}
	}
	v.event("content_block_start", map[string]any{"index": i, "content_block": start})
	for _, d := range deltas {
		v.event("content_block_delta", map[string]any{"index": i, "delta": d})
	}
	v.event("content_block_stop", map[string]any{"index": i})
}

// openai answers like the Responses API.
func (v *voice) openai(a answer) {
	v.begin()
	response := map[string]any{
		"id": v.id("resp_"), "object": "response", "status": "in_progress", "output": []any{},
	}
	items := v.openaiItems(a)
	if v.stream {
		v.event("response.created", map[string]any{"response": response})
	}
	for i, item := range items {
		if !v.stream {
			break
		}
		v.event("response.output_item.added", map[string]any{"output_index": i, "item": item})
		if item["type"] == "message" {
			v.event("response.output_text.delta", map[string]any{
				"item_id": item["id"], "output_index": i, "content_index": 0, "delta": a.text,
			})
		}
		v.event("response.output_item.done", map[string]any{"output_index": i, "item": item})
	}
	if a.hangs {
		return
	}
	response["status"], response["output"] = "completed", items
	response["usage"] = map[string]any{
		"input_tokens": a.prompted(), "input_tokens_details": map[string]any{"cached_tokens": 800},
		"output_tokens": 60, "output_tokens_details": map[string]any{"reasoning_tokens": 20},
		"total_tokens": a.prompted() + 60,
	}
	if !v.stream {
		v.object(response)
		return
	}
	v.event("response.completed", map[string]any{"response": response})
}

func (v *voice) openaiItems(a answer) []map[string]any {
	items := []map[string]any{}
	if a.think != "" {
		items = append(items, map[string]any{
			"type": "reasoning", "id": v.id("rs_"), "encrypted_content": "c2VhbGVkIGJ5IGEgc2NyaXB0",
			"summary": []any{map[string]any{"type": "summary_text", "text": a.think}},
		})
	}
	if a.text != "" {
		said := map[string]any{"type": "output_text", "text": a.text, "annotations": []any{}}
		if a.refuses {
			said = map[string]any{"type": "refusal", "refusal": a.text}
		}
		items = append(items, map[string]any{
			"type": "message", "id": v.id("msg_"), "role": "assistant", "status": "completed",
			"content": []any{said},
		})
	}
	for _, c := range a.calls {
		item := map[string]any{
			"type": "function_call", "id": v.id("fc_"), "call_id": v.id("call_"), "name": c.name,
			"status": "completed",
		}
		if c.space != "" {
			item["namespace"] = c.space
		}
		if c.free != "" {
			item["type"], item["input"] = "custom_tool_call", c.free
		} else {
			item["arguments"] = c.arguments()
		}
		items = append(items, item)
	}
	return items
}

// gemini answers like generateContent.
func (v *voice) gemini(a answer) {
	v.begin()
	var parts []any
	if a.think != "" {
		parts = append(parts, map[string]any{"text": "**Thinking**\n" + a.think, "thought": true})
	}
	if a.text != "" {
		parts = append(parts, map[string]any{"text": a.text})
	}
	for _, c := range a.calls {
		parts = append(parts, map[string]any{
			"functionCall":     map[string]any{"name": c.name, "args": c.args},
			"thoughtSignature": "c2lnbmVkIGJ5IGEgc2NyaXB0",
		})
	}
	reason := "STOP"
	if a.refuses {
		reason = "SAFETY"
	}
	candidate := map[string]any{
		"index": 0, "content": map[string]any{"role": "model", "parts": parts},
	}
	answer := map[string]any{
		"candidates": []any{candidate}, "modelVersion": "gemini-2.5-pro",
		"responseId": v.id("r"),
		"usageMetadata": map[string]any{
			"promptTokenCount": a.prompted(), "candidatesTokenCount": 60,
			"cachedContentTokenCount": 800, "thoughtsTokenCount": 20,
			"totalTokenCount": a.prompted() + 80,
		},
	}
	if !a.hangs {
		candidate["finishReason"] = reason
	}
	if v.stream {
		v.event("", answer)
		return
	}
	v.object(answer)
}
