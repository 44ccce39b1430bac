package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/words/language"
)

// mayRaise is on a route whose first stage may add whom the rule names, and whose second may add nobody any more.
func mayRaise(s *scenario) *scenario {
	stages := threeStages()
	stages[0].Raises = []circulation.Raise{{When: "特に重要と認めるとき", To: circulation.Person{User: "U0MAYOR", Via: "市長"}},
		{When: "異例のとき", LeftOut: rules.LeftVacant}}
	return onRoute(s, stages...)
}

// The form for adding somebody offers first whom the rule names, until they are added.
func TestTheFormOffersWhomTheRuleNames(t *testing.T) {
	for _, locale := range language.All {
		form := func(s *scenario) string {
			of := card.Review{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID, Hash: "hash", Stage: 1}
			view := card.DialogsOf(s.Aggregate).RouteAct(card.RouteAct{Review: of, Kind: circulation.Add}, locale)
			expect.NoError(t, cardtest.CheckView(view))
			return string(expect.Value(json.Marshal(view.Blocks))(t))
		}
		s := mayRaise(received(t))
		offers := form(s)
		expect.That(t, strings.Contains(offers, card.RaisedBlock) && strings.Contains(offers, "U0MAYOR") &&
			strings.Contains(offers, "特に重要と認めるとき") && !strings.Contains(offers, "異例のとき"), "%s", offers)
		expect.That(t, strings.Index(offers, card.RaisedBlock) < strings.Index(offers, card.AddedBlock), "%s", offers)
		said := drawn(render(s.Aggregate, s.card(processCard), locale, s.now).Attachments[0].Blocks.BlockSet)
		for _, want := range []string{"↗️", "U0MAYOR", "異例のとき"} {
			expect.That(t, strings.Contains(said, want), "%s", said)
		}
		s = s.act(circulation.Add, 1, suzuki, adds("U0MAYOR", circulation.AsApprove))
		expect.That(t, !strings.Contains(form(s), card.RaisedBlock), "%s: offered again", locale)
	}
	for name, c := range map[string]struct {
		fields   map[string]string
		to, post string
	}{
		"offered":        {map[string]string{card.RaisedBlock: "U1"}, "U1", ""},
		"another":        {map[string]string{card.RaisedBlock: "-", card.AddedBlock: "U2"}, "U2", ""},
		"both":           {map[string]string{card.RaisedBlock: "U1", card.AddedBlock: "U2"}, "U2", "U1"},
		"both and post":  {map[string]string{card.RaisedBlock: "U1", card.AddedPostBlock: "営業部 部長"}, "U1", "営業部 部長"},
		"as it was once": {map[string]string{card.AddedBlock: "U2"}, "U2", ""},
	} {
		x, ok := card.ReadRouteAct(`{"act":"add"}`, func(block, _ string) string { return c.fields[block] })
		expect.That(t, ok && x.To == c.to && x.Post == c.post, "%s: %+v", name, x)
		at := x.FaultBlock(&circulation.Refusal{Kind: circulation.Add, Why: circulation.WhyOneOfThem})
		expect.Is(t, at == card.RaisedBlock, len(c.fields[card.RaisedBlock]) > 1, name)
	}
}

// One person for two cases is one choice, with both.
func TestTheFormOffersAPersonOnce(t *testing.T) {
	stages := threeStages()
	for _, when := range []string{"特に重要", "異例"} {
		stages[0].Raises = append(stages[0].Raises, circulation.Raise{When: when, To: circulation.Person{User: "U0MAYOR"}})
	}
	s := onRoute(received(t), stages...)
	of := card.Review{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID, Hash: "hash", Stage: 1}
	view := card.DialogsOf(s.Aggregate).RouteAct(card.RouteAct{Review: of, Kind: circulation.Add}, "ja")
	text := string(expect.Value(json.Marshal(view.Blocks))(t))
	expect.That(t, strings.Count(text, `"value":"U0MAYOR"`) == 1 && strings.Contains(text, "特に重要・異例"), "%s", text)
}
