package teamconfig

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
)

// Models says with what the models of contests are called, and so which of them can't be, before the first call is
// paid for.
type Models struct {
	// Keys is the model secret.
	Keys interface {
		Get(ctx context.Context) (secret.ModelSecret, error)
	}
	Instead string // replaces every model; empty: none
}

// Check returns a finding for each place that names a model which can't be called: of leaders, members and
// evaluator. Contests have a budget, so a model needs a known price, from the table or from the contest's own.
// Bedrock's models need no key; whether the account may call them, only a call says. Check returns
// explain.ErrUnavailable if the model secret can't be read now.
func (m Models) Check(ctx context.Context, c Contest) ([]Finding, error) {
	places := c.Named
	if m.Instead != "" {
		places = []Named{{File: "MODEL", Model: m.Instead, Set: true}}
	}
	called, fresh := c.Models(), false
	var found []Finding
	for _, p := range places {
		n, err := aggregate.ParseModelName(p.Model)
		switch {
		case m.Instead == "" && !slices.Contains(called, p.Model):
			continue
		case err != nil:
			found = append(found, p.Refused("isn't a model name"))
			continue
		case n.Provider == aggregate.Demo:
			continue
		}
		why, err := m.keyless(ctx, n)
		if keys, kept := m.Keys.(interface{ Forget() }); why != "" && kept && !fresh { // somebody may have added the key
			fresh = true
			keys.Forget()
			why, err = m.keyless(ctx, n)
		}
		if err != nil {
			return nil, err
		}
		if why != "" {
			found = append(found, p.Refused("can't be called: "+why))
		}
		if !tenancy.PriceKnown(n.String(), c.Prices) {
			found = append(found, p.Refused("has no known price, which a contest's budget needs: "+
				"enter its price in the settings or choose another model"))
		}
	}
	return found, nil
}

// keyless says what the model secret lacks for a model, or "".
func (m Models) keyless(ctx context.Context, n aggregate.ModelName) (string, error) {
	if n.Provider == aggregate.Bedrock {
		return "", nil
	}
	s, err := m.Keys.Get(ctx)
	switch {
	case errors.Is(err, secret.ErrMalformed):
		return "the model secret can't be read", nil
	case err != nil:
		return "", fmt.Errorf("open the models: %w: %w", explain.ErrUnavailable, err)
	case HasKey(s, n):
		return "", nil
	case n.Endpoint != "" && EndpointAddress(n.Endpoint) == "":
		return "the model secret has no address for " + n.Vendor(), nil
	}
	return "the model secret has no key for " + n.Vendor(), nil
}

// addresses are those of vendors with a compatible endpoint, unless the model secret has others.
var addresses = map[string]string{
	aggregate.Gemini: "https://generativelanguage.googleapis.com/v1beta/openai",
	aggregate.Grok:   "https://api.x.ai/v1",
}

// EndpointAddress returns the known address of a compatible endpoint, or "".
func EndpointAddress(endpoint string) string { return addresses[endpoint] }

// HasKey reports whether the model secret has what calls of a model need.
func HasKey(s secret.ModelSecret, n aggregate.ModelName) bool {
	switch n.Provider {
	case aggregate.Anthropic:
		return s.Anthropic != ""
	case aggregate.OpenAI:
		return s.OpenAI != ""
	case aggregate.Compatible:
		at := s.Compatible[n.Endpoint]
		if n.Endpoint == aggregate.Gemini || at.URL == "" { // Google answers nobody without a key
			return at.Key != "" && EndpointAddress(n.Endpoint) != ""
		}
		return true
	}
	return true
}

// Unlisted says why members find no tool of an MCP server: empty if one is listed for contests.
func Unlisted(s tenancy.Settings, tools []tenancy.ToolPermission) string {
	for _, p := range tools {
		if p.ForContests() {
			return ""
		}
	}
	if s.ContestSearch {
		return "contests have no reading tools"
	}
	return "contests have no reading tools, and the settings don't allow web search"
}

// Readers returns a warning for each member of type web-search that can read nothing, and, where search says that
// members may search the web, for each whose model's vendor has no search. unlisted says why no other tool for reading
// is listed; empty: one is.
func (m Models) Readers(c Contest, search bool, unlisted string) (found []Finding) {
	for _, t := range c.Teams {
		for _, x := range t.Members {
			called := cmp.Or(m.Instead, x.Model)
			if x.AgentType != string(contest.WebSearch) || search && aggregate.ModelSearches(called) {
				continue
			}
			var why string
			switch none := fmt.Sprintf("%.100s has no vendor web search that can be used", called); {
			case search && unlisted == "":
				why = fmt.Sprintf("%.100s can use only the listed tools: %s", x.AgentName, none)
			case unlisted == "":
				continue
			case search:
				why = fmt.Sprintf("%.100s can't read anything: %s, and %s. Its team is told", x.AgentName, unlisted, none)
			default:
				why = fmt.Sprintf("%.100s can't read anything: %s. Its team is told", x.AgentName, unlisted)
			}
			found = append(found, Finding{File: t.TeamID, Message: why + ".", Warning: true})
		}
	}
	return found
}

// Report is the result of checking one file.
type Report struct {
	File     string `json:"file"`
	Valid    bool   `json:"valid"`
	Errors   []Said `json:"errors"`
	Warnings []Said `json:"warnings"`
	// Config is a Team, Contest, Evaluator, Member or Unused, as configured by the files. A field that is
	// neither set nor has a default is null. If there are errors, all of Config is null.
	Config any `json:"config"`
}

// Said is one error or warning of a report.
type Said struct {
	Field   string `json:"field"`   // "" of the file as a whole
	Message string `json:"message"` // names the file too when it is another than the report's
}

// Check reads a file of any kind. Its first table determines the kind.
func Check(w Workspace, file string) Report {
	r := &reading{w: w}
	config := r.any(file)
	found := r.found
	report := Report{File: file, Valid: Valid(found), Errors: []Said{}, Warnings: []Said{}}
	for _, f := range found {
		said := Said{Field: f.Field, Message: f.Message}
		if f.Value != "" {
			said.Message += ", got " + f.Value
		}
		if f.File != file {
			said.Message = f.File + ": " + said.Message
		}
		if f.Warning {
			report.Warnings = append(report.Warnings, said)
		} else {
			report.Errors = append(report.Errors, said)
		}
	}
	if report.Valid {
		report.Config = config
	}
	return report
}

var errKind = errors.New("isn't a configuration file: it must have [team], [orchestrator], [agent] or " +
	"[prompt_builder], or [[metrics]] for an evaluator")

func (r *reading) any(file string) (config any) {
	tables := r.file(file, "")
	if tables == nil {
		return nil
	}
	has := func(key string) bool { _, ok := tables[key]; return ok }
	switch {
	case has("team"), has("workflow"):
		config = r.team(file, "", tables)
	case has("orchestrator"):
		config = r.contest(file, tables)
	case has("prompt_builder"):
		config = r.unused(file, tables, ownPrompts, "prompt_builder")
	case has("agent"):
		config = r.agentFile(file, "", tables).orNone()
	case has("metrics"), has("default_model"), has("llm_default"):
		config = r.evaluator(file, "", tables)
	case has("model"), has("system_instruction"), has("judge_on_final_round"):
		config = r.unused(file, tables, noJudge, slices.Sorted(maps.Keys(tables))...)
	default:
		r.found = append(r.found, Finding{File: file, Message: errKind.Error()})
	}
	return config
}

// Unused is a file of mixseek that has no effect in Ringi.
type Unused struct{}

const (
	ownPrompts = "Ringi writes the prompts itself"
	noJudge    = "a team plays up to max_rounds"
)

// unused warns of what has no effect here.
func (r *reading) unused(file string, tables map[string]any, why string, keys ...string) Unused {
	s := r.section(file, "", tables)
	s.ignored(why, keys...)
	s.end()
	return Unused{}
}

// orNone returns the member, or nil for a file without the table.
func (s *section) orNone() any {
	if s == nil {
		return nil
	}
	return s.agent()
}

// MarshalJSON writes an unset instruction as null.
func (m Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(struct {
		Name              string  `json:"name"`
		Weight            float64 `json:"weight"`
		Model             *string `json:"model"`
		SystemInstruction *string `json:"system_instruction"`
		Call
	}{m.Name, m.Weight, orNull(m.Model), orNull(m.SystemInstruction), m.Call})
}

func orNull(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
