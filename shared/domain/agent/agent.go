// Package agent says who can be talked with: the agents that are built in, and those that a workspace's settings
// define.
package agent

import (
	"encoding/json"
	"maps"
	"slices"
)

// Definition is an agent. Its fields are named as the settings and their file name them.
type Definition struct {
	ID           string            `json:"id"`
	Provider     Provider          `json:"provider"`
	Model        string            `json:"model,omitempty"`    // empty: the provider's usual one
	Endpoint     string            `json:"endpoint,omitempty"` // of http and local: what chat/completions is put behind
	Capabilities []Capability      `json:"capabilities"`
	IsDefault    bool              `json:"is_default"`
	AuthRef      string            `json:"auth_ref,omitempty"` // the name of a key in the model secret, never a key
	Metadata     map[string]string `json:"metadata,omitempty"` // label and description, for people
	// Unread are the fields whose values were of another type.
	Unread []string `json:"-"`
}

// Provider is what answers in an agent's name.
type Provider string

const (
	OpenAI    Provider = "openai"
	Anthropic Provider = "anthropic"
	HTTP      Provider = "http"  // a public endpoint that speaks Chat Completions
	Local     Provider = "local" // one that the deployment allows
)

// Providers are all of them.
var Providers = []Provider{OpenAI, Anthropic, HTTP, Local}

// Capability is what an agent may propose.
type Capability string

const (
	Code  Capability = "code"
	Shell Capability = "shell"
	Test  Capability = "test"
)

// Capabilities are all of them.
var Capabilities = []Capability{Code, Shell, Test}

// ActionType is what an action does.
type ActionType string

const (
	CodeGenerate ActionType = "code_generate"
	TestRun      ActionType = "test_run"
	ShellCommand ActionType = "shell_command"
)

// ActionTypes are all of them.
var ActionTypes = []ActionType{CodeGenerate, TestRun, ShellCommand}

var needs = map[ActionType]Capability{CodeGenerate: Code, TestRun: Test, ShellCommand: Shell}

// May reports whether the agent may propose actions of a type.
func (d Definition) May(t ActionType) bool {
	need, known := needs[t]
	return known && slices.Contains(d.Capabilities, need)
}

// Label is the agent's name for people.
func (d Definition) Label() string {
	if label := d.Metadata["label"]; label != "" {
		return label
	}
	return d.ID
}

// Codex is the agent that answers when nothing else is the default.
const Codex = "codex"

// BuiltIn are the agents that every workspace has.
func BuiltIn() []Definition {
	return []Definition{
		{ID: Codex, Provider: OpenAI, Model: "gpt-5.4", Capabilities: slices.Clone(Capabilities), IsDefault: true, Metadata: map[string]string{"label": "Codex"}},
		{ID: "claude", Provider: Anthropic, Model: "claude-sonnet-4-6", Capabilities: slices.Clone(Capabilities), Metadata: map[string]string{"label": "Claude"}},
	}
}

// UsualModel is the model of a provider's agents that name none: that of the built-in agent; empty without one.
func UsualModel(p Provider) string {
	for _, d := range BuiltIn() {
		if d.Provider == p {
			return d.Model
		}
	}
	return ""
}

// Warning is an entry of the settings that is left out, by the field that is wrong with it.
type Warning struct {
	Entry int    // from 0
	ID    string // as far as it could be read
	Fault
	// KeepsBuiltIn says that the built-in agent of this id stays as it is.
	KeepsBuiltIn bool
}

// Definitions are the agents of a workspace: the built-in ones, each as an entry with its id overrides it, then the
// entries of custom in their order. allow are the endpoints that the deployment allows beside public ones, as
// host:port. Exactly one is the default: the first entry that claims it, else codex.
func Definitions(custom []Definition, allow []string) (defs []Definition, warnings []Warning) {
	return define(custom, func(d Definition) []Fault { return d.unreachable(allow) })
}

// Named are Definitions for whoever only tells whom people address: what this deployment can't reach is among them, so
// that people are told so.
func Named(custom []Definition) []Definition {
	defs, _ := define(custom, func(Definition) []Fault { return nil })
	return defs
}

func define(custom []Definition, more func(Definition) []Fault) (defs []Definition, warnings []Warning) {
	defs = BuiltIn()
	chosen := ""
	var taken []string
	for i, d := range custom {
		at := slices.IndexFunc(defs, func(x Definition) bool { return x.ID == d.ID })
		faults := append(d.Faults(), more(d)...)
		if slices.Contains(taken, d.ID) {
			faults = append(faults, Fault{Field: "id", Rule: RuleTaken})
		}
		if len(faults) > 0 {
			warnings = append(warnings, Warning{Entry: i, ID: d.ID, Fault: faults[0], KeepsBuiltIn: at >= 0 && !slices.Contains(taken, d.ID)})
			continue
		}
		taken = append(taken, d.ID)
		d.Metadata = maps.Clone(d.Metadata)
		if d.Model == "" {
			d.Model = UsualModel(d.Provider)
		}
		if d.IsDefault && chosen == "" {
			chosen = d.ID
		}
		if at >= 0 {
			defs[at] = d
		} else {
			defs = append(defs, d)
		}
	}
	if chosen == "" {
		chosen = Codex
	}
	for i := range defs {
		defs[i].IsDefault = defs[i].ID == chosen
	}
	return defs, warnings
}

// Find is the agent of an id; false if there is none.
func Find(defs []Definition, id string) (Definition, bool) {
	i := slices.IndexFunc(defs, func(d Definition) bool { return d.ID == id })
	if i < 0 {
		return Definition{}, false
	}
	return defs[i], true
}

// Default is the one among defs that is.
func Default(defs []Definition) Definition {
	i := slices.IndexFunc(defs, func(d Definition) bool { return d.IsDefault })
	return defs[max(0, i)]
}

// seedNames are other spellings of fields that are read as well.
var seedNames = map[string]string{"isDefault": "is_default", "authRef": "auth_ref"}

// UnmarshalJSON reads what can be read: an entry that somebody wrote wrongly is left out by Definitions, and does not
// keep a workspace's settings from being read.
func (d *Definition) UnmarshalJSON(text []byte) error {
	*d = Definition{}
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		d.Unread = []string{"entry"}
		return nil
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		field := name
		if known, ok := seedNames[name]; ok {
			if _, both := members[known]; both {
				continue
			}
			field = known
		}
		if into := d.field(field); into != nil && json.Unmarshal(members[name], into) != nil {
			d.Unread = append(d.Unread, field)
		}
	}
	return nil
}

// texts are the members of an object that are texts: others are for programs, and none of Ringi's.
type texts map[string]string

func (t *texts) UnmarshalJSON(b []byte) error {
	var all map[string]any
	if err := json.Unmarshal(b, &all); err != nil || all == nil {
		return err
	}
	*t = texts{}
	for name, v := range all {
		if s, ok := v.(string); ok {
			(*t)[name] = s
		}
	}
	return nil
}

func (d *Definition) field(name string) any {
	switch name {
	case "id":
		return &d.ID
	case "provider":
		return &d.Provider
	case "model":
		return &d.Model
	case "endpoint":
		return &d.Endpoint
	case "capabilities":
		return &d.Capabilities
	case "is_default":
		return &d.IsDefault
	case "auth_ref":
		return &d.AuthRef
	case "metadata":
		return (*texts)(&d.Metadata)
	}
	return nil // of a later release
}
