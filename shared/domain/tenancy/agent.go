package tenancy

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
)

// Agent describes an agent that people can talk with: a built-in one, or one in a workspace's settings. The
// JSON names are those of the settings and of the settings file.
type Agent struct {
	ID           string            `json:"id"`
	Provider     AgentProvider     `json:"provider"`
	Model        string            `json:"model,omitempty"`    // empty: the provider's usual model
	Endpoint     string            `json:"endpoint,omitempty"` // for http and local: base URL before /chat/completions
	Capabilities []Capability      `json:"capabilities"`
	IsDefault    bool              `json:"is_default"`
	AuthRef      string            `json:"auth_ref,omitempty"` // name of a key in the model secret, never the key itself
	Metadata     map[string]string `json:"metadata,omitempty"` // label and description for people
	// ContextTokens is how much the model takes at once, with its answer; 0: as models of the provider usually do.
	ContextTokens int `json:"context_tokens,omitempty"`
}

// AgentProvider is the service that answers for an agent.
type AgentProvider string

const (
	OpenAI        AgentProvider = "openai"
	Anthropic     AgentProvider = "anthropic"
	HTTPEndpoint  AgentProvider = "http"  // a public endpoint with the Chat Completions API
	LocalEndpoint AgentProvider = "local" // an endpoint that the deployment allows
)

// AgentProviders lists all providers.
var AgentProviders = []AgentProvider{OpenAI, Anthropic, HTTPEndpoint, LocalEndpoint}

// Capability is a kind of action that an agent may propose.
type Capability string

const (
	CanCode  Capability = "code"
	CanShell Capability = "shell"
	CanTest  Capability = "test"
	CanCall  Capability = "tools" // calls of vendors' tools
)

// Capabilities lists all capabilities.
var Capabilities = []Capability{CanCode, CanShell, CanTest, CanCall}

// ActionType says what an action does.
type ActionType string

const (
	CodeGenerate ActionType = "code_generate"
	TestRun      ActionType = "test_run"
	ShellCommand ActionType = "shell_command"
	ToolCall     ActionType = "tool_call"
)

// ActionTypes lists all action types.
var ActionTypes = []ActionType{CodeGenerate, TestRun, ShellCommand, ToolCall}

var needs = map[ActionType]Capability{CodeGenerate: CanCode, TestRun: CanTest,
	ShellCommand: CanShell, ToolCall: CanCall}

// May reports whether the agent may propose actions of this type.
func (d Agent) May(t ActionType) bool {
	need, known := needs[t]
	return known && slices.Contains(d.Capabilities, need)
}

// Label returns the agent's display name.
func (d Agent) Label() string {
	return cmp.Or(d.Metadata["label"], d.ID)
}

// Codex is the id of the agent that is the default if no other is.
const Codex = "codex"

// BuiltInAgents returns the agents that every workspace has.
func BuiltInAgents() []Agent {
	return []Agent{
		{ID: Codex, Provider: OpenAI, Model: "gpt-5.4", Capabilities: slices.Clone(Capabilities), IsDefault: true,
			Metadata: map[string]string{"label": "Codex"}},
		{ID: "claude", Provider: Anthropic, Model: "claude-sonnet-4-6", Capabilities: slices.Clone(Capabilities),
			Metadata: map[string]string{"label": "Claude"}},
	}
}

// Bounds of ContextTokens, and what is assumed where it is not set. Anthropic says 200,000 of all its models; of others
// 128,000 is what the smallest of today's take.
const (
	MinContext   = 16_000
	MaxContext   = 2_000_000
	usualContext = 128_000
	ofAnthropic  = 200_000
)

// Context returns how many tokens the agent's model takes at once, with its answer.
func (d Agent) Context() int {
	switch {
	case d.ContextTokens > 0:
		return d.ContextTokens
	case d.Provider == Anthropic:
		return ofAnthropic
	}
	return usualContext
}

// Agents returns a workspace's agents; an entry of custom with a problem is ignored. The built-in agents come first,
// each replaced by the entry with its id if there is one; the other entries follow in order. allow lists the host:port
// endpoints that the deployment allows in addition to public ones. Exactly one agent is the default: the first entry
// that claims it, else codex.
func Agents(custom []Agent, allow []string) []Agent {
	return define(custom, func(d Agent) bool { return d.reachable(allow) })
}

// NamedAgents returns Agents including agents that this deployment can't reach. It is for finding out which agent a
// message addresses, so that people can be told that it is unreachable.
func NamedAgents(custom []Agent) []Agent {
	return define(custom, func(Agent) bool { return true })
}

func define(custom []Agent, reachable func(Agent) bool) []Agent {
	defs := BuiltInAgents()
	chosen := ""
	var taken []string
	for _, d := range custom {
		at := slices.IndexFunc(defs, func(x Agent) bool { return x.ID == d.ID })
		if len(d.Problems()) > 0 || !reachable(d) || slices.Contains(taken, d.ID) {
			continue
		}
		taken = append(taken, d.ID)
		d.Metadata = maps.Clone(d.Metadata)
		usual := aggregate.First(BuiltInAgents(), func(x Agent) bool { return x.Provider == d.Provider })
		d.Model = cmp.Or(d.Model, usual.Model)
		if d.IsDefault && chosen == "" {
			chosen = d.ID
		}
		if at >= 0 {
			defs[at] = d
		} else {
			defs = append(defs, d)
		}
	}
	chosen = cmp.Or(chosen, Codex)
	for i := range defs {
		defs[i].IsDefault = defs[i].ID == chosen
	}
	return defs
}

// AgentByID returns the agent with this id, and false if there is none.
func AgentByID(defs []Agent, id string) (Agent, bool) {
	i := slices.IndexFunc(defs, func(d Agent) bool { return d.ID == id })
	if i < 0 {
		return Agent{}, false
	}
	return defs[i], true
}

// DefaultAgent returns the default agent among defs.
func DefaultAgent(defs []Agent) Agent {
	i := slices.IndexFunc(defs, func(d Agent) bool { return d.IsDefault })
	return defs[max(0, i)]
}

var called = language.InEach(
	map[ActionType]string{CodeGenerate: "ファイルの作成・変更", TestRun: "テストの実行", ShellCommand: "シェルコマンドの実行",
		ToolCall: "ツールの呼び出し"},
	map[ActionType]string{CodeGenerate: "Write files", TestRun: "Run tests", ShellCommand: "Run a shell command",
		ToolCall: "Call a tool"},
)

// ActionsCalled returns the display name of each type of action.
func ActionsCalled(locale string) map[ActionType]string { return called.In(locale) }

// CommandLine formats a command on one line; empty elements and those with a space are in double quotes.
func CommandLine(argv []string) string {
	var out []string
	for _, a := range argv {
		if a == "" || strings.ContainsAny(a, " \t\"") {
			a = `"` + strings.ReplaceAll(a, `"`, `""`) + `"`
		}
		out = append(out, a)
	}
	return strings.Join(out, " ")
}

var (
	idForm    = language.Regexp{Text: `^[a-z0-9][a-z0-9_-]{0,31}$`}
	modelForm = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`}
	refForm   = language.Regexp{Text: `^[A-Za-z0-9_][A-Za-z0-9._-]{0,63}$`}
	keyForm   = language.Regexp{Text: `^(sk-|sk_|xox|xai-|AKIA|ghp_|AIza)`} // prefixes of vendors' keys
)

// LikeKey reports whether a text begins as vendors' keys do. Such a text is neither saved nor shown.
func LikeKey(text string) bool { return keyForm.Get().MatchString(text) }

// Problems returns everything that is wrong with the definition in every deployment.
func (d Agent) Problems() (all aggregate.Problems) {
	all.Unless(d.ID != "", "id", "agent_required")
	all.Unless(d.ID == "" || idForm.Get().MatchString(d.ID), "id", "agent_id")
	all.Unless(d.Provider != "", "provider", "agent_required")
	all.Unless(d.Provider == "" || slices.Contains(AgentProviders, d.Provider), "provider", "agent_provider")
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
func (d Agent) wrongEndpoint() string {
	placed := d.Provider == HTTPEndpoint || d.Provider == LocalEndpoint
	switch {
	case !placed && d.Endpoint != "" && slices.Contains(AgentProviders, d.Provider):
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
func (d Agent) reachable(allow []string) bool {
	if d.Provider != HTTPEndpoint && d.Provider != LocalEndpoint || d.wrongEndpoint() != "" {
		return true
	}
	u, err := url.Parse(d.Endpoint)
	if err != nil {
		return false
	}
	port := cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
	at := net.JoinHostPort(u.Hostname(), port)
	return d.Provider == HTTPEndpoint && u.Scheme == "https" ||
		slices.ContainsFunc(allow, func(a string) bool { return strings.EqualFold(a, at) })
}

func badMetadata(m map[string]string) bool {
	if len(m) > 20 {
		return true
	}
	for _, name := range slices.Sorted(maps.Keys(m)) {
		if name == "" || utf8.RuneCountInString(name) > 64 || utf8.RuneCountInString(m[name]) > 500 ||
			language.Visible(m[name]) != m[name] {
			return true
		}
	}
	return false
}
