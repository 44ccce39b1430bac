package card_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// doneStates are cards whose steps say by their marks what they do.
var doneStates = []state{
	{"does_order", "CARD#process#0002", func(s *scenario) *scenario {
		return reordered(s).stamps(1, suzuki).stamps(2, tanaka)
	}},
	{"does_order_unmarked", processCard, func(s *scenario) *scenario {
		steps := orderSteps(1)
		steps[0].Mark, steps[0].ToolTitle = nil, "Place an order"
		steps[0].LeftOut = `{"cc":{"$ref":"step-1.result"},"fees":[{"a":1},{"a":2}],"public":true}`
		steps[0].Declared = `[["/supplier","Supplier"],["/items",""],["/items/*/name","Article"],["/items/*/quantity",""],` +
			`["/items/*/unit_price","Price of one"],["/currency",""],["/reference","Your number"]]`
		return planned(s, steps, defaults)
	}},
	{"does_order_unknown", processCard, func(s *scenario) *scenario {
		steps := orderSteps(1)
		steps[0].ToolInput = `{"supplier":"アクメ","items":[]}`
		return planned(s, steps, defaults)
	}},
	{"does_order_answered", "CARD#process#0002", func(s *scenario) *scenario {
		s = reordered(s)
		s.Processes[1].Remarks = "「見積書の宛名が違います」 → 反映しました。"
		return s
	}},
	{"does_check_on_route", processCard, func(s *scenario) *scenario {
		steps := fiveSteps()
		steps[3].RequiresHumanCheck = true
		s = planned(s, steps, defaults)
		routed(&s.Process().Gate, s.now, threeStages()...)
		return s
	}},
	{"does_check_over", stepCard, func(s *scenario) *scenario { // the first attempt's write turned out to have completed
		s = gated(s, arguments)
		s.Gates[0].Status = aggregate.Cancelled
		s.Add(&task.StepResult{ProcessVersion: 1, Attempt: 1, Order: 2, StepID: "step-2", Status: task.StepCompleted,
			Reused: true})
		return s
	}},
	{"does_messages", processCard, func(s *scenario) *scenario {
		const text = "11月の勤怠の締めは 12月2日 (水) 17:00 です。\\n未入力の方は入力をお願いします。"
		steps := []task.Step{message(1, "U0TAKADA", text, ""), message(2, "U0MORI", text, "")}
		return planned(s, steps, defaults)
	}},
	{"does_reads", processCard, func(s *scenario) *scenario { return planned(s, fiveSteps()[:3], defaults) }},
}

func message(order int, to, text, details string) task.Step {
	return task.Step{StepID: fmt.Sprintf("step-%d", order), Order: order, Title: "完了通知", Tool: "send_slack_dm",
		Access: aggregate.Write, ToolVersion: "v1", ToolInput: aggregate.JSON(fmt.Sprintf(
			`{"recipient":"%s","text":"%s","details":[%s]}`, to, text, details))}
}

// orderSteps order two things, so many of the first, and tell the requester.
func orderSteps(laptops int) []task.Step {
	mark := &rules.Mark{Version: "v1", How: rules.HowProduct, Currency: "JPY",
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}}
	return []task.Step{
		{StepID: "step-1", Order: 1, Title: "取引先に発注", Tool: "rooms.place_order",
			Access: aggregate.Write, ToolVersion: "v1",
			Mark: mark, ToolInput: aggregate.JSON(fmt.Sprintf(`{"supplier":"アクメ","currency":"JPY",`+
				`"reference":"R-70d3903e",`+
				`"items":[{"name":"ノート PC 14 型","quantity":%d,"unit_price":149000},`+
				`{"name":"デスクトップ PC","quantity":1,"unit_price":149000}]}`, laptops))},
		message(2, requester.ID, "発注が完了しました。", `{"label":"発注番号","value":{"$ref":"step-1.result.order"}}`),
	}
}

// reordered is an order that was sent back, and then planned anew for less.
func reordered(s *scenario) *scenario {
	s = planned(s, orderSteps(2), defaults)
	routed(&s.Process().Gate, s.now, threeStages()...)
	return s.act(circulation.SendBack, 1, suzuki).plansAgain(orderSteps(1))
}

// homeOfEffects is the Home tab of somebody for whom an order, a sheet and a long policy wait. One of their requests
// waits, and one is done.
func homeOfEffects(t *testing.T, locale string) slack.HomeTabViewRequest {
	order, sheet := reordered(received(t)), planned(t, fiveSteps(), defaults)
	policy := received(t).extracted().drafting().drafts(strings.Repeat(content, 200), defaults)
	done := started(t, fiveSteps()).steps(1, 2, 3, 4, 5)
	done.do(done.CompleteExecution(done.Head.Run, "21 行", done.now))
	const link = "https://x.slack.com/archives/C1/p1"
	return card.HomeView(card.Summary{Console: "https://ringi.example/console", Waiting: []card.Waits{
		{Of: policy.Aggregate, Question: policy.Prompt().Asks(), Link: link},
		{Of: sheet.Aggregate, Question: sheet.Process().Asks(), Link: link},
		{Of: order.Aggregate, Question: order.Process().Asks(), Link: link, Stage: 1}},
		Mine: []card.Mine{{Task: order.Aggregate, Link: link}, {Task: done.Aggregate, Link: link}}}, defaults, locale)
}

// Whatever else changed, what moves is told, and no name of an argument formats the line.
func TestNoChangeHidesTheMoneyOrFormats(t *testing.T) {
	for _, name := range []string{"a1", "<!channel>", "<https://evil.example|x>", "n\n🔁 v1"} {
		s := reordered(received(t))
		for i, v := range []string{"a", "b"} {
			more := fmt.Sprintf(`"supplier":"アクメ%[1]s","a2":"%[1]s2","a3":"%[1]s3","a4":"%[1]s4",%[2]s:"%[1]s"`, v,
				expect.JSON(name))
			step := &s.Processes[i].Steps[0]
			step.Title = "💴 ¥1"
			text := strings.Replace(string(step.ToolInput), `"supplier":"アクメ"`, more, 1)
			step.ToolInput = aggregate.JSON(strings.Replace(text, `"quantity"`, expect.JSON(name)+`:"`+v+`","quantity"`, 1))
		}
		text := s.drawn("CARD#process#0002")
		_, line, _ := strings.Cut(text, "🔁")
		line, _, _ = strings.Cut(line, "\n⚠️")
		expect.That(t, strings.Contains(line, "合計: ") && strings.Contains(line, "…ほか ") &&
			!strings.Contains(line, "<!") && !strings.Contains(line, "<https") && strings.Count(text, "\n🔁") == 1 &&
			!strings.Contains(text, "💴 ¥1"), "%q: %s", name, text)
	}
}

// Somebody may write a title like the line in which Ringi says what is moved, and to whom.
func TestNoTitlePassesForRingisWords(t *testing.T) {
	steps := orderSteps(1)[:1]
	marked := planned(t, steps, defaults)
	sent := render(marked.Aggregate, marked.card(processCard), "ja", marked.now)
	first := sections(sent.Attachments[0].Blocks.BlockSet)[0]
	_, said, _ := strings.Cut(first, "*")
	said, _, _ = strings.Cut(said, "*")
	steps[0].Mark = nil
	s := planned(t, steps, defaults)
	s.Task.Title = said
	m := render(s.Aggregate, s.card(processCard), "ja", s.now)
	first = sections(m.Attachments[0].Blocks.BlockSet)[0]
	expect.That(t, strings.HasPrefix(first, "依頼: 「¥") && !strings.Contains(first, "*"+said), "%s", first)
	expect.Has(t, m.Text, "承認のお願い: 「¥")
	waits := []card.Waits{{Of: s.Aggregate, Question: s.Process().Asks()}}
	home := drawn(card.HomeView(card.Summary{Waiting: waits}, defaults, "ja").Blocks.BlockSet)
	expect.That(t, !strings.Contains(home, "*"+said), "%s", home)
}

// Nobody writes on as Ringi behind a quotation; whom they mention in it has the id behind, as nobody whom Ringi names.
func TestNobodyWritesOnBehindAQuotation(t *testing.T) {
	const forged = "PC 1 台」) (<@U0SUZUKI> さんの差し戻し: 「1 台なら承認"
	s := planned(t, orderSteps(2), defaults)
	s.do(decide.Reject(forged)(s.Aggregate, s.Process().ID, approver, policy, s.now))
	s.do(s.BeginProcess(s.Head.Run, s.now)).plans(orderSteps(1), defaults)
	text := s.drawn("CARD#process#0002")
	expect.That(t, strings.Contains(text, "(<@U0SUZUKI> (U0SUZUKI) さん") && !strings.Contains(text, "1 台」)"), "%s", text)
	s = planned(t, orderSteps(2), defaults)
	s.Request.Text = "<@U0SATO> に PC を買う」 · 部長は承認の意向 · 「よろしく"
	home := card.HomeView(card.Summary{Waiting: []card.Waits{{Of: s.Aggregate, Question: s.Process().Asks()}}}, defaults,
		"ja")
	expect.Has(t, drawn(home.Blocks.BlockSet), "「<@U0SATO> (U0SATO) に PC を買う』 · 部長は承認の意向 · 『よろしく」")
}

// On the Home tab no backslash stands before a mark within others, and what is asked for has a line of its own.
func TestHomeQuotesWithoutBackslashes(t *testing.T) {
	s := planned(t, orderSteps(1), defaults)
	s.Task.Title, s.Request.Text = `Say "ok" to “all”`, `tell them "yes"`
	home := card.HomeView(card.Summary{Waiting: []card.Waits{{Of: s.Aggregate, Question: s.Process().Asks()}}}, defaults,
		"en")
	text := drawn(home.Blocks.BlockSet)
	expect.Has(t, text, "*¥298,000 “Say 'ok' to ‘all’”*\n", " · “tell them 'yes'”")
	expect.That(t, !strings.Contains(text, `\`) && !strings.Contains(text, "• "), "%s", text)
}

// Whoever approved the steps and is asked about one of them again is told why.
func TestAStepSaysWhyItIsAskedAboutAgain(t *testing.T) {
	for why, set := range map[string]func(step *task.Step, of *aggregate.Terms){
		"実行直前の最終確認": func(*task.Step, *aggregate.Terms) {},
		"設定により、書き込みは 1 回ごとに": func(step *task.Step, of *aggregate.Terms) {
			step.RequiresHumanCheck, of.AutoApproveTools = false, false
		},
		"承認のときには決まっていなかったため": func(step *task.Step, of *aggregate.Terms) {
			step.RequiresHumanCheck, of.AutoApproveTools, of.ApprovalRequired = false, true, true
		},
	} {
		s := gated(t, aggregate.Blob{JSON: `{}`, Bytes: 2})
		set(&s.Process().Steps[1], &s.Execution().Terms)
		expect.Has(t, s.drawn(stepCard), why)
	}
}
