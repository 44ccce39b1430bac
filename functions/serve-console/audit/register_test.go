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
		"prints what was not decided, with why":                  printsWhatEnded,
		"is a file for spreadsheets":                             files,
		"prints a decision":                                      prints,
		"prints nothing that hides":                              printsWhatIsThere,
		"lists requests, whatever became of them":                listsRequests,
		"says that nobody gave an amount":                        saysThatNobodyGaveAnAmount,
		"says which is which where both have a number":           tellsApart,
		"remarks on what its rows say":                           remarks,
		"has documents by the numbers of their departments":      documents,
		"says what was carried out, when and by whom":            carriedOut,
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
	return numberedAs(w, n, aggregate.Seen{Amount: "298000", Currency: "JPY", Department: "営業部"})
}

// numberedAs is numbered, of which rules saw this.
func numberedAs(w *consoletest.World, n int, seen aggregate.Seen) string {
	w.T.Helper()
	w.Later(time.Second)
	o := pipelinetest.Along([]string{w.Load().Head.Requester}, 1, pipelinetest.Desk("課長", 1, webapi.Suzuki))
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
		lack, _ := a.Unnumbered()
		year = tenancy.DefaultSettings().FiscalYear(lack.Settled)
		of := task.Series{Year: year, Last: n - 1}
		if lack.Document != "" {
			of.Documents = &task.Series{Name: lack.Document, Year: year, Last: n + 10}
		}
		return a.StartNumbered(a.Head.Run, of, w.Now())
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
	expect.That(t, !strings.Contains(b.Get("/console/register").Body, ">Request No.</th>"), "a column without a number")
}

func saysThatNobodyGaveAnAmount(t *testing.T, w *consoletest.World) {
	w.Ask()
	number := numberedAs(w, 1, aggregate.Seen{Why: string(rules.WhyMissing)})
	for locale, says := range map[string]string{"ja": "金額の指定なし", "en": "No amount given"} {
		for _, page := range []string{"/console/register", "/console/register/" + number} {
			w.As(webapi.Suzuki).In(locale).Get(page).Says(t, 200, says)
		}
	}
}

func documents(t *testing.T, w *consoletest.World) {
	w.Ask()
	numbers(w, 1, accepts(w))
	number := numbered(w, 1)
	year, _, _ := strings.Cut(number, "-")
	document := "総務部-" + year + "-0012"
	b := w.As(webapi.Suzuki)
	at := "/console/register/document?" + url.Values{"number": {document}}.Encode()
	for _, by := range []string{"decisions", "requests"} {
		b.Get("/console/register?by="+by).Says(t, 200, document).Holds(t, strings.ToLower(at))
		b.Get("/console/register/file.csv?by="+by).Says(t, 200).Holds(t, "文書番号", `"`+document+`"`)
	}
	b.Get("/console/register/"+number).Says(t, 200, "文書番号", document)
	b.Get(w.TaskPage()).Says(t, 200, "文書番号", document)
	typed := url.Values{"q": {strings.Replace(document, "-0012", "－００１２", 1)}}.Encode()
	find := "/console/tasks?" + typed
	to := "/console/register?" + url.Values{"q": {document}}.Encode()
	b.Get(find).Says(t, http.StatusSeeOther).Leads(t, w.TaskPage())
	b.Get(to).Says(t, http.StatusSeeOther).Leads(t, at)
	b.Get(at).Says(t, 200, document, "決裁番号", number, "課長", "鈴木 一郎")
	w.As(webapi.Sato).Get(find).Says(t, http.StatusSeeOther).Leads(t, w.TaskPage())

	w.As(webapi.Alex).Get(find).Says(t, 200).Lacks(t, number) // who may not read it

}

func carriedOut(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	const by = "Ringi が実行"
	for _, page := range []string{"/console/register", "/console/register/" + number} {
		b.Get(page).Lacks(t, by)
	}
	w.Ran(aggregate.Blob{JSON: w.Load().Process().Steps[0].ToolInput}, consoletest.Inline(`{"message_id":"M-77"}`))
	w.Later(time.Second)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "送りました。", w.Now())
	})
	b.Get("/console/register").Says(t, 200, "施行", by, "message id M-77")
	b.Get("/console/register/"+number).Says(t, 200, "施行", by, "田中 恵 さんに DM を送りました", "message id M-77")
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
	b.Get("/console/register?q="+number).Says(t, http.StatusSeeOther).Leads(t, "/console/register/"+number)
	b.Get("/console/register?q=123").Says(t, 200, "2026-000123 の形で")
	b.Get("/console/register?from=2020-04-01&to=2021-03-31").Lacks(t, number)
	for query, left := range map[string]string{"from=yesterday": "から", "from=1990-01-01": "から", "to=x": "まで",
		"from=2099-01-01": "から"} {
		b.Get("/console/register?"+query).Says(t, 200, "読み取れない指定がありました: 期間 ("+left+")。", number)
	}
	b.Get("/console/register/file.csv?from=yesterday").Says(t, http.StatusBadRequest)
	b.Get("/console/register/2026-999999").Says(t, http.StatusNotFound)
	b.Get("/console/register/none").Says(t, http.StatusNotFound)
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

func printsWhatEnded(t *testing.T, w *consoletest.World) {
	w.Ask()
	numbers(w, 1, accepts(w))
	number := w.Load().Head.RequestNumber
	w.Cancel()
	b := w.As(webapi.Suzuki)
	sheet := "/console/register/" + number
	b.Get("/console/register?by=requests").Holds(t, sheet+"?request=1")
	b.Get(sheet).Says(t, 200, "起案 "+number, "キャンセル", "タスクはキャンセルされました。", "今月の勤怠をまとめて").
		Lacks(t, "続けるには", "決裁日", "決裁した内容")
	b.In("en").Get(sheet).Says(t, 200, "Request "+number, "Cancelled", "Outcome")
	decided := decided(w, 1)
	b.Get("/console/register/"+decided).Says(t, 200)
	b.Get(sheet+"?request=1").Says(t, 200, "Request "+number)
}

func files(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	b.Get("/console/register/file.csv").Says(t, 200).Holds(t, number, "'=10万円以上", `"連絡","勤怠集計"`,
		`"1 回目"`)
}

func prints(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	b := w.As(webapi.Suzuki)
	b.Get("/console/register/"+number).
		Says(t, 200, number, "課長", "鈴木 一郎", "承認の対象のハッシュ", w.Load().Process().AskedSum,
			"go run ./infra/audit prove",
			w.Ref.ID, "田中 恵 さんに DM を送ります", "締切は金曜です",
										"決裁した内容").
		Holds(t, `class="stamps"`).Lacks(t, "取り消せません", "(承認した人)") // on paper it is settled
}

// What was asked for is printed as the request's page shows it.
func printsWhatIsThere(t *testing.T, w *consoletest.World) {
	text := "\u202e円000,01\u202c を <@" + webapi.Suzuki + "> に\u200b払う"
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
		ThreadTS: ts, Text: text})
	number := numbered(w, 1)
	w.As(webapi.Suzuki).Get("/console/register/"+number).Says(t, 200,
		"円000,01 を @鈴木 一郎 に払う").
		Lacks(t, "\u202e", "\u200b", "&lt;@")
}

// numbers has the request that was received last taken on, or refused, with the n-th number, and returns that.
func numbers(w *consoletest.World, n int, do task.Decision) string {
	w.T.Helper()
	into := &task.Register{
		Settings: tenancy.DefaultSettings(), Department: "総務部",
		Of: task.Series{Year: tenancy.DefaultSettings().FiscalYear(w.Now()), Last: n - 1},
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return do(a.Registering(into)) })
	return w.Load().Head.RequestNumber
}

func accepts(w *consoletest.World) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: a.Head.Requester, Team: w.By.Team, Member: true}
		return a.Accept(a.Head.Run, by, tenancy.DefaultSettings(), w.Now())
	}
}

func refuses(w *consoletest.World) task.Decision {
	return func(a *task.Aggregate) (aggregate.Change, error) {
		return a.RefuseUndecidable(a.Head.Run, aggregate.RuleSelf, w.Now())
	}
}

func listsRequests(t *testing.T, w *consoletest.World) {
	w.Ask()
	refused := numbers(w, 1, refuses(w))
	w.Later(time.Second)
	w.Ask()
	waits := numbers(w, 2, accepts(w))
	w.Prompted(tenancy.DefaultSettings())
	w.Redrafted("2 人で足ります")
	w.Later(time.Second)
	w.Ask()
	withdrawn := numbers(w, 3, accepts(w))
	w.Cancel()
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/register?by=requests")
	page.Says(t, 200, "起案番号", refused, waits, withdrawn, "対応不可", "回覧中・承認待ち", "キャンセル",
		"総務部", "今月の勤怠をまとめて", "勤怠集計 v2")
	expect.That(t, strings.Index(page.Body, waits) < strings.Index(page.Body, refused), "the older one comes first")
	b.Get(w.TaskPage()).Says(t, 200, "起案番号", withdrawn)
	b.Get("/console/register").Lacks(t, refused) // the tenant has not switched it on
	a := b.Get("/console/register/file.csv?by=requests")
	expect.That(t, strings.HasPrefix(a.Body, "\ufeff") && strings.Count(a.Body, "\r\n") == 4 &&
		strings.Contains(a.Body, withdrawn),
		"%q", a.Body)
	b.In("en").Get("/console/register?by=requests").Says(t, 200, "Request No.", "Declined", "Waiting for approval",
		"Cancelled").
		Holds(t, ">Request No.</th>")
}

// A decision and another request may have the same number.
func tellsApart(t *testing.T, w *consoletest.World) {
	number := decided(w, 1)
	w.Later(time.Second)
	w.Ask()
	b := w.As(webapi.Suzuki)
	find := func() consoletest.Answer { return b.Get("/console/register?q=" + number) }
	expect.Is(t, find().To, "/console/register/"+number)
	expect.Is(t, numbers(w, 1, refuses(w)), number)
	find().Says(t, 200, "決裁番号 "+number, "起案番号 "+number).Lacks(t, `class="table list register"`)
	b.Get("/console/register?q="+strings.Replace(number, "-000001", "-000002", 1)).Says(t, 200,
		"見つかりません")
	w.Later(time.Second)
	w.Ask()
	second := numbers(w, 2, refuses(w))
	b.Get("/console/register?q="+second).Says(t, http.StatusSeeOther).Leads(t, w.TaskPage())
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
	number := decided(w, 2)
	b := w.As(webapi.Suzuki)
	page := b.Get("/console/register")
	expect.Is(t, strings.Count(page.Body, "ルール変更から"), 1, "remarks")
	b.Get("/console/register/"+number).Lacks(t, "ルール変更から")
	expect.Is(t, rev, 1)
}

func listsAThousand(t *testing.T, w *consoletest.World) {
	w.Ask()
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	numbers(w, 1, refuses(w))
	var rows []aggregate.Row
	for n := 2; n <= 1000; n++ {
		rows = append(rows, &task.Requested{Year: year, N: n, TaskID: w.Ref.ID, TakenAt: w.Now()})
	}
	expect.NoError(t, w.Store.PutListed(t.Context(), w.Tenant.ID, task.RequestsList, fmt.Sprintf("%04d", year), rows, nil))
	b, began := w.As(webapi.Suzuki), time.Now()
	b.Get("/console/register?by=requests").Says(t, 200, "これより前")
	t.Logf("the first page of a thousand took %s", time.Since(began))
	began = time.Now()
	b.Get(fmt.Sprintf("/console/register?by=requests&cursor=%d-000050", year)).Says(t, 200,
		"今月の勤怠をまとめて").
		Lacks(t, "これより前")
	t.Logf("the last one took %s", time.Since(began))
	began = time.Now()
	a := b.Get("/console/register/file.csv?by=requests")
	t.Logf("the file took %s", time.Since(began))
	expect.Is(t, strings.Count(a.Body, "\r\n"), 1001, "lines")
}
