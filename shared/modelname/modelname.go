// Package modelname reads the names of models: which one of whom.
package modelname

import (
	"strings"

	"ringi/shared/aggregate"
	"ringi/shared/lazy"
)

// The providers of models.
const (
	Anthropic  = "anthropic"
	OpenAI     = "openai"
	Compatible = "compatible" // an endpoint that speaks OpenAI's Chat Completions
	Bedrock    = "bedrock"
	Demo       = "demo"
)

// Providers are all of them.
var Providers = []string{Anthropic, OpenAI, Compatible, Bedrock, Demo}

// EndpointGemini is the compatible endpoint that gemini-… stands for; its address is known.
const Gemini = "gemini"

// ModelName says which model of whom.
type Name struct {
	Provider string
	Endpoint string // of a compatible model
	Model    string // as the provider calls it
}

// String is the name in full, as ParseModel reads it.
func (n Name) String() string {
	switch {
	case n.Endpoint != "":
		return n.Provider + ":" + n.Endpoint + "/" + n.Model
	case n.Model == "":
		return n.Provider
	}
	return n.Provider + ":" + n.Model
}

var (
	endpointForm = lazy.Regexp(`^[a-z0-9][a-z0-9-]{0,31}$`)
	modelForm    = lazy.Regexp(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`)
	oForm        = lazy.Regexp(`^o[0-9]`)
)

// ParseModel reads a model's name: provider:model, compatible:endpoint/model, demo, or
// the bare name of a model whose provider is known by how it begins. It returns
// ErrField "model", with every form that there is, for one that it cannot place.
func Parse(name string) (Name, error) {
	provider, model, _ := strings.Cut(name, ":")
	n := Name{Provider: provider, Model: model}
	switch {
	case strings.HasPrefix(name, "claude-"):
		n = Name{Provider: Anthropic, Model: name}
	case strings.HasPrefix(name, "gpt-"), oForm().MatchString(name):
		n = Name{Provider: OpenAI, Model: name}
	case strings.HasPrefix(name, "gemini-"):
		n = Name{Provider: Compatible, Endpoint: Gemini, Model: name}
	case provider == Compatible:
		n.Endpoint, n.Model, _ = strings.Cut(model, "/")
		if !endpointForm().MatchString(n.Endpoint) {
			return Name{}, errModel
		}
	case provider == Demo && (model == "" || modelForm().MatchString(model)):
		return n, nil
	case provider != Anthropic && provider != OpenAI && provider != Bedrock:
		return Name{}, errModel
	}
	if !modelForm().MatchString(n.Model) {
		return Name{}, errModel
	}
	return n, nil
}

var errModel = aggregate.ErrField{Field: "model", Limit: "must be anthropic:<model>, openai:<model>, compatible:<endpoint>/<model>, bedrock:<model id>, demo, or a name that begins with claude-, gpt-, o1, o3 and so on, or gemini-"}
