package integrations

import (
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
)

type integrationTexts struct{ web.Texts }

// of returns an integration without stored state.
func (t integrationTexts) of(provider, address string) integration {
	x := integration{
		Provider: provider, Name: t.In("names", provider), About: t.In("abouts", provider), Address: address,
		IsServer: isServer(provider), IsSlack: provider == tenancy.SlackProvider,
		IsGitHub: provider == tenancy.GitHubProvider,
		Steps:    t.List("registering", provider),
	}
	if x.IsServer {
		x.Name, x.About = t.Say("server")+" "+strings.TrimPrefix(provider, tenancy.ServerProvider), t.Say("server_about")
	}
	return x
}

// state returns a status in words and its badge.
func (t integrationTexts) state(s tenancy.IntegrationStatus) (text, badge string) {
	badges := map[tenancy.IntegrationStatus]string{
		tenancy.Connected: "badge badge-good", tenancy.Broken: "badge badge-bad", tenancy.Disconnected: "badge",
	}
	return t.In("states", s), badges[s]
}

// stops lists what stops working without an integration.
func (t integrationTexts) stops(provider string) []string {
	if isServer(provider) {
		return t.List("stops", "mcp")
	}
	return t.List("stops", provider)
}
