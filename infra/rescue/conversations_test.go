package main

import (
	"strings"
	"testing"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/shared/slack/card"
)

func TestAConversationIsLookedAtAndNothingOfItIsDecided(t *testing.T) {
	d := driver.Talk(t, running, workspace.Sato, "codex: ファイルを作って")
	asks := d.Shows("操作 #1 の確認")
	was := d.Rests()
	values := map[string]string{"TableName": running.TableName, "tenant": d.Ref().Tenant, "session": d.Ref().ID}
	for _, command := range runbook(t, "session", values) {
		if said := rescue(t, command); !strings.Contains(said, "with codex: ") || !strings.Contains(said, "action 1 (code_generate) is pending") || !strings.Contains(said, "0 messages") || !strings.Contains(said, "nothing to run") {
			t.Errorf("said %q", said)
		}
	}
	d.Eventually("its cards are drawn again", func() bool { a := d.Load(); return a.Head.Redraws > was.Head.Redraws && a.Head.ShownRev >= a.Head.Rev })
	if now := d.Load(); now.Head.Rev != was.Head.Rev || now.Pending() == nil {
		t.Errorf("revision %d, was %d; pending %+v", now.Head.Rev, was.Head.Rev, now.Pending())
	}
	d.Press(workspace.Sato, asks, card.ApproveAction)
	d.Shows("結果を受け取りました")
}
