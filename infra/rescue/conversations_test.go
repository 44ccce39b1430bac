package main

import (
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

func TestAConversationIsLookedAtAndNothingOfItIsDecided(t *testing.T) {
	d := driver.Talk(t, running, webapi.Sato, "codex: ファイルを作って")
	asks := d.Shows("操作 #1 の確認")
	was := d.Rests()
	values := map[string]string{"TableName": running.TableName, "tenant": d.Ref().Tenant, "session": d.Ref().ID}
	for _, command := range runbook(t, "session", values) {
		said := rescue(t, command)
		expect.That(t, strings.Contains(said, "with codex: ") &&
			strings.Contains(said, "action 1 (code_generate) is pending") && strings.Contains(said, "0 messages") &&
			strings.Contains(said, "nothing to run"), "said %q", said)
	}
	d.Eventually("its cards are drawn again", func() bool { a := d.Load(); return a.Head.Redraws > was.Head.Redraws && a.Head.ShownRev >= a.Head.Rev })
	now := d.Load()
	expect.That(t, now.Head.Rev == was.Head.Rev && now.Pending() != nil,
		"revision %d, was %d; pending %+v", now.Head.Rev, was.Head.Rev, now.Pending())
	d.Press(webapi.Sato, asks, card.ApproveAction)
	d.Shows("完了しました: ファイル 2 件")
}
