package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
	"ringi/shared/slack/slackapi/inbound"
	"ringi/shared/store/storetest"
	"ringi/shared/words/language"
)

// proposeFromMenu chooses 「操作を提案」 in the menu of a message in the conversation's thread.
func (k *inConversation) proposeFromMenu(user string, message map[string]any) inbound.Response {
	k.T.Helper()
	p := k.shortcut(user, message)
	p["callback_id"] = shortcutPropose
	return k.post(p)
}

// typedProposal returns the dialog's values. Slack sends null for what is empty.
func typedProposal(kind, content, path, seconds, summary string) map[string]any {
	text := func(s string) map[string]any {
		x := map[string]any{"type": "plain_text_input", "value": s}
		if s == "" {
			x["value"] = nil
		}
		return x
	}
	in := func(f conversation.OwnField, x map[string]any) map[string]any { return map[string]any{string(f): x} }
	return map[string]any{
		"type": in(conversation.OwnType, map[string]any{"type": "static_select",
			"selected_option": map[string]any{"value": kind}}),
		"content": in(conversation.OwnContent, text(content)), "path": in(conversation.OwnPath, text(path)),
		"seconds": in(conversation.OwnSeconds, text(seconds)), "summary": in(conversation.OwnSummary, text(summary)),
	}
}

func (k *inConversation) current() *conversation.Action {
	k.T.Helper()
	return k.Load().Current()
}

func TestAPersonProposesAnActionFromAMessagesMenu(t *testing.T) {
	k := newConversation(t, storetest.Start(t), "make")
	inThread := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "user": webapi.Tanaka,
		"text": "make test を流したい"}
	k.told(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka, "ほかの操作が承認待ちか実行中です")
	k.Cancel()
	k.quiet(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka)
	form := k.view(webapi.Tanaka)
	expect.Is(t, form.CallbackID, card.ProposalCallback)

	out := k.sendView(webapi.Tanaka, form, typedProposal("shell_command", "", "", "900", "テスト"))
	expect.Has(t, out.Body, `"content":"内容: 入力してください。"`)
	expect.Has(t, out.Body, `"seconds":"制限時間: 1 から 600 までの整数 (秒) を入力してください。"`)
	out = k.sendView(webapi.Tanaka, form, typedProposal("code_generate", "x", "/etc/passwd", "", "書く"))
	expect.Has(t, out.Body, `"path":"ファイルのパス: `)
	expect.That(t, k.current() == nil, "proposed all the same: %+v", k.current())

	for range 2 { // sent twice, it is proposed once
		k.quiet(k.sendView(webapi.Tanaka, form, typedProposal("shell_command", "make test\n", "", "", "テストを流す")),
			webapi.Tanaka)
	}
	x := k.current()
	expect.Must(t, x != nil && x.Number == 2 && x.RequestedBy == conversation.RequestedByUser &&
		x.Askers[0] == webapi.Tanaka &&
		string(x.Payload.JSON) == `{"script":"make test\n","timeout_seconds":60,"base":""}` &&
		x.Gate.Terms.DecideBy != nil, "%+v", x)
	out = k.sendView(webapi.Suzuki, form, typedProposal("shell_command", "ls", "", "", "見る"))
	expect.Has(t, out.Body, "ほかの操作が承認待ちか実行中です")

	// Who proposed it counts as who asked.
	k.changeSettings(func(s *tenancy.Settings) { s.AllowSelfApproval = false })
	k.press(webapi.Tanaka, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash())
	expect.Is(t, k.current().Status, conversation.ActionPending, "their own is approved")
	k.quiet(k.press(webapi.Suzuki, card.ApproveAction, x.ActionID+"/"+x.Payload.Hash()), webapi.Suzuki)
	expect.Is(t, k.current().Status, conversation.ActionApproved)
}

func TestNobodyProposesWhereThereIsNoConversationOrWhoMayNot(t *testing.T) {
	k := newConversation(t, storetest.Start(t), "make")
	k.proposeFromMenu(webapi.Sato, map[string]any{"ts": "1776679999.000100", "text": "x"})
	told := k.slack.Ephemerals(webapi.Sato)
	expect.Must(t, len(told) == 1 && strings.Contains(told[0].Text, "会話のスレッドでだけ提案できます"), "told %+v", told)
	k.heard[webapi.Sato]++
	k.Cancel()
	inThread := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "text": "x"}
	k.proposeFromMenu(webapi.Guest, inThread)
	expect.That(t, len(k.slack.Views(webapi.Guest)) == 0, "a guest gets the form")
	k.quiet(k.proposeFromMenu(webapi.Sato, inThread), webapi.Sato)
	form := k.view(webapi.Sato)
	out := k.sendView(webapi.Guest, form, typedProposal("shell_command", "ls", "", "", "見る"))
	expect.That(t, out.Body != "" && k.current() == nil, "a guest proposes: %s", out.Body)
	form.PrivateMetadata = `{"session":"../x"}`
	expect.That(t, k.sendView(webapi.Sato, form, typedProposal("shell_command", "ls", "", "", "見る")).Body != "",
		"a form of nowhere closes")
}

func TestTheProposalsFormKeepsSlacksRules(t *testing.T) {
	for _, locale := range language.All {
		for _, text := range []string{"", "x", strings.Repeat("字", 5000)} {
			expect.NoError(t, cardtest.CheckView(card.ProposalModal("0b05ea8a-fc60-8660-91d9-0d6e1b78bb66", text, nil, locale)))
		}
	}
}

// In a conversation that has files a proposal to write one waits for a run; the dialog's own id makes it one.
func TestAFileBesideOthersWaitsForARun(t *testing.T) {
	k := newConversation(t, storetest.Start(t), "make")
	k.Cancel()
	k.Rewrite(func(s *conversation.Conversation) {
		s.WorkspaceVersion = "v1"
	})
	inThread := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "text": "x"}
	k.quiet(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka)
	form := k.view(webapi.Tanaka)
	out := k.sendView(webapi.Tanaka, form, typedProposal("code_generate", "x", "../x", "", "書く"))
	expect.Has(t, out.Body, `"path":"ファイルのパス: `)
	for range 2 {
		k.quiet(k.sendView(webapi.Tanaka, form, typedProposal("code_generate", "x", "src/a.py", "", "書く")),
			webapi.Tanaka)
	}
	a := k.Load()
	expect.Must(t, len(a.Typed) == 1 && a.Typed[0].User == webapi.Tanaka && a.Typed[0].Own.Path == "src/a.py" &&
		a.Current() == nil, "%+v", a.Typed)
}

// A rule that names everybody itself has them asked about a person's own proposal at once. For others a run asks Slack.
func TestAPersonsOwnProposalIsUnderTheRules(t *testing.T) {
	server := storetest.Start(t)
	stage := func(who rules.Who) rules.Outcome {
		return rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			{Name: "経理", Who: who, Need: 1, Empty: rules.EmptyRefuse}}}}
	}
	people := rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Tanaka, webapi.Suzuki}}
	alone := rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Tanaka}}
	group := rules.Who{Kind: rules.WhoGroup, Group: "S0KEIRI"}
	for name, c := range map[string]struct {
		kind   rules.Kind
		o      rules.Outcome
		says   string // what the form says; empty: it is proposed
		routed bool
	}{
		"people":         {rules.KindAction, stage(people), "", true},
		"steps alone":    {rules.KindSteps, rules.Outcome{Refuse: "no"}, "", false},
		"a refusal":      {rules.KindAction, rules.Outcome{Refuse: "購買部へ。"}, "この操作は提案できません。購買部へ。", false},
		"a user group":   {rules.KindAction, stage(group), "", false},
		"only the asker": {rules.KindAction, stage(alone), "発言が内容に含まれる方を除くと、承認できる人が足りない", false},
	} {
		k := newConversation(t, server, "make")
		k.Cancel()
		x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
			ID: "01KS000000000000000000000A", Name: "操作", Outcome: c.o,
			When: rules.Conditions{Kinds: []rules.Kind{c.kind}}}}}
		_, _, err := k.Store.SaveRules(t.Context(), k.Ref.Tenant, x, 0, nil, k.By, k.Now())
		expect.NoError(t, err)
		inThread := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "text": "x"}
		k.quiet(k.proposeFromMenu(webapi.Tanaka, inThread), webapi.Tanaka)
		form := k.view(webapi.Tanaka)
		var body string
		for range 2 { // sent twice, it is proposed once
			body = k.sendView(webapi.Tanaka, form, typedProposal("shell_command", "ls", "", "", "見る")).Body
		}
		if c.says != "" {
			expect.Has(t, body, c.says)
			expect.That(t, k.current() == nil, "%s: %+v", name, k.current())
			continue
		}
		got, looksUp := k.current(), name == "a user group"
		expect.Must(t, got != nil && got.Number == 2 && got.Gate.Ruled() == (c.routed || looksUp), "%s: %+v, %s", name, got,
			body)
		a := k.Load()
		expect.That(t, (a.LooksUp(k.Now()) != nil) == looksUp, "%s: %+v", name, got)
		if c.routed {
			asked := got.Gate.Route.Stages[0].People
			expect.That(t, len(asked) == 1 && asked[0].User == webapi.Suzuki, "%s: %+v", name, asked)
		}
	}
}

// Whoever's message 「操作を提案」 is chosen on asks for what it says, like whom it forwards and whose files it has: nobody
// has their own words proposed by somebody else and stamps them.
func TestWhoseWordsAreProposedAskForThem(t *testing.T) {
	server := storetest.Start(t)
	for name, more := range map[string]map[string]any{
		"its author": {"user": webapi.Suzuki},
		"whom it forwards": {"attachments": []any{
			map[string]any{"is_share": true, "author_id": webapi.Suzuki, "text": "ls"},
			map[string]any{"is_share": true, "author_id": webapi.Bot, "text": "ls"}}},
		"who owns its file": {"files": []any{map[string]any{"id": "F1", "name": "a.txt", "user": webapi.Suzuki}}},
	} {
		for _, kind := range []string{"shell_command", "code_generate"} {
			k := newConversation(t, server, "make")
			k.Cancel()
			x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
				ID: "01KS000000000000000000000A", Name: "操作", When: rules.Conditions{Kinds: []rules.Kind{rules.KindAction}},
				Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{{Name: "情シス", Need: 1, Empty: rules.EmptyRefuse,
					Who: rules.Who{Kind: rules.WhoPeople, People: []string{webapi.Suzuki, webapi.Alex}}}}}}}}}
			_, _, err := k.Store.SaveRules(t.Context(), k.Ref.Tenant, x, 0, nil, k.By, k.Now())
			expect.NoError(t, err)
			message := map[string]any{"ts": "1776675700.000100", "thread_ts": k.root, "user": webapi.Sato, "text": "ls"}
			maps.Copy(message, more)
			k.quiet(k.proposeFromMenu(webapi.Tanaka, message), webapi.Tanaka)
			out := k.sendView(webapi.Tanaka, k.view(webapi.Tanaka), typedProposal(kind, "ls ", "a.txt", "", "見る"))
			got := k.current()
			expect.Must(t, got != nil, "%s, %s: %s", name, kind, out.Body)
			app := slices.ContainsFunc(got.Gate.Askers, circulation.Person{User: webapi.Bot}.Is)
			expect.That(t, !app, "%s, %s: an app asks: %+v", name, kind, got.Gate.Askers)
			asks := slices.ContainsFunc(got.Gate.Askers, circulation.Person{User: webapi.Suzuki}.Is)
			expect.That(t, asks, "%s, %s: %+v", name, kind, got.Gate.Askers)
			k.press(webapi.Suzuki, card.ApproveAction, got.ActionID+"/"+got.Payload.Hash())
			expect.Is(t, k.current().Status, conversation.ActionPending, name)
		}
	}
}
