package tenancy

import (
	"fmt"
	"net/netip"
	"net/url"
	"slices"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

var serverForm = language.Regexp{Text: `^[a-z0-9-]{1,32}$`}

// isModel reports whether the name is valid.
func isModel(name string) bool {
	_, err := aggregate.ParseModelName(name)
	return err == nil
}

// maxUSD is the highest configurable budget.
const maxUSD = 1_000_000

// Validate returns the first problem.
func (s Settings) Validate() error { return s.Problems().Err() }

// Problems returns all problems of the settings; none if they can be saved. Sizes come first, lists of rows last.
func (s Settings) Problems() (all aggregate.Problems) {
	fields := s.Fields()
	for _, f := range fields {
		f.checkSize(&all)
	}
	for _, kind := range []Kind{KindText, KindDollars, KindChoice, KindPeople, KindGroups} {
		for _, f := range fields {
			if f.Kind == kind {
				f.checkContent(&all)
			}
		}
	}
	rows(&all, "mcp_servers", s.MCPServers, "name", func(x MCPServer) string { return x.Name })
	rows(&all, "prices", s.Prices, "model", ModelPrice.model)
	rows(&all, "matters", s.Matters, "name", func(x MatterKind) string { return x.Name })
	s.DraftContest.check(&all)
	rows(&all, "agents", s.Agents, "id", func(x agent.Definition) string { return x.ID })
	rows(&all, "auto_actions", s.AutoActions, "", nil)
	for i, r := range s.AutoActions {
		listed := slices.ContainsFunc(s.Sources, func(x agent.Source) bool { return x.Name == r.Source })
		all.Unless(r.Source == "" || listed || len(r.Problems()) > 0, fmt.Sprintf("auto_actions[%d].source", i),
			"auto_source")
	}
	rows(&all, "listed_reads", s.ListedReads, "", nil)
	rows(&all, "sources", s.Sources, "name", func(x agent.Source) string { return x.Name })
	return all
}

// rows checks the rows of a list. No two have the same name, which stands in a column. What depends on the deployment,
// such as an agent's address that it forbids, is no problem: settings can be copied to another one.
func rows[T interface{ Problems() aggregate.Problems }](all *aggregate.Problems, list string, of []T, column string,
	name func(T) string) {
	seen := map[string]bool{}
	for i, x := range of {
		at := fmt.Sprintf("%s[%d]", list, i)
		if name != nil {
			all.Unless(name(x) == "" || !seen[name(x)], at+"."+column, "taken")
			seen[name(x)] = true
		}
		all.Under(at, x.Problems())
	}
}

// Problems returns everything that is wrong with a server.
func (s MCPServer) Problems() (all aggregate.Problems) {
	all.Unless(serverForm.Get().MatchString(s.Name), "name", "server_name")
	code := wrongAddress(s.URL)
	all.Unless(code == "", "url", code)
	return all
}

// wrongAddress returns what is wrong with a server's address, or "". Plain http is allowed only for loopback
// addresses, which only the local stack reaches.
func wrongAddress(text string) string {
	u, err := url.Parse(text)
	if err != nil || len(text) > 500 || u.Host == "" || u.Opaque != "" {
		return "address"
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return "address_only"
	}
	here, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && err == nil && here.IsLoopback()) {
		return "https"
	}
	return ""
}

// Limits on what one tenant may define.
const (
	MaxAgents      = 20 // not counting the built-in ones
	MaxAutoActions = 50
	MaxListedReads = 50
)
