package card_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// returnedViews are the dialogs and copies by which whoever asked edits what was given back to them.
func returnedViews(t *testing.T, locale string) map[string]any {
	steps, policy := process(received(t)).giveBack(), prompt(received(t)).giveBack()
	form := func(s *scenario) slack.ModalViewRequest {
		row := s.Returned().Asks()
		of := card.Review{Type: row.Kind, ID: row.ID, TaskID: s.Head.TaskID, Hash: "hash"}
		kinds := defaults
		kinds.Matters = []tenancy.MatterKind{{Name: "備品"}} // no name that a card has
		view, ok := card.EditModal(s.Aggregate, of, locale, kinds, nil)
		expect.That(t, ok, "no form of %s", row.Key)
		return view
	}
	set := defaults
	set.Locale = locale
	copyOf := func(s *scenario, key string) card.Message {
		c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.ReturnedCopy + key, User: s.Head.Requester}
		return card.Copy(s.Aggregate, c, set, "https://x.slack.com/archives/C1/p1", s.now)
	}
	edited, ended := process(received(t)).giveBack().edited(), process(received(t)).giveBack().cancelTask()
	unfit := process(received(t)).giveBack().edited().unfit()
	return map[string]any{
		"dialog_steps": form(steps), "dialog_policy": form(policy), "dialog_unfit": form(unfit),
		"dialog_form": form(byForm(received(t)).giveBack()),
		"copy":        copyOf(steps, steps.Process().Key()), "copy_edited": copyOf(edited, task.ProcessKey(1)),
		"copy_ended": copyOf(ended, task.ProcessKey(1)), "copy_unfit": copyOf(unfit, task.ProcessKey(2)+"@1"),
		"copy_unfit_before": copyOf(unfit, task.ProcessKey(1)),
	}
}

// A form shows each value that may be typed in a field of its own, and says what can't be: what comes of an earlier
// step. What comes back is read by those fields alone.
// What was given back is its requester's turn on the Home tab: counted once, with who gave it back, why, and its
// buttons.
func TestWhatWasReturnedIsItsRequestersTurn(t *testing.T) {
	for locale, want := range map[string][]string{
		"ja": {"あなたの番 (1 件)", "の修正をお願いします", "宛先を経理に直してください", "✏️ 修正する", "🚫 依頼をキャンセルする"},
		"en": {"Your turn (1)", "宛先を経理に直してください", "✏️ Edit", "🚫 Cancel the request"},
	} {
		s := process(received(t)).giveBack()
		in := card.Summary{Returned: []card.Mine{{Task: s.Aggregate, Link: "https://example.slack.com/x"}}}
		tab, list := jsonOf(card.HomeView(in, defaults, locale, s.now)), card.List(locale, in)
		for _, text := range want {
			expect.That(t, strings.Count(tab, text) == 1, "%s: %q in %s", locale, text, tab)
		}
		nothing := map[string]string{"ja": "承認待ちのものはありません", "en": "Nothing is waiting"}[locale]
		expect.That(t, !strings.Contains(tab+list, nothing) && strings.HasPrefix(list, "*"+want[0]+"*\n• ↩️ "), "%s", list)
	}
}

func TestAFormHasAFieldForEachValue(t *testing.T) {
	s := process(received(t)).giveBack()
	f, ok := card.EditFormOf(nil, s.Aggregate, s.Process().ID, "ja", func(id string) string { return id },
		func(s string, _ int) string { return s })
	expect.That(t, ok && len(f.Parts) == 5, "%+v", f)
	year, mail := f.Parts[1], f.Parts[4]
	expect.That(t, strings.Contains(year.Fixed, "従業員 = ステップ1の従業員") && len(year.Fields) == 2 &&
		year.Fields[1].Value == "2026", "%+v", year)
	var values []string
	for _, x := range mail.Fields {
		values = append(values, x.Value)
	}
	expect.That(t, len(values) == 3 && strings.Contains(strings.Join(values, " "), "U0REQUESTER"), "%q", values)

	policy, steps := card.ReadEdit(map[string]string{"edit_policy": "方針", "edit_5_0": "x", "edit_5": "y",
		"edit_05_0": "z", "edit_5_0_1": "z", "edit_a_b": "z", "rejection_reason_block": "z", "edit_-1_-2": "w"})
	expect.Is(t, policy, "方針")
	expect.Same(t, map[[2]int]string{{5, 0}: "x", {-1, -2}: "w"}, steps)
}

// An approver's copy says where it stands, without the asker's buttons.
func TestACopyForApproversHasNoButtonToEdit(t *testing.T) {
	s := process(received(t)).giveBack()
	c := *s.card(processCard)
	c.User = approver.ID
	text := jsonOf(card.Copy(s.Aggregate, &c, defaults, "", s.now))
	expect.That(t, strings.Contains(text, "依頼者の修正待ち") && !strings.Contains(text, "edit_process") &&
		!strings.Contains(text, card.Withdraw), "%s", text)
}

// What Slack's dialogs can't hold is edited in the console: its card leads there, or says so where there is none.
func TestWhatADialogCantHoldIsEditedOnThePage(t *testing.T) {
	for _, locale := range language.All {
		set := defaults
		set.Locale = locale
		long := fiveSteps()
		long[4].ToolInput = aggregate.JSON(`{"recipient":"U0REQUESTER","text":"` +
			strings.Repeat("長", card.MaxTyped+1) + `"}`)
		many := fiveSteps()
		many[3].ToolInput = aggregate.JSON(`{"spreadsheet_id":"s","sheet":"x","columns":[{"key":"n","title":"t"}],` +
			`"rows":[` + strings.Repeat(`{"n":1},`, 99) + `{"n":1}]}`)
		for name, steps := range map[string][]task.Step{"a long value": long, "many values": many} {
			s := planned(t, steps, defaults).giveBack()
			id := s.Process().ID
			_, fits := card.EditModal(s.Aggregate, card.Review{Type: task.CardProcess, ID: id}, locale, defaults, nil)
			expect.That(t, !fits, "%s: fits", name)
			at := func(console string) string {
				around := card.Around{Console: console}
				return jsonOf(card.Render(s.Aggregate, s.card(processCard), set, around, s.now))
			}
			page := "https://ringi.example/console/tasks/" + s.Head.TaskID + "/edit/" + id
			expect.That(t, strings.Contains(at("https://ringi.example/console"), page) && !strings.Contains(at(""), "/edit/") &&
				!strings.Contains(at(""), `"edit_process"`), "%s: %s", name, at(""))
		}
	}
}

// An argument that the tool takes and the call doesn't have is offered as one that may stay empty, in Slack, too.
func TestAnUnusedArgumentIsOffered(t *testing.T) {
	s := process(received(t)).giveBack()
	step := &s.Process().Steps[0]
	step.Tool, step.ToolInput = "rooms.place_order", `{"supplier":"アクメ"}`
	of := explain.Schemas{step.Tool: `{"properties":{"note":{"type":"string"},"gift":{"type":"boolean"}}}`}
	for locale, says := range map[string]string{"ja": "(今は指定なし)", "en": "(not given now)"} {
		f, ok := card.EditFormOf(of, s.Aggregate, s.Process().ID, locale, func(id string) string { return id },
			func(s string, _ int) string { return s })
		fields := f.Parts[0].Fields
		expect.Must(t, ok && len(fields) == 3, "%+v", fields)
		for _, x := range fields[1:] {
			expect.That(t, x.Optional && x.Value == "" && strings.HasSuffix(x.Name, says), "%+v", x)
		}
		view, ok := card.EditModal(s.Aggregate, card.Review{Type: task.CardProcess, ID: s.Process().ID}, locale, defaults, of)
		expect.That(t, ok && strings.Contains(sent(t, view), says), "%+v", view)
	}
}
