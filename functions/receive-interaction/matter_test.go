package main

import (
	"strings"
	"testing"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
)

// matter opens the form that asks for a decision and returns its submission, with some fields otherwise.
func (w *world) matter(user, channel string, change map[string]string) map[string]any {
	w.T.Helper()
	p := person(kindGlobal, user, ringitest.Team)
	p["callback_id"], p["trigger_id"] = shortcutMatter, w.slack.NewTrigger(user)
	w.quiet(w.post(p), user)
	v := w.taken(user)
	expect.Is(w.T, v.CallbackID, card.MatterCallback)
	values := map[string]any{card.RequestAtBlock: map[string]any{card.RequestAt: map[string]any{
		"type": "conversations_select", "selected_conversation": channel}}}
	w.fills(values, change)
	return submits(user, v.CallbackID, v.PrivateMetadata, values)
}

// fills types in the fields of the form, some of them otherwise.
func (w *world) fills(values map[string]any, change map[string]string) {
	for field, is := range map[string]string{card.MatterKind: "支出", card.MatterTitle: "複合機の入れ替え",
		card.MatterAmount: "120万", card.MatterDescription: "故障が続くため。"} {
		if to, changed := change[field]; changed {
			is = to
		}
		in := map[string]any{"type": "plain_text_input", "value": is}
		if field == card.MatterKind {
			in = map[string]any{"type": "static_select", "selected_option": map[string]any{"value": is}}
		}
		values[field] = map[string]any{card.MatterInput: in}
	}
}

func TestAFormAsksForADecision(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"once, however often it is sent": func(t *testing.T, w *world) {
			s := w.matter(webapi.Sato, webapi.HR, nil)
			expect.AtOnce(3, func(int) { w.post(s) })
			w.quiet(w.post(s), webapi.Sato)
			expect.Is(t, w.messages(webapi.HR, "複合機の入れ替え"), 1)
			r := w.asks(webapi.HR, "複合機の入れ替え").Request
			expect.Same(t, &task.Matter{Kind: "支出", Title: "複合機の入れ替え", Amount: "1200000", Description: "故障が続くため。"}, r.Matter)
			expect.That(t, strings.Contains(r.Text, "¥1,200,000") && strings.Contains(r.Text, "区分: 支出"), "%s", r.Text)
		},
		"but not of what is wrong, which stands at its field": func(t *testing.T, w *world) {
			out := w.post(w.matter(webapi.Sato, webapi.HR, map[string]string{card.MatterAmount: "たくさん"}))
			expect.Has(t, out.Body, `"`+card.MatterAmount+`":`)
			expect.Is(t, strings.Count(out.Body, `":"`), 2, out.Body)
			expect.Is(t, w.messages(webapi.HR, "複合機の入れ替え"), 0)
		},
		"from the Home tab, to direct messages": func(t *testing.T, w *world) {
			w.quiet(w.post(w.onTab(webapi.Sato, card.NewMatter, "")), webapi.Sato)
			expect.Is(t, w.taken(webapi.Sato).CallbackID, card.MatterCallback)
			w.quiet(w.post(w.matter(webapi.Sato, "", map[string]string{card.MatterAmount: ""})), webapi.Sato)
			r := w.asks(webapi.DirectMessage(webapi.Sato), "複合機の入れ替え").Request
			expect.That(t, r.Matter.Amount == "" && strings.Contains(r.Text, "金額不明"), "%+v", r)
		},
	})
}

// waitingForm brings a form, of which Sato made a request, to the people who are asked.
func (w *world) waitingForm() *task.Process {
	w.T.Helper()
	w.quiet(w.post(w.matter(webapi.Sato, webapi.HR, nil)), webapi.Sato)
	a := w.asks(webapi.HR, "複合機の入れ替え")
	w.Ref = a.Ref()
	w.Extracted()
	w.refilled(*a.Matter())
	return w.Load().Process()
}

// refilled brings what the form says now to the people who are asked.
func (w *world) refilled(m task.Matter) {
	w.T.Helper()
	s := expect.Value(w.Store.Settings(w.T.Context(), w.Ref.Tenant))(w.T)
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishPrompt(a.Head.Run, task.Drafted{Content: card.MatterText("ja", m)}, s, w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ApproveUnasked(a.Prompt().ID, w.Now()) })
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.FinishProcess(a.Head.Run, m.Steps("ja", "v1"), "", s, w.Now())
	})
}

// refills is what somebody sends in the form of what was given back, with some fields otherwise.
func (w *world) refills(user string, v webapi.View, change map[string]string) slackapi.Response {
	w.T.Helper()
	return w.post(w.refill(user, v, change))
}

func (w *world) refill(user string, v webapi.View, change map[string]string) map[string]any {
	w.T.Helper()
	values := map[string]any{}
	w.fills(values, change)
	return submits(user, v.CallbackID, v.PrivateMetadata, values)
}

// What is filled in again has the files that stay and those that were added.
func TestAFormThatWasGivenBackGetsOtherFiles(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	s := w.matter(webapi.Sato, webapi.HR, nil)
	values := func(p map[string]any) map[string]any {
		return p["view"].(map[string]any)["state"].(map[string]any)["values"].(map[string]any)
	}
	give := func(in map[string]any, ids ...string) {
		var files []any
		for _, id := range ids {
			files = append(files, map[string]any{"id": id, "name": id + ".pdf", "mimetype": "application/pdf", "size": 10 << 20})
		}
		in[card.MatterFiles] = map[string]any{card.MatterInput: map[string]any{"type": "file_input", "files": files}}
	}
	give(values(s), "F0A", "F0B")
	w.quiet(w.post(s), webapi.Sato)
	a := w.asks(webapi.HR, "複合機の入れ替え")
	w.Ref = a.Ref()
	w.filesRead()
	w.Extracted()
	w.refilled(*a.Matter())
	p := w.Load().Process()
	w.quiet(w.post(w.form(webapi.Suzuki, "process", p.ID, "見積書を付けてください")), webapi.Suzuki)
	w.quiet(w.post(w.click(webapi.Sato, "refill_process", p.ID)), webapi.Sato)
	v := w.view(webapi.Sato)
	form := expect.JSON(v)
	for _, want := range []string{`"kept"`, "F0A.pdf", "F0B.pdf", "file_input"} {
		expect.Has(t, form, want)
	}

	sent := w.refill(webapi.Sato, v, nil)
	in := values(sent)
	in[card.MatterKept] = map[string]any{card.MatterInput: map[string]any{"type": "checkboxes",
		"selected_options": []any{map[string]any{"value": "F0B"}}}}
	give(in, "F0C", "F0D")
	out := w.post(sent)
	expect.That(t, strings.Contains(out.Body, `"file":`) && strings.Contains(out.Body, "25.0 MB"), "%s", out.Body)
	give(in, "F0C")
	w.quiet(w.post(sent), webapi.Sato)
	w.quiet(w.post(sent), webapi.Sato) // it is delivered again
	a = w.Load()
	var ids []string
	for _, f := range a.Listed() {
		ids = append(ids, f.ID+" "+f.User)
	}
	expect.Same(t, []string{"F0B " + webapi.Sato, "F0C " + webapi.Sato}, ids)
	expect.That(t, len(a.Prompts) == 2 && a.Unread() && len(a.FilesOf(p.ID)) == 2, "%+v", a.Prompt())
}

// filesRead notes what was read of a form's files.
func (w *world) filesRead() {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		var read []task.ReadFile
		for i, f := range a.Listed() {
			x := task.ReadFile{SharedFile: f}
			x.Take([]byte("%PDF-"+f.ID), i)
			x.Bytes = f.Bytes
			read = append(read, x)
		}
		return a.ReadFiles(a.Head.Run, read, w.Now())
	})
}

// A form that was given back is filled in again, and is the next version of the same request. What is wrong is said at
// its field; that somebody was faster, in the form's place, beside what was typed.
func TestAFormThatWasGivenBackIsFilledInAgain(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.waitingForm()
	w.quiet(w.post(w.click(webapi.Suzuki, "reject_process", p.ID)), webapi.Suzuki)
	w.slack.CloseView(webapi.Suzuki)
	w.quiet(w.post(w.form(webapi.Suzuki, "process", p.ID, "もっと安いものを")), webapi.Suzuki)
	expect.That(t, w.Load().GivenBack(p.ID) && w.Load().Head.Ended == nil, "%+v", w.Load().Head)
	w.told(w.post(w.click(webapi.Suzuki, "refill_process", p.ID)), webapi.Suzuki, "依頼した本人だけ")
	w.quiet(w.post(w.click(webapi.Sato, "refill_process", p.ID)), webapi.Sato)
	v := w.view(webapi.Sato)
	form := expect.JSON(v)
	for _, want := range []string{card.RefillCallback, "複合機の入れ替え", "もっと安いものを"} {
		expect.Has(t, form, want)
	}

	change := map[string]string{card.MatterTitle: "複合機の賃借", card.MatterAmount: "90万"}
	amount := func(is string) map[string]string {
		return map[string]string{card.MatterTitle: "複合機の賃借", card.MatterAmount: is}
	}
	expect.Has(t, w.refills(webapi.Sato, v, amount("たくさん")).Body, `"`+card.MatterAmount+`":`)
	w.Settings(func(s *tenancy.Settings) { // while the form is open
		s.Matters = []tenancy.MatterKind{{Name: "契約"}}
	})
	expect.Has(t, w.refills(webapi.Sato, v, change).Body, `"matter":`)
	w.Settings(func(s *tenancy.Settings) { s.Matters = nil })
	expect.Has(t, w.refills(webapi.Suzuki, v, change).Body, "依頼した本人だけ")
	expect.Is(t, len(w.Load().Prompts), 1)

	expect.AtOnce(3, func(int) { w.refills(webapi.Sato, v, change) })
	w.quiet(w.refills(webapi.Sato, v, change), webapi.Sato)
	a := w.Load()
	expect.That(t, len(a.Prompts) == 2 && a.Prompt().EditedBy == webapi.Sato && a.Matter().Amount == "900000" &&
		a.Task.Title == "複合機の賃借" && strings.Contains(a.Prompt().Content, "¥900,000"), "%+v", a.Prompt())
	faster := func() {
		body := w.refills(webapi.Sato, v, amount("80万")).Body
		for _, want := range []string{`"response_action":"update"`, webapi.Sato + `\u003e が書き直したため`, "¥800,000"} {
			expect.Has(t, body, want)
		}
	}
	faster()
	w.refilled(*a.Matter())
	faster()
	expect.That(t, len(w.Load().Processes) == 2 && len(w.Load().Prompts) == 2, "%+v", w.Load().Processes)
}
