package journeys

import (
	"context"
	"encoding/csv"
	"html"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// numbered is a rule for everything that goes round these stages and gets a number.
func numbered(stages ...rules.Stage) rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000F", Name: "番号のある回覧", Outcome: rules.Outcome{Numbered: true,
		Stages: stages}}
}

// stamps has people press 承認 one after the other, each when their stage is asked.
func stamps(d *driver.Request, key string, all ...[2]string) {
	d.T.Helper()
	for _, x := range all {
		n := len(d.Load().Process().Acts)
		d.Card(key, "👉 いま: "+x[0])
		d.Click(x[1], key, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == n+1 })
	}
}

// agree waits until a request is carried out, and checks that all that people see of it says the same: card, page
// and register name each stage and hand, the page also what was said; the log has each act once, and both
// verifiers find that it holds.
func agree(t *testing.T, d *driver.Request, said ...string) *task.Aggregate {
	t.Helper()
	a := d.Until("it is carried out", func(a *task.Aggregate) bool {
		return a.Task != nil && a.Task.Status == task.TaskCompleted
	})
	p, number := a.Process(), a.Head.Glance.Number
	st := circulation.Walk(p.Circulating())
	expect.Must(t, st.Settled && number != "" && p.ApprovedHash == task.Hash(p.Steps), "%s: %+v", number, st.Refused)
	desk := driver.SitDown(t, d.S, webapi.Suzuki)
	get := func(path string) string {
		status, page := desk.Get(path)
		expect.Must(t, status == http.StatusOK, "%s: %d", path, status)
		return html.UnescapeString(page)
	}
	card := "CARD#process#" + p.Key()[len("PROCESS#"):]
	if a.Matter() != nil {
		card = driver.TaskCard
	}
	shown := map[string]string{"card": driver.Face(d.Card(card, number)), "page": get("/console/tasks/" + d.Ref.ID)}
	file := csv.NewReader(strings.NewReader(strings.TrimPrefix(
		get("/console/audit/register.csv?year="+number[:4]), "\ufeff")))
	file.FieldsPerRecord = -1
	for _, row := range expect.Value(file.ReadAll())(t) {
		if slices.Contains(row, number) {
			shown["register"] = strings.Join(row, "\n")
		}
	}
	expect.Must(t, shown["register"] != "", "the register lacks %s", number)
	for where, text := range shown {
		says := []string{number}
		for _, s := range st.Stages {
			for _, act := range s.Stamps {
				who := expect.Value(d.S.Sandbox.Workspace().User(act.Hand.User))(t).Name
				if where == "card" {
					who = "<@" + act.Hand.User + ">"
				}
				says = append(says, s.Name, who)
				if act.Principal.User != act.Hand.User && where == "register" {
					says = append(says, "さんの代理)")
				}
			}
		}
		if where == "page" {
			says = append(says, said...)
		}
		for _, want := range says {
			expect.That(t, strings.Contains(text, want), "the %s lacks %q:\n%s", where, want, text)
		}
	}
	acts, entries := 0, 0
	for _, x := range a.Processes {
		acts += len(x.Acts)
	}
	for _, e := range d.AuditRows() {
		if strings.HasPrefix(string(e.Action), "process.") && strings.Contains(string(e.Details), `"acts_hash":`) {
			entries++
		}
	}
	expect.Is(t, entries, acts, "entries of acts")
	proved(t, d)
	return a
}

// auditor is the program of infra/audit, linked once.
var auditor = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "audit")
	if err != nil {
		return "", err
	}
	out := filepath.Join(dir, "audit")
	return out, exec.Command("go", "build", "-o", out, "ringi/infra/audit").Run()
})

// proved checks the log, and has verify.py judge what was carried out.
func proved(t *testing.T, d *driver.Request) {
	t.Helper()
	program := expect.Value(auditor())(t)
	audit := func(args ...string) ([]byte, error) {
		args = append([]string{args[0], "-aws-addr", strings.TrimPrefix(d.S.AWSEndpoint, "http://"), "-tenant",
			d.Ref.Tenant}, args[1:]...)
		return exec.Command(program, args...).Output()
	}
	d.Eventually("the log is sealed", func() bool {
		_, err := d.S.Fire(context.Background(), "SealAuditFunction")
		said := []byte(nil)
		if err == nil {
			said, err = audit("check")
		}
		return err == nil && !strings.Contains(string(said), "not sealed yet") &&
			!strings.Contains(string(said), "behind the head")
	})
	file := filepath.Join(t.TempDir(), "proof.json")
	expect.NoError(t, os.WriteFile(file, expect.Value(audit("prove", d.Ref.ID))(t), 0o600))
	out, err := exec.Command("python3", "../audit/verify.py", file).CombinedOutput()
	expect.That(t, err == nil && !strings.Contains(string(out), "no entry seals"), "verify.py: %v\n%s", err, out)
}

// Alex, who stands in for Suzuki, is reminded of what waits, and stamps it. The requester withdraws it meanwhile, and
// asks anew: that is written into the sheet.
func TestAStandInIsRemindedAndTheRequesterAsksAnew(t *testing.T) {
	s := start(t)
	driver.Settings(t, s, func(x *tenancy.Settings) { x.RemindAt = "00:00" })
	under(t, s, numbered(desk("課長", 1, webapi.Suzuki), desk("経理", 1, webapi.Tanaka)))
	today := tenancy.DateOf(time.Now().In(tenancy.Zone()))
	send := func(form url.Values) {
		status, page := driver.SitDown(t, s, webapi.Suzuki).Post("/console/stand-ins", form)
		expect.Must(t, status == http.StatusSeeOther, "%v: %d %s", form, status, page)
	}
	send(url.Values{"act": {"set"}, "hand": {webapi.Alex}, "from": {today.String()}, "until": {(today + 1).String()}})
	defer func() {
		send(url.Values{"act": {"end"}, "key": {webapi.Alex + "#" + webapi.Suzuki + "#" + today.String()}})
	}()
	asks := func() *driver.Request {
		d := driver.Ask(t, s, webapi.Sato, "今月の勤怠をまとめて")
		d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
		d.Card(driver.ProcessCard, "👉 いま: 課長")
		return d
	}
	first := asks()
	reminded(t, first, today)
	stamps(first, driver.ProcessCard, [2]string{"課長", webapi.Alex})
	first.Cancel(webapi.Sato, first.Root)
	first.Until("it is withdrawn", ended)
	first.Card(driver.ProcessCard, "キャンセル")
	expect.Is(t, first.Load().Head.Glance.Number, "")

	second := asks()
	stamps(second, driver.ProcessCard, [2]string{"課長", webapi.Alex}, [2]string{"経理", webapi.Tanaka})
	a := agree(t, second, "(鈴木 一郎さんの代理)")
	act := a.Process().Acts[0]
	expect.That(t, act.Principal.User == webapi.Suzuki && act.Found.Delegation != nil, "%+v", act)
	expect.Is(t, len(s.Vendors.Rows(vendors.Sheet, tabOf(t, second))), 43)
	expect.Is(t, second.Notified(a, webapi.Sato), 1)
}

// reminded moves a request's opening and the day's reminder back, has people reminded, and puts the opening as it was.
// On a day off nobody is reminded: that waits for the next working day.
func reminded(t *testing.T, d *driver.Request, today tenancy.Date) {
	t.Helper()
	p := d.Load().Process()
	d.SetRow(p.Key(), "SET asked_at = :v", p.AskedAt.Add(-5*time.Hour))
	rows := store.New(dynamodb.NewFromConfig(d.S.AWS), d.S.TableName)
	row := func() (of tenancy.Reminding) {
		for x := range rows.DueReminders(context.Background(), time.Now().AddDate(1, 0, 0)) {
			if x.TenantID == d.Ref.Tenant {
				of = x
			}
		}
		return of
	}
	d.Eventually("Alex is reminded as a stand-in", func() bool {
		was := row()
		next := tenancy.Reminding{TenantID: d.Ref.Tenant, Day: today, DueAt: time.Now().Add(-time.Minute)}
		if was.TenantID == "" || rows.SaveReminding(context.Background(), next, was) != nil {
			d.Sweep() // which makes the row
			return false
		}
		d.Sweep()
		if !tenancy.WorkingDay(today) {
			return row().Day > today
		}
		return slices.ContainsFunc(d.S.Sandbox.Messages(webapi.DirectMessage(webapi.Alex), ""), func(m webapi.Message) bool {
			return m.User == webapi.Bot && strings.Contains(m.Text+driver.Face(m), "as a stand-in: 1")
		})
	})
	d.SetRow(p.Key(), "SET asked_at = :v", *p.AskedAt)
}
