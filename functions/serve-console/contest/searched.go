package contest

import (
	"encoding/json"
	"maps"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/slack/card"
	"ringi/shared/words/legible"
)

// searchedRow says how often a vendor searched the web, and for which price, which the contest's cost includes.
type searchedRow struct {
	Text, Page string // the address of the vendor's page with the price
}

// searched returns a row for each vendor that searched.
func (t contestTexts) searched(works []*contest.Work) (rows []searchedRow) {
	times := map[string]int64{}
	for _, w := range works {
		for _, u := range w.Uses {
			if u.Searches > 0 {
				times[u.Provider] += u.Searches
			}
		}
	}
	for _, provider := range slices.Sorted(maps.Keys(times)) {
		p, _ := tenancy.SearchPriceOf(provider)
		rows = append(rows, searchedRow{Page: p.Page, Text: t.Say("searched", "provider", legible.OneLine(provider), "n", times[provider],
			"cost", costOf(provider, times[provider]), "thousand", p.Thousand.String(), "day", p.Read)})
	}
	return rows
}

// costOf is what so many searches cost.
func costOf(provider string, n int64) string {
	cost, _ := tenancy.SearchCost(provider, n) // whatever searched has a price
	return cost.String()
}

// searchedBy says how often a call had its vendor search, or "".
func searchedBy(t web.Texts, u *aggregate.Use) string {
	if u.Searches == 0 {
		return ""
	}
	return t.Say("searched", "n", u.Searches, "cost", costOf(u.Provider, u.Searches))
}

// mostQueries bounds how many of a member's searches are listed.
const mostQueries = 20

// queries returns what a member had its vendor search the web for.
func queries(messages []contest.ModelMessage) (all []string) {
	for _, m := range messages {
		for _, p := range m.Parts {
			var asked struct{ Query string }
			if p.PartKind != contest.ToolCall || p.ToolName != contest.WebSearchTool || json.Unmarshal(p.Args, &asked) != nil {
				continue
			}
			if len(all) == mostQueries {
				return append(all, "…")
			}
			all = append(all, card.OneLine(legible.Beginning(asked.Query, mostBegun)))
		}
	}
	return all
}
