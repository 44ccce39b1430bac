package card_test

import (
	"slices"
	"strings"
	"testing"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

var laptops = task.Matter{Kind: "支出", Title: "ノートパソコン 10 台の購入", Amount: "1200000",
	Description: "入れ替えの時期のため。\n*見積もり*は 2 社から。"}

// byForm makes the request one for a decision, of which the steps wait for approval.
func byForm(s *scenario) *scenario { return byFormOf(s, laptops) }

func byFormOf(s *scenario, m task.Matter) *scenario { return byFormUnder(s, m, defaults) }

// typed is the request before there are steps.
func typed(s *scenario) *scenario { return typedAs(s, laptops) }

func typedAs(s *scenario, m task.Matter) *scenario {
	r := *s.Request
	r.Matter, r.Text = &m, card.MatterText("ja", m)
	s.Request = &r
	return s
}

func byFormUnder(s *scenario, m task.Matter, set tenancy.Settings) *scenario {
	typedAs(s, m)
	s.do(s.Extracted(s.Head.Run, task.Extract{Title: m.Title, Description: m.Description,
		Priority: task.Medium, TaskType: task.TypeStandard}, s.now))
	s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: s.Request.Text}, defaults, s.now))
	s.do(s.ApproveUnasked(s.Prompt().ID, s.now))
	return s.do(s.FinishProcess(s.Head.Run, m.Steps("ja", "v1"), "", set, s.now))
}

func decided(s *scenario) *scenario {
	byForm(s)
	s.do(decide.Approve(s, s.Process().ID, approver, policy, s.now))
	first := expect.Value(s.StartExecution(s.Head.Run, task.Series{Year: 2026, Last: 122}, s.now))(s.TB.(*testing.T))
	step := s.Process().Steps[0]
	s.do(s.ClaimAfter(first, s.Head.Run, task.Call{Order: 1, Arguments: aggregate.Blob{JSON: step.ToolInput},
		ArgumentsHash: aggregate.HashOf(string(step.ToolInput)), Tool: task.ToolRef{Name: step.Tool}}))
	return s.do(s.CompleteExecution(s.Head.Run, "完了したステップ:\n• 決裁を記録", s.now))
}

// matterStates are those of a request for a decision.
var matterStates = []state{
	{"matter_received", taskCard, typed}, {"matter_pending", taskCard, byForm},
	{"matter_returned", taskCard, func(s *scenario) *scenario { return byForm(s).giveBack() }},
	{"matter_refilling", taskCard, func(s *scenario) *scenario { return byForm(s).giveBack().refill(tablets) }},
	{"matter_refilled", taskCard, refilled}, {"matter_decided", taskCard, decided}, {"matter_files", taskCard, withFiles},
	{"matter_other_files", taskCard, otherFiles}, {"matter_refused", taskCard, refusedForm},
	{"matter_withdrawn", taskCard, func(s *scenario) *scenario { return byForm(s).cancelTask() }},
}

// refusedForm is a form that the rules refuse before anybody is asked.
func refusedForm(s *scenario) *scenario {
	ruled := defaults
	ruled.RulesRev = 1
	byFormUnder(s, laptops, ruled)
	return s.do(s.RefuseByRule(s.Head.Run, aggregate.Refusal{Why: task.ReasonRuleRefuses, Rule: byBuyers.Rule,
		Detail: "購買部を通してください。"}, defaults, s.now))
}

// withFiles is byForm, and typedWithFiles typed, with files of which two are not attached.
func withFiles(s *scenario) *scenario { return byForm(typedWithFiles(s)) }

func typedWithFiles(s *scenario) *scenario {
	typed(s)
	r := *s.Request
	var read []task.ReadFile
	for i, f := range []struct{ name, content, why string }{{"見積書.pdf", "%PDF-1.7", ""},
		{"<!channel>*明細*.csv", "a,b\n", ""},
		{"装置.exe", "MZ\x00", ""}, {"図.png", "", "it is gone"}} {
		x := task.ReadFile{SharedFile: aggregate.SharedFile{ID: "F" + string(rune('1'+i)), Name: f.name}, Why: f.why}
		if f.why == "" {
			x.Take([]byte(f.content), i)
		}
		read, r.Files = append(read, x), append(r.Files, x.SharedFile)
	}
	s.Request, s.Files = &r, &task.Files{Files: read}
	return s
}

// drawnWith is the card of steps by a form with files of these names, all with the same content, and whether people can
// stamp it.
func drawnWith(t *testing.T, names ...string) (text string, offered bool) {
	s := received(t)
	r := *s.Request
	var read []task.ReadFile
	for i, name := range names {
		x := task.ReadFile{SharedFile: aggregate.SharedFile{ID: "F" + string(rune('a'+i)), Name: name}}
		x.Take([]byte("%PDF-1.7"), i)
		read, r.Files = append(read, x), append(r.Files, x.SharedFile)
	}
	s.Request, s.Files = &r, &task.Files{Files: read}
	byForm(s)
	return s.drawn(taskCard), offers(render(s.Aggregate, s.card(taskCard), "ja", s.now), "approve_process")
}

// An amount that nobody typed is not drawn like one that there isn't.
func TestNoAmountIsNotAnUnknownOne(t *testing.T) {
	free, unknown := laptops, laptops
	free.Amount, unknown.Amount = "0", ""
	text := byFormOf(received(t), free).drawn(taskCard)
	expect.That(t, strings.Contains(text, "金額: 0 (金額なし)") && !strings.Contains(text, "金額不明"), "%s", text)
	text = byFormOf(received(t), unknown).drawn(taskCard)
	expect.That(t, strings.Contains(text, "💴 金額の指定なし") && !strings.Contains(text, "金額なし"), "%s", text)
	expect.Has(t, card.MatterText("ja", free), "金額: 金額なし\n")
	expect.Has(t, card.MatterText("ja", unknown), "金額: 金額不明\n")
}

// Whatever files are called, other files look otherwise where people stamp, also those with the longest names. Where a
// name can't be shown whole, nobody can stamp.
func TestOtherFilesLookOtherwise(t *testing.T) {
	long, cards := strings.Repeat("&", 200), map[string][]string{}
	for _, names := range [][]string{{"見積.pdf", "契約.pdf"}, {"見積.pdf (8 B)、契約.pdf"}, {long + " A社.pdf"}, {long + " B社.pdf"},
		{"見積.pdf」 (8 B)\n📄 添付: 「契約.pdf"}, {"見積.pdf』 (8 B)\n📄 添付: 『契約.pdf"}, {"見積.pdf」、「契約.pdf"},
		{"見積.pdf』、『契約.pdf"}, {"a`b"}, {"a'b"}, {"a｀b"}, {"a_b"}, {"_ab_"}, {"＿ab＿"}, {"a\u200bb"}, {"ab"}, {"a b"},
		slices.Repeat([]string{strings.Repeat("a", 251) + ".pdf"}, task.MaxAttached)} {
		text, offered := drawnWith(t, names...)
		expect.That(t, offered && cards[text] == nil, "%q, like %q: %s", names, cards[text], text)
		cards[text] = names
	}
	for name, names := range map[string][]string{"one name": {strings.Repeat("&", 700)},
		"ten names": slices.Repeat([]string{strings.Repeat("&", 255)}, task.MaxAttached)} {
		text, offered := drawnWith(t, names...)
		expect.That(t, !offered, "%s: %s", name, text)
	}
}

func TestTheFormOfADecisionIsReadByItsFields(t *testing.T) {
	of := tenancy.Settings{Locale: "ja"}
	typed := map[string]string{"matter": "支出", "title": "題", "amount": "１００万", "description": "理由"}
	read := func(field, is string) (task.Matter, map[string]string) {
		return card.ReadMatter("ja", of, func(of string) string {
			if of == field {
				return is
			}
			return typed[of]
		})
	}
	m, faults := read("", "")
	expect.Has(t, card.MatterText("ja", m), "区分: 支出\n件名: 題\n")
	expect.That(t, faults == nil && m.Amount == "1000000", "%+v, %v", m, faults)
	for field, names := range map[string]string{"matter": "区分", "title": "150", "amount": "15 桁", "description": "内容と理由"} {
		_, faults = read(field, map[bool]string{true: "-1"}[field == "amount"])
		expect.That(t, len(faults) == 1 && strings.Contains(faults[field], names) &&
			!strings.ContainsAny(faults[field], "{}"), "%s: %v", field, faults)
	}
	_, faults = read("description", strings.Repeat("長", 3001))
	expect.Has(t, faults["description"], "3000 文字まで")
}

// tablets is what laptops became after they were given back.
var tablets = task.Matter{Kind: "契約", Title: "タブレット 8 台の契約", Amount: "900000", Description: "入れ替えの時期のため。\n見積もりは 3 社から。"}

// refill fills the form that was given back in again; refilled brings it to people.
func (s *scenario) refill(m task.Matter) *scenario {
	return s.do(s.Refill(s.Returned().Asks().ID, task.Refill{Content: card.MatterText("ja", m), Matter: &m},
		requester, policy, s.now))
}

func refilled(s *scenario) *scenario { return byForm(s).giveBack().refill(tablets).goesRound() }

// otherFiles is withFiles, filled in again without the first file and with another one.
func otherFiles(s *scenario) *scenario {
	withFiles(s).giveBack()
	id, tea := s.Returned().Asks().ID, task.ReadFile{SharedFile: aggregate.SharedFile{ID: "F5", Name: "相見積書.pdf"}}
	tea.Take([]byte("%PDF-1.4"), 1)
	s.do(s.Refill(id, task.Refill{Content: card.MatterText("ja", tablets), Matter: &tablets,
		Files: s.WithFiles(id, []string{"F2"}, []aggregate.SharedFile{tea.SharedFile})}, requester, policy, s.now))
	s.do(s.ReadFiles(s.Head.Run, []task.ReadFile{*s.ReadBefore("F2"), tea}, s.now))
	return s.goesRound()
}

// goesRound brings what tablets says to people.
func (s *scenario) goesRound() *scenario {
	s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: s.Refilled().Content}, defaults, s.now))
	s.do(s.ApproveUnasked(s.Prompt().ID, s.now))
	return s.do(s.FinishProcess(s.Head.Run, tablets.Steps("ja", "v1"), "", defaults, s.now))
}

// returnedViews are the dialog and copies by which whoever asked fills in again the form that was given back to them.
func returnedViews(t *testing.T, locale string) map[string]any {
	s := byForm(received(t)).giveBack()
	kinds := defaults
	kinds.Matters = []tenancy.MatterKind{{Name: "備品"}} // no name that a card has
	of := card.Review{Type: task.CardProcess, ID: s.Returned().ID, TaskID: s.Head.TaskID, Hash: "hash"}
	set := defaults
	set.Locale = locale
	copyOf := func(s *scenario) card.Message {
		c := &aggregate.Card{CardType: task.CardOutcome, Subject: card.ReturnedCopy + task.ProcessKey(1),
			User: s.Head.Requester}
		return copyOf(s.Aggregate, c, set, "https://x.slack.com/archives/C1/p1", s.now)
	}
	return map[string]any{
		"dialog_form": card.RefillModal(s.Aggregate, of, locale, kinds), "copy": copyOf(s),
		"copy_edited": copyOf(byForm(received(t)).giveBack().refill(tablets)),
		"copy_ended":  copyOf(byForm(received(t)).giveBack().cancelTask()),
	}
}
