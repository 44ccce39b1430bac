package rules_test

import (
	"net/http"
	"net/url"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

func TestStandInsInAnOrganisation(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"are employees who are other people":                        testOrganised,
		"are ended by the hand with another account of theirs":      testOtherAccount,
		"that were set before it stood are shown as no longer used": testVoid,
		"are no administrator's of whom is asked for their request": testParty,
	})
}

// company is the sandbox's workspace as a company. Tanaka has left.
const company = `employee_number,name,email,department_code,parent_department,position,rank,employment,valid_to
1,鈴木 一郎,suzuki@example.com,HQ,,社長,1,employee,
2,田中 恵,tanaka@example.com,SALES,HQ,部長,2,employee,2026-01-31
3,佐藤 花子,sato@example.com,SALES,HQ,,,employee,
4,Alex Kim,alex.kim@example.com,SALES,HQ,,,contractor,
`

// organise has an organisation stand, whose people have these accounts.
func organise(w *consoletest.World, accounts map[string]string) {
	w.T.Helper()
	o := expect.Value(organisation.Read([]byte(company)))(w.T)
	m := o.Match(nil, organisation.DateOf(w.Now().In(tenancy.Zone())))
	for user, number := range accounts {
		m.Accounts[number] = append(m.Accounts[number], organisation.Matched{ID: user})
	}
	was := expect.Value(w.Console.Organisations.OrganisationRow(w.T.Context(), w.Tenant.ID))(w.T)
	err := w.Console.Organisations.Save(w.T.Context(), w.Tenant.ID, was.Rev, o, m.Kept(), w.By, w.Now())
	expect.NoError(w.T, err)
}

func testOtherAccount(t *testing.T, w *consoletest.World) {
	organise(w, map[string]string{webapi.Suzuki: "1", webapi.Sato: "3", webapi.Alex: "3"})
	w.As(webapi.Suzuki).Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	sato := w.As(webapi.Sato)
	sato.Get(address).Says(t, http.StatusOK, "終える")
	sato.Post(address, url.Values{"act": {"end"}, "key": {"3#1#" + day(w, 0)}}).Leads(t, address+"?done=stand_in_ended")
}

func testOrganised(t *testing.T, w *consoletest.World) {
	organise(w, map[string]string{webapi.Suzuki: "1", webapi.Tanaka: "2", webapi.Sato: "3"})
	admin, sato := w.As(webapi.Suzuki), w.As(webapi.Sato)
	sato.Post(address, form(w, "", webapi.Alex)).Says(t, http.StatusUnprocessableEntity, "社員として在籍していない")
	sato.Post(address, form(w, "", webapi.Tanaka)).Says(t, http.StatusUnprocessableEntity, "社員として在籍していない")
	admin.Post(address, form(w, webapi.Alex, webapi.Sato)).Says(t, http.StatusUnprocessableEntity, "登録がありません")
	sato.Post(address, form(w, "", webapi.Suzuki)).Leads(t, address+"?done=stand_in_set")
	d := expect.Value(w.Store.Of.Delegations(t.Context(), w.Tenant.ID))(t)
	expect.Must(t, len(d) == 1, "%+v", d)
	expect.That(t, d[0].Key() == "1#3#"+day(w, 0) && d[0].Channel != "" && d[0].Team == w.Tenant.TeamID, "%+v", d[0])
	sato.Get(address).Says(t, http.StatusOK, "鈴木 一郎", "代理中", "終える")
	sato.Post(address, url.Values{"act": {"end"}, "key": {d[0].Key()}}).Leads(t, address+"?done=stand_in_ended")

	w.Later(time.Second)
	organise(w, map[string]string{webapi.Suzuki: "1", webapi.Sato: "3", webapi.Alex: "3"})
	sato.Post(address, form(w, "", webapi.Alex)).Says(t, http.StatusUnprocessableEntity, "不在の本人")
	sato.Post(address, form(w, "", webapi.Suzuki)).Leads(t, address+"?done=stand_in_set")
	w.As(webapi.Alex).Get(address).Says(t, http.StatusOK, "終える") // with another account
}

func testVoid(t *testing.T, w *consoletest.World) {
	sato := w.As(webapi.Sato)
	sato.Post(address, form(w, "", webapi.Suzuki)).Leads(t, address+"?done=stand_in_set")
	organise(w, map[string]string{webapi.Suzuki: "1", webapi.Sato: "3"})
	sato.Get(address).Says(t, http.StatusOK, "無効", "終える").Lacks(t, "代理中")
}

// Suzuki asks, and Tanaka owes a stamp.
func testParty(t *testing.T, w *consoletest.World) {
	w.Ask()
	o := pipelinetest.Along([]string{webapi.Sato, webapi.Suzuki}, 1, pipelinetest.Desk("課長", 1, webapi.Tanaka))
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`))
	w.Owe(1, webapi.Tanaka)
	admin := w.As(webapi.Suzuki)
	admin.Post(address, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusUnprocessableEntity, "あなた自身の依頼")
	w.As(webapi.Tanaka).Post(address, form(w, "", webapi.Alex)).Leads(t, address+"?done=stand_in_set")
	admin.Post(address, form(w, webapi.Sato, webapi.Alex)).Leads(t, address+"?done=stand_in_set")
}
