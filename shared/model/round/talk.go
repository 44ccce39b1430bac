package round

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/words/legible"
)

// talk is an agent's conversation with its model in this round.
type talk struct {
	*playing
	agent
	key      string // prefix of the keys of its answers
	tools    []model.Tool
	parallel bool
	schema   json.RawMessage // of its answers; nil: plain text

	said     []model.Message
	messages []contest.ModelMessage
	usage    contest.RunUsage
	spent    model.Usage
	turns    int
	cutOff   bool // the last answer reached its token limit
}

// begin sets the first message.
func (t *talk) begin(data string, at time.Time) {
	t.said = []model.Message{{Role: model.User, Parts: []model.Part{{Text: data}}}}
	t.messages = []contest.ModelMessage{{Kind: contest.KindRequest, Parts: []contest.Part{
		{PartKind: contest.SystemPrompt, Content: contest.Says(t.prompt.text), Timestamp: &at},
		{PartKind: contest.UserPrompt, Content: contest.Says(data), Timestamp: &at},
	}}}
}

// ask gets the next answer. The ids of its calls are unique in the talk.
func (t *talk) ask(ctx context.Context) (text string, calls []model.Call, err error) {
	t.turns++
	got, err := t.turn(ctx, t.agent, fmt.Sprintf("%s/%d", t.key, t.turns),
		model.Request{System: t.prompt.text, Messages: t.said, Tools: t.tools, Parallel: t.parallel, Schema: t.schema})
	t.charge(got.Usage)
	if err != nil {
		return "", nil, err
	}
	if got.Stop == model.StopRefused {
		return "", nil, &model.Error{Provider: got.Usage.Provider, Model: got.Usage.Model, Kind: model.Refused,
			RequestID: got.Usage.RequestID}
	}
	ended := beforeStop(got.Text, t.sampling.StopSequences)
	t.cutOff = got.Stop == model.StopLength && ended == got.Text
	text = strings.TrimSpace(legible.Visible(ended))
	used := runUsage(got.Usage)
	answer := contest.ModelMessage{Kind: contest.KindResponse, ModelName: got.Answered, Timestamp: &got.At, Usage: &used}
	spoken := model.Message{Role: model.Assistant}
	if text != "" {
		spoken.Parts = append(spoken.Parts, model.Part{Text: text})
		answer.Parts = append(answer.Parts, contest.Part{PartKind: contest.Text, Content: contest.Says(text)})
	}
	if len(t.tools) == 0 { // a call of a tool that was not offered can't get a result
		got.Calls = nil
	}
	for i, c := range got.Calls {
		made := model.Call{ID: fmt.Sprintf("call_%d_%d", t.turns, i+1), Name: c.Name, Input: c.Input, Opaque: c.Opaque}
		calls = append(calls, made)
		spoken.Parts = append(spoken.Parts, model.Part{Call: &made})
		answer.Parts = append(answer.Parts, contest.Part{PartKind: contest.ToolCall, ToolName: made.Name, Args: made.Input,
			ToolCallID: made.ID})
	}
	if len(spoken.Parts) == 0 { // vendors refuse an empty turn
		spoken.Parts = []model.Part{{Text: "…"}}
	}
	t.said, t.messages = append(t.said, spoken), append(t.messages, answer)
	return text, calls, nil
}

func (t *talk) charge(u model.Usage) {
	t.usage, t.spent = t.usage.Plus(runUsage(u)), t.spent.Plus(u)
}

// result is the result of a tool call.
type result struct {
	call    model.Call
	text    string
	failed  bool
	refused string // tells people why the tool may no longer be called
}

// answer gives the model the results of its calls.
func (t *talk) answer(results []result) {
	turn := model.Message{Role: model.User}
	message := contest.ModelMessage{Kind: contest.KindRequest}
	for _, r := range results {
		if !legible.Text(r.text) {
			r.text = "(empty)"
		}
		at := t.Now().UTC()
		turn.Parts = append(turn.Parts, model.Part{Result: &model.Result{CallID: r.call.ID, Text: r.text, Failed: r.failed}})
		message.Parts = append(message.Parts, contest.Part{PartKind: contest.ToolReturn, ToolName: r.call.Name,
			Content: contest.Says(r.text), ToolCallID: r.call.ID, Timestamp: &at})
	}
	t.said, t.messages = append(t.said, turn), append(t.messages, message)
}

// again asks for another answer and says why.
func (t *talk) again(why string) {
	at := t.Now().UTC()
	t.said = append(t.said, model.Message{Role: model.User, Parts: []model.Part{{Text: why}}})
	t.messages = append(t.messages, contest.ModelMessage{Kind: contest.KindRequest,
		Parts: []contest.Part{{PartKind: contest.RetryPrompt, Content: contest.Says(why), Timestamp: &at}}})
}

// runUsage converts a usage to the form of records, in which input from a cache counts as input.
func runUsage(u model.Usage) contest.RunUsage {
	return contest.RunUsage{InputTokens: u.Input + u.Cached, CacheWriteTokens: u.Written, CacheReadTokens: u.Cached,
		OutputTokens: u.Output, Requests: int64(u.Calls)}
}
