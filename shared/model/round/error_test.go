package round_test

import (
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
	e := &round.Error{Exit: contest.PartialFailure, Agent: round.Leader, Kind: model.Overloaded}
	expect.Is(t, e.Sentence(language.English), "The leader couldn’t continue: the AI model didn’t respond.")
}
