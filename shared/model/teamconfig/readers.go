package teamconfig

import (
	"cmp"
	"fmt"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
)

// Unlisted says why members find no tool of an MCP server: empty if one is listed for contests.
func Unlisted(s tenancy.Settings, tools []tenancy.ToolPermission) string {
	for _, p := range tools {
		if p.ForContests() {
			return ""
		}
	}
	if s.ContestSearch {
		return "contests have no reading tools"
	}
	return "contests have no reading tools, and the settings don't allow web search"
}

// Readers returns a warning for each member of type web-search that can read nothing, and, where search says that
// members may search the web, for each whose model's vendor has no search. unlisted says why no other tool for reading
// is listed; empty: one is.
func (m Models) Readers(c Contest, search bool, unlisted string) (found []Finding) {
	for _, t := range c.Teams {
		for _, x := range t.Members {
			called := cmp.Or(m.Instead, x.Model)
			if x.AgentType != string(contest.WebSearch) || search && aggregate.ModelSearches(called) {
				continue
			}
			var why string
			switch none := fmt.Sprintf("%.100s has no vendor web search that can be used", called); {
			case search && unlisted == "":
				why = fmt.Sprintf("%.100s can use only the listed tools: %s", x.AgentName, none)
			case unlisted == "":
				continue
			case search:
				why = fmt.Sprintf("%.100s can't read anything: %s, and %s. Its team is told", x.AgentName, unlisted, none)
			default:
				why = fmt.Sprintf("%.100s can't read anything: %s. Its team is told", x.AgentName, unlisted)
			}
			found = append(found, Finding{File: t.TeamID, Message: why + ".", Warning: true})
		}
	}
	return found
}
