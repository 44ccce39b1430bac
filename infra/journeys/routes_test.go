package journeys

import (
	"context"
	"encoding/json"
	"fmt"
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
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
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
	o, wrong := rules.ReadOrganisation([]byte(file))
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
