// Package modelname reads the names of models: the provider and its model.
package modelname

import (
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/lazy"
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

// Gemini is the compatible endpoint of models named gemini-…; its address is built in.
const Gemini = "gemini"

// GoogleGLA is the provider of the same models in names that Pydantic AI takes, as files of teams have them.
const GoogleGLA = "google-gla"

// Name is a model and its provider.
type Name struct {
	Provider string
	Endpoint string // of a compatible model
	Model    string // as the provider calls it
}

// String is the name in full, as Parse reads it.
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

// Parse reads a model's name: provider:model, compatible:endpoint/model, demo, or
// a bare model name whose beginning tells the provider (claude-, gpt-, gemini-…), or google-gla:model. It returns
// ErrField "model", listing all forms, for any other name.
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
	case provider == GoogleGLA:
		n = Name{Provider: Compatible, Endpoint: Gemini, Model: model}
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
