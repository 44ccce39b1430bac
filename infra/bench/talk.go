package main

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"ringi/infra/bench/recorder"
	"ringi/infra/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/template"
	"ringi/shared/slack/card"
)

// measureTalk has n conversations one after another, after one that starts processes: a message, a proposal of two files, a stamp,
// and what the agent says of the result.
func measureTalk(ctx context.Context, n int) (*Pipeline, error) {
	rec := recorder.New(1)
	s, err := open(ctx, rec, webapi.Rates{})
	if err != nil {
		return nil, err
	}
	defer s.Close()
	rec.Attach(&recorder.Meter{Endpoint: s.AWSEndpoint, Indexes: indexes(s.Template.Tables[0])})
	p := &Pipeline{}
	for _, many := range []int{1, n} {
		for range many {
			err := driver.Try(ctx, func(t driver.T) {
				d := driver.Talk(t, s, workspace.Sato, "codex: ファイルを作って")
				d.Press(workspace.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
				d.Shows("結果を受け取りました")
				d.Status("active")
			})
			if err != nil {
				return nil, err
			}
		}
		calls, err := whenQuiet(ctx, rec)
		if err != nil {
			return nil, err
		}
		p.Functions = usage(calls, many)
	}
	return p, nil
}

func (m *Measured) talkRows(t *table) {
	if m.Talk == nil {
		return
	}
	t.part("One conversation: a message, two files proposed, a stamp, the agent on the result: calls and capacity", "of all functions", "")
	for _, name := range slices.Sorted(maps.Keys(m.Talk.Functions)) {
		if name != sweeper {
			t.row(template.Folder(name)+", in a conversation", inShort(m.Talk.Functions[name]), "")
		}
	}
	t.row("all functions, in a conversation", inShort(m.Talk.Total()), "")
	t.row("rows that a conversation writes by kind", byKind(*m.Talk), "")
}

// measureOthers measures contests and conversations.
func (m *Measured) measureOthers(ctx context.Context, n int) (err error) {
	if m.Contest, err = measureContests(ctx, n); err != nil {
		return fmt.Errorf("contests: %w", err)
	}
	if m.Talk, err = measureTalk(ctx, n); err != nil {
		return fmt.Errorf("conversations: %w", err)
	}
	return nil
}
