package agent

import (
	"cmp"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

var (
	idForm    = language.Regexp{Text: `^[a-z0-9][a-z0-9_-]{0,31}$`}
	modelForm = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`}
	refForm   = language.Regexp{Text: `^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`}
	keyForm   = language.Regexp{Text: `^(sk-|sk_|xox|xai-|AKIA|ghp_|AIza)`} // prefixes of vendors' keys
)

// LikeKey reports whether a text begins as vendors' keys do. Such a text is neither saved nor shown.
func LikeKey(text string) bool { return keyForm.Get().MatchString(text) }

// Problems returns everything that is wrong with the definition in every deployment.
func (d Definition) Problems() (all aggregate.Problems) {
	all.Unless(d.ID != "", "id", "agent_required")
	all.Unless(d.ID == "" || idForm.Get().MatchString(d.ID), "id", "agent_id")
	all.Unless(d.Provider != "", "provider", "agent_required")
	all.Unless(d.Provider == "" || slices.Contains(Providers, d.Provider), "provider", "agent_provider")
	all.Unless(d.Model == "" || modelForm.Get().MatchString(d.Model), "model", "agent_model")
	code := d.wrongEndpoint()
	all.Unless(code == "", "endpoint", code)
	all.Unless(len(d.Capabilities) > 0, "capabilities", "agent_required")
	all.Unless(!slices.ContainsFunc(d.Capabilities, func(c Capability) bool { return !slices.Contains(Capabilities, c) }),
		"capabilities", "agent_capability")
	all.Unless(d.AuthRef == "" || refForm.Get().MatchString(d.AuthRef) && !LikeKey(d.AuthRef), "auth_ref",
		"agent_auth_ref")
	all.Unless(d.ContextTokens == 0 || d.ContextTokens >= MinContext && d.ContextTokens <= MaxContext, "context_tokens",
		"agent_context")
	all.Unless(!badMetadata(d.Metadata), "metadata", "agent_metadata")
	return all
}

// wrongEndpoint returns what is wrong with the endpoint in every deployment, or "".
func (d Definition) wrongEndpoint() string {
	placed := d.Provider == HTTP || d.Provider == Local
	switch {
	case !placed && d.Endpoint != "" && slices.Contains(Providers, d.Provider):
		return "agent_no_place" // a vendor's key must not be sent elsewhere
	case !placed:
		return ""
	case d.Endpoint == "":
		return "agent_required"
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil || len(d.Endpoint) > 500 || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.RawQuery != "" ||
		u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return "agent_endpoint"
	}
	return ""
}

// reachable reports whether this deployment reaches the agent: it must allow plain http and local addresses.
func (d Definition) reachable(allow []string) bool {
	if d.Provider != HTTP && d.Provider != Local || d.wrongEndpoint() != "" {
		return true
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil {
		return false
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	at := net.JoinHostPort(u.Hostname(), port)
	return d.Provider == HTTP && u.Scheme == "https" ||
		slices.ContainsFunc(allow, func(a string) bool { return strings.EqualFold(a, at) })
}

func badMetadata(m map[string]string) bool {
	if len(m) > 20 {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == "" || utf8.RuneCountInString(name) > 64 || utf8.RuneCountInString(m[name]) > 500 ||
			legible.Visible(m[name]) != m[name] {
			return true
		}
	}
	return false
}
