package demo

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

// The policy of an order names each value of the call, so that nobody is asked about it twice, and keeps its reference.
func TestThePolicyOfAnOrderNamesWhatIsCalled(t *testing.T) {
	spec := tool.Spec{Name: placeOrder, Access: aggregate.Write, Pin: &tenancy.Pin{}, InputSchema: `{"type":"object",
		"properties":{"supplier":{},"currency":{},"reference":{},"items":{"items":{"properties":{"name":{},"quantity":{},
		"unit_price":{}}}}}}`}
	for _, text := range []string{
		"取引先アクメに PC 2台 298,000円を発注して", "Order 2 PCs from Acme at 149,000 yen each",
	} {
		_, policy, steps := planFor(t, text)
		expect.Must(t, len(steps) == 2, "%s: %v", text, steps)
		expect.Is(t, steps[0].Tool, placeOrder)
		arguments := expect.Value(tool.Parse(aggregate.JSON(steps[0].ToolInput)))(t)
		expect.That(t, !tool.Unseen(spec, arguments, policy), "%s\ndoesn't name all of\n%s", policy, steps[0].ToolInput)
		expect.Has(t, policy, arguments.Text("reference"))
	}
}

// No date, condition, alternative or second item becomes a part of a name: 月末まで is no supplier.
func TestAnOrderThatSaysMoreIsNotPlaced(t *testing.T) {
	for _, text := range []string{"月末までにアクメに PC 3台 447,000円を発注して", "3営業日以内にアクメに PC 3台 447,000円を発注して",
		"今週中にアクメに PC 3台 447,000円を発注して", "Order 3 PCs from Acme by Friday at 149,000 yen each",
		"鈴木さんの確認後に、アクメに PC 2台 298,000円を発注して", "アクメではなくグローバルに PC 2台 298,000円を発注して",
		"アクメかグローバルに PC 2台 298,000円を発注して", "アクメまたはグローバルに PC 2台 298,000円を発注して",
		"アクメに PC 2台とマウス1個 300,000円を発注して", "在庫がなければアクメに PC 2台 298,000円を発注して",
		"Order 2 PCs from Acme or Globex at 149,000 yen each", "Order 2 PCs from Acme if approved at 149,000 yen each",
		"Order 2 PCs and 1 mouse from Acme at 149,000 yen each", "Order 2 to 3 PCs from Acme at 149,000 yen each",
		"上司の承認を得たうえでアクメにPC 2台 298,000円を発注して", "OKならアクメにPC 2台 298,000円を発注して", "すぐアクメにPC 2台 298,000円を発注して",
		"OK アクメに PC 2台 298,000円を発注して", "アクメに税込PC 2台 298,000円を発注して",
		"アクメに金曜着でPCを2台298,000円で発注して", "アクメに金曜着PCを2台298,000円で発注して", "アクメに税抜でPCを2台298,000円で発注して",
		"アクメに請求書払いでPCを2台298,000円で発注して", "アクメに月額でPCを2台298,000円で発注して", "アクメに至急PCを2台298,000円で発注して",
		"アクメに中古のPCを約2台298,000円で発注して", "アクメにPC約2台 298,000円を発注して", "アクメに「」を2台298,000円で発注して",
		"Order 2 PCs from Acme pending approval at 149,000 yen each",
		"Order 2 PCs from Acme provided it is in stock at 149,000 yen each",
		"Order 2 PCs from Acme on Friday at 149,000 yen each", "Order 2 PCs from Acme Friday at 149,000 yen each",
		"Order 2 PCs from Acme in two weeks at 149,000 yen each", "Order 2 PCs from Acme plus tax at 149,000 yen each",
		"Order 2 PCs a month from Acme at 149,000 yen each", "Order 2 PCs monthly from Acme at 149,000 yen each",
		"Order 2 PCs from Acme ASAP at 149,000 yen each", "Order 2 PCs from Acme for Sales at 149,000 yen each",
		"Order 2 PCs from Acme October at 149,000 yen each", "Order 2 PCs today from Acme at 149,000 yen each",
		"Order 2 hundred pens from Acme for 200 yen", "Order 2 more PCs from Acme at 149,000 yen each",
		"Order 2 PCs from stock at 149,000 yen each", "Order 2 PCs from Acme at 149,000 yen each for everyone",
		"Check order 2 PCs from Acme at 149,000 yen each",
		"Order 2 dozen pens from Acme for 200 yen", "Order 2 PCs from Acme after the audit at 149,000 yen each"} {
		r := understood(t, text)
		expect.That(t, r.Cannot() != "", "%s: ordered %+v", text, r.Order)
	}
}

// Without the tool an order is answered at once, and a reason that fits no order is said to be not understood.
func TestAnOrderNeedsItsTool(t *testing.T) {
	in := allowed(t)
	in.Message = "取引先アクメに PC 2台 298,000円を発注して"
	for _, tools := range [][]string{nil, {placeOrder + ": x. y"}} {
		in.More = tools
		b := expect.Value(json.Marshal(in))(t)
		answer := expect.Value(Answer(Question{Purpose: "extract", Try: 1, Text: "<data>" + string(b) + "</data>"}))(t)
		expect.Is(t, strings.Contains(answer, "rooms.place_order を許可"), tools == nil, "%s", answer)
	}
	policy, _ := carriedOut(t, in.Message, "10月にして")
	expect.Has(t, policy, "反映していません")
}
