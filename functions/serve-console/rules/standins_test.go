package rules_test

import (
	"context"
	"errors"
	"net/http"
	"net/url"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const address = "/console/stand-ins"

func TestStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"are set by people for themselves, who are both told":       testOwn,
		"are set and ended by administrators for others":            testForOthers,
		"end by who was named":                                      testNamed,
		"are refused with a sentence":                               testRefused,
		"are not set while Slack does not answer, but end":          testSilent,
		"of others are neither shown nor ended by members":          testOthers,
		"are not set for others by who was an administrator":        testFormerAdmin,
		"are no administrator's of whom is asked for their request": testParty,
		"have a form of who may be chosen":                          testForm,
	})
}

// day returns a day so many days from now.
func day(w *consoletest.World, n int) string {
	return (tenancy.DateOf(w.Now().In(tenancy.Zone())) + tenancy.Date(n)).String()
}

func form(w *consoletest.World, principal, hand string, change ...string) url.Values {
	f := url.Values{"act": {"set"}, "principal": {principal}, "hand": {hand}, "from": {day(w, 0)}, "until": {day(w, 9)}}
	for i := 0; i+1 < len(change); i += 2 {
		f.Set(change[i], change[i+1])
	}
	return f
}

// told returns how many notices somebody was sent of delegations, whether these were ended or not.
func told(w *consoletest.World, user string) (n int) {
	w.T.Helper()
	for _, d := range expect.Value(w.Store.KindStore.Delegations(w.T.Context(), w.Tenant.ID))(w.T) {
		open := d
		open.EndedAt = nil
		for _, x := range []tenancy.Delegation{d, open} {
			_, ref := task.TellStandIn(x, w.Tenant.TeamID, user, "", w.Now())
			if _, err := w.Store.Head(w.T.Context(), ref); err == nil && (d.EndedAt != nil || n == 0) {
				n++
			}
		}
	}
	return n
}

func testOwn(t *testing.T, w *consoletest.World) {
	tanaka := w.As(webapi.Tanaka)
	tanaka.Get(address).Says(t, http.StatusOK, "設定されている代理はありません")
	for range 2 { // pressed twice
		tanaka.Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	}
	tanaka.Get(address).Says(t, http.StatusOK, "Alex Kim", day(w, 0)+" – "+day(w, 9), "代理中", "終える")
	d := expect.Value(w.Store.KindStore.StandIns(t.Context(), w.Tenant.ID, webapi.Alex))(t)
	expect.That(t, len(d) == 1 && d[0].SetBy.User == webapi.Tanaka && d[0].Rev == 1, "%+v", d)
	expect.That(t, told(w, webapi.Alex) == 1 && told(w, webapi.Tanaka) == 1, "not both are told once")
	tanaka.Post(address, url.Values{"act": {"end"}, "key": {d[0].Key}}).Leads(t, address+"?done=stand_in_ended")
	tanaka.Get(address).Says(t, http.StatusOK, "設定されている代理はありません")
	expect.That(t, told(w, webapi.Alex) == 2 && told(w, webapi.Tanaka) == 2, "not both are told of the end")
}

// Who was named ends it, and both know.
func testNamed(t *testing.T, w *consoletest.World) {
	tanaka, alex := w.As(webapi.Tanaka), w.As(webapi.Alex)
	tanaka.Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	w.As(webapi.Sato).Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	key := webapi.Alex + "#" + webapi.Tanaka + "#" + day(w, 0)
	w.As(webapi.Sato).Post(address, url.Values{"act": {"end"}, "key": {key}}).Says(t, http.StatusNotFound)
	alex.Get(address).Says(t, http.StatusOK, "田中 恵", "終える")
	alex.Post(address, url.Values{"act": {"end"}, "key": {key}}).Leads(t, address+"?done=stand_in_ended")
	d := expect.Value(w.Store.KindStore.Delegation(t.Context(), tenancy.Delegation{TenantID: w.Tenant.ID,
		Hand: webapi.Alex, Principal: webapi.Tanaka, From: tenancy.DateOf(w.Now().In(tenancy.Zone()))}))(t)
	expect.That(t, d.EndedBy == webapi.Alex && d.Over(w.Now()), "%+v", d)
	for _, user := range []string{webapi.Alex, webapi.Tanaka} {
		_, ref := task.TellStandIn(d, w.Tenant.TeamID, user, "", w.Now())
		expect.Value(w.Store.Head(t.Context(), ref))(t)
	}
}

func testForOthers(t *testing.T, w *consoletest.World) {
	admin := w.As(webapi.Suzuki)
	admin.Post(address, form(w, webapi.Tanaka, webapi.Alex, "from", day(w, 3))).Leads(t, address+"?done=stand_in_set")
	admin.Get(address).Says(t, http.StatusOK, "田中 恵", "Alex Kim", "これから")
	w.As(webapi.Tanaka).Get(address).Says(t, http.StatusOK, "鈴木 一郎", "終える")
	key := webapi.Alex + "#" + webapi.Tanaka + "#" + day(w, 3)
	admin.Post(address, url.Values{"act": {"end"}, "key": {key}}).Leads(t, address+"?done=stand_in_ended")
	d := expect.Value(w.Store.KindStore.Delegations(t.Context(), w.Tenant.ID))(t)
	expect.That(t, len(d) == 1 && d[0].EndedBy == webapi.Suzuki, "%+v", d)
}

func testRefused(t *testing.T, w *consoletest.World) {
	member, admin := w.As(webapi.Tanaka), w.As(webapi.Suzuki)
	for name, tt := range map[string]struct {
		by   *consoletest.Browser
		form url.Values
		want string
	}{
		"of oneself":               {member, form(w, "", webapi.Tanaka), "不在の本人は代理になれません"},
		"of who sets it":           {admin, form(w, webapi.Tanaka, webapi.Suzuki), "その代理になれません"},
		"of a guest":               {member, form(w, "", webapi.Guest), "選べません"},
		"of a bot":                 {member, form(w, "", webapi.Bot), "選べません"},
		"of nobody":                {member, form(w, "", ""), "選んでください"},
		"of no day":                {member, form(w, "", webapi.Alex, "from", "tomorrow"), "日付を"},
		"of no last day":           {member, form(w, "", webapi.Alex, "until", ""), "日付を"},
		"from yesterday":           {member, form(w, "", webapi.Alex, "from", day(w, -1)), "今日以降"},
		"for 93 days":              {member, form(w, "", webapi.Alex, "until", day(w, 92)), "92 日以内"},
		"from more than a year on": {member, form(w, "", webapi.Alex, "from", day(w, 367), "until", day(w, 368)), "1 年以内"},
	} {
		t.Run(name, func(t *testing.T) { tt.by.Post(address, tt.form).Says(t, http.StatusUnprocessableEntity, tt.want) })
	}
	member.Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	member.Post(address, form(w, "", webapi.Alex, "until", day(w, 2))).Says(t, http.StatusUnprocessableEntity, "同じ二人")
	expect.Is(t, len(expect.Value(w.Store.KindStore.Delegations(t.Context(), w.Tenant.ID))(t)), 1, "rows")
}

type silent struct{}

func (silent) OpenDM(context.Context, string) (string, error) { return "", errors.New("no answer") }

func testSilent(t *testing.T, w *consoletest.World) {
	member, answers := w.As(webapi.Tanaka), w.Console.Messages
	member.Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	w.Console.Messages = silent{}
	member.Post(address, form(w, "", webapi.Sato)).Says(t, http.StatusServiceUnavailable)
	key := webapi.Alex + "#" + webapi.Tanaka + "#" + day(w, 0)
	member.Post(address, url.Values{"act": {"end"}, "key": {key}}).Leads(t, address+"?done=stand_in_ended")
	w.Console.Messages = answers
	expect.Is(t, len(expect.Value(w.Store.KindStore.Delegations(t.Context(), w.Tenant.ID))(t)), 1, "rows")
}

func testOthers(t *testing.T, w *consoletest.World) {
	w.As(webapi.Tanaka).Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	key := webapi.Alex + "#" + webapi.Tanaka + "#" + day(w, 0)
	sato := w.As(webapi.Sato)
	sato.Get(address).Says(t, http.StatusOK, "設定されている代理はありません")
	sato.Post(address, url.Values{"act": {"end"}, "key": {key}}).Says(t, http.StatusNotFound)
	sato.Post(address, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusForbidden)
	sato.Post(address, url.Values{"act": {"other"}}).Says(t, http.StatusBadRequest)
	d := expect.Value(w.Store.KindStore.Delegations(t.Context(), w.Tenant.ID))(t)
	expect.That(t, len(d) == 1 && d[0].EndedAt == nil, "%+v", d)
}

func testFormerAdmin(t *testing.T, w *consoletest.World) {
	admin := w.As(webapi.Suzuki)
	w.Administered(webapi.Sato)
	w.Later(time.Second)
	admin.Post(address, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusForbidden)
	expect.Is(t, len(expect.Value(w.Store.KindStore.Delegations(t.Context(), w.Tenant.ID))(t)), 0, "rows")
}

func testForm(t *testing.T, w *consoletest.World) {
	member := w.As(webapi.Tanaka).Get(address)
	member.Holds(t, `name="from"`, `name="until"`, `name="hand"`, webapi.Alex).Lacks(t, `name="principal"`,
		`value="`+webapi.Guest+`"`, `value="`+webapi.Bot+`"`)
	admin := w.As(webapi.Suzuki)
	admin.Get(address).Holds(t, `name="principal"`, `value="`+webapi.Tanaka+`"`)
	admin.In("en").Get(address).Says(t, http.StatusOK, "Away", "First day", "Last day", "Stamps instead")
}

// Suzuki asks, and Tanaka owes a stamp.
func testParty(t *testing.T, w *consoletest.World) {
	w.Ask()
	o := ringitest.Along([]string{webapi.Sato, webapi.Suzuki}, ringitest.Desk("課長", 1, webapi.Tanaka))
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, ringitest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	admin := w.As(webapi.Suzuki)
	admin.Post(address, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusUnprocessableEntity, "あなた自身の依頼")
	w.As(webapi.Tanaka).Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	admin.Post(address, form(w, webapi.Sato, webapi.Alex)).Leads(t, address+"?done=stand_in_set")
}
