package main

import (
	"context"
	"fmt"

	"ringi/infra/driver"
	"ringi/infra/local/sandbox/workspace"
	"ringi/infra/local/stack"
	"ringi/shared/domain/contest"
	"ringi/shared/slack/card"
)

// Contests are what a contest costs, of so many teams that play all of so many rounds.
type Contests struct {
	Teams, Rounds int
	Pipeline
}

// measureContests plays contests one after another, each from its head to its summary.
func measureContests(ctx context.Context, n int) (*Contests, error) {
	c := &Contests{Teams: 3, Rounds: 2}
	var err error
	c.Pipeline, err = repeated(ctx, n, func(t driver.T, s *stack.Stack) {
		all, ref := driver.Compete(t, s, "経費精算の手順を決めて", c.Teams, c.Rounds)
		if a := driver.SummedUp(t, all, ref); a.Summary.Status != contest.SummaryCompleted {
			t.Fatalf("the contest ended as %+v", a.Summary)
		}
	})
	// Each call of RunRound is followed by a choice; a team ends in a state of its own, and so do all teams and the
	// contest.
	c.Transitions = round(2*c.Functions["run-round"].Invocations + float64(c.Teams) + 3)
	return c, err
}

// measureConversations has conversations one after another: a message, a proposal of two files, a stamp, and what the
// agent says of the result.
func measureConversations(ctx context.Context, n int) (Pipeline, error) {
	return repeated(ctx, n, func(t driver.T, s *stack.Stack) {
		d := driver.Talk(t, s, workspace.Sato, "codex: ファイルを作って")
		d.Press(workspace.Sato, d.Shows("操作 #1 の確認"), card.ApproveAction)
		d.Shows("結果を受け取りました")
		d.Status("active")
	})
}

// measureOthers measures contests and conversations.
func (m *Measured) measureOthers(ctx context.Context, n int) (err error) {
	if m.Contest, err = measureContests(ctx, n); err != nil {
		return fmt.Errorf("contests: %w", err)
	}
	conversations, err := measureConversations(ctx, n)
	if err != nil {
		return fmt.Errorf("conversations: %w", err)
	}
	m.Conversation = &conversations
	return nil
}
