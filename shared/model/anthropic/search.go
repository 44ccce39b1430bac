package anthropic

import (
	sdk "github.com/anthropics/anthropic-sdk-go"

	"ringi/shared/model"
)

// mostPauses is how often an answer that the vendor paused while it searched is gone on with.
const mostPauses = 3

// searching lets the vendor search the web so many times.
func searching(times int) sdk.ToolUnionParam {
	return sdk.ToolUnionParam{OfWebSearchTool20250305: &sdk.WebSearchTool20250305Param{MaxUses: sdk.Int(int64(times))}}
}

// found adds what a search found, or its failure.
func (h *hearing) found(result sdk.WebSearchToolResultBlockContentUnion) {
	for _, r := range result.AsWebSearchResultBlockArray() {
		h.out.Found = append(h.out.Found, model.Source{Title: r.Title, URL: r.URL})
	}
	if result.ErrorCode != "" {
		h.out.SearchFailed = string(result.ErrorCode)
	}
}
