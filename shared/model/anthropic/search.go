package anthropic

import (
	"context"
	"encoding/json"
	"net/http"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/model"
)

// mostPauses is how often an answer that the vendor paused while it searched is gone on with.
const mostPauses = 3

// searching lets the vendor search the web so many times.
func searching(times int) sdk.ToolUnionParam {
	return sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{MaxUses: sdk.Int(int64(times))}}
}

// once makes a call whose answer is not streamed. An answer that pauses goes back as it came, with its encrypted
// results, so that the vendor goes on with it. If that fails, what was written before stands.
func (c *Client) once(ctx context.Context, p sdk.MessageNewParams, r model.Request, out *model.Response) error {
	asked := p.Messages
	var blocks []sdk.ContentBlockParamUnion
	for pauses := 0; ; pauses++ {
		var raw *http.Response
		m, err := c.messages.New(ctx, p, option.WithRequestTimeout(left(ctx)), option.WithResponseInto(&raw))
		if fewer(&p, out, err) {
			m, err = c.messages.New(ctx, p, option.WithRequestTimeout(left(ctx)), option.WithResponseInto(&raw))
		}
		if raw != nil {
			out.Usage.RequestID = model.RequestID(raw.Header.Get("Request-Id"))
		}
		if err != nil && out.Text != "" && ctx.Err() == nil {
			return nil
		}
		if err != nil {
			return c.problem(err, out.Usage.RequestID)
		}
		whole(out, m)
		spent := out.Text != "" && out.Usage.Searches >= int64(r.Searches) // to go on may search once more
		if m.StopReason != sdk.StopReasonPauseTurn || r.Searches == 0 || pauses == mostPauses || spent {
			return nil
		}
		for _, b := range m.Content {
			blocks = append(blocks, param.Override[sdk.ContentBlockParamUnion](json.RawMessage(b.RawJSON())))
		}
		p.Messages = append(asked[:len(asked):len(asked)], sdk.NewAssistantMessage(blocks...))
		p.Tools[len(p.Tools)-1] = searching(max(1, r.Searches-int(out.Usage.Searches)))
	}
}

// whole adds an answer that was not streamed.
func whole(out *model.Response, m *sdk.Message) {
	out.Answered, out.Stop = m.Model, stop(m.StopReason)
	var u model.Usage
	use(&u, m.Usage.InputTokens, m.Usage.OutputTokens, m.Usage.CacheReadInputTokens, m.Usage.CacheCreationInputTokens)
	u.Searches = m.Usage.ServerToolUse.WebSearchRequests
	out.Usage = u.Plus(out.Usage)
	for _, block := range m.Content {
		out.Text += block.Text
		if block.Type == "web_search_tool_result" {
			found := block.AsWebSearchToolResult().Content
			for _, r := range found.AsWebSearchResultBlockArray() {
				out.Found = append(out.Found, model.Source{Title: r.Title, URL: r.URL})
			}
			if found.ErrorCode != "" {
				out.SearchFailed = string(found.ErrorCode)
			}
		}
		if block.Type == "tool_use" {
			out.Calls = append(out.Calls, model.Call{ID: block.ID, Name: block.Name, Input: block.Input})
		}
	}
}
