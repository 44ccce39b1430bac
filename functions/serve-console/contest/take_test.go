package contest_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestTheBestSoFarIsTakenOnTheContestsPage(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"by whoever may reject, once": takesBest,
		"before anything is scored":   takesNothing,
		"by whoever may not reject":   mayNotTake,
		"when the contest is over":    takesTooLate,
		"of no task":                  takesAlone,
	})
}

const takeButton = "ここまでの最良の案で終える"

func takesBest(t *testing.T, w *consoletest.World) {
	k, suzuki, tanaka := w.Contesting("勤怠の方針"), w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	suzuki.Get(k.Page()).Lacks(t, k.Page()+"/take")
	k.Plays(1, 1, 0.8, "一つ目の案")
	page := suzuki.Get(k.Page()).Says(t, http.StatusOK, takeButton, "最高点の案").Holds(t, `action="`+k.Page()+`/take"`, "data-confirm")
	forged := w.As(webapi.Suzuki)
	forged.Form = "of another session"
	forged.Post(k.Page()+"/take", nil).Says(t, http.StatusForbidden)
	expect.That(t, w.Load().Prompt().Contest.TakenAt == nil, "taken by a form of another session: %v", page)
	for range 2 { // a double click
		suzuki.Post(k.Page()+"/take", nil).Leads(t, k.Page()+"?done=act_take_best")
	}
	x := w.Load().Prompt().Contest
	expect.That(t, x.TakenAt != nil && x.TakenBy == webapi.Suzuki, "%+v", x)
	log := expect.Value(w.Store.Audit(t.Context(), w.Tenant.ID, store.AuditFilter{Resource: w.Ref.ID, Action: task.AuditBestTaken}, "", 10))(t)
	expect.That(t, len(log.Items) == 1 && strings.Contains(string(log.Items[0].Details), `"surface":"console"`), "%+v", log.Items)
	page = suzuki.Get(k.Page()+"?done=act_take_best").Says(t, http.StatusOK, "ここまでの最良の案で終えた人: 鈴木 一郎", "数秒で止まります")
	page.Lacks(t, k.Page()+"/take")
	tanaka.Post(k.Page()+"/take", nil).Says(t, http.StatusConflict, "鈴木 一郎 が、ここまでの最良の案でコンテストを終えています")
	suzuki.Locale = "en"
	suzuki.Get(k.Page()+"?done=act_take_best").Says(t, http.StatusOK, "Ended with the best draft so far by: 鈴木 一郎", "stop within seconds", "Ended with the best draft so far.")
}

func takesNothing(t *testing.T, w *consoletest.World) {
	k, suzuki := w.Contesting("勤怠の方針"), w.As(webapi.Suzuki)
	suzuki.Post(k.Page()+"/take", nil).Says(t, http.StatusForbidden, "採点の済んだ案がまだあり")
	expect.That(t, w.Load().Prompt().Contest.TakenAt == nil, "it is taken")
}

func mayNotTake(t *testing.T, w *consoletest.World) {
	k := w.Contesting("勤怠の方針")
	k.Plays(1, 1, 0.8, "一つ目の案")
	guest, outside := w.As(webapi.Guest), consoletest.Start(t)
	guest.Post(k.Page()+"/take", nil).Says(t, http.StatusForbidden, "ゲスト", "一つ目の案")
	outside.As(webapi.Suzuki).Post(k.Page()+"/take", nil).Says(t, http.StatusNotFound)
	w.Settings(func(s *tenancy.Settings) {
		s.Approvers = tenancy.Approvers{Mode: aggregate.ApproversList, Users: []string{webapi.Suzuki}}
	})
	tanaka := w.As(webapi.Tanaka)
	tanaka.Get(k.Page()).Says(t, http.StatusOK, takeButton, "承認者").Lacks(t, k.Page()+"/take\"")
	tanaka.Post(k.Page()+"/take", nil).Says(t, http.StatusForbidden, "承認者", "鈴木 一郎")
	expect.That(t, w.Load().Prompt().Contest.TakenAt == nil, "it is taken")
}

func takesTooLate(t *testing.T, w *consoletest.World) {
	k, suzuki := w.Contesting("勤怠の方針"), w.As(webapi.Suzuki)
	k.Plays(1, 1, 0.8, "案")
	k.Ends(1, contest.MaxRoundsReached, "")
	k.Ends(2, contest.PartialFailure, contest.ReasonLeader)
	a := expect.Value(w.Console.Contests.Settle(t.Context(), contest.Ref(w.Tenant.ID, k.ID), 1))(t)
	w.Later(time.Second)
	outcome, _ := a.Outcome()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.ContestEnded(task.PromptKey(1), outcome, w.Now())
	})
	suzuki.Get(k.Page()).Lacks(t, k.Page()+"/take\"")
	suzuki.Post(k.Page()+"/take", nil).Says(t, http.StatusConflict, "に終わっています")
	expect.That(t, w.Load().Prompt().Contest.TakenAt == nil, "it is taken")
}

func takesAlone(t *testing.T, w *consoletest.World) {
	k, suzuki := w.Compete("備品の方針", nil), w.As(webapi.Suzuki)
	k.Plays(1, 1, 0.8, "案")
	suzuki.Get(k.Page()).Lacks(t, k.Page()+"/take\"")
	suzuki.Post(k.Page()+"/take", nil).Says(t, http.StatusNotFound)
}
