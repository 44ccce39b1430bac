package main

import (
	"fmt"
	"strings"
	"testing"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi/slacktest"
	"ringi/shared/store"
	"ringi/shared/store/records"
	"ringi/shared/store/storetest"
)

func (k *inConversation) withHomes() {
	s := k.rows.Of.Store
	k.h.Homes = &Homes{Rows: records.NotesOf(s.Table()), Slack: k.slack.Client,
		Inbox: decide.InboxReader{Rows: s, Store: store.TasksOf(s), Sessions: k.rows, Slack: k.slack.Client, Now: k.Now}}
}

// opens has a person open the tab.
func (k *inConversation) opens(user string) string {
	k.T.Helper()
	expect.NoError(k.T, records.NotesOf(k.rows.Table()).HomeOpened(k.T.Context(), k.ref.Tenant,
		records.OpenHome{Team: slacktest.Team, User: user, OpenedAt: k.Now()}))
	return k.publish(fmt.Sprintf(`{"tenant":%q,"kind":"home","id":%q}`, k.ref.Tenant, user), user)
}

// wants checks that a tab contains all texts in want and none in not.
func (k *inConversation) wants(tab string, want, not []string) {
	k.T.Helper()
	for _, text := range want {
		expect.That(k.T, strings.Contains(tab, text), "%q is missing in %s", text, tab)
	}
	for _, text := range not {
		expect.That(k.T, !strings.Contains(tab, text), "%q stands in %s", text, tab)
	}
}

// inChannel begins a conversation of Sato's in a channel's thread. All members of the channel may decide.
func (k *inConversation) inChannel(n int, script string) {
	k.T.Helper()
	ts := fmt.Sprintf("1776675700.%06d", n)
	in := conversation.Inbound{Team: slacktest.Team, Channel: webapi.HR, ChannelType: "channel", Thread: ts, TS: ts,
		User: webapi.Sato, Text: "テストを直して"}
	k.ref = in.Ref()
	expect.NoError(k.T, k.rows.Begin(k.T.Context(), expect.Value(conversation.Begin(in, conversation.Opening{AgentID: "claude", IsCached: true, Locale: "ja"}, k.Now()))(k.T)))
	p := conversation.Payload{Script: script, TimeoutSeconds: 60, Stamped: conversation.Stamped{Base: new("")}}
	k.says("", &conversation.Proposal{
		Type: conversation.ShellCommand, Payload: aggregate.Blob{JSON: aggregate.JSON(p.JSON()), Bytes: len(p.JSON())},
		Seconds: 60, Terms: aggregate.Terms{ApprovalRequired: true, ApprovalHours: 24},
	})
}

func TestConversationsOnHomeTabs(t *testing.T) {
	db := storetest.Start(t)
	for name, run := range map[string]func(*testing.T, *inConversation){
		"show what an agent wants to do with its buttons":   testHomeAction,
		"show a long one in short, to be read":              testHomeLongAction,
		"show who began them their open ones":               testHomeConversations,
		"lead to the copy where the thread can't be opened": testHomeLeadsToTheCopy,
		"hold sixty within Slack's limits":                  testHomeSixtyActions,
	} {
		t.Run(name, func(t *testing.T) {
			k := newConversation(t, db)
			k.withHomes()
			run(t, k)
		})
	}
}

func testHomeAction(t *testing.T, k *inConversation) {
	k.inChannel(1, "make test")
	k.wants(k.opens(webapi.Suzuki), []string{"approve_action", "reject_action", "cancel_action", k.ref.ID, "make test",
		"あなたの承認待ち (1 件)"}, []string{"エージェントとの会話"})
	k.wants(k.opens(webapi.Guest), nil, []string{"approve_action", k.ref.ID})
	x := expect.Value(k.rows.Load(t.Context(), k.ref))(t).Current()
	k.do(func(a *conversation.Aggregate) (aggregate.Change, error) {
		return decide.Approve(a, x.ActionID, k.By, k.policy, k.Now())
	})
	k.wants(k.opens(webapi.Suzuki), []string{"あなたの承認待ち (0 件)"}, []string{"approve_action"})
}

func testHomeLongAction(t *testing.T, k *inConversation) {
	k.inChannel(1, strings.Repeat("echo a long line\n", 900))
	k.wants(k.opens(webapi.Suzuki), []string{"review_action", "reject_action", "シェルコマンドの実行"},
		[]string{"approve_action", "echo a long line"})
}

func testHomeConversations(t *testing.T, k *inConversation) {
	k.wants(k.opens(webapi.Sato), []string{"エージェントとの会話", "テストを直して", "claude · 💬 会話中"}, nil)
	k.wants(k.opens(webapi.Suzuki), nil, []string{"エージェントとの会話"})
	k.do(func(a *conversation.Aggregate) (aggregate.Change, error) { return a.End(k.By, k.policy, k.Now()) })
	k.wants(k.opens(webapi.Sato), nil, []string{"エージェントとの会話"})
}

func testHomeLeadsToTheCopy(t *testing.T, k *inConversation) {
	k.listing(nil, webapi.Suzuki)
	k.proposes("make test")
	k.wants(k.opens(webapi.Suzuki), []string{"approve_action"}, []string{"/archives/"})
	k.shown()
	k.wants(k.opens(webapi.Suzuki), []string{"/archives/" + webapi.DirectMessage(webapi.Suzuki)},
		[]string{"/archives/" + k.channel})
}

func testHomeSixtyActions(t *testing.T, k *inConversation) {
	for i := range 60 {
		k.inChannel(i, fmt.Sprintf("echo %d", i))
	}
	k.slack.Calls()
	shown := k.opens(webapi.Suzuki)
	v, _ := k.slack.Home(webapi.Suzuki)
	expect.That(t, len(v.Blocks) <= 100, "%d blocks", len(v.Blocks))
	k.wants(shown, []string{"あなたの承認待ち (50 件以上)", "approve_action", "• *テストを直して* — 操作 #1 の確認", "古いものから 50 件"}, nil)
	calls := k.slack.Calls("users.info", "users.conversations")
	expect.That(t, len(calls) <= 4, "Slack was asked about people %d times", len(calls))
	k.wants(k.opens(webapi.Sato), []string{"エージェントとの会話"}, nil)
	if v, _ := k.slack.Home(webapi.Sato); len(v.Blocks) > 100 {
		t.Errorf("%d blocks", len(v.Blocks))
	}
}
