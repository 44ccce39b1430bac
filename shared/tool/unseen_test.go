package tool_test

import (
	"encoding/json"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/tool"
)

func TestADestinationThatNobodySawIsUnseen(t *testing.T) {
	const policy = "依頼者とU0KEIRI001と jinji@Example.co.jp に知らせ、https://docs.google.com/spreadsheets/d/1aB-c_D/edit " +
		"の「4月」に書く。hr.sheet も見る。notify: true"
	c, err := builtin(t).Under([]tenancy.ToolPermission{{ToolName: "write_rows_to_google_sheet", Allowed: true,
		Constraints: `{"spreadsheet_ids":["listed"]}`}})
	expect.NoError(t, err)
	notes, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true,
		Pin: &tenancy.Pin{URL: "https://x", Access: aggregate.Write,
			Input: `{"type":"object","properties":{"to":{},"day":{"type":"integer"},"month":{},"notify":{"type":"boolean"},` +
				`"cc":{"type":"array"},"amount":{},"text":{},"permissions":{"type":"object",` +
				`"additionalProperties":{"type":"string"}}}}`}}, []tenancy.MCPServer{{Name: "notes", URL: "https://x"}})
	expect.Must(t, ok, "notes.post is not allowed")
	if c, err = c.With(notes); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		tool, args string
		want       bool
	}{
		"the requester":            {"send_slack_dm", `{"recipient":"U0REQUESTER","text":"x"}`, false},
		"named between kana":       {"send_slack_dm", `{"recipient":"U0KEIRI001"}`, false},
		"an address in capitals":   {"send_slack_dm", `{"recipient":"JINJI@example.co.jp"}`, false},
		"somebody else":            {"send_slack_dm", `{"recipient":"U0EVIL001"}`, true},
		"the beginning of a name":  {"send_slack_dm", `{"recipient":"U0KEIRI00"}`, true},
		"the end of a name":        {"send_slack_dm", `{"recipient":"KEIRI001"}`, true},
		"a shorter domain":         {"send_slack_dm", `{"recipient":"jinji@example.co"}`, true},
		"another first name":       {"send_slack_dm", `{"recipient":"a.jinji@example.co.jp"}`, true},
		"nothing":                  {"send_slack_dm", `{"recipient":" "}`, true},
		"a reference is Dynamic's": {"send_slack_dm", `{"recipient":{"$ref":"step-1.result.x"}}`, false},
		"a sheet by its address":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"1aB-c_D","sheet":"4月"}`, false},
		"a sheet that is listed":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"4月"}`, false},
		"a tab that no list has":   {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"5月"}`, true},
		"a part of a dotted name":  {"write_rows_to_google_sheet", `{"spreadsheet_id":"listed","sheet":"sheet"}`, true},
		"a read":                   {"list_employees", `{"department":"経理部"}`, false},
		"a server's, named": {"notes.post",
			`{"to":"hr.sheet","day":4,"notify":true,"cc":[{"$ref":"step-1.result.x"}]}`, false},
		"a server's, all named":    {"notes.post", `{"to":"hr.sheet","month":"4月","notify":true,"cc":["U0KEIRI001"]}`, false},
		"nobody, where all may be": {"notes.post", `{"to":"hr.sheet","cc":[]}`, true},
		"nothing, in a list":       {"notes.post", `{"cc":["U0KEIRI001",null]}`, true},
		"null":                     {"notes.post", `{"text":null}`, true},
		"an empty object":          {"notes.post", `{"permissions":{}}`, true},
		"a flag that nobody set":   {"notes.post", `{"notify":false}`, true},
		"a name as a member": {"notes.post", `{"permissions":{"mallory@evil.example":{"$ref":"step-1.result.x"}}}`,
			true},
		"a known name as a member": {"notes.post", `{"permissions":{"U0KEIRI001":{"$ref":"step-1.result.x"}}}`, false},
		"a server's, a number":     {"notes.post", `{"amount":40}`, true},
		"a server's, deep inside":  {"notes.post", `{"to":{"list":["U0EVIL001"]}}`, true},
	} {
		t.Run(name, func(t *testing.T) {
			a := expect.Value(tool.Parse(aggregate.JSON(test.args)))(t)
			s, _ := c.Lookup(test.tool)
			expect.Is(t, tool.Unseen(s, a, policy, "U0REQUESTER"), test.want)
		})
	}
}

// namedOrNot are values that a policy names, or only seems to name.
var namedOrNot = []struct {
	policy, value string
	named         bool
}{
	{"依頼者とU012に送る", `"U012"`, true},
	{"宛先: U012、U013", `"U013"`, true},
	{"<@U012> に送る", `"U012"`, true},
	{"宛先はU012です。", `"U012"`, true},
	{"U012,U013 に送る", `"U013"`, true},
	{"UＵ012 に送る", `"012"`, false},
	{"ΑU012 に送る", `"U012"`, false},
	{"U012ー3 に送る", `"U012"`, false},
	{"аdmin@x.example に送る", `"dmin@x.example"`, false},
	{"a\u200bdmin@x.example に送る", `"dmin@x.example"`, false},
	{"e\u0301b@x.example に送る", `"b@x.example"`, false},
	{"a!b@x.example に送る", `"b@x.example"`, false},
	{"a=b@x.example に送る", `"b@x.example"`, false},
	{"a+b@x.example に送る", `"b@x.example"`, false},
	{"a'b@x.example に送る", `"b@x.example"`, false},
	{"b@x.example.évil に送る", `"b@x.example"`, false},
	{"b@x.exampleé に送る", `"b@x.example"`, false},
	{"b@x.example‐evil に送る", `"b@x.example"`, false},
	{"(b@x.example) に送る。", `"b@x.example"`, true},
	{"Write to b@x.example.", `"B@X.example"`, true},
	{"sato@x.example に送る", `"ſato@x.example"`, false},
	{"kato@x.example に送る", `"\u212aato@x.example"`, false},
	{"İİİİ b@x.example に送る", `"b@x.example"`, true},
	{"1AbC/../../other に書く", `"other"`, false},
	{"hr-1/../../other-2 に書く", `"other-2"`, false},
	{"hr-1%2Fother-2 に書く", `"other-2"`, false},
	{"https://docs.google.com/spreadsheets/d/1aB-c_D/edit#gid=0 に書く", `"1aB-c_D"`, true},
	{"https://docs.google.com/spreadsheets/u/0/d/1aB-c_D に書く", `"1aB-c_D"`, true},
	{"https://docs.google.com/spreadsheets/d/1aB-c_D/../other-1/edit に書く", `"other-1"`, false},
	{"https://docs.google.com/spreadsheets/d/1aB-c_D/../../d/other-1/edit に書く", `"other-1"`, false},
	{"https://docs.google.com/spreadsheets/d/1aB-c_D/../other-1/edit に書く", `"1aB-c_D"`, false},
	{"https://evil.example/spreadsheets/d/1aB-c_D/edit に書く", `"1aB-c_D"`, false},
	{"「勤怠を集計」に書く", `"勤怠"`, false},
	{"勤怠を集計して書く", `"勤怠"`, false},
	{"「勤怠 2026-11」に書く", `"勤怠"`, false},
	{"タブ: 勤怠 2026-11", `"勤怠"`, false},
	{"「勤怠」に書く", `"勤怠"`, true},
	{"「勤怠 2026-11」に書く", `"勤怠 2026-11"`, true},
	{"タブ: 勤怠 2026-11\n次の行", `"勤怠 2026-11"`, true},
	{"- 勤怠 2026-11\n次の行", `"勤怠 2026-11"`, true},
	{"シート「勤怠・給与」に書く", `"給与"`, false},
	{"タブ: 勤怠(月次)", `"勤怠"`, false},
	{"Sum up attendance for the sheet", `"attendance"`, false},
	{"Write to “Attendance”.", `"Attendance"`, true},
	{"Write to “Attendance 2026”.", `"Attendance"`, false},
	{"2026年に書く", `"2026"`, false},
	{"4月の分", `4`, true},
	{"4万円", `4`, false},
	{"4,000 円", `4`, false},
	{"1,234 円", `234`, false},
	{"1,234 円", `1234`, true},
	{"単価: ¥1,234,567\n", `1234567`, true},
	{"1,234,567 円", `1234`, false},
	{"1,234,567 円", `234567`, false},
	{"1,234,56 円", `1234`, false},
	{"1,2345 円", `12345`, false},
	{"0,123 円", `123`, false},
	{"1,234.5 円", `1234`, false},
	{"1,234 万円", `1234`, false},
	{"−1,234 円", `1234`, false},
	{"U1,234 に送る", `1234`, false},
	{"4.5 時間", `4`, false},
	{"10:30 から", `30`, false},
	{"何もない", `""`, false},
	{"--- に書く", `"---"`, true},
	{"何もない", `" "`, false},
	{"v: true にする", `true`, true},
	{"v を true にする", `true`, false},
	{"nov: true", `true`, false},
	{"非v: true", `true`, false},
	{"v: なし", `[]`, true},
	{"v: なし", `{}`, true},
	{"「v」: null とする", `null`, true},
	{"宛先v: なし", `[]`, false},
	{"ⓐb@example.com に送る", `"b@example.com"`, false},
	{"🅰b@example.com に送る", `"b@example.com"`, false},
	{"a²b@example.com に送る", `"b@example.com"`, false},
	{"a·b@example.com に送る", `"b@example.com"`, false},
	{"山田b@example.com に送る", `"b@example.com"`, false},
	{"宛先はb@example.comです", `"b@example.com"`, true},
	{"b@example.co.会社 に送る", `"b@example.co"`, false},
	{"b@example.com。jp に送る", `"b@example.com"`, false},
	{"b@example.com｡jp に送る", `"b@example.com"`, false},
	{"宛先は b@example.com。件数を送る", `"b@example.com"`, true},
	{"https://日本.example.com/ に送る", `"example.com"`, false},
	{"1AbC/報告 に書く", `"1AbC"`, false},
	{"宛先:U012", `"U012"`, true},
	{"*宛先:*U012に", `"U012"`, true},
	{"宛先は*U012*に、`U013`に", `"U012"`, true},
	{"宛先は*U012*に、`U013`に", `"U013"`, true},
	{"a*b@example.com*", `"b@example.com"`, false},
	{"・U012\n●U013", `"U013"`, true},
	{"件数を送る。U012に", `"U012"`, true},
	{"4 万円", `4`, false},
	{"4 000 円", `4`, false},
	{"3万4000円", `4000`, false},
	{"4割", `4`, false},
	{"4⁵", `4`, false},
	{"4·5", `4`, false},
	{"¼4", `4`, false},
	{"④4", `4`, false},
	{"4 million yen", `4`, false},
	{"上限は 4 件", `4`, true},
	{"v: truest", `true`, false},
	{"1. 勤怠を取得します。\n2. 集計します。\n3. 会議室を予約します。", `3`, false},
	{"1) 勤怠\n2) 集計", `2`, false},
	{"### (2) 集計", `2`, false},
	{"Step 4: book", `4`, false},
	{"ステップ4で予約する", `4`, false},
	{"ステップ 2・4 は不要", `4`, false},
	{"skip steps 2 and 4", `4`, false},
	{"第4会議室", `4`, false},
	{"4番目の人", `4`, false},
	{"差額は −4 円", `4`, false},
	{"差額は –4 円", `4`, false},
	{"差額は − 4 円", `4`, false},
	{"件数 ≠ 4", `4`, false},
	{"≠4", `4`, false},
	{"4 × 3 行", `4`, false},
	{"4 k 円", `4`, false},
	{"4 M", `4`, false},
	{"4 ダース", `4`, false},
	{"4 (千円)", `4`, false},
	{"4 % 引き", `4`, false},
	{"4 / 5 点", `4`, false},
	{"- 4 名を招待する", `4`, true},
	{"件数 = 4", `4`, true},
	{"1. 4 名で予約する", `4`, true},
	{"人数: 4", `4`, true},
	{"人数は 4 (上限)。", `4`, true},
	{"| 4 |", `4`, true},
	{"Book 4 rooms", `4`, true},
	{"-4 円", `-4`, true},
}

func TestAPolicyNamesWholeWordsOnly(t *testing.T) {
	pin := tenancy.Pin{URL: "https://x", Access: aggregate.Write, Input: `{"type":"object","properties":{"v":{}}}`}
	spec, ok := tool.Pinned(tenancy.ToolPermission{ToolName: "notes.post", Allowed: true, Pin: &pin},
		[]tenancy.MCPServer{{Name: "notes", URL: "https://x"}})
	expect.Must(t, ok, "notes.post is not allowed")
	for _, test := range namedOrNot {
		a := expect.Value(tool.Parse(aggregate.JSON(`{"v":` + test.value + `}`)))(t)
		expect.Is(t, !tool.Unseen(spec, a, test.policy), test.named, "%q names %s", test.policy, test.value)
	}
}

// The addresses in a constraint are compared letter by letter. Only the case of A to Z does not matter.
func TestAConstraintTakesNoLookAlike(t *testing.T) {
	c := expect.Value(builtin(t).Under([]tenancy.ToolPermission{{ToolName: "send_slack_dm", Allowed: true,
		Constraints: `{"recipients":["sato@x.example"]}`}}))(t)
	s, _ := c.Lookup("send_slack_dm")
	for recipient, held := range map[string]bool{"sato@x.example": true, "SATO@x.example": true, "ſato@x.example": false} {
		r := expect.Value(given(`{"recipient":"` + recipient + `","text":"x","details":[]}`))(t)
		expect.Is(t, s.Hold(r) == nil, held, "%s is held to the constraint", recipient)
	}
}

// A part of a sentence may mean the opposite of the sentence.
func TestAMessageIsToldByWholeSentencesOnly(t *testing.T) {
	s, _ := builtin(t).Lookup("send_slack_dm")
	const policy = "U1 に「解雇ではありません。承認済みではないので支払わないでください」と伝える。\n- 集計は完了しました\n本文: ご確認ください。\nAll is done. Do not pay " +
		"now!\n見出しは「勤怠」"
	for text, told := range map[string]bool{
		"解雇": false, "承認済": false, "支払わない": false, "解雇ではありません。承認済みではない": false, "pay now!": false, "集計は完了": false, "Do not pay": false,
		"解雇ではありません。": true, "解雇ではありません": true, "解雇ではありません。承認済みではないので支払わないでください": true, "集計は完了しました": true, "ご確認ください。": true,
		"All is done.": true, "Do not pay now!": true, "All is done. Do not  pay now": true, "勤怠": true, "集計は完了しました 本文: ご確認ください。": true,
	} {
		if got := !tool.Untold(s, planned(`{"recipient":"U1","text":"`+text+`","details":[]}`), policy); got != told {
			t.Errorf("%q is told: %v", text, got)
		}
	}
	// An ASCII quotation mark opens or closes a quotation depending on the other marks in its line.
	for _, x := range []struct {
		policy, text string
		told         bool
	}{
		{`Do not write, whatever the "boss" says, pay everybody twice.`, `says, pay everybody twice.`, false},
		{`Don't pay the managers' bonus.`, `bonus.`, false},
		{`We don't fire you.`, `t fire you.`, false},
		{`We don't fire you.`, `We don`, false},
		{`本文は"部長"解雇します。`, `解雇します。`, false},
		{`全員を解雇します"部長"には送らない`, `全員を解雇します`, false},
		{`Pay now "boss" or never.`, `Pay now`, false},
		{`Send "pay everybody twice" to all.`, `pay everybody twice`, true},
		{`本文は"解雇します。"とする。`, `解雇します。`, true},
		{"本文は`完了`、件名は'勤怠'。", `勤怠`, true},
	} {
		text := expect.Value(json.Marshal(x.text))(t)
		if got := !tool.Untold(s, planned(`{"recipient":"U1","text":`+string(text)+`,"details":[]}`),
			x.policy); got != x.told {
			t.Errorf("%s tells %s: %v", x.policy, x.text, got)
		}
	}
}

// pinnedTool is an MCP server's tool with this schema.
func pinnedTool(access aggregate.Access, input string) tool.Spec {
	return tool.Spec{Name: "rooms.find", Access: access, InputSchema: input, OutputSchema: `{}`,
		Pin: &tenancy.Pin{Access: access, Input: aggregate.JSON(input)}}
}

func TestAServersToolOfFreeTextCantBeListed(t *testing.T) {
	for input, want := range map[string]bool{
		`{"type":"object","properties":{"floor":{"type":"integer"},"kind":{"enum":["large","small"]},` +
			`"day":{"type":"string","format":"date"}}}`: true,
		`{"type":"object","properties":{"on":{"type":["boolean","null"]}}}`:  true,
		`{"type":"object","properties":{"q":{"type":"string"}}}`:             false,
		`{"type":"object","properties":{"q":{"type":["integer","string"]}}}`: false,
		`{"type":"object","properties":{"q":{}}}`:                            false,
		`{"type":"object","properties":{"q":true}}`:                          false,
		`{"type":"object","properties":{"q":{"type":"array",` +
			`"items":{"type":"integer"}}}}`: false,
		`{"type":"object"}`: true,
		`true`:              false,
	} {
		expect.Is(t, tool.Listable(pinnedTool(aggregate.Read, input)), want, input)
		expect.Is(t, tool.Listable(pinnedTool(aggregate.Write, input)), false, input)
	}
	catalog := expect.Value(tool.Builtin())(t)
	for _, s := range catalog.All() {
		expect.Is(t, tool.Listable(s), s.Access == aggregate.Read, s.Name)
	}
}

func TestNothingInAListedReadIsComposed(t *testing.T) {
	const input = `{"type":"object","properties":{"kind":{"enum":["large","small"]},"n":{"type":"number"},` +
		`"day":{"type":"string"},"q":{"type":"string"},"list":{"type":"array"},"on":{"type":"boolean"}}}`
	s := pinnedTool(aggregate.Read, input)
	const said = "「営業部」の会議室を ROOM-12 で。予算は 30000 円"
	for arguments, want := range map[string]bool{
		`{"kind":"large"}`:              true,
		`{"kind":null,"on":true}`:       true,
		`{"n":12.5,"day":"2026-10-31"}`: true,
		`{"day":"2026-10"}`:             true,
		`{"day":"2026-13"}`:             false,
		`{"day":"2026-02-30"}`:          false,
		`{"n":1234567890123456}`:        false,
		`{"q":"営業部"}`:                   true,
		`{"q":"ROOM-12"}`:               true,
		`{"q":"営業"}`:                    false,
		`{"q":"secret"}`:                false,
		`{"q":""}`:                      false,
		`{"list":["営業部","ROOM-12"]}`:    true,
		`{"list":["営業部","secret"]}`:     false,
		`{"list":[]}`:                   false,
		`{"list":[1,2,3]}`:              false,
		`{"q":{"営業部":"ROOM-12"}}`:       false,
		`{"undeclared":1}`:              false,
		`{"undeclared":"営業部"}`:          false,
		`{}`:                            true,
	} {
		a := expect.Value(tool.Parse(aggregate.JSON(arguments)))(t)
		r := expect.Value(a.Resolve(nil))(t)
		expect.Is(t, tool.Plain(s, r, said), want, arguments)
	}
}

func TestWhatNobodyWroteIsAskedOfReads(t *testing.T) {
	s := pinnedTool(aggregate.Read, `{"type":"object","properties":{"q":{"type":"string"}}}`)
	a := expect.Value(tool.Parse(`{"q":"ROOM-12"}`))(t)
	expect.Is(t, tool.Unnamed(s, a, "ROOM-12 は?"), false)
	expect.Is(t, tool.Unnamed(s, a, "会議室は?"), true)
	expect.Is(t, tool.Unseen(s, a, "会議室は?"), false, "a step that reads")
}

func TestLiteralArgumentsFitTheToolAndItsLimits(t *testing.T) {
	catalog := expect.Value(tool.Builtin())(t)
	bound := expect.Value(catalog.Under([]tenancy.ToolPermission{{ToolName: "list_employees", Allowed: true,
		Constraints: `{"departments":["営業部"]}`}}))(t)
	for arguments, want := range map[string]string{
		`{"department":"営業部","status":"all"}`:                    "",
		`{"department":"人事部","status":"all"}`:                    "営業部",
		`{"department":"営業部"}`:                                   "status",
		`{"department":{"$ref":"step-1.result"},"status":"all"}`: "argument department: a $ref",
		`[]`: "must be an object",
	} {
		_, _, err := bound.Literal("list_employees", aggregate.JSON(arguments))
		expect.Is(t, err == nil, want == "", arguments)
		if err != nil {
			expect.Has(t, err.Error(), want)
		}
	}
}
