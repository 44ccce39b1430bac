package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// replanned plans what an asker made of the policy of a request, with the first write's arguments and what is missing.
func replanned(t *testing.T, request string, edit func(string) string) (write string, missing []string) {
	t.Helper()
	all := allowed(t)
	_, policy, _ := planFor(t, request)
	edited := edit(policy)
	expect.That(t, edited != policy, "nothing is edited in\n%s", policy)
	b := expect.Value(json.Marshal(map[string]any{"message": request, "now": written, "locale": "ja",
		"requester": all.Requester, "tools": all.Tools, "policy": edited, "policy_before_edit": policy}))(t)
	var out struct {
		Steps   []planned
		Missing []struct{ What, Why string }
	}
	answer := expect.Value(Answer(Question{Purpose: "plan", Try: 1, Text: "<data>" + string(b) + "</data>"}))(t)
	expect.NoError(t, json.Unmarshal([]byte(answer), &out))
	for _, m := range out.Missing {
		expect.Is(t, m.Why, "unclear")
		missing = append(missing, m.What)
	}
	expect.That(t, (len(missing) == 0) == (len(out.Steps) > 0), "%s", answer)
	for _, s := range out.Steps {
		if s.Tool == placeOrder || s.Tool == "send_slack_dm" {
			return s.ToolInput, missing
		}
	}
	return "", missing
}

const twoPCs, twoPCsInEnglish = "取引先アクメに PC 2台 298,000円を発注して", "Order 2 PCs from Acme at 149,000 yen each"

// What an asker made of the policy is what is planned, whatever the request says.
func TestThePlanFollowsThePolicyAsItWasEdited(t *testing.T) {
	for _, x := range []struct{ request, was, is, says string }{
		{twoPCs, "数量: 2|合計: ¥298,000", "数量: 3|合計: ¥447,000", `"quantity":3,"unit_price":149000`},
		{twoPCs, "数量: 2|合計: ¥298,000", "数量: 3台|合計: 447,000円", `"quantity":3,"unit_price":149000`},
		{twoPCs, "単価: ¥149,000|合計: ¥298,000", "単価: 140,000|合計: 280,000", `"quantity":2,"unit_price":140000`},
		{twoPCs, "「PC」", "「ノート PC」", `"name":"ノート PC","quantity":2`},
		{twoPCsInEnglish, "Quantity: 2|Total: ¥298,000", "Quantity: 3 PCs|Total: ¥447,000",
			`"quantity":3,"unit_price":149000`},
		{"<@U0SANDSUZU> に「明日は休みます」と送って", "明日は休みます", "明日は\n休みです", `"text":"明日は\n休みです"`},
	} {
		t.Run(x.is, func(t *testing.T) {
			write, missing := replanned(t, x.request, func(policy string) string {
				for i, was := range strings.Split(x.was, "|") {
					policy = strings.Replace(policy, was, strings.Split(x.is, "|")[i], 1)
				}
				return policy
			})
			expect.That(t, len(missing) == 0, "%q", missing)
			expect.Has(t, write, x.says)
		})
	}
}

// An edit that the demo doesn't understand, or that contradicts the rest, is named, and nothing is planned.
func TestAnEditOfThePolicyThatCannotBeFollowedIsNamed(t *testing.T) {
	for _, x := range []struct{ request, was, is, says string }{
		{twoPCs, "数量: 2", "数量: 3", "数量 3 × 単価 ¥149,000 = 合計 ¥298,000"},
		{twoPCs, "数量: 2", "数量: 三台", "数量: 三台"},
		{twoPCs, "数量: 2", "数量: 2\n数量: 3", "数量: 3"},
		{twoPCs, "数量: 2\n", "", "数量: 2 (削除)"},
		{twoPCs, "数量: 2", "数量: 20000", "数量: 20000"},
		{twoPCs, "数量: 2", "数量: 2 モニター", "数量: 2 モニター"},
		{twoPCs, "通貨: JPY", "通貨: USD", "通貨: USD"},
		{twoPCs, "通貨: JPY", "通貨: JPY\n納期: 来月末", "納期: 来月末"},
		{twoPCsInEnglish, "Quantity: 2", "Quantity: 3", "3 × ¥149,000 = ¥298,000"},
		{twoPCsInEnglish, "“Acme”", "“Globex”", "Purpose: order from the supplier “Globex”."},
		{"10月の勤怠", "2026年10月", "2026年9月", "目的: 2026年9月の勤怠"},
	} {
		t.Run(x.is, func(t *testing.T) {
			write, missing := replanned(t, x.request, func(policy string) string {
				return strings.Replace(policy, x.was, x.is, 1)
			})
			expect.Is(t, write, "")
			expect.Has(t, strings.Join(missing, "|"), x.says)
		})
	}
}
