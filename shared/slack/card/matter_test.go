package card_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
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
	s.drafts(s.Request.Text, defaults)
	s.do(s.ApproveUnasked(s.Prompt().ID, s.now))
	return s.plans(m.Steps("ja", "v1"), set)
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

// The built-in kinds of matters are named in the reader's language; what is stored is the workspace's.
func TestABuiltInMatterIsNamedInTheReadersLanguage(t *testing.T) {
	form := expect.Value(json.Marshal(card.MatterModal("en", tenancy.Settings{Locale: "ja"})))(t)
	expect.Has(t, string(form), `"text":"Spending"},"value":"支出"`)
	s := byForm(received(t))
	text := drawn(render(s.Aggregate, s.card(taskCard), "en", s.now).Attachments[0].Blocks.BlockSet)
	expect.Has(t, text, "Decision (“Spending”)")
	expect.Has(t, string(s.Process().Steps[0].ToolInput), `"支出"`)
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

// What changed is shown also where it stands far in a long line.
func TestADescriptionsChangeIsShownWhereItIs(t *testing.T) {
	for _, tt := range [][4]string{
		{strings.Repeat("長い理由。", 250) + "10 台を買います", strings.Repeat("長い理由。", 250) + "90 台を買います",
			"➖ …", "長い理由。9"}, {"一\n\n二", "一\n二", "からの変更", ""}} {
		was, is := laptops, laptops
		was.Description, is.Description = tt[0], tt[1]
		text := byFormOf(received(t), was).giveBack().refill(is).goesRound().drawn(taskCard)
		_, text, _ = strings.Cut(text, "🔁")
		text, _, _ = strings.Cut(text, "⚠️")
		expect.Has(t, text, tt[2])
		expect.Has(t, text, tt[3])
		expect.Is(t, strings.Contains(text, "*内容と理由*"), tt[3] != "", "%s", text)
	}
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
	s.drafts(s.Refilled().Content, defaults)
	s.do(s.ApproveUnasked(s.Prompt().ID, s.now))
	return s.plans(tablets.Steps("ja", "v1"), defaults)
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

// Each class of errors has its sentence in package explain; a card's note says who and when in Slack's form, and
// nothing of what others wrote has an effect.
func TestNoteSaysWhatIsTheMatter(t *testing.T) {
	at := time.Date(2026, 4, 18, 14, 33, 12, 0, time.UTC)
	date := "<!date^1776522792^{date_short_pretty} {time}|2026-04-18 14:33 UTC>"
	for _, tc := range []struct {
		err  error
		want string
	}{
		{aggregate.ErrDecided{Status: "approved", By: "U1", At: at}, "<@U1> が " + date + " に承認しました。"},
		{aggregate.ErrDecided{Status: "delegated", By: "U1", At: at}, "<@U1> が " + date + " に決定しました。"},
		{aggregate.ErrDecided{Status: "cancelled", At: at, Reason: task.ReasonExpired}, "期限までに決定されず、" + date},
		{aggregate.ErrDecided{Status: "approved", By: "<!channel>", At: at}, "&lt;!channel&gt; が"},
		{aggregate.ErrDecided{Status: "approved", By: "U1"}, "<@U1> が — に"},
		{aggregate.Problem{Field: "slug", Code: "must be <short>"}, "slug must be &lt;short&gt;"},
		{task.StopError{Reason: task.ReasonToolChanged, Detail: "send_slack_dm"}, "(send_slack_dm)"},
		{fmt.Errorf("commit: %w: %w", aggregate.ErrUnconfirmed, context.DeadlineExceeded),
			"保存できたか確認できませんでした"},
		{errors.New("boom: secret"), "保存できませんでした"},
		{aggregate.ErrNotAllowed{Rule: "brand_new"}, "許可されていません"},
	} {
		got := card.Note("ja", tc.err)
		expect.Has(t, got, tc.want)
		rest := strings.ReplaceAll(got, date, "")
		expect.That(t, !strings.Contains(got, "secret") && !strings.ContainsAny(rest, "{}"), "%q", got)
	}
}

// Without the settings, the tenant's language is unknown.
func TestANoteInEveryLanguage(t *testing.T) {
	err := explain.ErrUnavailable
	want := card.Note("ja", err) + "\n" + card.Note("en", err)
	expect.Is(t, card.Note("", err), want)
	expect.Is(t, card.DialogsOf(nil).Refused(err, tenancy.Settings{}), want)
	expect.That(t, !strings.Contains(card.Unreachable("ja", "<!channel>", ""), "<!channel>"), "a note calls everybody")
}

// Who stands in for those whose turn it is stands below them, with dates that are true whenever they are read. Who
// can't stamp by it isn't named.
func TestACardSaysWhoStandsInForThoseWhoseTurnItIs(t *testing.T) {
	s := onRoute(received(t), threeStages()...)
	person := func(user string) circulation.Person { return circulation.Person{User: user} }
	day := 24 * time.Hour
	away := func(hand, principal, setBy string, begins, ends time.Duration) circulation.StandIn {
		return circulation.StandIn{Delegation: circulation.Delegation{Key: hand + "#" + principal + "#1", Rev: 1},
			Hand:      person(hand),
			Principal: person(principal), SetBy: person(setBy), Begins: s.now.Add(begins), Ends: s.now.Add(ends)}
	}
	around := card.Around{StandIns: []circulation.StandIn{
		away("U0HAND", suzuki, suzuki, -day, 3*day), away("U0SOON", suzuki, suzuki, day, 2*day),
		away("U0OVER", suzuki, suzuki, -2*day, 0), away("U0LATE", suzuki, suzuki, 40*day, 50*day),
		away(requester.ID, suzuki, suzuki, 0, day), away("U0CHOSEN", suzuki, requester.ID, 0, day),
		away("U0OTHER", tanaka, tanaka, 0, day),
	}}
	says := func() string {
		m := card.Render(s.Aggregate, s.card(processCard), tenancy.DefaultSettings(), around, s.now)
		return drawn(m.Attachments[0].Blocks.BlockSet)
	}
	text := says()
	expect.Has(t, text, "👥 2026-04-17 から 2026-04-21 まで <@"+suzuki+"> さんが不在の間、<@U0HAND> さんが代わりに承認します\n👥")
	expect.Has(t, text, "<@U0SOON> さんが代わりに")
	for _, who := range []string{"U0OVER", "U0LATE", requester.ID + "> さんが代わりに", "U0CHOSEN", "U0OTHER"} {
		expect.That(t, !strings.Contains(text, who), "%s is named: %s", who, text)
	}
	m := card.Render(s.Aggregate, s.copyOf(suzuki, 1), tenancy.DefaultSettings(), around, s.now)
	copied := drawn(m.Attachments[0].Blocks.BlockSet)
	expect.That(t, !strings.Contains(copied, "U0HAND"), "the copy says it: %s", copied)
	s.stamps(1, suzuki)
	expect.That(t, !strings.Contains(says(), "U0HAND"), "the stage is over: %s", says())
	expect.Has(t, says(), "<@U0OTHER> さんが代わりに")
}

func (s *scenario) drawn(key string) string {
	_, blocks := s.shown(key)
	return drawn(blocks)
}

// told is the message about the end to the requester.
func (s *scenario) told() card.Message {
	return copied(s, &aggregate.Card{CardType: task.CardOutcome, Subject: card.OutcomeCopy, User: requester.ID}, "ja")
}

// The copy of a version that was decided speaks of that version, whatever came after it.
func TestACopySpeaksOfTheVersionThatItShows(t *testing.T) {
	s := reordered(received(t))
	head := func(kind aggregate.CardType, key string) string {
		m := copied(s, &aggregate.Card{CardType: kind, Subject: key, User: suzuki, CreatedAt: s.now}, "ja")
		text, _, _ := strings.Cut(drawn(m.Attachments[0].Blocks.BlockSet), "\n")
		return text
	}
	for i, amount := range []string{"¥447,000 — ", "¥298,000 — "} { // which stands once
		key := s.Processes[i].Key()
		expect.Has(t, head(task.CardProcess, key), s.Task.Title, "the version")
		expect.That(t, !strings.Contains(head(task.CardProcess, key), "¥"), "the first line knows the money")
		expect.Has(t, s.drawn([]string{processCard, "CARD#process#0002"}[i]), "\n*"+amount, "the version")
	}
	expect.Has(t, head(task.CardPrompt, s.Prompt().Key()), s.Task.Title, "the policy")
	expect.That(t, !strings.Contains(head(task.CardPrompt, s.Prompt().Key()), "¥"), "the policy knows the money")
}

// A message about the end of what was corrected is called by what its steps do: the title is older.
func TestAnEndIsCalledByWhatWasCorrected(t *testing.T) {
	s := started(t, fiveSteps()).steps(1, 2, 3).failedAt(4, failed)
	for version, titled := range map[int]bool{1: true, 2: false} {
		s.Head.Glance.Version = version
		expect.Is(t, strings.Contains(s.told().Text, s.Task.Title), titled, "version %d: %s", version, s.told().Text)
	}
}

const nothingWritten = "書き込みも送信も行われていません。"

// A run that stopped or failed before its first write says that nothing was written, and only then: the outcome of a
// write that was begun may be unknown.
func TestAStopSaysThatNothingWasWritten(t *testing.T) {
	failed := task.Outcome{Status: task.StepFailed, Reason: task.ReasonToolFailed, Detail: "x"}
	unknown := task.Outcome{Status: task.StepUnknown, Reason: task.ReasonToolUnknown, Detail: "x"}
	for name, c := range map[string]struct {
		s    *scenario
		says bool
	}{
		"stopped at once":              {started(t, orderSteps(1)).cancelExecution(), true},
		"stopped after reads":          {started(t, fiveSteps()).steps(1, 2).cancelExecution(), true},
		"stopped while writing":        {started(t, orderSteps(1)).claim(1).cancelExecution(), false},
		"stopped, and written":         {started(t, orderSteps(1)).steps(1).cancelExecution(), false},
		"stopped, and nobody knows":    {started(t, orderSteps(1)).claim(1).cancelExecution().finish(1, unknown), false},
		"a read failed":                {started(t, fiveSteps()).failedAt(1, failed), true},
		"an own write failed":          {started(t, fiveSteps()).steps(1, 2, 3).failedAt(4, failed), true},
		"a write failed":               {started(t, orderSteps(1)).failedAt(1, failed), false},
		"a write of an attempt before": {retry(started(t, orderSteps(1)).failedAt(1, unknown)).cancelExecution(), false},
	} {
		expect.That(t, strings.Contains(c.s.drawn(executionCard), nothingWritten) == c.says, "%s: %s", name,
			c.s.drawn(executionCard))
		expect.That(t, strings.Contains(c.s.drawn(executionCard), "一部が行われた可能性") == (name == "a write failed"), "%s", name)
		if c.s.Head.Ended == nil {
			continue
		}
		text := drawn(c.s.told().Attachments[0].Blocks.BlockSet)
		expect.That(t, strings.Contains(text, nothingWritten) == c.says, "%s: the requester reads %s", name, text)
		expect.That(t, !c.says || !strings.Contains(c.s.drawn(executionCard), "place_order を実行します"), "%s: it will be: %s",
			name, c.s.drawn(executionCard))
	}
}

// A step's check is often the last message in the thread: it says how the request ended.
func TestACheckSaysHowTheRequestEnded(t *testing.T) {
	checked := func() *scenario {
		s := gated(t, arguments)
		return s.do(decide.Approve(s, s.Gates[0].ID, approver, policy, s.now)).steps(2)
	}
	s := checked()
	expect.That(t, !strings.Contains(s.drawn(stepCard), "完了"), "it still runs: %s", s.drawn(stepCard))
	s.steps(3, 4, 5).do(s.CompleteExecution(s.Head.Run, "ok", s.now))
	title := func() string { return render(s.Aggregate, s.card(stepCard), "ja", s.now).Text }
	expect.Has(t, title(), "実行前の確認(承認済み → 完了)")
	s = checked().cancelExecution()
	expect.Has(t, title(), "実行前の確認(承認済み → タスクはキャンセル)")
	s = checked()
	s.do(s.RefuseByRule(s.Head.Run, aggregate.Refusal{Why: task.ReasonUnknownPost, Detail: "部長"}, defaults, s.now))
	expect.That(t, strings.HasSuffix(title(), "実行前の確認(承認済み)"), "its step is done: %s", title())
	expect.That(t, !strings.Contains(s.drawn(executionCard), "何も実行していません"), "steps are done: %s", s.drawn(executionCard))
}

// On the Home tab a check is of the request: what its steps write first may be done.
func TestACheckAtHomeIsOfTheRequest(t *testing.T) {
	s := gated(t, arguments)
	in := card.Summary{Waiting: []card.Waits{{Of: s.Aggregate, Question: s.Gates[0].Asks()}}}
	expect.Has(t, drawn(card.HomeView(in, defaults, "ja").Blocks.BlockSet), s.Task.Title)
}

// An approved policy says that the rules refuse the steps: nobody cancelled it.
func TestAPolicySaysThatTheRulesRefuseItsSteps(t *testing.T) {
	s := planned(t, fiveSteps(), defaults)
	s.Process().Gate = aggregate.Gate{Status: aggregate.Generating, Terms: s.Process().Terms}
	s.do(s.RefuseByRule(s.Head.Run, byBuyers, defaults, s.now))
	expect.Has(t, render(s.Aggregate, s.card(promptCard), "ja", s.now).Text, "実行方針(承認済み → ステップは受付不可)")
}

// How long a run took is told without the time in which it waited for people.
func TestARunsTimeLeavesOutWaits(t *testing.T) {
	s := started(t, fiveSteps()[:1]).claim(1)
	s.finish(1, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: `{}`}})
	s.do(s.CompleteExecution(s.Head.Run, "まとめました", s.now))
	e := s.Execution()
	begun := e.CompletedAt.Add(-time.Hour - 5*time.Second)
	e.StartedAt, e.WaitedMS = &begun, time.Hour.Milliseconds()
	expect.Has(t, s.drawn(executionCard), "実行時間: 5秒")
}

// A direct message calls a request by the version that its card shows, not by that of another gate.
func TestACopyHasTheVersionOfItsCard(t *testing.T) {
	s := prompt(received(t)).rejectPrompt("今月だけ").drafted(defaults).promptApproved()
	s.do(s.BeginProcess(s.Head.Run, s.now)).plans(fiveSteps(), defaults)
	c := &aggregate.Card{CardType: task.CardProcess, Subject: s.Process().Key()}
	m, _ := card.Copy(s.Aggregate, c, defaults, card.Around{}, "", s.now)
	text := expect.JSON(m)
	expect.That(t, strings.Contains(text, "バージョン:* v1") && !strings.Contains(text, "v2"), "%s", text)
}

// Whoever was asked reads in their direct message who decided.
func TestACopyOfWhatWasDecidedNamesWhoDecided(t *testing.T) {
	decided := 0
	for _, s := range slices.Concat(states, routeStates, stepRouteStates, doneStates, matterStates) {
		at := s.scenario(t)
		c := at.card(s.card)
		g := at.GateAt(c.Subject)
		if g == nil || g.ApprovedBy+g.RejectedBy == "" {
			continue
		}
		c.User, decided = "U0TANAKA", decided+1
		text := expect.JSON(copyOf(at.Aggregate, c, defaults, "", at.now))
		expect.That(t, strings.Contains(text, "@"+g.ApprovedBy+g.RejectedBy), "%s: %s", s.name, text)
	}
	expect.That(t, decided > 20, "only %d are decided", decided)
}
