package journeys

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestAGenerationFailsAndIsTriedAgain(t *testing.T) {
	for _, tt := range []struct{ layer, key, approve string }{
		{"extract", "CARD#task", ""}, {"draft", "CARD#prompt#0001", ""}, {"plan", "CARD#process#0001", "approve_prompt"},
	} {
		t.Run(tt.layer, func(t *testing.T) {
			if tt.layer == "extract" {
				expect.AtNight(t)
			}
			s := beside(t)
			d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して demo: fail "+tt.layer)
			if tt.approve != "" {
				d.Click(webapi.Suzuki, "CARD#prompt#0001", tt.approve)
			}
			card := d.Card(tt.key, "retry_generation")
			expect.That(t, driver.Color(card) == "e01e5a", "the failed generation's card is %s", driver.Color(card))
			d.Click(webapi.Sato, tt.key, "retry_generation")
			if tt.approve == "" {
				d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
			}
			d.Card("CARD#process#0001", "approve_process")
			d.Cancel(webapi.Sato, d.Root) // or it would wait in the lists that other tests read
		})
	}
}

// A request of the command's dialog is stamped in a copy, which all places show. The Home tab lists it while it waits.
func TestACommandIsStampedInACopyAndListedOnTheHomeTab(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) {
		x.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki, webapi.Tanaka},
			Usergroups: []string{}}
	})
	expect.NoError(t, s.Sandbox.Command(webapi.Sato, webapi.HR, "/ringi"))
	views := s.Sandbox.Views(webapi.Sato)
	expect.Must(t, len(views) == 1, "%d dialogs are open", len(views))
	wrong, err := s.Sandbox.Submit(webapi.Sato, views[0].ID, map[string]any{card.RequestTextBlock: "従業員一覧を取得して",
		card.RequestAtBlock: webapi.HR})
	expect.Must(t, err == nil && len(wrong) == 0, "%v, %v", wrong, err)
	holds := func(channel, text string) (found webapi.Message) {
		expect.Eventually(t, channel+" has "+text, func() bool {
			for _, m := range s.Sandbox.Messages(channel, "") {
				all := string(expect.Value(json.Marshal(m))(t))
				if m.User == webapi.Bot && strings.Contains(all, text) {
					found = m
				}
			}
			return found.TS != ""
		})
		return found
	}
	d := driver.At(t, s, webapi.HR, holds(webapi.HR, `\u003e 従業員一覧を取得して`).TS)
	d.Card(driver.PromptCard, "approve_prompt")
	listed := func(want bool) {
		expect.Eventually(t, fmt.Sprint("the Home tab lists it: ", want), func() bool {
			expect.NoError(t, s.Sandbox.OpenHome(webapi.Suzuki))
			v, ok := s.Sandbox.Home(webapi.Suzuki)
			return ok && strings.Contains(string(expect.Value(json.Marshal(v.Blocks))(t)), "thread_ts="+d.Root) == want
		})
	}
	listed(true)
	im := webapi.DirectMessage(webapi.Tanaka)
	copied := holds(im, d.Load().Prompt().ID)
	driver.UntilTaken(t, "the policy is stamped", func() {
		_ = s.Sandbox.Click(webapi.Tanaka, im, copied.TS, "approve_prompt")
	}, func() bool { return d.Shows(driver.PromptCard, "✅ 承認: <@"+webapi.Tanaka+">") })
	d.Card(driver.ProcessCard, "approve_process")
	d.Cancel(webapi.Sato, d.Root)
	d.Until("it is cancelled", ended)
	listed(false)
}
