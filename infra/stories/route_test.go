package stories

import (
	"context"
	"encoding/csv"
	"fmt"
	"html"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store"
	"ringi/shared/tool"
)

// always is the rule for all: two stages, of which whoever stamped at the first, the asker's superior, counts at the
// second.
var always = rules.Rule{ID: "01KS000000000000000000000A", Name: "すべて", Outcome: rules.Outcome{Numbered: true,
	Stages: []rules.Stage{{Name: "課長", Need: 1, Who: rules.Who{Superior: 1}},
		{Name: "経理", Need: 2, Who: rules.Who{People: []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}}}}}}

// underAStepsRule has a step whose amount is known go round by another rule, by which people are looked up.
func underAStepsRule(t *testing.T, w *world) {
	if !expect.Long() {
		return
	}
	w.settled(t, func(*tenancy.Settings) {})
	w.organises(t)
	driver.Circulate(t, w.Stack, rules.Rule{ID: "01KS000000000000000000000B", Name: "金額が読める",
		Conditions: rules.Conditions{Below: "999999999999", Currency: "JPY"},
		Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "人事", Need: 1, Who: rules.Who{Group: webapi.Approvers}},
			{Name: "部長", Need: 1, Who: rules.Who{People: []string{webapi.Alex}}}}}}, always)
	w.marksAmount(t, "write_rows_to_google_sheet", "/rows/*/work_days")
}

// organises has Suzuki stand above Sato for a test.
func (w *world) organises(t *testing.T) {
	t.Helper()
	o, wrong := rules.ReadOrganisation([]byte("メール,部署,役職,部署の長,上長\nsuzuki@example.com,人事部,課長\n" +
		"sato@example.com,人事部,,,suzuki@example.com\ntanaka@example.com,人事部\nalex.kim@example.com,人事部\n"))
	expect.NoError(t, wrong.Err())
	rows, by := store.NewTasks(w.db, w.TableName), aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
	is := expect.Value(rows.Organisation(t.Context(), w.tenant()))(t)
	expect.NoError(t, rows.SaveOrganisation(t.Context(), w.tenant(), is.Rev, o, by, time.Now()))
	t.Cleanup(func() {
		expect.NoError(t, rows.RemoveOrganisation(context.Background(), w.tenant(), is.Rev+1, by, time.Now()))
	})
}

// underRules has all go round. Alex stands in for Suzuki.
func underRules(t *testing.T, w *world) {
	w.settled(t, func(*tenancy.Settings) {})
	w.organises(t)
	driver.Circulate(t, w.Stack, always)
	today := tenancy.DateOf(time.Now().In(tenancy.Zone()))
	send := func(of driver.T, form url.Values) {
		status, page := driver.SitDown(of, w.Stack, webapi.Suzuki).Post("/console/stand-ins", form)
		expect.Must(of, status == http.StatusSeeOther, "%v: %d %s", form, status, page)
	}
	send(t, url.Values{"act": {"set"}, "hand": {webapi.Alex}, "from": {today.String()}, "until": {(today + 1).String()}})
	t.Cleanup(func() {
		expect.NoError(t, driver.Try(context.Background(), func(of driver.T) {
			send(of, url.Values{"act": {"end"}, "key": {webapi.Alex + "#" + webapi.Suzuki + "#" + today.String()}})
		}))
	})
}

// marksAmount says for a test that a column of what a tool writes is an amount.
func (w *world) marksAmount(t *testing.T, name, pointer string) {
	t.Helper()
	rows := store.NewTasks(w.db, w.TableName)
	spec, _ := expect.Value(tool.Builtin())(t).Lookup(name)
	save := func(m *rules.Mark) {
		p, known, err := rows.ToolPermission(context.Background(), w.tenant(), name)
		expect.NoError(t, err)
		if !known {
			p = tenancy.Unsaved(w.tenant(), name)
		}
		p.Mark = m
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: webapi.Suzuki}
		expect.Value(rows.SaveToolPermission(context.Background(), p, by, time.Now()))(t)
	}
	save(&rules.Mark{Version: spec.Version(), How: rules.HowSum, Pointers: []string{pointer}, Currency: "JPY"})
	t.Cleanup(func() { save(nil) })
}

// route is sent back by the second stage, and then stamped by both.
func route(p *play) {
	const first, second = driver.ProcessCard, "CARD#process#0002"
	p.asks(staff)
	p.approvesPolicy()
	p.stamps(webapi.Suzuki, first, 1)
	p.Card(first, "👉 承認待ち: 経理")
	p.reject(webapi.Tanaka, first, "reject_process", "データの検証を追加して")
	p.stamps(webapi.Alex, second, 1)
	p.stamps(webapi.Tanaka, second, 2) // nobody else is left to ask: Alex stands in a stamp by now
	p.untilCompleted()
}

// routeSeen checks that all that people see of a request says the same: card, page and register name each stage and
// hand, and the log has each act once.
func routeSeen(t *testing.T, p *play) {
	a := p.Load()
	x, number := a.Process(), a.Head.Glance.Number
	st := circulation.Walk(x.Circulating())
	expect.Must(t, x.Version == 2 && st.Settled && number != "" && x.ApprovedHash == task.Hash(x.Steps) &&
		len(x.Acts) == 2 && x.Acts[0].Principal.User == webapi.Suzuki && x.Acts[0].Found.Delegation != nil,
		"version %d is %s with %+v", x.Version, x.Status, x.Acts)
	desk := driver.SitDown(t, p.Stack, webapi.Suzuki)
	get := func(path string) string {
		status, page := desk.Get(path)
		expect.Must(t, status == http.StatusOK, "%s: %d", path, status)
		return strings.ReplaceAll(html.UnescapeString(page), "\u00a0", " ") // within names
	}
	shown := map[string]string{"card": driver.Face(p.Card("CARD#process#0002", number)),
		"page": get("/console/tasks/" + p.Ref.ID)}
	file := csv.NewReader(strings.NewReader(strings.TrimPrefix(
		get("/console/audit/register.csv?year="+number[:4]), "\ufeff")))
	file.FieldsPerRecord = -1
	for _, row := range expect.Value(file.ReadAll())(t) {
		if slices.Contains(row, number) {
			shown["register"] = strings.Join(row, "\n")
		}
	}
	says := map[string][]string{"card": {number}, "page": {number, "(鈴木 一郎さんの代理)"},
		"register": {number, "さんの代理)"}}
	for _, stage := range st.Stages {
		for _, act := range stage.Stamps {
			for where := range says {
				who := expect.Value(p.Sandbox.Workspace.User(act.Hand.User))(t).Name
				if where == "card" {
					who = "<@" + act.Hand.User + ">"
				}
				says[where] = append(says[where], stage.Name, who)
			}
		}
	}
	for where, all := range says {
		for _, text := range all {
			expect.Has(t, shown[where], text, "the %s", where)
		}
	}
	acts, entries := 0, 0
	for _, x := range a.Processes {
		acts += len(x.Acts)
	}
	for _, e := range p.AuditRows() {
		if strings.HasPrefix(string(e.Action), "process.") && strings.Contains(string(e.Details), `"acts_hash":`) {
			entries++
		}
	}
	expect.Is(t, entries, acts, "entries of acts")
}

// stepsRoute has a step go round by another rule than the steps did: what it writes comes from a result.
func stepsRoute(p *play) {
	const step = "CARD#step#0001#001#04"
	p.asks(month)
	p.approvesPolicy()
	p.stamps(webapi.Suzuki, driver.ProcessCard, 1)
	p.stamps(webapi.Tanaka, driver.ProcessCard, 2) // who, with the stamp before, is as many as that stage needs
	both := func(step string) {
		p.stamps(webapi.Tanaka, step, 1)
		p.stamps(webapi.Alex, step, 2)
	}
	both(step)
	p.again = func() { // another try asks about the step anew
		next := fmt.Sprintf("CARD#step#0001#%03d#04", 1+p.asked)
		row, _ := gateOf(next)
		if g := p.Load().GateAt(row); g != nil && g.Status == aggregate.PendingApproval {
			both(next)
		}
	}
	p.untilCompleted()
}

// filledInAgain is a form that the second stage sends back, and that its asker fills in again.
func filledInAgain(p *play) {
	p.asksByForm()
	p.stamps(webapi.Suzuki, driver.TaskCard, 1)
	p.Card(driver.TaskCard, "👉 承認待ち: 経理")
	p.fills(webapi.Tanaka, driver.TaskCard, "reject_process", map[string]any{card.ReasonBlock: "賃借にしてください"})
	p.Card(driver.TaskCard, "差し戻し: 依頼者の書き直し待ち")
	p.fills(webapi.Sato, driver.TaskCard, "refill_process", map[string]any{"amount": "90万"})
	p.stamps(webapi.Suzuki, driver.TaskCard, 1)
	p.stamps(webapi.Tanaka, driver.TaskCard, 2)
	p.untilNumbered()
}

// stamps presses a card's button until its row has this many acts. Like a person, it waits for a while until what
// happened before is shown, and presses again when nothing happens.
func (p *play) stamps(user, key string, acts int) {
	row, kind := gateOf(key)
	ts := p.Card(key, "approve_"+kind).TS
	given := func() bool {
		a := p.Load()
		if row == "" {
			row = a.Process().Key()
		}
		g := a.GateAt(row)
		return g != nil && len(g.Acts) >= acts
	}
	p.Eventually(fmt.Sprintf("act %d on %s", acts, key), func() bool {
		if expect.Holds(p.t.Context(), 3*time.Second, p.Poll, p.shown); given() {
			return true
		}
		_ = p.Sandbox.Click(user, p.Channel, ts, "approve_"+kind)
		return expect.Holds(p.t.Context(), 3*time.Second, p.Poll, given)
	})
}

// gateOf returns the key of the row that a card of steps or of a step is of, and the kind that its buttons name. A
// form's card is of its newest version.
func gateOf(key string) (row, kind string) {
	if step, ok := strings.CutPrefix(key, "CARD#step"); ok {
		return "GATE" + step, "step"
	}
	if key == driver.TaskCard {
		return "", "process"
	}
	return strings.Replace(key, "CARD#process", "PROCESS", 1), "process"
}
