package openai

import (
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"ringi/shared/model"
)

// searching lets the vendor search the web so many times.
func searching(p *responses.ResponseNewParams, times int) {
	search := responses.ToolParamOfWebSearch(responses.WebSearchToolTypeWebSearch)
	search.OfWebSearch.UserLocation.Type = "approximate" // without it the vendor searches as from the United States
	p.Tools, p.MaxToolCalls = append(p.Tools, search), param.NewOpt(int64(times))
	p.Include = append(p.Include, responses.ResponseIncludableWebSearchCallActionSources)
}

// found adds a call of the vendor's search. Each of its queries is charged; pages that are opened and looked through
// are not.
func found(out *model.Response, item responses.ResponseOutputItemUnion) {
	if item.Status == "failed" {
		out.SearchFailed = "failed"
		return
	}
	if item.Action.Type == "search" {
		out.Usage.Searches += int64(max(1, len(item.Action.Queries)))
	}
	for _, s := range item.Action.Sources {
		if s.URL != "" { // others are services of the vendor's
			out.Found = append(out.Found, model.Source{URL: s.URL})
		}
	}
}

// cited adds the pages that the answer names, with their titles.
func cited(out *model.Response, item responses.ResponseOutputItemUnion) {
	for _, c := range item.Content {
		for _, a := range c.Annotations {
			if a.Type == "url_citation" && a.URL != "" {
				out.Found = append(out.Found, model.Source{Title: a.Title, URL: a.URL})
			}
		}
	}
}
