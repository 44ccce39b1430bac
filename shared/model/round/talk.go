package round

import (
	"context"
	"encoding/json"
	"errors"
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
	strayed  bool // an answer called nothing but tools that do not exist
	stray    bool // the last answer called one, too
}

// begin sets the first message.
func (t *talk) begin(data string, at time.Time) {
	t.said = []model.Message{{Role: model.User, Parts: []model.Part{{Text: data}}}}
	t.messages = []contest.ModelMessage{{Kind: contest.KindRequest, Parts: []contest.Part{
		{PartKind: contest.SystemPrompt, Content: contest.Says(t.prompt.text), Timestamp: &at},
		{PartKind: contest.UserPrompt, Content: contest.Says(data), Timestamp: &at},
	}}}
}

// ask gets the next answer. The ids of its calls are unique in the talk. An answer that calls only tools that do not
// exist is asked for again, once.
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
	if t.cutOff {
		got.Calls = nil // the last one may be half
	}
	made := t.called(got.Calls)
	for _, c := range made {
		calls = append(calls, c)
		spoken.Parts = append(spoken.Parts, model.Part{Call: &c})
		answer.Parts = append(answer.Parts, contest.Part{PartKind: contest.ToolCall, ToolName: c.Name, Args: c.Input,
			ToolCallID: c.ID})
	}
	if len(spoken.Parts) == 0 { // vendors refuse an empty turn
		spoken.Parts = []model.Part{{Text: "…"}}
	}
	t.said, t.messages = append(t.said, spoken), append(t.messages, answer)
	switch {
	case !t.stray || len(calls) > 0:
		return text, calls, nil
	case t.strayed:
		return "", nil, &model.Error{Provider: got.Usage.Provider, Model: got.Usage.Model, Kind: model.BrokenOff,
			RequestID: got.Usage.RequestID, Err: errors.New("calls of no tool")}
	}
	t.strayed = true
	t.again(model.NoSuchTool(t.names()))
	return t.ask(ctx)
}

func (t *talk) names() (all []string) {
	for _, tool := range t.tools {
		all = append(all, tool.Name)
	}
	return all
}

// called returns an answer's calls of tools with new ids. Where there are no tools, a call is nothing.
func (t *talk) called(all []call) (made []model.Call) {
	for _, c := range all {
		made = append(made, model.Call{Name: c.Name, Input: c.Input, Opaque: c.Opaque})
	}
	made, t.stray = model.Offered(made, t.names())
	t.stray = t.stray && len(t.tools) > 0
	for i := range made {
		made[i].ID = fmt.Sprintf("call_%d_%d", t.turns, i+1)
	}
	return made
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
	if t.stray {
		turn.Parts = append(turn.Parts, model.Part{Text: model.NoSuchTool(t.names())})
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
