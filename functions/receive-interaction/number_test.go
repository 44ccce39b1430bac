package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestADecisionIsFoundByItsNumber(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"by who may read it": func(t *testing.T, w *world) {
			o := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("課長", 1, webapi.Suzuki))
			o.Rule.Numbered = true
			w.PlannedOnRoute(tenancy.DefaultSettings(), o, pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				hand := circulation.Person{User: webapi.Suzuki}
				act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: a.Process().Asked}
				by := aggregate.Actor{Type: aggregate.ActorUser, ID: hand.User, Team: w.By.Team, Member: true}
				return a.Act(a.Process().ID, act, by, aggregate.Policy{Team: w.By.Team}, w.Now())
			})
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.StartNumbered(a.Head.Run, task.Series{Year: 2026, Last: 122}, w.Now())
			})
			for user, reads := range map[string]bool{webapi.Sato: true, webapi.Suzuki: true, webapi.Guest: false} {
				said := w.said(w.typed(user, webapi.HR, "2026-000123"))
				expect.That(t, strings.Contains(said, w.Load().Task.Title) == reads && strings.Contains(said, "https://") == reads,
					"%s: %s", user, said)
			}
			expect.Is(t, w.said(w.typed(webapi.Sato, webapi.HR, "2026-000124")), card.NoteNoNumber.Told("ja", ""))
		},
		"a request by its own, beside a decision that has the same": func(t *testing.T, w *world) {
			year := tenancy.DefaultSettings().FiscalYear(w.Now())
			into := &task.Register{Settings: tenancy.DefaultSettings(), Of: task.Series{Year: year, Last: 86}}
			w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
				return a.Registering(into).RefuseUndecidable(a.Head.Run, aggregate.RuleSelf, w.Now())
			})
			number := w.Load().Head.RequestNumber
			for user, reads := range map[string]bool{webapi.Sato: true, webapi.Suzuki: true, webapi.Guest: false} {
				said := w.said(w.typed(user, webapi.HR, number))
				expect.That(t, strings.Contains(said, "起案番号 "+number+": "+w.Load().Request.Text) == reads &&
					strings.Contains(said, "https://") == reads && !strings.Contains(said, "決裁番号"), "%s: %s", user, said)
			}
			x := &task.Numbered{Year: year, N: 87, TaskID: w.Ref.ID, ProcessID: w.Ref.ID}
			of := task.Series{Year: year}.Of()
			expect.Value(w.Store.AddListed(t.Context(), w.Ref.Tenant, task.NumbersList, of, x))(t)
			said := w.said(w.typed(webapi.Sato, webapi.HR, number))
			expect.That(t, strings.Contains(said, "決裁番号 "+number) && strings.Contains(said, "起案番号 "+number), "%s", said)
		},
	})
}
