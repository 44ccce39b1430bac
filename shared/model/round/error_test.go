package round_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// Agents of one team may have models of several vendors.
func TestASentenceNamesTheModelThatFailed(t *testing.T) {
	for _, kind := range []model.Kind{model.Unauthorized, model.Overloaded, model.BadRequest} {
		m := &model.Error{Provider: "openai", Model: "gpt-5", Kind: kind}
		e := &round.Error{Exit: contest.PartialFailure, Agent: round.Evaluator, Kind: kind, Err: m}
		for _, locale := range language.All {
			expect.Has(t, e.Sentence(locale), "(gpt-5)")
		}
	}
	for status, want := range map[int]string{
		500: "the AI model’s vendor returned an error (HTTP 500). (gpt-5)", 503: "the AI model’s vendor returned an error (HTTP 503). (gpt-5)",
		529: "the AI model’s vendor returned an error (HTTP 529). (gpt-5)", 0: "couldn’t connect to the AI model. (gpt-5)",
		200: "couldn’t connect to the AI model. (gpt-5)", // the connection broke inside an answer
	} {
		m := &model.Error{Model: "gpt-5", Kind: model.Overloaded, Status: status}
		e := &round.Error{Exit: contest.PartialFailure, Agent: round.Leader, Kind: model.Overloaded, Err: m}
		expect.Is(t, e.Sentence(language.English), "The leader couldn’t continue: "+want)
		expect.That(t, status < 400 || strings.Contains(e.Sentence("ja"), fmt.Sprintf("(HTTP %d)", status)), "%s", e.Sentence("ja"))
	}
	e := &round.Error{Exit: contest.PartialFailure, Agent: round.Leader, Kind: model.Overloaded}
	expect.Is(t, e.Sentence(language.English), "The leader couldn’t continue: couldn’t connect to the AI model.")
}
