package aggregate

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"log/slog"
	"path"
	"strconv"
	"strings"
	"time"

	"github.com/oklog/ulid/v2"

	"ringi/shared/words/language"
)

// Ref names one aggregate of one tenant.
type Ref struct{ Tenant, Kind, ID string }

// String returns the kind and the id for error texts; these name the tenant elsewhere.
func (r Ref) String() string { return r.Kind + " " + r.ID }

// Log returns the log attributes of the aggregate: kind, id, and the id again under the kind's name, such as task_id.
// Functions that handle only one kind log just the latter.
func (r Ref) Log() slog.Attr {
	return slog.Group("", "kind", r.Kind, "id", r.ID, r.Kind+"_id", r.ID)
}

// NewID returns a fresh ULID from crypto/rand.
func NewID() string { return ulid.MustNew(ulid.Now(), rand.Reader).String() }

// TenantID derives a tenant's id from its Slack team id, so that functions called by Slack need no lookup. The time
// part of the ULID is zero.
func TenantID(team string) string { return Derive(time.Time{}, "tenant", team) }

// maxSeconds is the end of the year 9999, the last that RFC 3339 can express.
const maxSeconds = 253402300799

// ParseTS parses a Slack message timestamp and truncates it to milliseconds.
func ParseTS(ts string) (time.Time, error) {
	sec, frac, ok := strings.Cut(ts, ".")
	s, err := strconv.ParseUint(sec, 10, 64)
	if !ok || err != nil || s > maxSeconds || sec != strconv.FormatUint(s, 10) || len(frac) != 6 {
		return time.Time{}, fmt.Errorf("ts %.32q is not a Slack timestamp like 1713450000.000100", ts)
	}
	us, err := strconv.ParseUint(frac, 10, 32)
	if err != nil {
		return time.Time{}, fmt.Errorf("ts %.32q is not a Slack timestamp like 1713450000.000100", ts)
	}
	return time.Unix(int64(s), int64(us)*1000).UTC().Truncate(time.Millisecond), nil
}

// IDTime returns the time part of one of Ringi's ids, and false if id is not one.
func IDTime(id string) (time.Time, bool) {
	u, err := ulid.ParseStrict(id)
	if err != nil {
		return time.Time{}, false
	}
	return ulid.Time(u.Time()), true
}

// ValidID reports whether id is a ULID, the form of all ids that Ringi makes.
func ValidID(id string) bool {
	_, err := ulid.ParseStrict(id)
	return err == nil
}

// Derive returns a ULID whose random part is a hash of the parts.
func Derive(at time.Time, parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		fmt.Fprintf(h, "%d:%s", len(p), p)
	}
	var id ulid.ULID
	if !at.IsZero() {
		_ = id.SetTime(uint64(at.UnixMilli())) // fails only past the year 10889
	}
	copy(id[6:], h.Sum(nil)[:10])
	return id.String()
}

// JSON is a JSON value stored as text, so that rows stay readable in the AWS console.
type JSON string

func (j JSON) MarshalJSON() ([]byte, error) {
	if j == "" {
		return []byte("null"), nil
	}
	return []byte(j), nil
}

func (j *JSON) UnmarshalJSON(b []byte) error {
	*j = JSON(b)
	return nil
}

// Blob is a value that may be too large for a row. If it is, JSON is empty, S3Key names the object that holds it, and
// Preview holds its beginning.
type Blob struct {
	JSON    JSON   `json:"json,omitempty"`
	Bytes   int    `json:"bytes"`
	S3Key   string `json:"s3_key,omitempty"`
	Preview string `json:"preview,omitempty"`
}

// Hash returns HashOf the complete value. An object in S3 has the hash in its name.
func (b Blob) Hash() string {
	if b.S3Key != "" {
		return strings.TrimSuffix(path.Base(b.S3Key), ".json")
	}
	return HashOf(string(b.JSON))
}

// HashOf returns the hexadecimal SHA-256 of a text.
func HashOf(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:])
}

// Access says whether a tool only reads or also writes. Repeating a call that writes could do its work twice.
type Access string

const (
	Read  Access = "read"
	Write Access = "write"
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
)

// ParseModelName parses provider:model, compatible:endpoint/model, google-gla:model, grok:model, grok-responses:model,
// demo, or a model name that begins with claude-, gpt-, gemini- or o and a digit. For any other name it returns
// ErrField "model", which lists these forms.
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
	Limit: "must be anthropic:<model>, openai:<model>, compatible:<endpoint>/<model>, bedrock:<model id>, demo, or a " +
		"name that begins with claude-, gpt-, o1, o3 and so on, or gemini-"}

// ModelSearches reports whether a model can be asked to search the web by its vendor: on Anthropic's Messages and
// OpenAI's Responses (web_search). Chat Completions of compatible endpoints document none: Gemini searches on its
// native API alone, and xAI removed its search from them. Bedrock's Converse has one for Amazon's Nova in the United
// States alone (nova_grounding), which Ringi doesn't use, and none for Claude.
func ModelSearches(name string) bool {
	n, err := ParseModelName(name)
	return err == nil && (n.Provider == Anthropic || n.Provider == OpenAI)
}
