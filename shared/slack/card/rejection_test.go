package card_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
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
	stamped.stamps(2, tanaka, mori)
	last := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	last.Process().Terms.MaxVersions = 1
	step := gated(t, arguments)
	routed(&step.Gates[0].Gate, step.now, desk("部長", 1, yamada))
	form := byForm(received(t))
	routed(&form.Process().Gate, form.now, threeStages()...)
	back := card.Review{Type: task.CardProcess, ID: form.Process().ID, TaskID: form.Head.TaskID, Stage: 1}
	return map[string]slack.ModalViewRequest{
		"returned": card.DialogsOf(form.Aggregate).Rejection(back, locale),
		"first":    first.formOf(task.CardProcess, first.Process().ID, 1, locale),
		"stamped":  stamped.formOf(task.CardProcess, stamped.Process().ID, 3, locale),
		"last":     last.formOf(task.CardProcess, last.Process().ID, 2, locale),
		"step":     step.formOf(task.CardStep, step.Gates[0].ID, 1, locale),
		"more":     first.moreOf(first.Process().ID, true, locale),
		"deny":     first.moreOf(first.Process().ID, false, locale),
		"cancel":   step.moreOf(step.Gates[0].ID, true, locale),
		"policy": func() slack.ModalViewRequest {
			s := received(t).extracted().drafted(defaults)
			s.Prompt().Terms.MaxVersions = 1
			return s.formOf(task.CardPrompt, s.Prompt().ID, 0, locale)
		}(),
	}
}

// moreOf is the dialog with what else people may do at the first stage of steps.
func (s *scenario) moreOf(id string, cancel bool, locale string) slack.ModalViewRequest {
	of := card.Review{Type: s.Asked(id).Kind, ID: id, TaskID: s.Head.TaskID, Stage: 1}
	return card.DialogsOf(s.Aggregate).More(of, true, cancel, locale)
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
		return card.ReadRejection(v.PrivateMetadata, filled("宛名が違う", then))
	}
	for _, tc := range []struct {
		form, then string
		typ        aggregate.CardType
		stage      int
		kind       circulation.Kind
		ok         bool
	}{
		{"first", "", task.CardProcess, 1, circulation.SendBack, true},
		{"first", "deny", task.CardProcess, 1, circulation.SendBack, true},
		{"stamped", "", task.CardProcess, 3, circulation.SendBack, true},
		{"last", "", task.CardProcess, 2, circulation.Deny, true},
		{"step", "", task.CardStep, 1, circulation.Deny, true},
		{"returned", "", task.CardProcess, 1, circulation.SendBack, true},
		{"more", "deny", task.CardProcess, 1, circulation.Deny, true},
		{"more", "cancel", task.CardProcess, 1, card.Cancels, true},
		{"more", "stamp", task.CardProcess, 1, "stamp", false},
		{"more", "", task.CardProcess, 1, "", false},
		{"deny", "", task.CardProcess, 1, circulation.Deny, true},
		{"cancel", "", task.CardStep, 1, card.Cancels, true},
	} {
		r, ok := read(tc.form, tc.then)
		expect.Same(t, []any{tc.typ, tc.stage, tc.kind, "宛名が違う", "hash", tc.ok},
			[]any{r.Type, r.Stage, r.Then, r.Reason, r.Asked, ok})
		expect.That(t, r.ID != "" && r.TaskID != "", "%s: %+v", tc.form, r)
	}
}

// A form without a stage is of a gate without a rule, and one that no release draws is none.
func TestOtherFormsThatComeBack(t *testing.T) {
	v := card.DialogsOf(nil).Rejection(card.Review{Type: task.CardPrompt, ID: "01P", TaskID: "01T"}, "ja")
	r, ok := card.ReadRejection(v.PrivateMetadata, filled("短く", "deny"))
	expect.That(t, ok, "the seed's form")
	expect.Same(t, card.Rejected{Rejection: card.Rejection{Type: task.CardPrompt, TaskID: "01T", ID: "01P",
		Then: circulation.SendBack}, Reason: "短く"}, r)
	about := func(v any) string { return string(expect.Value(json.Marshal(v))(t)) }
	for name, form := range map[string]string{
		"no JSON":           "{",
		"another type":      about(card.Rejection{Type: task.CardTask, ID: "01P"}),
		"a stage below 0":   about(card.Rejection{Type: task.CardStep, Stage: -1, Asked: "h"}),
		"nothing asked":     about(card.Rejection{Type: task.CardStep, ID: "01P", Stage: 1}),
		"denied by no rule": about(card.Rejection{Type: task.CardStep, ID: "01P", Then: circulation.Deny}),
	} {
		_, ok := card.ReadRejection(form, filled("短く", "deny"))
		expect.That(t, !ok, "%s is taken", name)
	}
}

// denial is an act of somebody who rejects for good, on a gate that is asked about as "hash".
func denial(user string, stage int) (circulation.Act, aggregate.Actor) {
	who := circulation.Person{User: user}
	act := circulation.Act{Kind: circulation.Deny, Hand: who, Principal: who, Stage: stage, Hash: "hash",
		Text: "見積書の宛名が違います"}
	return act, aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: "T1", Member: true}
}

// denied brings a task to its end by a denial at the second stage.
func denied(t testing.TB) *scenario {
	s := onRoute(received(t), threeStages()...).stamps(1, suzuki)
	act, by := denial(mori, 2)
	return s.do(s.Act(s.Process().ID, act, by, policy, s.now))
}

// deniedCards are all cards and copies of such a task, and its summary.
func deniedCards(t *testing.T, locale string) map[string]card.Message {
	s := denied(t)
	all := map[string]card.Message{"copy": copied(s, s.copyOf(mori, 2), locale),
		"copy_of_another": copied(s, s.copyOf(tanaka, 2), locale),
		"outcome":         copied(s, &aggregate.Card{CardType: task.CardOutcome}, locale)}
	for name, key := range map[string]string{"task": taskCard, "prompt": promptCard, "process": processCard} {
		all[name] = render(s.Aggregate, s.card(key), locale, s.now)
	}
	return all
}

// A task that was rejected for good says so on the Home tab, too, and a torn load of it promises no other version.
func TestADeniedTaskSaysThatItWasRejectedForGood(t *testing.T) {
	for locale, words := range map[string][2]string{"ja": {"却下して終了", "再生成"}, "en": {"ejected for good", "rewrit"}} {
		s := denied(t)
		home := card.HomeView(card.Summary{Mine: []card.Mine{{Task: s.Aggregate}}}, defaults, locale)
		expect.Has(t, drawn(home.Blocks.BlockSet), words[0], "Home")
		s.Head.Ended = nil // a load that mixes two commits
		text := drawn(render(s.Aggregate, s.card(processCard), locale, s.now).Attachments[0].Blocks.BlockSet)
		expect.That(t, !strings.Contains(text, words[1]), "another version is promised: %s", text)
	}
}
