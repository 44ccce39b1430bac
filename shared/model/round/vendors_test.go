package round_test

import (
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/vendors/models"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/anthropic"
	"ringi/shared/model/compatible"
	"ringi/shared/model/provider"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
)

// thinking are models that think, each behind its vendor's wire.
var thinking = map[string]func(url, key string) model.Wire{
	"anthropic": func(url, key string) model.Wire {
		return anthropic.New(anthropic.Config{BaseURL: url + "/anthropic", Model: "claude-opus-5-5", Key: key,
			HTTP: provider.VendorClient()})
	},
	"gemini": func(url, key string) model.Wire {
		return compatible.New(compatible.Config{Endpoint: "gemini", BaseURL: url + "/gemini", Model: "gemini-3.5-flash",
			Key: key, HTTP: provider.VendorClient()})
	},
}

// plays answers for all of a contest. The leader delegates to both members at once, then to one more, then submits.
func plays(said []model.Message, tools []string) models.Script {
	data := shown(model.Request{Messages: []model.Message{{Parts: []model.Part{{Text: said[0].Parts[0].Text}}}}})
	answers := 0
	for _, m := range said {
		if m.Role == model.Assistant {
			answers++
		}
	}
	call := func(i int) models.ScriptedCall {
		return models.ScriptedCall{ID: fmt.Sprintf("c%d", i), Name: tools[i], Input: `{"task":"調べる"}`}
	}
	switch {
	case data["metric"] != nil:
		return models.Script{Text: `{"score":80,"comment":"良い"}`}
	case data["task"] != nil:
		return models.Script{Text: "答え"}
	case answers == 0:
		return models.Script{Text: "分担します。", Calls: []models.ScriptedCall{call(0), call(1)}}
	case answers == 1:
		return models.Script{Calls: []models.ScriptedCall{call(1)}}
	}
	return models.Script{Text: "できた案"}
}

// strict starts a scripted vendor and returns a round whose models are all its model.
func strict(t *testing.T, name string, rules models.Rules) (*models.Models, round.Runner, round.Play, *kept) {
	m := models.NewModels()
	rules.Answer = plays
	m.Strictly(rules)
	s := httptest.NewServer(m.Handler())
	t.Cleanup(s.Close)
	p := play(member("a", contest.Plain), member("b", contest.Plain))
	p.Number, p.History = 2, []contest.RoundResult{{RoundNumber: 1, EvaluationScore: 0.5, EvaluationFeedback: "x",
		SubmissionContent: "旧案"}}
	p.Until = time.Now().Add(time.Minute)
	p.Team.Leader.Model, p.Team.Members[0].Model, p.Team.Members[1].Model = "m", "m", "m"
	for i := range p.Evaluator.Metrics {
		p.Evaluator.Metrics[i].Model = "m"
	}
	k := &kept{}
	return m, round.Runner{Models: opened{"m": thinking[name](s.URL, m.Key)}, Kept: k}, p, k
}

// A round that was interrupted anywhere goes on with the signatures of the answers that were saved.
func TestSignaturesAreSavedWithAnswers(t *testing.T) {
	for name := range thinking {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m, r, p, whole := strict(t, name, models.Rules{Signed: true, Thinks: 25_000})
			expect.Value(r.Round(t.Context(), p))(t)
			for crash := 1; crash < len(whole.answers); crash++ {
				k := &kept{crash: crash}
				r.Kept = k
				_, err := r.Round(t.Context(), p)
				expect.Must(t, errors.Is(err, errCrashed), "crash %d: %v", crash, err)
				k.crash = 0
				out := expect.Value(r.Round(t.Context(), p))(t)
				expect.Is(t, out.Usage.Calls, 12, "crash %d", crash)
			}
			expect.That(t, strings.Contains(strings.Join(m.Asked(), ""), "sig+"), "nothing was signed")
		})
	}
}
