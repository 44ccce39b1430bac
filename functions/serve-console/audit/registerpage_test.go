package audit_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTheRegister(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"lists decisions, the newest first":                      lists,
		"is empty, and says how decisions are numbered":          isEmpty,
		"finds a number, filters by days, and refuses no period": finds,
		"is a file for spreadsheets":                             files,
		"prints a decision":                                      prints,
		"prints nothing that hides":                              printsWhatIsThere,
		"lists requests, whatever became of them":                listsRequests,
		"says which is which where both have a number":           tellsApart,
		"remarks on what its rows say":                           remarks,
		"lists what agents' actions were decided by":             listsActions,
		"lists a thousand requests by pages":                     listsAThousand,
	})
}

// decided brings a request of Sato's to an execution with the n-th number.
func decided(w *consoletest.World, n int) string {
	w.T.Helper()
	w.Ask()
	return numbered(w, n)
}

// numbered does so with the request that was received last.
func numbered(w *consoletest.World, n int) string {
	w.T.Helper()
	w.Later(time.Second)
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, 1, pipelinetest.Desk("課長", 1, webapi.Suzuki))
	o.Rule.Numbered, o.Rule.Name = true, "=10万円以上"
	o.Seen = &aggregate.Seen{Amount: "298000", Currency: "JPY", Department: "営業部"}
	w.PlannedOnRoute(expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T), o, consoletest.Message(1, "締切は金曜です"))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		hand := circulation.Person{User: webapi.Suzuki}
		act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: a.Process().Asked}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: hand.User, Team: w.By.Team, Member: true}
		return a.Act(a.Process().ID, act, by, w.AnyMember(), w.Now())
	})
	var year int
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		settled, _ := a.Unnumbered()
		year = tenancy.DefaultSettings().FiscalYear(settled)
		return a.StartNumbered(a.Head.Run, task.Series{Year: year, Last: n - 1}, w.Now())
	})
	return fmt.Sprintf("%d-%06d", year, n)
}

func lists(t *testing.T, w *consoletest.World) {
	first, second := decided(w, 1), decided(w, 2)
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/register")
	page.Says(t, 200, "決裁台帳", first, second, "課長 鈴木 一郎", "=10万円以上 (1)", "決裁 (実行中)", "¥298,000", "営業部")
	expect.That(t, strings.Index(page.Body, second) < strings.Index(page.Body, first), "the older one comes first")
	w.Cancel()
	b.Locale = "en"
	b.Get("/console/register").Says(t, 200, "Decision No.", second, "Cancelled after the decision", "Decided (running)")
	b.Get(w.TaskPage()).Says(t, 200, second)
	expect.That(t, !strings.Contains(b.Get("/console/register").Body, ">Request No.</th>"), "a column without a number")
}

func isEmpty(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/register").Says(t, 200, "番号の付いたものはありません", "決裁番号を付ける")
	b.Locale = "en"
	b.Get("/console/register").Says(t, 200, "Nothing with a number", "get a number when execution begins")
}

func finds(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	found := b.Get("/console/register?number=" + number)
	expect.That(t, found.Status == http.StatusSeeOther && found.To == "/console/register/"+number, "%d to %q", found.Status, found.To)
	b.Get("/console/register?number=123").Says(t, 200, "2026-000123 の形で")
	b.Get("/console/register?from=2020-04-01&to=2021-03-31").Lacks(t, number)
	b.Get("/console/register?from=yesterday").Says(t, http.StatusBadRequest, "日付を入力")
	b.Get("/console/register?from=1990-01-01").Says(t, http.StatusBadRequest, "日付を入力")
	b.Get("/console/register/2026-999999").Says(t, http.StatusNotFound)
	b.Get("/console/register/none").Says(t, http.StatusNotFound)
	b.Get("/console/register?number=2026-999999").Says(t, 200, "その番号は見つかりません")
}

func files(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	a := b.Get("/console/register/file.csv")
	expect.That(t, a.Status == 200 && strings.Contains(a.Body, number) && strings.Contains(a.Body, "'=10万円以上"), "%d %s", a.Status, a.Body)
}

func prints(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/register/" + number)
	page.Says(t, 200, number, "課長", "鈴木 一郎", "承認の対象のハッシュ", w.Load().Process().Asked, "go run ./infra/audit prove", w.Ref.ID)
	page.Holds(t, `class="stamps"`)
}

// What was asked for is printed as the request's page shows it.
func printsWhatIsThere(t *testing.T, w *consoletest.World) {
	text := "\u202e円000,01\u202c を <@" + webapi.Suzuki + "> に\u200b払う"
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
		ThreadTS: ts, Text: text})
	number := numbered(w, 1)
	page := w.As(webapi.Suzuki).Get("/console/register/" + number)
	page.Says(t, 200, "円000,01 を @鈴木 一郎 ("+webapi.Suzuki+") に払う")
	page.Lacks(t, "\u202e", "\u200b", "&lt;@")
}
