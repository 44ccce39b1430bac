package agent

import "slices"

// Answering says whether an agent can answer in a deployment, and which model does.
type Answering struct {
	ID    string `json:"id"`
	Model string `json:"model,omitempty"` // provider:model
	// Follows says that the deployment's model answers, because the deployment has no key for the agent's own.
	Follows bool   `json:"follows,omitempty"`
	Lacks   Lack   `json:"lacks,omitempty"`  // why the agent can't answer; empty: it can
	Detail  string `json:"detail,omitempty"` // name of the key or the model that it lacks
	Default bool   `json:"default,omitempty"`
}

// Lack is the reason why an agent can't answer.
type Lack string

const (
	LacksKey    Lack = "key"    // the model secret has no key of the agent's
	LacksModel  Lack = "model"  // neither the agent's own model nor the deployment's has a key
	LacksPrice  Lack = "price"  // costs are limited, and nobody knows the model's price
	LacksSecret Lack = "secret" // the model secret can't be read as JSON
)

// Lacks lists all of them.
var Lacks = []Lack{LacksKey, LacksModel, LacksPrice, LacksSecret}

// Asked is the console's question which agents of a tenant can answer.
type Asked struct {
	Tenant string `json:"agents_of"`
}

// Answered is the answer to Asked, in the order of Definitions.
type Answered struct {
	Agents []Answering `json:"agents"`
}

// Choose marks the agent that answers when nobody is named: the default if it can answer, else the first that can. If
// none can, the default stays.
func Choose(all []Answering, def string) {
	at := slices.IndexFunc(all, func(x Answering) bool { return x.ID == def })
	if at < 0 || all[at].Lacks != "" {
		if first := slices.IndexFunc(all, func(x Answering) bool { return x.Lacks == "" }); first >= 0 {
			at = first
		}
	}
	if at >= 0 {
		all[at].Default = true
	}
}
