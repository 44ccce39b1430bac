package agent

import (
	"fmt"
	"maps"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// Rule is a rule for the fields of a definition.
type Rule string

const (
	RuleRequired  Rule = "agent_required"
	RuleID        Rule = "agent_id"
	RuleTaken     Rule = "agent_taken"
	RuleUnread    Rule = "agent_unread" // the value has the wrong type
	RuleProvider  Rule = "agent_provider"
	RuleAbility   Rule = "agent_capability"
	RuleModel     Rule = "agent_model"
	RuleEndpoint  Rule = "agent_endpoint"
	RuleSecure    Rule = "agent_secure"   // only https
	RuleElsewhere Rule = "agent_place"    // the deployment does not allow the address
	RuleNoPlace   Rule = "agent_no_place" // agents of a vendor have no endpoint of their own
	RuleAuthRef   Rule = "agent_auth_ref"
	RuleMetadata  Rule = "agent_metadata"
	RuleContext   Rule = "agent_context"
)

// Limits describes, for each rule, the values that it allows.
var Limits = map[Rule]string{
	RuleRequired: "is required",
	RuleID:       "must be 1 to 32 of a-z, 0-9, - and _, beginning with a letter or digit",
	RuleTaken:    "is another entry's",
	RuleUnread:   "has a value of another type",
	RuleProvider: "must be openai, anthropic, http or local",
	RuleAbility:  "must be a list of code, shell, test and tools",
	RuleModel:    "must be 1 to 150 of A-Z, a-z, 0-9 and ._:/@+-",
	RuleEndpoint: "must be an address of at most 500 bytes like https://example.com/v1, without name, password, query " +
		"or fragment",
	RuleSecure:    "must begin with https://, or be an address that this deployment allows",
	RuleElsewhere: "is no address that this deployment allows",
	RuleNoPlace:   "is for the providers http and local only",
	RuleAuthRef:   "must be the name of a key, 1 to 64 of A-Z, a-z, 0-9, ., - and _; never a key",
	RuleContext:   "must be a whole number from 16000 to 2000000",
	RuleMetadata:  "may have 20 entries with names of 64 and values of 500 characters at most",

	RuleListedTool:    "must be the name of a tool, 1 to 200 bytes",
	RuleListedVersion: "must be the tool's version, 64 hexadecimal digits, as the page of tools shows it",
	RuleListedPeople:  "must be 1 to 200 Slack user ids",
	RuleListedUnknown: "must be a tool that is allowed here",
	RuleListedOther:   "must be the version that the tool has now",
	RuleListedFree:    "must be a tool that only reads and, of a server, takes no free text",

	RuleAutoType:  "must be test_run: nothing else is ever approved by a rule",
	RuleAutoArgv:  "must have 1 to 32 patterns of 1 to 200 characters, the first one without *",
	RuleAutoShell: "must not begin with a shell, or with a program that starts what it is given",
	RuleAutoStar: "may have * only for names that these commands are given: " + OpenCommands() +
		"; every other command is spelled without *",
	RuleAutoOption: "must have beside * only options like -run, -k or -Dtest, spelled whole, " +
		"that choose tests or what is printed",
	RuleAutoSource:  "must be the name of a source in these settings",
	RuleAutoPlace:   "must be Slack's id of a channel or direct message, and is required beside a source",
	RuleAutoChanged: "is for rules that name a source",

	RuleSourceName:        "must be 1 to 32 of a-z, 0-9 and -, and no other source's",
	RuleSourceRepository:  "must be owner/name, as in the address of the repository's page",
	RuleSourceRef:         "must be heads/ and a branch, or tags/ and a tag, of at most 190 bytes",
	RuleSourcePath:        "must be a folder inside of the repository, of at most 200 bytes",
	RuleSourcePeople:      "must be 1 to 200 Slack user ids, or everybody alone",
	RuleSourceAgents:      "must be 1 to 20 ids of agents",
	RuleSourceCI:          "must be run or skip",
	RuleSourceAllow:       "must be .gitattributes, CODEOWNERS, both or nothing",
	RuleSourceUnconnected: "needs GitHub, which is not connected",
	RuleSourceMissing:     "is no repository in which the GitHub App is installed",
	RuleSourceNoRef:       "is no branch or tag of the repository",
	RuleSourceOther:       "is another repository's name now: remove the source and list it anew",
}

// Fault says which rule a field breaks.
type Fault struct {
	Field string
	Rule  Rule
}

// Limit describes the allowed values in English.
func (f Fault) Limit() string { return Limits[f.Rule] }

var (
	idForm    = language.Regexp{Text: `^[a-z0-9][a-z0-9_-]{0,31}$`}
	modelForm = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`}
	refForm   = language.Regexp{Text: `^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`}
	keyForm   = language.Regexp{Text: `^(sk-|sk_|xox|xai-|AKIA|ghp_|AIza)`} // prefixes of vendors' keys
)

// LikeKey reports whether a text begins as vendors' keys do. Such a text is neither saved nor shown.
func LikeKey(text string) bool { return keyForm.Get().MatchString(text) }

// Faults returns all faults that don't depend on the deployment.
func (d Definition) Faults() (all []Fault) {
	for _, field := range d.Unread {
		all = append(all, Fault{field, RuleUnread})
	}
	add := func(field string, rule Rule) {
		if !slices.Contains(d.Unread, field) {
			all = append(all, Fault{field, rule})
		}
	}
	switch {
	case d.ID == "":
		add("id", RuleRequired)
	case !idForm.Get().MatchString(d.ID):
		add("id", RuleID)
	}
	switch {
	case d.Provider == "":
		add("provider", RuleRequired)
	case !slices.Contains(Providers, d.Provider):
		add("provider", RuleProvider)
	}
	if d.Model != "" && !modelForm.Get().MatchString(d.Model) {
		add("model", RuleModel)
	}
	if rule := d.wrongEndpoint(); rule != "" {
		add("endpoint", rule)
	}
	switch {
	case len(d.Capabilities) == 0:
		add("capabilities", RuleRequired)
	case slices.ContainsFunc(d.Capabilities, func(c Capability) bool { return !slices.Contains(Capabilities, c) }):
		add("capabilities", RuleAbility)
	}
	if d.AuthRef != "" && (!refForm.Get().MatchString(d.AuthRef) || LikeKey(d.AuthRef)) {
		add("auth_ref", RuleAuthRef)
	}
	if n := d.ContextTokens; n != 0 && (n < MinContext || n > MaxContext) {
		add("context_tokens", RuleContext)
	}
	if badMetadata(d.Metadata) {
		add("metadata", RuleMetadata)
	}
	return all
}

// wrongEndpoint returns the rule that the endpoint breaks in every deployment, or "".
func (d Definition) wrongEndpoint() Rule {
	placed := d.Provider == HTTP || d.Provider == Local
	switch {
	case !placed && d.Endpoint != "" && slices.Contains(Providers, d.Provider):
		return RuleNoPlace // a vendor's key must not be sent elsewhere
	case !placed:
		return ""
	case d.Endpoint == "":
		return RuleRequired
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil || len(d.Endpoint) > 500 || u.Hostname() == "" || u.Opaque != "" || u.User != nil || u.RawQuery != "" ||
		u.ForceQuery || u.Fragment != "" ||
		u.Scheme != "http" && u.Scheme != "https" {
		return RuleEndpoint
	}
	return ""
}

// unreachable returns the faults that depend on the deployment: it must allow plain http and local addresses.
func (d Definition) unreachable(allow []string) []Fault {
	if d.Provider != HTTP && d.Provider != Local || d.wrongEndpoint() != "" {
		return nil
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil {
		return nil // already reported by Faults
	}
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	at := net.JoinHostPort(u.Hostname(), port)
	switch allowed := slices.ContainsFunc(allow, func(a string) bool { return strings.EqualFold(a, at) }); {
	case allowed:
		return nil
	case d.Provider == Local:
		return []Fault{{"endpoint", RuleElsewhere}}
	case u.Scheme != "https":
		return []Fault{{"endpoint", RuleSecure}}
	}
	return nil
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

// Err returns the fault as an English sentence.
func (f Fault) Err() error { return fmt.Errorf("%s %s", f.Field, f.Limit()) }
