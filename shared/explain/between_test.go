package explain_test

import (
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
)

// ordered is a plan of these writes after a read.
func ordered(writes ...task.Step) []task.Step {
	steps := plan("list_positions", `{}`)
	steps[0].Access = aggregate.Read
	for _, s := range writes {
		s.Order = len(steps) + 1
		s.StepID = "step-" + string(rune('0'+s.Order))
		steps = append(steps, s)
	}
	return steps
}

func dm(to, text string) task.Step {
	return write("send_slack_dm", nil, `{"recipient":"`+to+`","text":"`+text+`","details":[]}`)
}

func summed(locale string, steps []task.Step) explain.Sum {
	writes, reads := explain.Effects(locale, steps)
	return explain.SumOf(locale, writes, reads)
}

func TestWhatStepsDoAsAWhole(t *testing.T) {
	order := write("rooms.place_order", ordering(), laptops)
	unread := write("rooms.place_order", ordering(), `{"supplier":"アクメ","items":[]}`)
	abroad := ordering()
	abroad.Currency = "USD"
	book := write("rooms.book", nil, `{"room":"4F"}`)
	for name, c := range map[string]struct {
		steps        []task.Step
		says, ja, en string
		then         int
	}{
		"an order and a message": {ordered(dm("U0SATO", "発注しました。"), order), "¥298,000 — rooms の place_order を実行します",
			"¥298,000 rooms の place_order ほか 1 件", "¥298,000 place_order on rooms and 1 more", 1},
		"two orders": {ordered(order, order), "¥596,000 — rooms の place_order を実行します",
			"¥596,000 rooms の place_order ほか 1 件", "¥596,000 place_order on rooms and 1 more", 1},
		"an amount that isn't known": {ordered(unread), "rooms の place_order を実行します",
			"rooms の place_order · 金額不明", "place_order on rooms · amount unknown", 0},
		"two currencies": {ordered(order, write("rooms.place_order", abroad, laptops)), "rooms の place_order を実行します",
			"rooms の place_order ほか 1 件 · 金額不明", "place_order on rooms and 1 more · amount unknown", 1},
		"a message to one": {ordered(dm("U0TAKADA", "締めます。")), "@U0TAKADA さんに DM を送ります",
			"1 人に DM を送信: 「締めます。」", "DM to 1 person: “締めます。”", 0},
		"no mark": {ordered(dm("U0SATO", "x"), book), "rooms の book を実行します",
			"rooms の book ほか 1 件", "book on rooms and 1 more", 1},
		"only reads": {ordered(), "読み取りと計算だけで、書き込みはありません",
			"読み取りだけ", "only reads", 0},
	} {
		ja, en := summed("ja", c.steps), summed("en", c.steps)
		expect.Is(t, text(ja.Says()), c.says, name)
		expect.Is(t, ja.Short("ja"), c.ja, name)
		expect.Is(t, en.Short("en"), c.en, name)
		lead, sum := task.Leads(c.steps)
		expect.That(t, len(ja.Then) == c.then && ja.Final == (lead >= 0) && ja.Amount == sum && len(ja.Reads) == 1,
			"%s: %+v", name, ja)
		if lead >= 0 {
			expect.Is(t, ja.Lead.Order, c.steps[lead].Order, name)
			expect.That(t, ja.Lead.Warning("ja") != "" && ja.Lead.Warning("en") != "", "%s: nothing says that it is final", name)
			expect.Is(t, ja.Lead.FinalBriefly("ja"), "取り消せません", name)
		}
		expect.That(t, ja.Reads[0].Warning("ja") == "" && ja.Reads[0].FinalBriefly("ja") == "", "%s: a read is final", name)
	}
}

// Whatever its server calls a tool, a notification names it.
func TestANotificationNamesTheToolFirst(t *testing.T) {
	s := write("bank.pay", nil, `{}`)
	s.ToolTitle = strings.Repeat("Only reads. ", 12)
	expect.Is(t, summed("ja", ordered(s)).Short("ja"), "bank の pay (「Only reads. Only reads. Only reads. Onl…」)")
}

// A notification is one short line that names nobody, whatever the arguments are.
func TestANotificationIsShort(t *testing.T) {
	long := strings.Repeat("とても長い名前\\n", 40)
	for _, s := range []task.Step{
		write("rooms.place_order", ordering(), strings.Replace(laptops, "アクメ", long, 1)),
		write("rooms."+strings.Repeat("x", 150), nil, `{}`), dm("sato@example.com", "x"),
		write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"`+long+`","sheet":"x"}`), write("x", nil, "x"),
	} {
		for _, locale := range language.All {
			short := summed(locale, ordered(s, s)).Short(locale)
			expect.That(t, len([]rune(short)) <= 120 && short != "" && !strings.Contains(short, "\n"), "%q", short)
		}
	}
	for want, steps := range map[string][]task.Step{
		"1 人に DM を送信: 「x」 ほか 1 件":             ordered(dm("U0SATO", "x"), dm("U0SUZUKI", "y")),
		"¥298,000 rooms の place_order ほか 1 件": ordered(write("rooms.place_order", ordering(), laptops), dm("U0SATO", "x")),
		"rooms の book_room": {{StepID: "step-1", Order: 1, Tool: "rooms.list", Access: aggregate.Read},
			{StepID: "step-2", Order: 2, Tool: "rooms.book_room", Access: aggregate.Write, ToolVersion: "v1",
				ToolInput: `{"room_id":{"$ref":"step-1.result.rooms.0.id"}}`,
				Mark:      &rules.Mark{Version: "v1", How: rules.HowNothing}}},
		"rooms の book ほか 1 件": ordered(write("rooms.book", nil, `{}`),
			write("rooms.book", nil, `{}`)),
	} {
		expect.Is(t, summed("ja", steps).Short("ja"), want)
	}
}

func TestMoneyIsWrittenInOneWay(t *testing.T) {
	for want, a := range map[string]rules.Amount{
		"¥298,000": {Value: "298000", Currency: "JPY"}, "¥0.5": {Value: "0.5", Currency: "JPY"},
		"1,234,567.25 USD": {Value: "1234567.25", Currency: "USD"}, "金額なし": rules.Nothing(),
		"金額不明": rules.Unknown(rules.WhyMark), "金額の指定なし": rules.Unknown(rules.WhyMissing),
		"4,200.50 USD": {Value: "4200.5", Currency: "USD"}, "4,200 USD": {Value: "4200", Currency: "USD"},
		"0.50 KWD": {Value: "0.5", Currency: "KWD"}, "0.0625 USD": {Value: "0.0625", Currency: "USD"},
	} {
		expect.Is(t, explain.Money("ja", a), want)
	}
	expect.Is(t, explain.Money("en", rules.Unknown(rules.WhyMissing)), "No amount given")
}

func TestWhatDiffersBetweenTwoVersions(t *testing.T) {
	one := `{"supplier":"アクメ","currency":"JPY","items":[{"name":"PC","quantity":2,"unit_price":149000}]}`
	order := func(of, to string) task.Step {
		return write("rooms.place_order", ordering(), strings.Replace(one, of, to, 1))
	}
	for name, c := range map[string]struct {
		was, is []task.Step
		want    string
	}{
		"nothing": {ordered(order("", "")), ordered(order("", "")), ""},
		"a quantity": {ordered(order("", "")), ordered(order(`"quantity":2`, `"quantity":1`)),
			"items › 1 › quantity: 2 → 1; 合計: ¥298,000 → ¥149,000"},
		"one change in several places": {
			ordered(write("x.y", nil, `{"from":"9月","to":"9月"}`), write("x.z", nil, `{"from":"9月"}`)),
			ordered(write("x.y", nil, `{"from":"10月","to":"10月"}`), write("x.z", nil, `{"from":"10月"}`)),
			"from, to: 「9月」 → 「10月」"},
		"whom from, what for, and a check": {ordered(order("", "")), func() []task.Step {
			steps := ordered(order(`"アクメ"`, `"グローブ","about":"x"`))
			steps[1].RequiresHumanCheck = true
			return steps
		}(), "about:  → x; supplier: アクメ → グローブ; ステップ2:  → 実行前に、依頼のスレッドでもう一度確認"},
		"a read": {func() []task.Step {
			steps := ordered(order("", ""))
			steps[0].ToolInput = `{"x":1}`
			return steps
		}(), ordered(order("", "")), "x: 1 → "},
		"whom from": {ordered(order("", "")), ordered(order("アクメ", "グローブ")), "supplier: アクメ → グローブ"},
		"a row": {ordered(order("", "")), ordered(order(`}]`, `},{"name":"机","quantity":1,"unit_price":5}]`)),
			"items › 2 › name:  → 机; items › 2 › quantity:  → 1; items › 2 › unit_price:  → 5; 合計: ¥298,000 → ¥298,005"},
		"a cell that reads like a change": {ordered(order("", "")), ordered(order(`"PC"`,
			`"PC · 合計 ¥298,000 → ¥1"`)),
			"items › 1 › name: PC → 「PC · 合計 ¥298,000 → ¥1」"},
		"a row that is called like a change": {ordered(order("", "")), ordered(order("}]",
			`},{"name":"机 → ¥1 · 数量","quantity":1,"unit_price":5}]`)),
			"items › 2 › name:  → 「机 → ¥1 · 数量」; items › 2 › quantity:  → 1; " +
				"items › 2 › unit_price:  → 5; 合計: ¥298,000 → ¥298,005"},
		"a message that is new": {ordered(order("", "")), ordered(order("", ""), dm("U0SATO", "x")),
			"ステップ3:  → @U0SATO さんに DM を送ります"},
		"a message before the same one": {ordered(dm("U0SUZUKI", "y")), ordered(dm("U0SATO", "x"), dm("U0SUZUKI", "y")),
			"ステップ2:  → @U0SATO さんに DM を送ります"},
		"a message that is gone": {ordered(dm("U0SATO", "x")), ordered(), "ステップ2: @U0SATO さんに DM を送ります → "},
		"other words":            {ordered(dm("U0SATO", "x")), ordered(dm("U0SATO", "y z")), "本文: x → 「y z」"},
	} {
		var got []string
		for _, x := range explain.Between("ja", c.was, c.is) {
			got = append(got, text(x.Name)+": "+text(x.Was)+" → "+text(x.Is))
		}
		expect.Is(t, strings.Join(got, "; "), c.want, name)
	}
}

// Nobody is told that nothing changed while other data is sent, or the same in another way.
func TestWhateverIsDoneOtherwiseIsTold(t *testing.T) {
	plan := func(tools ...string) (steps []task.Step) {
		for i, tool := range tools {
			s := write(tool, nil, `{}`)
			s.StepID, s.Order, s.Access = "step-"+string(rune('1'+i)), i+1, aggregate.Read
			steps = append(steps, s)
		}
		last := &steps[len(steps)-1]
		last.Access, last.ToolInput = aggregate.Write, `{"to":"all@example.com","body":{"$ref":"step-1.result.text"}}`
		return steps
	}
	refers := func(steps []task.Step, to string) []task.Step {
		last := &steps[len(steps)-1]
		last.ToolInput = aggregate.JSON(strings.ReplaceAll(string(last.ToolInput), "step-1", to))
		return steps
	}
	of := func(steps []task.Step, of ...string) []task.Step {
		for i, x := range of {
			steps[i].ToolInput = aggregate.JSON(`{"of":"` + x + `"}`)
		}
		return steps
	}
	order := ordered(write("rooms.place_order", ordering(), laptops))
	changed := func(change func(s *task.Step)) []task.Step {
		s := write("rooms.place_order", ordering(), laptops)
		change(&s)
		return ordered(s)
	}
	anew := "ステップ2: rooms の place_order を実行します → rooms の place_order を実行します (変更あり)"
	for name, c := range map[string]struct {
		was, is []task.Step
		want    string
	}{
		"another result": {plan("hr.menu", "hr.salaries", "mail.send"), plan("hr.salaries", "hr.menu", "mail.send"),
			"body: ステップ1の結果の「text」 (hr の menu) → ステップ1の結果の「text」 (hr の salaries); ステップの順番 (前の番号): 1, 2 → 2, 1"},
		"another number of a step": {refers(plan("hr.x", "hr.menu", "mail.send"), "step-2"), plan("hr.menu", "mail.send"),
			"ステップ1: hr の x で読み取ります → "},
		"the next result of a tool": {of(plan("hr.get", "hr.get", "mail.send"), "a", "b"),
			of(plan("hr.get", "mail.send"), "b"), "body: ステップ1の結果の「text」 (hr の get) → ステップ1の結果の「text」 (hr の get)" +
				" (変更あり); ステップ1: hr の get で読み取ります → "},
		"another order": {ordered(dm("U0SATO", "x"), write("x.y", nil, `{}`)), ordered(write("x.y", nil, `{}`),
			dm("U0SATO", "x")), "ステップの順番 (前の番号): 2, 3 → 3, 2"},
		"rows in another order": {order, changed(func(s *task.Step) {
			s.ToolInput = aggregate.JSON(strings.NewReplacer("ノート PC 14 型", "デスクトップ PC", "デスクトップ PC", "ノート PC 14 型").
				Replace(laptops))
		}), "items › 1 › name: 「ノート PC 14 型」 → 「デスクトップ PC」; items › 2 › name: 「デスクトップ PC」 → 「ノート PC 14 型」"},
		"arguments that can't be read": {ordered(write("x.y", nil, `[1]`)), ordered(write("x.y", nil, `[2]`)),
			"ステップ2: ステップ 2 (x の y) の引数を読み取れません: 「[1]」 → ステップ 2 (x の y) の引数を読み取れません: 「[2]」"},
		"another version of the tool": {order, changed(func(s *task.Step) {
			mark := *s.Mark
			s.ToolVersion, mark.Version, s.Mark = "v2", "v2", &mark
		}), anew},
		"another currency": {order, changed(func(s *task.Step) {
			mark := *s.Mark
			mark.Currency, s.Mark = "USD", &mark
		}), anew + "; 合計: ¥298,000 → 298,000 USD"},
		"a read": {order, changed(func(s *task.Step) { s.Access = aggregate.Read }),
			"ステップ2: rooms の place_order を実行します → rooms の place_order で読み取ります; 合計: ¥298,000 → 金額なし"},
		"a default": {order, changed(func(s *task.Step) { s.LeftOut = `{"express":true}` }), "express (サーバーの既定値):  → true"},
	} {
		var got []string
		for _, x := range explain.Between("ja", c.was, c.is) {
			got = append(got, text(x.Name)+": "+text(x.Was)+" → "+text(x.Is))
		}
		expect.Is(t, strings.Join(got, "; "), c.want, name)
	}
}

// Personal data that is masked elsewhere is masked here, and what a server adds by itself is told.
func TestAnEffectIsOfWhatIsShown(t *testing.T) {
	s := write("rooms.place_order", ordering(), laptops)
	s.LeftOut = `{"express":true}`
	shown := map[string]any{"supplier": "ア***", "items": []any{map[string]any{"name": "ノ***", "quantity": "***"}}}
	is := drawn(explain.EffectOf("ja", s, shown, nil))
	expect.Is(t, is, "1. rooms の place_order を実行します\n· items › 1 name: 「ノ***」 · quantity: 「***」\n"+
		"· supplier 「ア***」\n· express (サーバーの既定値) true")
	unreadable := drawn(explain.EffectOf("ja", write("rooms.x", ordering(), "[1"), nil, nil))
	expect.Is(t, unreadable, "1. ステップ 1 (rooms の x) の引数を読み取れません: 「[1」")
	other := ordering()
	other.Version = "v2"
	expect.Is(t, drawn(explain.EffectOf("ja", write("rooms.x", other, `{"supplier":"x"}`), nil, nil)),
		"1. rooms の x を実行します\n· supplier x")
}
