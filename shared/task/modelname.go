package task

import (
	"strings"
)

// The providers of models.
const (
	ProviderAnthropic  = "anthropic"
	ProviderOpenAI     = "openai"
	ProviderCompatible = "compatible" // an endpoint that speaks OpenAI's Chat Completions
	ProviderBedrock    = "bedrock"
	ProviderDemo       = "demo"
)

// Providers are all of them.
var Providers = []string{ProviderAnthropic, ProviderOpenAI, ProviderCompatible, ProviderBedrock, ProviderDemo}

// EndpointGemini is the compatible endpoint that gemini-… stands for; its address is known.
const EndpointGemini = "gemini"

// ModelName says which model of whom.
type ModelName struct {
	Provider string
	Endpoint string // of a compatible model
	Model    string // as the provider calls it
}

// String is the name in full, as ParseModel reads it.
func (n ModelName) String() string {
	switch {
	case n.Endpoint != "":
		return n.Provider + ":" + n.Endpoint + "/" + n.Model
	case n.Model == "":
		return n.Provider
	}
	return n.Provider + ":" + n.Model
}

var (
	endpointForm = form(`^[a-z0-9][a-z0-9-]{0,31}$`)
	modelForm    = form(`^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`)
	oForm        = form(`^o[0-9]`)
)

// ParseModel reads a model's name: provider:model, compatible:endpoint/model, demo, or
// the bare name of a model whose provider is known by how it begins. It returns
// ErrField "model", with every form that there is, for one that it cannot place.
func ParseModel(name string) (ModelName, error) {
	provider, model, _ := strings.Cut(name, ":")
	n := ModelName{Provider: provider, Model: model}
	switch {
	case strings.HasPrefix(name, "claude-"):
		n = ModelName{Provider: ProviderAnthropic, Model: name}
	case strings.HasPrefix(name, "gpt-"), oForm().MatchString(name):
		n = ModelName{Provider: ProviderOpenAI, Model: name}
	case strings.HasPrefix(name, "gemini-"):
		n = ModelName{Provider: ProviderCompatible, Endpoint: EndpointGemini, Model: name}
	case provider == ProviderCompatible:
		n.Endpoint, n.Model, _ = strings.Cut(model, "/")
		if !endpointForm().MatchString(n.Endpoint) {
			return ModelName{}, errModel
		}
	case provider == ProviderDemo && (model == "" || modelForm().MatchString(model)):
		return n, nil
	case provider != ProviderAnthropic && provider != ProviderOpenAI && provider != ProviderBedrock:
		return ModelName{}, errModel
	}
	if !modelForm().MatchString(n.Model) {
		return ModelName{}, errModel
	}
	return n, nil
}

var errModel = ErrField{"model", "must be anthropic:<model>, openai:<model>, compatible:<endpoint>/<model>, bedrock:<model id>, demo, or a name that begins with claude-, gpt-, o1, o3 and so on, or gemini-"}
