package aggregate

import (
	"fmt"
	"math"
	"strings"

	"ringi/shared/words/language"
)

// The providers of models.
const (
	Anthropic  = "anthropic"
	OpenAI     = "openai"
	Compatible = "compatible" // an endpoint with OpenAI's Chat Completions API
	Bedrock    = "bedrock"
	Demo       = "demo"
)

// ModelProviders lists all providers.
var ModelProviders = []string{Anthropic, OpenAI, Compatible, Bedrock, Demo}

// Gemini is the built-in compatible endpoint for models named gemini-….
const Gemini = "gemini"

// GoogleGLA is Pydantic AI's provider name for the same models; files of teams use it.
const GoogleGLA = "google-gla"

// Grok is the compatible endpoint for the models of xAI.
const Grok = "grok"

// GrokResponses is Pydantic AI's provider name for the same models with xAI's own tools; files of teams use it.
const GrokResponses = "grok-responses"

// ModelName is a model and its provider.
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
	// bedrockForm finds Anthropic's models, and an account's own inference profiles, whose names don't say the model.
	bedrockForm = language.Regexp{Text: `anthropic\.|:application-inference-profile/`}
)

// ParseModelName parses provider:model, compatible:endpoint/model, google-gla:model, grok:model, grok-responses:model,
// demo, or a model name that begins with claude-, gpt-, gemini- or o and a digit. For any other name it returns
// Problem "model", which lists these forms.
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
	case provider == Bedrock && bedrockForm.Get().MatchString(model):
	case provider != Anthropic && provider != OpenAI:
		return ModelName{}, errModel
	}
	if !modelForm.Get().MatchString(n.Model) {
		return ModelName{}, errModel
	}
	return n, nil
}

var errModel = Problem{Field: "model",
	Code: "must be anthropic:<model>, openai:<model>, compatible:<endpoint>/<model>, bedrock:<id of a model of " +
		"Anthropic's>, demo, or a name that begins with claude-, gpt-, o1, o3 and so on, or gemini-"}

// ModelSearches reports whether a model can be asked to search the web by its vendor: on Anthropic's own API alone, for
// neither Bedrock nor Chat Completions have a search.
func ModelSearches(name string) bool {
	n, err := ParseModelName(name)
	return err == nil && n.Provider == Anthropic
}

// MicroUSD is an amount in millionths of a US dollar, so that sums are exact.
type MicroUSD int64

// USD converts dollars, rounded to the millionth.
func USD(dollars float64) MicroUSD { return MicroUSD(math.Round(dollars * 1e6)) }

// String formats the amount in dollars with at least two decimals.
func (m MicroUSD) String() string {
	sign, n := "", uint64(m)
	if m < 0 {
		sign, n = "-", -n
	}
	cents, rest := fmt.Sprintf("%s%d.%02d", sign, n/1e6, n%1e6/1e4), fmt.Sprintf("%04d", n%1e4)
	return cents + strings.TrimRight(rest, "0")
}

// Usage sums up calls of a model, for one generation or for a whole aggregate. Input includes tokens written to a cache
// but not those read from one.
type Usage struct {
	ID        string `json:"id,omitempty"` // id of the generation, so that it is not charged twice
	Provider  string `json:"provider,omitempty"`
	Model     string `json:"model,omitempty"`
	Prompt    string `json:"prompt,omitempty"`     // such as extract.ja.2, the second version of the Japanese one
	RequestID string `json:"request_id,omitempty"` // the vendor's id of the last call
	// the last call's request, which repeats the earlier ones; nil: not saved
	Sent      *Blob    `json:"sent,omitempty"`
	Calls     int      `json:"calls"`
	Input     int64    `json:"input_tokens"`
	Output    int64    `json:"output_tokens"`
	Cached    int64    `json:"cached_tokens"`
	Written   int64    `json:"cache_write_tokens,omitempty"` // part of Input
	MS        int64    `json:"ms"`
	Cost      MicroUSD `json:"cost_micro_usd"`            // of the calls with a known price
	Unpriced  int      `json:"unpriced_calls,omitempty"`  // calls of models without a known price
	CutOff    int      `json:"cut_off_calls,omitempty"`   // calls whose answer was cut off and asked for again
	Estimated int      `json:"estimated_calls,omitempty"` // calls whose tokens nobody reported: they are estimated
	Searches  int64    `json:"searches,omitempty"`        // of the web by the vendor, which have a price of their own
}

// maxTokens is more than any call uses. A higher count times a price could overflow MicroUSD.
const maxTokens = 100_000_000

// Counted returns u with its token counts limited to the range 0 to maxTokens. Counts from vendors and tenants' own
// gateways must not be trusted.
func (u Usage) Counted() Usage {
	for _, n := range []*int64{&u.Input, &u.Output, &u.Cached, &u.Written, &u.Searches} {
		*n = min(max(0, *n), maxTokens)
	}
	u.Written = min(u.Written, u.Input)
	return u
}

// Plus adds a later usage. Names are taken from the later one, and so is the saved request if it has one.
func (u Usage) Plus(v Usage) Usage {
	if v.Sent == nil {
		v.Sent = u.Sent
	}
	v.Calls += u.Calls
	v.Input += u.Input
	v.Output += u.Output
	v.Cached += u.Cached
	v.Written += u.Written
	v.MS += u.MS
	v.CutOff += u.CutOff
	v.Estimated += u.Estimated
	v.Searches += u.Searches
	v.Cost += u.Cost
	v.Unpriced += u.Unpriced
	return v
}

// Free reports whether the calls cost nothing, such as a refused call.
func (u Usage) Free() bool { return u.Input+u.Output+u.Cached == 0 && u.Cost == 0 }

// Sum returns u without the fields that describe a single generation.
func (u Usage) Sum() Usage {
	u.ID, u.Provider, u.Model, u.Prompt, u.RequestID, u.Sent, u.Written = "", "", "", "", "", nil, 0
	return u
}
