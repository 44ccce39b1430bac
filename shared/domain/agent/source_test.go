package agent_test

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/runtime/expect"
)

func shop() agent.Source {
	return agent.Source{Name: "shop", Repository: "acme/shop", Ref: "heads/main", People: []string{agent.Everybody},
		Agents: []string{"claude"}, CI: agent.CISkip, RepositoryID: 7}
}

func TestASourcesFieldsAreChecked(t *testing.T) {
	expect.That(t, shop().Faults() == nil, "%v", shop().Faults())
	type set = func(s *agent.Source, value string)
	fields := map[string]set{
		"name":       func(s *agent.Source, v string) { s.Name = v },
		"repository": func(s *agent.Source, v string) { s.Repository = v },
		"ref":        func(s *agent.Source, v string) { s.Ref = v },
		"path":       func(s *agent.Source, v string) { s.Path = v },
		"people":     func(s *agent.Source, v string) { s.People = strings.Fields(v) },
		"agents":     func(s *agent.Source, v string) { s.Agents = strings.Fields(v) },
		"ci":         func(s *agent.Source, v string) { s.CI = agent.CI(v) },
		"allow":      func(s *agent.Source, v string) { s.Allow = strings.Fields(v) },
	}
	for field, values := range map[string]struct{ good, bad []string }{
		"name": {[]string{"a", "0-9", strings.Repeat("a", 32)}, []string{"", "A", "a b", "a_b", strings.Repeat("a", 33)}},
		"repository": {[]string{"acme/shop", "a/b.c_d-e"},
			[]string{"acme", "acme/", "/shop", "acme/shop/x", "acme/..", "acme/.",
				"acme/shop.git", "-a/b", "acme/sh op", "acme/shop?x", "acme/" + strings.Repeat("x", 101), "https://github.com/a/b"}},
		"ref": {[]string{"heads/main", "tags/v1.2", "heads/feature/x+y"},
			[]string{"main", "refs/heads/main", "heads/", "heads/../x",
				"heads/a..b", "heads/a b", "heads/a?b", "heads/.a", "heads/a/.b", "heads/a.lock", "heads/a//b", "heads/a/",
				"heads//a",
				strings.Repeat("1", 40), "heads/" + strings.Repeat("a", 191)}},
		"path":   {[]string{"", "services/pay"}, []string{"/a", "a/", "../a", "a/../b", ".", strings.Repeat("a", 201)}},
		"people": {[]string{"everybody", "U0SATO W0SUZUKI"}, []string{"", "@sato", "everybody U0SATO", "C0HR"}},
		"agents": {[]string{"claude", "claude codex"}, []string{"", "A B!", "everybody!"}},
		"ci":     {[]string{"run", "skip"}, []string{"", "no"}},
		"allow":  {[]string{"", "CODEOWNERS .gitattributes"}, []string{".gitmodules", "CODEOWNERS CODEOWNERS", "codeowners"}},
	} {
		for i, value := range append(slices.Clone(values.good), values.bad...) {
			s, good := shop(), i < len(values.good)
			fields[field](&s, value)
			faults := s.Faults()
			expect.That(t, good && faults == nil || !good && len(faults) == 1 && faults[0].Field == field &&
				faults[0].Limit() != "",
				"%s %q: %v", field, value, faults)
		}
	}
}

func TestASourceIsForItsPeopleAndAgents(t *testing.T) {
	hr := shop()
	hr.Name, hr.People, hr.Agents = "hr", []string{"U0SATO"}, []string{"codex", "claude"}
	unasked := shop()
	unasked.Name, unasked.RepositoryID = "unasked", 0
	all := []agent.Source{shop(), hr, unasked}
	for _, tt := range []struct {
		user, agent string
		want        []string
	}{
		{"U0SATO", "claude", []string{"shop", "hr"}}, {"U0SATO", "codex", []string{"hr"}},
		{"U0ELSE", "claude", []string{"shop"}},
		{"U0ELSE", "codex", nil},
	} {
		expect.Same(t, tt.want, agent.SourcesFor(all, tt.user, tt.agent))
		for _, name := range []string{"shop", "hr", "unasked", "nothing"} {
			_, ok := agent.SourceNamed(all, strings.ToUpper(name), tt.user, tt.agent)
			expect.Is(t, ok, slices.Contains(tt.want, name), tt.user, tt.agent, name)
		}
	}
}
