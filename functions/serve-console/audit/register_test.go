package audit_test

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTheRegister(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"lists decisions, the newest first":                      lists,
		"is empty, and says how decisions are numbered":          isEmpty,
		"finds a number, filters by days, and refuses no period": finds,
		"finds words of what it shows":                           searches,
		"is a file for spreadsheets":                             files,
		"says that nobody gave an amount":                        saysThatNobodyGaveAnAmount,
		"remarks on what its rows say":                           remarks,
		"says what was carried out, when and by whom":            carriedOut,
		"lists a thousand decisions by pages":                    listsAThousand,
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
	return numberedAs(w, n, aggregate.Seen{Amount: "298000", Currency: "JPY", Department: "営業部"})
}

// numberedAs is numbered, of which rules saw this.
func numberedAs(w *consoletest.World, n int, seen aggregate.Seen) string {
	w.T.Helper()
	w.Later(time.Second)
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, pipelinetest.Desk("課長", 1, webapi.Suzuki))
	o.Rule.Numbered, o.Rule.Name = true, "=10万円以上"
	o.Seen = &seen
	w.PlannedOnRoute(expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T), o, consoletest.Message(1,
		"締切は金曜です"))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		hand := circulation.Person{User: webapi.Suzuki}
		act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: a.Process().AskedSum}
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
	page.Says(t, 200, "決裁台帳", first, second, "連絡 勤怠集計", "課長 鈴木 一郎",
		"=10万円以上 (1)", "決裁 (実行中)", "¥298,000", "営業部")
	expect.That(t, strings.Index(page.Body, second) < strings.Index(page.Body, first), "the older one comes first")
	w.Cancel()
	b.In("en").Get("/console/register").Says(t, 200, "Decision No.", second, "Cancelled after the decision",
		"Decided (running)")
	b.Get(w.TaskPage()).Says(t, 200, second)
}

func saysThatNobodyGaveAnAmount(t *testing.T, w *consoletest.World) {
	w.Ask()
	numberedAs(w, 1, aggregate.Seen{Why: string(rules.WhyMissing)})
	for locale, says := range map[string]string{"ja": "金額の指定なし", "en": "No amount given"} {
		w.As(webapi.Suzuki).In(locale).Get("/console/register").Says(t, 200, says)
	}
}

func carriedOut(t *testing.T, w *consoletest.World) {
	decided(w, 1)
	b := w.As(webapi.Suzuki)
	const by = "Ringi が実行"
	b.Get("/console/register").Lacks(t, by)
	w.Ran(aggregate.Blob{JSON: w.Load().Process().Steps[0].ToolInput}, consoletest.Inline(`{"message_id":"M-77"}`))
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "送りました。", w.Now())
	})
	b.Get("/console/register").Says(t, 200, "施行", by, "message id M-77")
	b.Get("/console/register/file.csv").Says(t, 200).Holds(t, "施行日", `"Ringi"`, "田中 恵 さんに DM を送りました", "M-77")
}

func isEmpty(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/register").Says(t, 200, "番号の付いたものはありません", "決裁番号を付ける").
		Holds(t, tenancy.DayOf(w.Now()), tenancy.DayOf(w.Now().AddDate(-1, 0, 0))[:5]) // the year that is shown
	b.In("en").Get("/console/register").Says(t, 200, "Nothing with a number", "get a number when execution begins")
}

func finds(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	b.Get("/console/register?q="+number).Says(t, http.StatusSeeOther).Leads(t, w.TaskPage())
	b.Get("/console/register?q=123").Says(t, 200, "2026-000123 の形で")
	b.Get("/console/register?from=2020-04-01&to=2021-03-31").Lacks(t, number)
	for query, left := range map[string]string{"from=yesterday": "から", "from=1990-01-01": "から", "to=x": "まで",
		"from=2099-01-01": "から"} {
		b.Get("/console/register?"+query).Says(t, 200, "読み取れない指定がありました: 期間 ("+left+")。", number)
	}
	b.Get("/console/register/file.csv?from=yesterday").Says(t, http.StatusBadRequest)
	b.Get("/console/register?q=2026-999999").Says(t, 200, "この期間には見つかりません")
}

func searches(t *testing.T, w *consoletest.World) {
	first := decided(w, 1)
	w.Ran(aggregate.Blob{JSON: w.Load().Process().Steps[0].ToolInput}, consoletest.Inline(`{"message_id":"M-77"}`))
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "送りました。", w.Now())
	})
	second := decided(w, 2)
	b := w.As(webapi.Suzuki)
	find := func(q string) consoletest.Answer { return b.Get("/console/register?" + url.Values{"q": {q}}.Encode()) }
	find("ｍ-77").Says(t, 200, first).Lacks(t, second)
	for _, q := range []string{"佐藤 営業部", "298,000", "締切は金曜"} {
		find(q).Says(t, 200, first, second)
	}
	find("M-78").Says(t, 200, "見つかりません").Lacks(t, first, second)
}

func files(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	b.Get("/console/register/file.csv").Says(t, 200).Holds(t, number, "'=10万円以上", `"連絡","勤怠集計"`,
		`"1 回目"`)
}

func remarks(t *testing.T, w *consoletest.World) {
	ctx := t.Context()
	rule := rules.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Refuse: "no"}}
	x := &rules.Rules{Form: rules.Form, Rules: []rules.Rule{rule}}
	_, rev, err := w.Store.SaveRules(ctx, w.Tenant.ID, x, 0, nil, w.By, w.Now())
	expect.NoError(t, err)
	w.Later(6 * 24 * time.Hour)
	decided(w, 1)
	w.As(webapi.Suzuki).Get("/console/register").Says(t, 200, "ルール変更から 7 日以内の回覧")
	w.Later(2 * 24 * time.Hour)
	decided(w, 2)
	page := w.As(webapi.Suzuki).Get("/console/register")
	expect.Is(t, strings.Count(page.Body, "ルール変更から"), 1, "remarks")
	expect.Is(t, rev, 1)
}

func listsAThousand(t *testing.T, w *consoletest.World) {
	first := decided(w, 1)
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	var rows []aggregate.Row
	for n := 2; n <= 1000; n++ {
		rows = append(rows, &task.Numbered{Year: year, N: n, TaskID: w.Ref.ID, GateKey: task.ProcessKey(1), Round: 1,
			SettledAt: w.Now()})
	}
	of := task.Series{Year: year}.Of()
	expect.NoError(t, w.Store.PutListed(t.Context(), w.Tenant.ID, task.NumbersList, of, rows, nil))
	b, began := w.As(webapi.Suzuki), time.Now()
	b.Get("/console/register").Says(t, 200, "これより前")
	t.Logf("the first page of a thousand took %s", time.Since(began))
	began = time.Now()
	b.Get(fmt.Sprintf("/console/register?cursor=%d-000050", year)).Says(t, 200, first).Lacks(t, "これより前")
	t.Logf("the last one took %s", time.Since(began))
	began = time.Now()
	a := b.Get("/console/register/file.csv")
	t.Logf("the file took %s", time.Since(began))
	expect.Is(t, strings.Count(a.Body, "\r\n"), 1001, "lines")
}
