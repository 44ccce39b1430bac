package card_test

import (
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// formOf is the rejection's form of a task's gate at a stage.
func (s *scenario) formOf(kind aggregate.CardType, id string, stage int, locale string) slack.ModalViewRequest {
	of := card.Review{Type: kind, ID: id, TaskID: s.Head.TaskID, Stage: stage}
	return card.DialogsOf(s.Aggregate).Rejection(of, locale)
}

// rejectionForms are the forms of gates under a rule.
func rejectionForms(t *testing.T, locale string) map[string]slack.ModalViewRequest {
	t.Helper()
	first := onRoute(received(t), threeStages()...)
	stamped := onRoute(received(t), threeStages()...).act(circulation.Stamp, 1, takada, standingFor(suzuki))
	stamped.stamps(2, tanaka, takada)
	last := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	last.Process().Terms.MaxVersions = 1
	step := gated(t, arguments)
	routed(&step.Gates[0].Gate, step.now, desk("部長", 1, yamada))
	c := begunConversation(t)
	x := c.onRoute(threeStages()...)
	of := card.Review{Type: conversation.CardAction, ID: x.ActionID, TaskID: c.Head.SessionID, Hash: x.Gate.Asked, Stage: 1}
	return map[string]slack.ModalViewRequest{
		"first":   first.formOf(task.CardProcess, first.Process().ID, 1, locale),
		"stamped": stamped.formOf(task.CardProcess, stamped.Process().ID, 3, locale),
		"last":    last.formOf(task.CardProcess, last.Process().ID, 2, locale),
		"step":    step.formOf(task.CardStep, step.Gates[0].ID, 1, locale),
		"action":  card.DialogsOf(c.Conversation.Aggregate).Rejection(of, locale),
	}
}

// The form of a gate under a rule asks what comes after the rejection, but for a step's, and says whose stamps end.
func TestRejectionFormsOnARoute(t *testing.T) {
	for _, locale := range language.All {
		for name, v := range rejectionForms(t, locale) {
			values := []string{"send_back", "deny"}
			switch name {
			case "last":
				values = values[1:]
			case "step":
				values = nil
			}
			expect.Same(t, values, optionsOf(t, v))
		}
	}
}

// An attempt about which people are asked once more is no version that could be sent back.
func TestAnAttemptIsOnlyDenied(t *testing.T) {
	s := again(received(t))
	routed(&s.Agains[0].Gate, s.now, threeStages()...)
	expect.Same(t, []string{"deny"}, optionsOf(t, s.formOf(task.CardProcess, s.Agains[0].ID, 1, "ja")))
}

// optionsOf returns the values of a form's options. It checks that the first one is chosen, and the lengths that Slack
// allows.
func optionsOf(t *testing.T, v slack.ModalViewRequest) (values []string) {
	t.Helper()
	for _, b := range v.Blocks.BlockSet {
		in, is := b.(*slack.InputBlock)
		if !is || in.BlockID != card.ThenBlock {
			continue
		}
		radio := in.Element.(*slack.RadioButtonsBlockElement)
		for _, o := range radio.Options {
			expect.That(t, utf8.RuneCountInString(o.Description.Text) <= 75, "too long: %s", o.Description.Text)
			values = append(values, o.Value)
		}
		expect.Same(t, radio.Options[0], radio.InitialOption)
	}
	return values
}

// Of a gate without a rule the form is what it always was, whatever stage somebody claims to have seen.
func TestTheFormOfAGateWithoutARuleStays(t *testing.T) {
	s := planned(t, fiveSteps(), defaults)
	v := s.formOf(task.CardProcess, s.Process().ID, 0, "ja")
	want := card.RejectionModal(card.Rejection{Type: task.CardProcess, ID: s.Process().ID, TaskID: s.Head.TaskID}, "ja")
	expect.Same(t, want, v)
	expect.That(t, !strings.Contains(v.PrivateMetadata, "asked"), "%s", v.PrivateMetadata)
}

// filled answers a form's fields with a reason and a choice.
func filled(reason, then string) func(block, input string) string {
	return func(block, input string) string {
		switch block + "/" + input {
		case card.ReasonBlock + "/" + card.ReasonInput:
			return reason
		case card.ThenBlock + "/" + card.ThenInput:
			return then
		}
		return ""
	}
}

// What comes back from a form names the gate, the stage and what was asked, as the person saw them, and their choice.
func TestWhatComesBackFromARejection(t *testing.T) {
	forms := rejectionForms(t, "ja")
	read := func(name, then string) (card.Rejected, bool) {
		v := forms[name]
		return card.ReadRejection(v.CallbackID, v.PrivateMetadata, filled("宛名が違う", then))
	}
	for _, tc := range []struct {
		form, then string
		typ        aggregate.CardType
		stage      int
		kind       circulation.Kind
		ok         bool
	}{
		{"first", "send_back", task.CardProcess, 1, circulation.SendBack, true},
		{"stamped", "deny", task.CardProcess, 3, circulation.Deny, true},
		{"last", "deny", task.CardProcess, 2, circulation.Deny, true},
		{"step", "", task.CardStep, 1, circulation.Deny, true},
		{"step", "send_back", task.CardStep, 1, circulation.Deny, true},
		{"action", "send_back", conversation.CardAction, 1, circulation.SendBack, true},
		{"first", "", task.CardProcess, 1, "", false},
		{"action", "stamp", conversation.CardAction, 1, "stamp", false},
	} {
		r, ok := read(tc.form, tc.then)
		expect.Same(t, []any{tc.typ, tc.stage, tc.kind, "宛名が違う", "hash", tc.ok},
			[]any{r.Type, r.Stage, r.Kind, r.Reason, r.Asked, ok})
		expect.That(t, r.ID != "" && r.Of != "", "%s: %+v", tc.form, r)
	}
}

// A form without a stage is of a gate without a rule, and one that no release draws is none.
func TestOtherFormsThatComeBack(t *testing.T) {
	v := card.RejectionModal(card.Rejection{Type: task.CardPrompt, ID: "01P", TaskID: "01T"}, "ja")
	r, ok := card.ReadRejection(v.CallbackID, v.PrivateMetadata, filled("短く", "deny"))
	expect.That(t, ok, "the seed's form")
	expect.Same(t, card.Rejected{Type: task.CardPrompt, Of: "01T", ID: "01P", Reason: "短く"}, r)
	about := func(v any) string { return string(expect.Value(json.Marshal(v))(t)) }
	for name, form := range map[string][2]string{
		"another callback": {card.CancelCallback, about(card.Rejection{Type: task.CardPrompt, ID: "01P"})},
		"no JSON":          {card.RejectionCallback, "{"},
		"another type":     {card.RejectionCallback, about(card.Rejection{Type: task.CardTask, ID: "01P"})},
		"a stage below 0":  {card.RejectionCallback, about(card.Rejection{Type: task.CardStep, Stage: -1, Asked: "h"})},
		"nothing asked":    {card.RejectionCallback, about(card.Rejection{Type: task.CardStep, ID: "01P", Stage: 1})},
		"an action's":      {card.ActionRejectCallback, `{"session":1}`},
	} {
		_, ok := card.ReadRejection(form[0], form[1], filled("短く", "deny"))
		expect.That(t, !ok, "%s is taken", name)
	}
}
