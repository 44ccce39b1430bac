package teamconfig

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/secret"
	"ringi/shared/words/language"
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

// Open returns the contest that settings ask for, with their limit of rounds (0: the file's) and their prices, and the
// first most mistakes in its files and models. It returns explain.ErrUnavailable if a file or the model secret can't be
// read now.
func (m Models) Open(ctx context.Context, w Workspace, s tenancy.Settings, most int, locale string) (
	c Contest, wrong []string, err error) {
	c, found := w.Contest(s.DraftContest.File, locale)
	if s.DraftContest.MaxRounds > 0 {
		c = c.Within(s.DraftContest.MaxRounds)
	}
	c.Prices = s.Prices
	unopened, err := m.Check(ctx, c, locale)
	if err != nil {
		return c, nil, err
	}
	wrong, err = Texts(append(found, unopened...), most, locale)
	return c, wrong, err
}

// Check returns a finding for each place that names a model which can't be called: of leaders, members and
// evaluator. Contests have a budget, so a model needs a known price, from the table or from the contest's own.
// Bedrock's models need no key; whether the account may call them, only a call says. Check returns
// explain.ErrUnavailable if the model secret can't be read now.
func (m Models) Check(ctx context.Context, c Contest, locale string) ([]Finding, error) {
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
			found = append(found, p.Refused(locale, say(locale, "isn't a model name")))
			continue
		case n.Provider == aggregate.Demo:
			continue
		}
		why, err := m.keyless(ctx, n, locale)
		if keys, kept := m.Keys.(interface{ Forget() }); why != "" && kept && !fresh { // somebody may have added the key
			fresh = true
			keys.Forget()
			why, err = m.keyless(ctx, n, locale)
		}
		if err != nil {
			return nil, err
		}
		if why != "" {
			found = append(found, p.Refused(locale, why))
		}
		if !tenancy.PriceKnown(n.String(), c.Prices) {
			found = append(found, p.Refused(locale, say(locale, "has no known price, which a contest's budget needs: "+
				"enter its price in the settings or choose another model")))
		}
	}
	return found, nil
}

// keyless says what the model secret lacks for a model, or "".
func (m Models) keyless(ctx context.Context, n aggregate.ModelName, locale string) (string, error) {
	if n.Provider == aggregate.Bedrock {
		return "", nil
	}
	s, err := m.Keys.Get(ctx)
	switch {
	case errors.Is(err, secret.ErrMalformed):
		return say(locale, "can't be called: the model secret can't be read"), nil
	case err != nil:
		return "", fmt.Errorf("open the models: %w: %w", explain.ErrUnavailable, err)
	case HasKey(s, n):
		return "", nil
	case n.Endpoint != "" && EndpointAddress(n.Endpoint) == "":
		return say(locale, "can't be called: the model secret has no address for %s", n.Vendor()), nil
	}
	return say(locale, "can't be called: the model secret has no key for %s", n.Vendor()), nil
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

// Report is the result of checking one file.
type Report struct {
	File   string    `json:"file"`
	Valid  bool      `json:"valid"`
	Errors []Finding `json:"errors"`
	// Config is a Team, Contest, Evaluator or Member, as configured by the files; null if there are errors. A field that
	// is neither set nor has a default is null or empty.
	Config any `json:"config"`
}

// Check reads a file of any kind, which its first table tells. Findings are in English.
func Check(w Workspace, file string) Report {
	t := table{&reading{w: w, locale: language.English, found: []Finding{}}, file, ""}
	config := t.any()
	if len(t.found) > 0 {
		config = nil
	}
	return Report{file, len(t.found) == 0, t.found, config}
}

func (t table) any() any {
	tables := map[string]any{}
	if !t.decode("", "", &tables) {
		return nil
	}
	has := func(key string) bool { _, ok := tables[key]; return ok }
	switch {
	case has("team"):
		return t.team("")
	case has("orchestrator"):
		return t.contest()
	case has("agent"):
		var f struct {
			Agent Member `toml:"agent"`
		}
		if t.decode("", "agent", &f) {
			t.member(&f.Agent)
		}
		return f.Agent
	case has("metrics"), has("default_model"):
		return t.evaluator("")
	}
	t.refuse("", "isn't a configuration file: it must have [team], [orchestrator] or [agent], or [[metrics]] for an "+
		"evaluator")
	return nil
}
