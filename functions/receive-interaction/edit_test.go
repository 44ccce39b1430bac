package main

import (
	"encoding/json"
	"maps"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store/storetest"
)

// returned brings the task to steps that Suzuki gave back by the form of a rejection.
func (w *world) returned() *task.Process {
	w.T.Helper()
	p := w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "send_slack_dm", aggregate.Write,
		`{"recipient":"`+webapi.Tanaka+`","text":"x","details":[{"label":"件数","value":3}]}`)).Process()
	w.giveBack(p.ID)
	return w.Load().Process()
}

func (w *world) giveBack(id string) {
	w.T.Helper()
	kind := string(w.Load().AskedBy(id))
	form := w.form(webapi.Suzuki, kind, id, "宛先を直してください")
	values := form["view"].(map[string]any)["state"].(map[string]any)["values"].(map[string]any)
	values[card.ThenBlock] = map[string]any{card.ThenInput: map[string]any{"type": "radio_buttons",
		"selected_option": map[string]any{"value": "give_back"}}}
	w.quiet(w.post(form), webapi.Suzuki)
}

// editing is what Sato sends in the form of a version, of the values that its fields have.
func (w *world) editing(user, kind, id, hash string, values map[string]string) inbound.Response {
	w.T.Helper()
	p, state := person("view_submission", user, slacktest.Team), map[string]any{}
	for block, text := range values {
		field := map[string]any{"type": "plain_text_input", "value": text}
		if user, chosen := strings.CutPrefix(text, "@"); chosen {
			field = map[string]any{"type": "users_select", "selected_user": user}
		}
		state[block] = map[string]any{card.EditInput: field}
	}
	of := card.Review{Type: aggregate.CardType(kind), ID: id, TaskID: w.Ref.ID, Hash: hash}
	about := expect.Value(json.Marshal(of))(w.T)
	p["view"] = map[string]any{"id": "V1", "type": "modal", "callback_id": card.EditCallback,
		"private_metadata": string(about), "state": map[string]any{"values": state}}
	return w.post(p)
}

func TestAnAskerEditsWhatWasGivenBack(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.returned()
	expect.That(t, p.GivenBack() && p.RejectionReason == "宛先を直してください", "%+v", p.Gate)
	w.told(w.post(w.click(webapi.Suzuki, "edit_process", p.ID)), webapi.Suzuki, "依頼した本人だけ")
	mine, others, _ := strings.Cut(w.said(w.typed(webapi.Sato, webapi.HR, "list")), "あなたの依頼")
	expect.That(t, strings.Contains(mine, "あなたの番 (1 件)") && strings.Contains(mine, w.Ref.ID) &&
		!strings.Contains(others, w.Ref.ID), "%s / %s", mine, others)
	w.quiet(w.post(w.click(webapi.Sato, "edit_process", p.ID)), webapi.Sato)
	v := w.view(webapi.Sato)
	form := string(expect.Value(json.Marshal(v))(t))
	for _, want := range []string{card.EditCallback, `"initial_user":"` + webapi.Tanaka, "宛先を直してください", "edit_1_0"} {
		expect.That(t, strings.Contains(form, want), "no %s in %s", want, form)
	}

	inputs := map[string]string{}
	f, _ := card.EditFormOf(nil, w.Load(), p.ID, "ja", func(id string) string { return id },
		func(s string, _ int) string { return s })
	to, number, text := "", "", ""
	for _, x := range f.Parts[0].Fields {
		inputs[x.ID] = x.Value
		switch x.Value {
		case webapi.Tanaka:
			to = x.ID
		case "3":
			number = x.ID
		case "x":
			text = x.ID
		}
	}
	hash := w.Load().AskedHash(p.ID)
	with := func(id, text string) map[string]string {
		out := maps.Clone(inputs)
		out[id] = text
		return out
	}
	less := maps.Clone(inputs)
	delete(less, to)
	for name, tt := range map[string]struct {
		user, hash string
		values     map[string]string
		wants      string
	}{
		"a text in place of a number": {webapi.Sato, hash, with(number, "三"), number + `":"数値で入力してください。`},
		"a text beyond its limit":     {webapi.Sato, hash, with(text, strings.Repeat("長", 3001)), text + `":"3000 文字以内`},
		"no text":                     {webapi.Sato, hash, with(text, ""), text + `":"入力してください。`},
		"a field of another step":     {webapi.Sato, hash, with("edit_2_0", "x"), "フォームは古く"},
		"a field left out":            {webapi.Sato, hash, less, "フォームは古く"},
		"of what was not shown":       {webapi.Sato, "other", inputs, "状態が変わりました"},
	} {
		out := w.editing(tt.user, "process", p.ID, tt.hash, tt.values)
		told := out.Body
		if told == "" {
			all := w.slack.Ephemerals(tt.user)
			told, w.heard[tt.user] = all[len(all)-1].Text, len(all)
		}
		expect.That(t, strings.Contains(told, tt.wants) && w.Load().Process().Version == 1, "%s: %s", name, told)
	}
	w.told(w.editing(webapi.Suzuki, "process", p.ID, hash, inputs), webapi.Suzuki, "依頼した本人だけ")

	ok := with(to, "@"+webapi.Alex)
	w.quiet(w.editing(webapi.Sato, "process", p.ID, hash, ok), webapi.Sato)
	n := w.Load().Process()
	input := string(n.Steps[0].ToolInput)
	expect.That(t, n.Version == 2 && n.EditedBy == webapi.Sato && strings.Contains(input, webapi.Alex) &&
		strings.Contains(input, `"value":3`) && n.Steps[0].Tool == "send_slack_dm" && n.Status == aggregate.Generating,
		"%+v", n)
	w.quiet(w.editing(webapi.Sato, "process", p.ID, hash, ok), webapi.Sato) // a double click
	w.told(w.editing(webapi.Sato, "process", p.ID, hash, inputs), webapi.Sato, "先に <@"+webapi.Sato+"> が修正したため、あなたの修正は")
	w.told(w.post(w.click(webapi.Sato, "edit_process", p.ID)), webapi.Sato, "古いバージョン")
	expect.Is(t, len(w.Load().Processes), 2)
	w.editsAgain(n, to, ok)
}

// The form knows of a server's tool what its schema requires and bounds, and says so at the field.
func TestTheFormOfAServersToolChecksItsSchema(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	schema := `{"type":"object","required":["supplier","quantity","size"],"properties":{"supplier":{"type":"string"},
		"note":{"type":"string","maxLength":5},"quantity":{"type":"integer","minimum":1,"maximum":10000},
		"size":{"enum":["small","large"]},"code":{"type":"string","minLength":3}}}`
	p := tenancy.ToolPermission{TenantID: w.Ref.Tenant, ToolName: "shop.order", Allowed: true, Constraints: "{}",
		Pin: &tenancy.Pin{URL: "https://shop.invalid/", Title: "発注", Input: aggregate.JSON(schema), Access: aggregate.Write}}
	expect.Value(w.Store.SaveToolPermission(t.Context(), p, aggregate.System(), w.Now()))(t)
	id := w.Planned(tenancy.DefaultSettings(), pipelinetest.Step(1, "shop.order", aggregate.Write,
		`{"supplier":"アクメ","note":"n","quantity":3,"size":"small","code":"abc"}`)).Process().ID
	w.giveBack(id)
	w.quiet(w.post(w.click(webapi.Sato, "edit_process", id)), webapi.Sato)
	form := string(expect.Value(json.Marshal(w.view(webapi.Sato)))(t))
	f, _ := card.EditFormOf(nil, w.Load(), id, "ja", func(id string) string { return id },
		func(s string, _ int) string { return s })
	at, inputs := map[string]string{}, map[string]string{}
	for _, x := range f.Parts[0].Fields {
		at[x.Value], inputs[x.ID] = x.ID, x.Value
	}
	expect.Is(t, strings.Count(form, `"optional":true`), 1, form) // the note
	expect.Has(t, form, `"value":"large"`)
	for _, tt := range [][3]string{
		{"アクメ", "", "入力してください。"}, {"n", "とても長いもの", "5 文字以内"}, {"3", "-3", "1 以上"}, {"3", "20000", "10,000 以下"},
		{"small", "medium", "次のどれかにしてください: small / large"}, {"abc", "ab", "3 文字以上"},
	} {
		typed := maps.Clone(inputs)
		typed[at[tt[0]]] = tt[1]
		told := w.editing(webapi.Sato, "process", id, w.Load().AskedHash(id), typed).Body
		expect.That(t, strings.Contains(told, at[tt[0]]+`":"`+tt[2]) && w.Load().Process().Version == 1, "%q: %s", tt, told)
	}
	inputs[at["n"]] = ""
	w.quiet(w.editing(webapi.Sato, "process", id, w.Load().AskedHash(id), inputs), webapi.Sato)
	expect.Is(t, w.Load().Process().Version, 2)
}

// editsAgain has a run refuse the edit: the form opens with what was typed and why, and is sent for the same version.
func (w *world) editsAgain(n *task.Process, to string, typed map[string]string) {
	w.T.Helper()
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		why := []task.Misfit{{Order: 1, Field: 0, Why: task.MisfitForm, Limit: webapi.Tanaka}}
		return a.RefuseEdit(a.Head.Run, why, w.Now())
	})
	w.told(w.post(w.click(webapi.Suzuki, "edit_process", n.ID)), webapi.Suzuki, "依頼した本人だけ")
	w.quiet(w.post(w.click(webapi.Sato, "edit_process", n.ID)), webapi.Sato)
	form := string(expect.Value(json.Marshal(w.view(webapi.Sato)))(w.T))
	for _, want := range []string{`"initial_user":"` + webapi.Alex, "宛先を直してください", "受け付けられませんでした", "書き方が違います"} {
		expect.That(w.T, strings.Contains(form, want), "no %s in %s", want, form)
	}
	again := maps.Clone(typed)
	again[to] = "@" + webapi.Takada
	hash := w.Load().AskedHash(n.ID)
	w.told(w.editing(webapi.Suzuki, "process", n.ID, hash, again), webapi.Suzuki, "依頼した本人だけ")
	w.quiet(w.editing(webapi.Sato, "process", n.ID, hash, again), webapi.Sato)
	p := w.Load().Process()
	expect.That(w.T, p.Version == 2 && p.Edits == 2 && strings.Contains(string(p.Steps[0].ToolInput), webapi.Takada),
		"%+v", p)
	w.quiet(w.editing(webapi.Sato, "process", n.ID, hash, again), webapi.Sato) // a double click
	w.told(w.editing(webapi.Sato, "process", n.ID, hash, typed), webapi.Sato, "あなたの修正は使われていません")
}

func TestAnAskerEditsAPolicyOrWithdraws(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	p := w.prompted()
	w.giveBack(p.ID)
	hash := w.Load().AskedHash(p.ID)
	for name, text := range map[string]string{"nothing": " ", "too much": strings.Repeat("長", task.MaxPolicy+1)} {
		out := w.editing(webapi.Sato, "prompt", p.ID, hash, map[string]string{"edit_policy": text})
		expect.That(t, strings.Contains(out.Body, "8000"), "%s: %s", name, out.Body)
	}
	w.quiet(w.editing(webapi.Sato, "prompt", p.ID, hash, map[string]string{"edit_policy": "直した方針"}), webapi.Sato)
	is := w.Load().Prompt()
	expect.That(t, is.Content == "直した方針" && is.EditedBy == webapi.Sato, "%+v", is)

	w = newWorld(t, storetest.Start(t))
	w.returned()
	press := w.click(webapi.Sato, card.Withdraw, w.Ref.ID)
	w.quiet(w.post(press), webapi.Sato)
	expect.Is(t, w.view(webapi.Sato).CallbackID, card.CancelCallback)
	expect.That(t, w.Load().Head.Ended == nil, "withdrawn unasked")
}
