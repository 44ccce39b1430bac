package main

import (
	"encoding/json"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
)

func TestQuestionsAndAdditions(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"a question is answered once, and is no stamp":              testAsked,
		"a question needs words, and waits for the one before":      testAskedBadly,
		"a stale form answers no other question":                    testAnsweredLate,
		"nobody but whose request it is answers":                    testAnsweredByOthers,
		"a channel's stage asks, and adds nobody":                   testAskedInAChannel,
		"a stand-in asks for whom they stand in":                    testAskedInstead,
		"somebody is added after who is asked, and stamps":          testAdded,
		"somebody is consulted, and agrees or objects":              testConsulted,
		"some can't be added":                                       testAddedBadly,
		"whom the rule names is added by a choice":                  testOfferedAdded,
		"a gate without a rule has neither question nor addition":   testAskedWithoutARule,
		"what is over is neither asked about nor answered":          testAskedTooLate,
		"a form of another release is refused, and nothing is lost": testRouteActMalformed,
	})
}

// opens presses a button of the process's card and returns the form.
func (w *world) opens(user string, act circulation.Kind, id, stage string) webapi.View {
	w.T.Helper()
	return w.asksWhy(user, string(act)+"_process", id, stage)
}

// adding returns the values of the form by which somebody is added.
func adding(to string, as circulation.As, why string) map[string]any {
	values := reason(why)
	values[card.AddedBlock] = map[string]any{card.AddedInput: map[string]any{"type": "users_select", "selected_user": to}}
	values[card.AddedAsBlock] = map[string]any{card.AddedAsInput: map[string]any{"type": "radio_buttons",
		"selected_option": map[string]any{"value": as}}}
	return values
}

// stays checks that a form stays open and says something at its reason.
func (w *world) stays(out inbound.Response, want string) {
	w.T.Helper()
	w.staysAt(out, card.ReasonBlock, want)
}

// staysAt checks that a form stays open and says something at a field, and that nobody is told elsewhere.
func (w *world) staysAt(out inbound.Response, block, want string) {
	w.T.Helper()
	var answer struct {
		Action string            `json:"response_action"`
		Errors map[string]string `json:"errors"`
		View   json.RawMessage   `json:"view"`
	}
	expect.NoError(w.T, json.Unmarshal([]byte(out.Body), &answer))
	said := answer.Errors[block]
	if answer.Action == "update" { // it names people
		said = string(answer.View)
	}
	expect.That(w.T, strings.Contains(said, want) && (answer.Errors == nil || !strings.Contains(said, "<")), "%s, want %s",
		out.Body, want)
}

func (w *world) questions() []circulation.Question {
	w.T.Helper()
	st := circulation.Walk(w.Load().Process().Circulating())
	expect.Must(w.T, st.Refused == nil, "%+v", st.Refused)
	return st.Questions
}

func testAsked(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	due := *w.Load().Process().Terms.DecideBy
	form := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1")
	expect.Is(t, form.CallbackID, card.RouteActCallback)
	for range 2 { // a double click
		w.quiet(w.sendView(webapi.Suzuki, form, reason("見積は何社ですか")), webapi.Suzuki)
	}
	w.stays(w.sendView(webapi.Suzuki, form, reason("納期は?")), "回答を待っている質問があります")
	got := w.Load().Process()
	expect.That(t, len(got.Acts) == 1 && got.Status == aggregate.PendingApproval && w.standing() == 0 &&
		got.Terms.DecideBy.Sub(due) == circulation.MostWait, "%+v until %v", got.Acts, got.Terms.DecideBy)
	answer := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	blocks := string(expect.Value(json.Marshal(answer.Blocks))(t))
	expect.Has(t, blocks, "の質問", "the form has the question")
	expect.Has(t, blocks, "「見積は何社ですか」", "the form has the question")
	for range 2 {
		w.quiet(w.sendView(webapi.Sato, answer, reason("2 社です")), webapi.Sato)
	}
	w.stays(w.sendView(webapi.Sato, answer, reason("3 社です")), "先に回答したため、あなたの回答は保存していません")
	q := w.questions()
	expect.That(t, len(q) == 1 && q[0].Answered.Text == "2 社です" && q[0].Answered.Hand.User == webapi.Sato, "%+v", q)
	w.quiet(w.sendView(webapi.Suzuki, form, reason("見積は何社ですか")), webapi.Suzuki) // the form was still open
	expect.Is(t, len(w.questions()), 1, "questions after the same form again")
	w.quiet(w.sendView(webapi.Suzuki, form, reason("納期は?")), webapi.Suzuki)
	expect.Is(t, len(w.questions()), 2, "questions")
	w.stamps(webapi.Suzuki, p.ID, "/1") // it waits no longer for the answer
	expect.Is(t, w.Load().Process().Status, aggregate.PendingApproval, "a question keeps a stage from its stamp")
}

func testAskedBadly(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	w.told(w.post(at(w.click(webapi.Tanaka, "ask_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "番です")
	w.told(w.post(at(w.click(webapi.Sato, "ask_process", p.ID), w.Ref.ID+"/1")), webapi.Sato, "自分の依頼")
	form := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1")
	for _, text := range []any{"", " \n", nil, "\u2060\u200b", strings.Repeat("長", circulation.MaxText+1)} {
		w.stays(w.sendView(webapi.Suzuki, form, reason(text)), "質問を 1〜1000 文字で入力してください。")
	}
	expect.Is(t, len(w.questions()), 0, "questions")
	w.quiet(w.sendView(webapi.Suzuki, form, reason(strings.Repeat("長", circulation.MaxText))), webapi.Suzuki)
	w.told(w.post(at(w.click(webapi.Suzuki, "ask_process", p.ID), w.Ref.ID+"/1")), webapi.Suzuki, "回答を待っている質問")
	answer := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	w.stays(w.sendView(webapi.Sato, answer, reason(" ")), "回答を 1〜1000 文字で入力してください。")
	changed := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	changed.PrivateMetadata = strings.Replace(changed.PrivateMetadata, `"question":1`, `"question":7`, 1)
	w.stays(w.sendView(webapi.Sato, changed, reason("はい")), "回答を待っている質問はありません")
}

func testAnsweredLate(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	ask, text := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1"), "一つめ"
	w.quiet(w.sendView(webapi.Suzuki, ask, reason(text)), webapi.Suzuki)
	first := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	w.quiet(w.sendView(webapi.Sato, first, reason("一つめの回答")), webapi.Sato)
	w.told(w.post(at(w.click(webapi.Sato, "answer_process", p.ID), w.Ref.ID+"/1")), webapi.Sato,
		"回答を待っている質問はありません")
	w.quiet(w.sendView(webapi.Suzuki, ask, reason("二つめ")), webapi.Suzuki)
	w.stays(w.sendView(webapi.Sato, first, reason("遅い回答")), "先に回答したため")
	q := w.questions()
	expect.That(t, len(q) == 2 && q[1].Answered == nil, "a stale form answered another question: %+v", q)
}

func testAnsweredByOthers(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.quiet(w.sendView(webapi.Suzuki, w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1"), reason("何社?")), webapi.Suzuki)
	form := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka, webapi.Guest} {
		w.told(w.post(at(w.click(user, "answer_process", p.ID), w.Ref.ID+"/1")), user, "依頼した方だけ")
		w.stays(w.sendView(user, form, reason("はい")), "依頼した方だけ")
	}
	w.standIn(webapi.Tanaka, webapi.Sato, webapi.Sato, 1)
	w.stays(w.sendView(webapi.Tanaka, form, reason("代わりに")), "依頼した方だけ")
	expect.That(t, w.questions()[0].Answered == nil, "answered")
}

func testAskedInAChannel(t *testing.T, w *world) {
	p := w.along(1, circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1})
	w.quiet(w.sendView(webapi.Tanaka, w.opens(webapi.Tanaka, circulation.Ask, p.ID, "/1"), reason("何社?")), webapi.Tanaka)
	expect.That(t, w.questions()[0].Asked.Found.Channel == webapi.HR, "%+v", w.questions()[0].Asked)
	w.told(w.post(at(w.click(webapi.Tanaka, "add_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "お願いしている承認はありません")
}

func testAskedInstead(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	w.quiet(w.sendView(webapi.Tanaka, w.opens(webapi.Tanaka, circulation.Ask, p.ID, "/1"), reason("何社?")), webapi.Tanaka)
	act := w.questions()[0].Asked
	expect.That(t, act.Hand.User == webapi.Tanaka && act.Principal.User == webapi.Suzuki && act.Found.Delegation != nil,
		"%+v", act)
}

func testAdded(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	form := w.opens(webapi.Suzuki, circulation.Add, p.ID, "/1")
	for range 2 {
		w.quiet(w.sendView(webapi.Suzuki, form, adding(webapi.Alex, circulation.AsApprove, "契約を見てください")), webapi.Suzuki)
	}
	act := w.acts()[0]
	expect.That(t, len(w.acts()) == 1 && act.To.User == webapi.Alex && act.To.Via == task.ViaAdded &&
		act.As == circulation.AsApprove && act.Text == "契約を見てください", "%+v", w.acts())
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	w.stamps(webapi.Alex, p.ID, "/3")
	w.stamps(webapi.Tanaka, p.ID, "/2")
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
}

func testConsulted(t *testing.T, w *world) {
	consulted := pipelinetest.Desk("法務", 2, webapi.Tanaka, webapi.Suzuki)
	consulted.As, consulted.Dissent = circulation.AsConsult, circulation.ObjectionRaised
	consulted.Over = []circulation.Person{{User: webapi.Alex}}
	p := w.along(1, consulted, pipelinetest.Desk("部長", 1, webapi.Suzuki))
	w.told(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka,
		"差し戻しも却下もできません")
	form := w.opens(webapi.Tanaka, circulation.Dissent, p.ID, "/1")
	w.stays(w.sendView(webapi.Tanaka, form, reason(" ")), "異議の理由を 1〜1000 文字")
	for range 2 {
		w.quiet(w.sendView(webapi.Tanaka, form, reason("条項が古い")), webapi.Tanaka)
	}
	w.stays(w.sendView(webapi.Tanaka, form, reason("別の理由")), "済んでいます")
	w.quiet(w.post(at(w.click(webapi.Suzuki, "approve_process", p.ID), w.Ref.ID+"/1")), webapi.Suzuki)
	st := circulation.Walk(w.Load().Process().Circulating())
	expect.That(t, st.Present == 3 && len(st.Dissents()) == 1 && len(st.Consents()) == 1 && len(st.Stamps()) == 0,
		"stage %d, %+v", st.Present, w.acts())
	w.stamps(webapi.Alex, p.ID, "/3")
	w.told(w.post(at(w.click(webapi.Suzuki, "dissent_process", p.ID), w.Ref.ID+"/2")), webapi.Suzuki, "扱えない形式")
	w.stamps(webapi.Suzuki, p.ID, "/2")
	expect.Is(t, w.Load().Process().Status, aggregate.Approved)
}

func testAddedBadly(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Tanaka)
	w.told(w.post(at(w.click(webapi.Tanaka, "add_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "番です")
	form := w.opens(webapi.Suzuki, circulation.Add, p.ID, "/1")
	for to, want := range map[string]string{
		webapi.Sato: "依頼した方は追加できません", webapi.Suzuki: "自分自身や", webapi.Tanaka: "すでにこの回覧に入っています",
		webapi.Guest: "正規メンバーだけ", webapi.Bot: "正規メンバーだけ", "U0NOBODY": "正規メンバーだけ", "": "だれを追加するかを選んでください",
		"<@U1>\n": "正規メンバーだけ",
	} {
		w.staysAt(w.sendView(webapi.Suzuki, form, adding(to, circulation.AsConsult, "見てください")), card.AddedBlock, want)
	}
	w.stays(w.sendView(webapi.Suzuki, form, adding(webapi.Alex, circulation.AsConsult, " ")), "理由を 1〜1000 文字")
	w.stays(w.sendView(webapi.Suzuki, form, adding(webapi.Alex, "read", "x")), "扱えない形式")
	w.stays(w.sendView(webapi.Tanaka, form, adding(webapi.Alex, circulation.AsConsult, "x")), "番です")
	expect.Is(t, len(w.acts()), 0, "acts")
}

func testOfferedAdded(t *testing.T, w *world) {
	desk := pipelinetest.Desk("課長", 1, webapi.Suzuki)
	desk.Raises = []circulation.Raise{{When: "特に重要と認めるとき", To: circulation.Person{User: webapi.Alex}}}
	o := pipelinetest.Along([]string{webapi.Sato}, 1, desk)
	step := pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)
	p := w.PlannedOnRoute(tenancy.DefaultSettings(), o, step).Process()
	form := w.opens(webapi.Suzuki, circulation.Add, p.ID, "/1")
	chosen := func(raised, to string) map[string]any {
		values := adding(to, circulation.AsApprove, "重要な案件です")
		option := map[string]any{"selected_option": map[string]any{"value": raised}}
		values[card.RaisedBlock] = map[string]any{card.RaisedInput: option}
		return values
	}
	w.staysAt(w.sendView(webapi.Suzuki, form, chosen(webapi.Alex, webapi.Tanaka)), card.RaisedBlock, "どちらか一方だけ")
	w.staysAt(w.sendView(webapi.Suzuki, form, chosen(webapi.Guest, "")), card.RaisedBlock, "正規メンバーだけ")
	w.staysAt(w.sendView(webapi.Suzuki, form, chosen("-", "")), card.AddedBlock, "だれを追加するか")
	expect.Is(t, len(w.acts()), 0, "acts")
	w.quiet(w.sendView(webapi.Suzuki, form, chosen(webapi.Alex, "")), webapi.Suzuki)
	act := w.acts()[0]
	expect.That(t, act.Kind == circulation.Add && act.To.User == webapi.Alex && act.As == circulation.AsApprove, "%+v",
		act)
}

func testAskedWithoutARule(t *testing.T, w *world) {
	p := w.planned()
	for _, act := range card.RouteActs {
		user := webapi.Suzuki
		w.told(w.post(at(w.click(user, string(act)+"_process", p.ID), w.Ref.ID)), user, "見つかりません")
	}
	expect.Is(t, len(w.acts()), 0, "acts")
}

func testAskedTooLate(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	ask, add := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1"), w.opens(webapi.Suzuki, circulation.Add, p.ID, "/1")
	w.quiet(w.sendView(webapi.Suzuki, ask, reason("何社?")), webapi.Suzuki)
	answer := w.opens(webapi.Sato, circulation.Answer, p.ID, "/1")
	w.stamps(webapi.Suzuki, p.ID, "/1")
	w.stays(w.sendView(webapi.Sato, answer, reason("2 社")), "承認しました")
	w.stays(w.sendView(webapi.Suzuki, ask, reason("納期は?")), "承認しました")
	w.stays(w.sendView(webapi.Suzuki, add, adding(webapi.Alex, circulation.AsConsult, "x")), "承認しました")
	expect.Is(t, len(w.acts()), 2, "acts")
}

func testRouteActMalformed(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	form := w.opens(webapi.Suzuki, circulation.Ask, p.ID, "/1")
	for _, about := range []string{"", "x", "{}", `{"act":"stamp"}`, `{"act":"ask","stage":-1}`} {
		stale := form
		stale.PrivateMetadata = about
		w.stays(w.sendView(webapi.Suzuki, stale, reason("x")), "フォーム")
	}
	other := form
	other.PrivateMetadata = strings.Replace(form.PrivateMetadata, w.Load().AskedHash(p.ID), "other", 1)
	w.stays(w.sendView(webapi.Suzuki, other, reason("x")), "最新のカード")
	expect.Is(t, len(w.acts()), 0, "acts")
}
