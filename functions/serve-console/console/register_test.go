package console_test

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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestTheRegister(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"is a file for spreadsheets, the newest decision first": files,
		"says that nobody gave an amount":                       saysThatNobodyGaveAnAmount,
		"has a thousand decisions":                              listsAThousand,
	})
}

// register is the file of the year.
func register(w *consoletest.World, locale string) consoletest.Answer {
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	return w.As(webapi.Suzuki).In(locale).Get(fmt.Sprintf("/console/audit/register.csv?year=%d", year))
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
	w.PlannedOnRoute(expect.Value(w.Store.Settings(w.T.Context(), w.Tenant.ID))(w.T), o, consoletest.Message(1, "締切は金曜です"))
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
		return a.StartExecution(a.Head.Run, task.Series{Year: year, Last: n - 1}, w.Now())
	})
	return fmt.Sprintf("%d-%06d", year, n)
}

func files(t *testing.T, w *consoletest.World) {
	first, second := decided(w, 1), decided(w, 2)
	file := register(w, "ja").Holds(t, `"勤怠集計"`, `"'=10万円以上 (1)"`, `"課長 鈴木 一郎"`, `"298000","JPY"`, "営業部", `"決裁 (実行中)"`)
	expect.That(t, strings.Index(file.Body, second) < strings.Index(file.Body, first), "the older one comes first")
	w.Cancel()
	register(w, "en").Holds(t, `"Decision No."`, second, "Cancelled after the decision", "Decided (running)")
	w.As(webapi.Suzuki).Get(w.TaskPage()).Says(t, 200, second)
	w.As(webapi.Suzuki).Get("/console/audit/register.csv?year=x").Says(t, http.StatusBadRequest)
	w.As(webapi.Suzuki).Get("/console/audit").Says(t, 200, "決裁台帳").Holds(t, `action="/console/audit/register.csv"`)
}

func saysThatNobodyGaveAnAmount(t *testing.T, w *consoletest.World) {
	w.Ask()
	numberedAs(w, 1, aggregate.Seen{Why: string(rules.WhyMissing)})
	for locale, says := range map[string]string{"ja": "金額の指定なし", "en": "No amount given"} {
		register(w, locale).Holds(t, says)
	}
}

func listsAThousand(t *testing.T, w *consoletest.World) {
	decided(w, 1)
	year := tenancy.DefaultSettings().FiscalYear(w.Now())
	var rows []aggregate.Row
	for n := 2; n <= 1000; n++ {
		rows = append(rows, &task.Numbered{Year: year, N: n, TaskID: w.Ref.ID, GateKey: task.ProcessKey(1)})
	}
	of := task.Series{Year: year}.Of()
	expect.NoError(t, w.Store.PutListed(t.Context(), w.Tenant.ID, task.NumbersList, of, rows, nil))
	began := time.Now()
	a := register(w, "ja")
	t.Logf("the file took %s", time.Since(began))
	expect.Is(t, strings.Count(a.Body, "\r\n"), 1001, "lines")
}
