package aggregate

import (
	"ringi/shared/words/language"
	"strings"
)

// The providers of models.
const (
	Anthropic  = "anthropic"
	OpenAI     = "openai"
	Compatible = "compatible" // an endpoint with OpenAI's Chat Completions API
	Bedrock    = "bedrock"
	Demo       = "demo"
)

// Providers lists all providers.
var ModelProviders = []string{Anthropic, OpenAI, Compatible, Bedrock, Demo}

// Gemini is the built-in compatible endpoint for models named gemini-….
const Gemini = "gemini"

// GoogleGLA is Pydantic AI's provider name for the same models; files of teams use it.
const GoogleGLA = "google-gla"

// Grok is the compatible endpoint for the models of xAI.
const Grok = "grok"

// GrokResponses is Pydantic AI's provider name for the same models with xAI's own tools; files of teams use it.
const GrokResponses = "grok-responses"

// Name is a model and its provider.
type ModelName struct {
	Provider string
	Endpoint string // set for a compatible model
	Model    string // the provider's name for it
}

// String returns the full name, which Parse reads.
func (n ModelName) String() string {
	switch {
	case n.Endpoint != "":
		return n.Provider + ":" + n.Endpoint + "/" + n.Model
	case n.Model == "":
		return n.Provider
	}
	return n.Provider + ":" + n.Model
}

// Vendor returns who answers, as usage rows and the model secret name it: openai, compatible.gemini.
func (n ModelName) Vendor() string {
	if n.Endpoint != "" {
		return n.Provider + "." + n.Endpoint
	}
	return n.Provider
}

var (
	endpointForm = language.Regexp{Text: `^[a-z0-9][a-z0-9_-]{0,31}$`} // an agent's id, too
	modelForm    = language.Regexp{Text: `^[A-Za-z0-9][A-Za-z0-9._:/@+-]{0,149}$`}
	oForm        = language.Regexp{Text: `^o[0-9]`}
)

// Parse parses provider:model, compatible:endpoint/model, google-gla:model, grok:model, grok-responses:model, demo, or a
// model name that begins with claude-, gpt-, gemini- or o and a digit. For any other name it returns ErrField "model", which lists these forms.
func ParseModelName(name string) (ModelName, error) {
	provider, model, _ := strings.Cut(name, ":")
	n := ModelName{Provider: provider, Model: model}
	switch {
	case strings.HasPrefix(name, "claude-"):
		n = ModelName{Provider: Anthropic, Model: name}
	case strings.HasPrefix(name, "gpt-"), oForm.Get().MatchString(name):
		n = ModelName{Provider: OpenAI, Model: name}
	case strings.HasPrefix(name, "gemini-"):
		n = ModelName{Provider: Compatible, Endpoint: Gemini, Model: name}
	case provider == GoogleGLA:
		n = ModelName{Provider: Compatible, Endpoint: Gemini, Model: model}
	case provider == Grok, provider == GrokResponses:
		n = ModelName{Provider: Compatible, Endpoint: Grok, Model: model}
	case provider == Compatible:
		n.Endpoint, n.Model, _ = strings.Cut(model, "/")
		if !endpointForm.Get().MatchString(n.Endpoint) {
			return ModelName{}, errModel
		}
	case provider == Demo && (model == "" || modelForm.Get().MatchString(model)):
		return n, nil
	case provider != Anthropic && provider != OpenAI && provider != Bedrock:
		return ModelName{}, errModel
	}
	if !modelForm.Get().MatchString(n.Model) {
		return ModelName{}, errModel
	}
	return n, nil
}

var errModel = ErrField{Field: "model",
	Limit: "must be anthropic:<model>, openai:<model>, compatible:<endpoint>/<model>, bedrock:<model id>, demo, or a name that begins with claude-, gpt-, o1, o3 and so on, or gemini-"}

// Searching reports whether a model can be asked to search the web by its vendor: on Anthropic's Messages and OpenAI's
// Responses (web_search). Chat Completions of compatible endpoints document none: Gemini searches on its native API
// alone, and xAI removed its search from them. Bedrock's Converse has one for Amazon's Nova in the United States alone
// (nova_grounding), which Ringi doesn't use, and none for Claude.
func ModelSearches(name string) bool {
	n, err := ParseModelName(name)
	return err == nil && (n.Provider == Anthropic || n.Provider == OpenAI)
}
