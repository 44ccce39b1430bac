package tenancy

import (
	"fmt"
	"net/netip"
	"net/url"
	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"slices"
)

var (
	slugForm    = language.Regexp{Text: `^[a-z0-9][a-z0-9-]{0,62}$`}
	userForm    = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	channelForm = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
	groupForm   = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	serverForm  = language.Regexp{Text: `^[a-z0-9-]{1,32}$`}
)

// isModel reports whether the name is valid.
func isModel(name string) bool {
	_, err := aggregate.ParseModelName(name)
	return err == nil
}

// isChannelOrNone reports whether a text is the id of a channel, or empty.
func isChannelOrNone(id string) bool { return id == "" || channelForm.Get().MatchString(id) }

// maxUSD is the highest configurable budget.
const maxUSD = 1_000_000

// Validate returns ErrField for the first problem.
func (s Settings) Validate() error {
	if all := s.Problems(); len(all) > 0 {
		return all[0].Err()
	}
	return nil
}

// Problems returns all problems of the settings; nil if they can be saved. Sizes come first, lists of rows last.
func (s Settings) Problems() (all []Problem) {
	fields := s.Fields()
	for _, f := range fields {
		all = append(all, f.sizeProblems()...)
	}
	for _, kind := range []Kind{KindText, KindDollars, KindChoice, KindPeople, KindGroups} {
		for _, f := range fields {
			if f.Kind == kind {
				all = append(all, f.contentProblems()...)
			}
		}
	}
	all = append(all, serverProblems(s.MCPServers)...)
	all = append(all, priceProblems(s.Prices)...)
	all = append(all, s.DraftContest.problems()...)
	return append(all, s.agentProblems()...)
}

// idProblems returns a problem for each text that is not one of Slack's ids.
func idProblems(field string, ids []string, fits func(string) bool, rule Rule) (all []Problem) {
	for i, id := range ids {
		if !fits(id) {
			all = append(all, Problem{Field: fmt.Sprintf("%s[%d]", field, i), Rule: rule})
		}
	}
	return all
}

func serverProblems(list []MCPServer) (all []Problem) {
	for i, s := range list {
		own := s.Problems()
		if slices.ContainsFunc(list[:i], func(x MCPServer) bool { return x.Name == s.Name }) && serverForm.Get().MatchString(s.Name) {
			own = append([]Problem{{Field: "name", Rule: RuleTaken}}, own...)
		}
		for _, p := range own {
			p.Field = fmt.Sprintf("mcp_servers[%d].%s", i, p.Field)
			all = append(all, p)
		}
	}
	return all
}

// Problems returns the problems of one server, those of its name before those of its URL.
func (s MCPServer) Problems() (all []Problem) {
	if !serverForm.Get().MatchString(s.Name) {
		all = append(all, Problem{Field: "name", Rule: RuleServerName})
	}
	if rule := wrongAddress(s.URL); rule != "" {
		all = append(all, Problem{Field: "url", Rule: rule})
	}
	return all
}

// wrongAddress returns the rule that a server's address breaks, or "". Plain http is allowed only for loopback
// addresses, which only the local stack reaches.
func wrongAddress(text string) Rule {
	u, err := url.Parse(text)
	if err != nil || len(text) > 500 || u.Host == "" || u.Opaque != "" {
		return RuleAddress
	}
	if u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return RuleAddressOnly
	}
	here, err := netip.ParseAddr(u.Hostname())
	if u.Scheme != "https" && !(u.Scheme == "http" && err == nil && here.IsLoopback()) {
		return RuleHTTPS
	}
	return ""
}
