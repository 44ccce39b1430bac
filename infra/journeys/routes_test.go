package journeys

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/stack"
	"ringi/infra/local/vendors"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

// under saves rules for a test, and ends them after it.
func under(t *testing.T, s *stack.Stack, all ...rules.Rule) {
	t.Helper()
	driver.Circulate(t, s, all...)
}

func desk(name string, need int, users ...string) rules.Stage {
	return rules.Stage{Name: name, Need: need, Who: rules.Who{People: users}}
}

func threeStages() rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000A", Name: "10万円以上の外部書き込み",
		Conditions: rules.Conditions{From: "100000", Currency: "JPY"},
		Outcome: rules.Outcome{Stages: []rules.Stage{
			desk("課長", 1, webapi.Suzuki), desk("経理", 2, webapi.Suzuki, webapi.Tanaka, webapi.Alex),
			desk("部長", 1, webapi.Alex),
		}},
	}
}

func anyStage() rules.Rule {
	return rules.Rule{ID: "01KS000000000000000000000B", Name: "そのほかの外部書き込み",
		Outcome: rules.Outcome{Stages: []rules.Stage{desk("課長", 1, webapi.Tanaka)}}}
}

// Three stages, one after the other; whoever stamped counts at a later one, too, and isn't asked there.
func TestAnOrderGoesRoundThreeStages(t *testing.T) {
	s := start(t)
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	expect.NoError(t, driver.ConnectOrdering(t.Context(), s, tenant))
	t.Cleanup(func() {
		expect.NoError(t, driver.MCPAdmin(s).Forbid(context.Background(), tenant, vendors.PlaceOrder, administrator))
	})
	under(t, s, threeStages(), anyStage())
	d := driver.Ask(t, s, webapi.Sato, "取引先アクメに、PC 3台 447,000円を発注してください")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	const process = "CARD#process#0001"
	d.Card(process, "回覧 🔵 課長 → ⬜ 経理 (2 人のうち 1 人の承認が必要) → ⬜ 部長")
	d.Click(webapi.Tanaka, process, "approve_process")
	expect.Has(t, strings.Join(d.Told(webapi.Tanaka), "\n"), "いまは 課長", "Tanaka is told")
	before := s.Vendors.Calls(vendors.PlaceOrder)
	for i, who := range []string{webapi.Suzuki, webapi.Tanaka, webapi.Alex} {
		d.Card(process, fmt.Sprintf("👉 いま: %s", []string{"課長", "経理", "部長"}[i]))
		d.Click(who, process, "approve_process")
		d.Until("the stamp counts", func(a *task.Aggregate) bool { return len(a.Process().Acts) == i+1 })
	}
	d.Card("CARD#execution", "✅ 実行完了")
	d.Card(process, "回覧済み")
	expect.Is(t, s.Vendors.Calls(vendors.PlaceOrder)-before, 1, "orders")

	small := driver.Ask(t, s, webapi.Sato, "取引先アクメに、マウス 1個 2,000円を発注してください")
	small.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	small.Card(process, "ルール「そのほかの外部書き込み」")
	small.Reject(webapi.Tanaka, process, "reject_process", "まだ要りません")
	small.Card("CARD#process#0002", "2 回目の回覧")
}

// The organisation finds the requester's superior, and for a post that nobody holds who stands over it. The sandbox
// lists what waits for whom, in the channel or not.
func TestAnOrganisationFindsWhoIsAsked(t *testing.T) {
	s := start(t)
	tenant := aggregate.TenantID(s.Sandbox.TeamID())
	organise(t, s, tenant, "suzuki@example.com,人事部,部長,はい\ntanaka@example.com,人事部,課長\n"+
		"sato@example.com,人事部,,,tanaka@example.com\nalex.kim@example.com,人事部\nyamada@example.com,営業部,係長\n")
	vacant := rules.Stage{Name: "係長", Need: 1, Who: rules.Who{Position: "係長"}}
	above := rules.Stage{Name: "上長", Need: 1, Who: rules.Who{Superior: 1}}
	under(t, s, rules.Rule{ID: "01KS000000000000000000000E", Name: "上長から",
		Outcome: rules.Outcome{Stages: []rules.Stage{vacant, above, desk("確認", 1, webapi.Alex)}}})
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	const process = "CARD#process#0001"
	for _, at := range []struct{ stage, who string }{{"係長", webapi.Suzuki}, {"上長", webapi.Tanaka}, {"確認", webapi.Alex}} {
		d.Card(process, "👉 いま: "+at.stage)
		d.Eventually("it waits for "+at.who+" alone", func() bool {
			for _, who := range []string{webapi.Tanaka, webapi.Suzuki, webapi.Alex} {
				if waits(t, s, who, d.Ref.ID) != (who == at.who) {
					return false
				}
			}
			return true
		})
		d.Click(at.who, process, "approve_process")
	}
	d.Card("CARD#execution", "✅ 実行完了")
}

// organise has an organisation stand for a test.
func organise(t *testing.T, s *stack.Stack, tenant, rows string) {
	t.Helper()
	stands(t, s, tenant, "メール,部署,役職,部署の長,上長\n"+rows)
}

// stands has an organisation of a whole file stand for a test.
func stands(t *testing.T, s *stack.Stack, tenant, file string) {
	t.Helper()
	o, wrong := organisation.Read([]byte(file))
	expect.NoError(t, wrong.Err())
	store := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	is := expect.Value(store.Organisation(t.Context(), tenant))(t)
	expect.NoError(t, store.SaveOrganisation(t.Context(), tenant, is.Rev, o, administrator, time.Now()))
	t.Cleanup(func() {
		expect.NoError(t, store.RemoveOrganisation(context.Background(), tenant, is.Rev+1, administrator, time.Now()))
	})
}

// waits reports whether a person's direct messages have the steps of a request with a button to stamp.
func waits(t *testing.T, s *stack.Stack, user, id string) bool {
	t.Helper()
	return slices.ContainsFunc(s.Sandbox.Messages(webapi.DirectMessage(user), ""), func(m webapi.Message) bool {
		text := string(expect.Value(json.Marshal(m))(t))
		return strings.Contains(text, id) && strings.Contains(text, `"approve_process"`)
	})
}

// Suzuki names Alex, who is not in the channel, as a stand-in. Alex is told, and stamps at the console.
func TestAStandInStampsAtTheConsole(t *testing.T) {
	s := start(t)
	organise(t, s, aggregate.TenantID(s.Sandbox.TeamID()), "suzuki@example.com,人事部,部長,はい\n"+
		"sato@example.com,人事部\nalex.kim@example.com,人事部\n")
	under(t, s, rules.Rule{ID: "01KS000000000000000000000D", Name: "課長だけ",
		Outcome: rules.Outcome{Stages: []rules.Stage{desk("課長", 1, webapi.Suzuki)}}})
	d := driver.Ask(t, s, webapi.Sato, "従業員一覧を取得して")
	d.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	d.Card("CARD#process#0001", "👉 いま: 課長")
	today := tenancy.DateOf(time.Now().In(tenancy.Zone())).String()
	status, page := driver.SitDown(t, s, webapi.Suzuki).Post("/console/stand-ins", url.Values{"act": {"set"},
		"hand": {webapi.Alex}, "from": {today}, "until": {today}})
	expect.Must(t, status == http.StatusSeeOther, "%d: %s", status, page)
	rows := store.NewTasks(dynamodb.NewFromConfig(s.AWS), s.TableName)
	t.Cleanup(func() {
		for _, away := range expect.Value(rows.Delegations(context.Background(), d.Ref.Tenant))(t) {
			_, err := rows.EndDelegation(context.Background(), away,
				tenancy.Setter{Actor: administrator, Admin: true}, time.Now(), nil)
			expect.NoError(t, err)
		}
	})
	expect.Eventually(t, "Alex is told", func() bool {
		return slices.ContainsFunc(s.Sandbox.Messages(webapi.DirectMessage(webapi.Alex), ""), func(m webapi.Message) bool {
			// Alex's Slack is in English
			return m.User == webapi.Bot && strings.Contains(m.Text, "you stamp what rules send round")
		})
	})
	p := d.Load().Process()
	status, page = driver.SitDown(t, s, webapi.Alex).Post("/console/tasks/"+d.Ref.ID+"/act", url.Values{
		"act": {"approve"}, "kind": {"process"}, "id": {p.ID}, "hash": {task.Hash(p.Steps)}, "stage": {"1"},
	})
	expect.That(t, status == http.StatusSeeOther, "%d: %s", status, page)
	d.Card("CARD#execution", "✅ 実行完了")
	act := d.Load().Process().Acts[0]
	expect.That(t, act.Principal.User == webapi.Suzuki && act.Found.Delegation != nil, "%+v", act)
}

func TestStepsArePlannedWithinConstraints(t *testing.T) {
	s := start(t)
	expect.NoError(t, driver.Rule(t, s, "list_employees", `{"departments":["人事部"]}`))
	d := driver.Ask(t, s, webapi.Sato, "人事部の今月の勤怠をまとめて")
	d.Approve(webapi.Suzuki)
	d.Card("CARD#execution", "従業員 11 名を確認しました。")
	a := d.Load()
	expect.That(t, strings.Contains(string(a.Process().Steps[0].ToolInput), "人事部") &&
		a.Execution().Status == task.ExecutionCompleted, "planned %s", a.Process().Steps[0].ToolInput)
	other := driver.Ask(t, s, webapi.Sato, "営業部の今月の勤怠をまとめて")
	other.Click(webapi.Suzuki, "CARD#prompt#0001", "approve_prompt")
	other.Card("CARD#process#0001", "「従業員一覧を取得」は、管理者が許可した範囲の外です (対象の部署: 人事部)。")
	if a := other.Load(); len(a.Process().Steps) != 0 {
		t.Errorf("another department was planned: %s", a.Process().Steps[0].ToolInput)
	}
	err := driver.Rule(t, s, "send_slack_dm", `{"recipients":["#general"]}`)
	field := (aggregate.Problem{})
	expect.That(t, errors.As(err, &field) && field.Field == "constraints.recipients[0]" &&
		strings.Contains(field.Code, "Slack user id"), "a wrong constraint: %v", err)
}
