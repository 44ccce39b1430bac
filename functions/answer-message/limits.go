package main

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"ringi/shared/decide/pipeline"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/words/language"
)

const (
	reasonSessionCost aggregate.Reason = "session_cost"
	reasonTooLong     aggregate.Reason = "answer_too_long" // DynamoDB's limit of an item
)

// words are sentences that replace a model's answer.
type words struct {
	cost                        string
	busy, moved, long, unlisted string
	withdrawn, changed, deleted string
}

var inEach = language.InEach(
	words{
		cost:      "この会話の費用が上限 ($%s) に達したため、エージェントは回答できません。新しい会話を始めてください。",
		busy:      "ほかの操作が承認待ちのため、この操作は提案できませんでした。",
		moved:     "会話のファイルが変わったため、この操作は提案できませんでした。今のファイルをもとに、もう一度提案してください。",
		unlisted:  "管理者が許可していない読み取りのため、ツールは呼び出していません。",
		long:      "エージェントの回答が長すぎて、保存できませんでした。一度に頼む量を減らして、もう一度送信してください。",
		withdrawn: "回答の前にメッセージが削除されたため、回答しません。",
		changed:   "編集前のメッセージに、すでに回答しています。新しい内容はエージェントに伝わっていますが、回答はしていません。回答が必要な場合は、もう一度送信してください。",
		deleted:   "削除されたメッセージには、すでに回答しています。今後はエージェントに渡しませんが、この会話の記録には残ります。",
	},
	words{
		cost: "This conversation has reached its budget ($%s), so the agent can't answer. Please start a new conversation.",
		busy: "Another action is waiting for approval, so this one couldn't be proposed.",
		moved: "The conversation's files have changed, so this action couldn't be proposed. Propose it again for the " +
			"current files.",
		unlisted:  "An administrator hasn't listed this read, so the tool wasn't called.",
		long:      "The agent's answer was too long to save. Please ask for less at a time.",
		withdrawn: "The message was deleted before the agent answered, so it won't be answered.",
		changed: "The agent had already answered your message before you edited it. It has the new text now but hasn't " +
			"answered it. If you need an answer, write again.",
		deleted: "The agent had already answered the message you deleted. It no longer sees the message, but the " +
			"conversation's record keeps it.",
	})

func wordsIn(locale string) words { return inEach.In(locale) }

// outsider refuses messages of guests, and of people who belong to another workspace or have left this one. It asks
// Slack only about the authors of waiting messages.
func (t *answering) outsider(ctx context.Context) (*conversation.Refusal, error) {
	team, asked := t.a.Conversation.TeamID, map[string]bool{"": true}
	for _, i := range t.seen {
		if asked[i.User] {
			continue
		}
		asked[i.User] = true
		by, err := t.Who(ctx, t.ref, team, i.User)
		if err != nil {
			return nil, fmt.Errorf("who writes: %w: %w", explain.ErrUnavailable, err)
		}
		refused := (aggregate.Policy{Team: team}).Request(by)
		if refused == nil {
			continue
		}
		why := task.ReasonGuest
		if errors.Is(refused, aggregate.ErrNotAllowed{Rule: aggregate.RuleForeign}) {
			why = task.ReasonStranger
		}
		t.seen = slices.DeleteFunc(slices.Clone(t.seen), func(x *conversation.Inbox) bool {
			return x.User != i.User // the other people's messages are answered next
		})
		return &conversation.Refusal{Reason: why, Text: explain.EndedInTalk(t.settings.Locale, why, "")}, nil
	}
	return nil, nil
}

// undecidable refuses messages if nobody could approve the agent's proposals to their authors.
func (t *answering) undecidable(ctx context.Context) (*conversation.Refusal, error) {
	err := t.Approvable(ctx, t.ref, t.a.Conversation.Origin(), t.settings, t.askers())
	nobody, undecidable := errors.AsType[aggregate.ErrNotAllowed](err)
	switch {
	case err == nil:
		return nil, nil
	case !undecidable:
		return nil, fmt.Errorf("who may approve: %w: %w", explain.ErrUnavailable, err)
	}
	why := task.ReasonUndecidable(nobody.Rule)
	return &conversation.Refusal{Reason: why, Text: explain.EndedInTalk(t.settings.Locale, why, "")}, nil
}

// limits says why no model is called: the author may not ask, nobody could approve a proposal,
// the budget of the conversation or the tenant is used up, or there is nothing to answer.
func (t *answering) limits(ctx context.Context) (*conversation.Refusal, error) {
	if why, err := t.outsider(ctx); err != nil || why != nil {
		return why, err
	}
	if why, err := t.undecidable(ctx); err != nil || why != nil {
		return why, err
	}
	w := wordsIn(t.settings.Locale)
	if limit := t.settings.MaxCost(); limit > 0 && t.a.Conversation.Usage.Cost >= limit {
		return &conversation.Refusal{Reason: reasonSessionCost, Detail: limit.String(), Text: fmt.Sprintf(w.cost, limit)}, nil
	}
	over, err := pipeline.OverBudget(ctx, t.Store, t.in.Tenant, t.settings, t.Now())
	if err != nil {
		return nil, err
	}
	if over.Reason != "" {
		return &conversation.Refusal{Reason: over.Reason, Detail: over.Detail,
			Text: explain.EndedInTalk(t.settings.Locale, over.Reason, over.Detail)}, nil
	}
	return t.unsaid(), nil
}
