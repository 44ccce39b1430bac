package main

import (
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
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
func typedProposal(command string) map[string]any {
	x := map[string]any{"type": "plain_text_input", "value": command}
	if command == "" {
		x["value"] = nil
	}
	return map[string]any{conversation.OwnCommand: map[string]any{conversation.OwnCommand: x}}
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

	out := k.sendView(webapi.Tanaka, form, typedProposal(""))
	expect.Has(t, out.Body, `"command":"コマンド: 入力してください。"`)
	expect.That(t, k.current() == nil, "proposed all the same: %+v", k.current())

	for range 2 { // sent twice, it is proposed once
		k.quiet(k.sendView(webapi.Tanaka, form, typedProposal("make test\n")),
			webapi.Tanaka)
	}
	x := k.current()
	expect.Must(t, x != nil && x.Number == 2 && x.RequestedBy == conversation.RequestedByUser &&
		x.Askers[0] == webapi.Tanaka &&
		string(x.Payload.JSON) == `{"script":"make test\n","timeout_seconds":60,"base":""}` &&
		x.Gate.Terms.DecideBy != nil, "%+v", x)
	out = k.sendView(webapi.Suzuki, form, typedProposal("ls"))
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
	out := k.sendView(webapi.Guest, form, typedProposal("ls"))
	expect.That(t, out.Body != "" && k.current() == nil, "a guest proposes: %s", out.Body)
	form.PrivateMetadata = `{"session":"../x"}`
	expect.That(t, k.sendView(webapi.Sato, form, typedProposal("ls")).Body != "",
		"a form of nowhere closes")
}

func TestTheProposalsFormKeepsSlacksRules(t *testing.T) {
	for _, locale := range language.All {
		for _, text := range []string{"", "x", strings.Repeat("字", 5000)} {
			expect.NoError(t, cardtest.CheckView(card.ProposalModal("0b05ea8a-fc60-8660-91d9-0d6e1b78bb66", text, locale)))
		}
	}
}
