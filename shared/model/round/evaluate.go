package round

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/boot"
	"ringi/shared/words/language"
)

// Limits of the evaluator.
const (
	evaluatorTokens = 4000 // for an answer, if the configuration has no max_tokens
	maxComment      = 2000 // characters
)

// evaluate scores a submission by all metrics in parallel.
func (p *playing) evaluate(ctx context.Context, text string) ([]contest.MetricScore, error) {
	metrics := p.Evaluator.Metrics
	scores, errs := make([]contest.MetricScore, len(metrics)), make([]error, len(metrics))
	var all sync.WaitGroup
	for i, m := range metrics {
		all.Go(func() {
			defer boot.Recover(ctx, &errs[i], "metric", m.Name)
			scores[i], errs[i] = p.score(ctx, m, p.key(Evaluator, i+1), text)
		})
	}
	all.Wait()
	return scores, first(errs)
}

func (p *playing) score(ctx context.Context, m teamconfig.Metric, key, submission string) (
	contest.MetricScore, error) {
	system, err := promptIn(Evaluator, p.Locale)
	if err != nil {
		return contest.MetricScore{}, err
	}
	about := m.SystemInstruction
	if known, err := promptIn("metric-"+m.Name, p.Locale); !language.Legible(about) && m.BuiltIn() && err == nil {
		system.name, about = known.name, known.text
	}
	if language.Legible(about) { // an unknown metric without an instruction is described only by its name
		system = system.with(&about)
	}
	asked := agent{name: Evaluator, prompt: system, model: m.Model}
	t := &talk{playing: p, key: key, agent: asked.called(m.Call, evaluatorTokens), schema: scoreSchema}
	t.begin(fenced(map[string]string{"metric": m.Name, "request": language.Visible(p.Prompt), "submission": submission,
		"today": p.today()}), p.Now().UTC())
	for again := 0; ; again++ {
		text, _, err := t.ask(ctx)
		if err != nil {
			return contest.MetricScore{}, failure(Evaluator, err)
		}
		score, problem := contest.MetricScore{}, "it was cut off: be shorter"
		if !t.cutOff {
			score, problem = scoreIn(text)
		}
		switch {
		case problem == "":
			score.MetricName = m.Name
			return score, nil
		case again == mostAgain:
			return score, unusable(Evaluator, problem)
		}
		t.again("The answer can't be used. What is wrong with it:\n" + fenced([]string{problem}) +
			"\nAnswer again: the JSON object alone.")
	}
}

// scoreIn reads an answer, which may have words or a fence around its JSON object, or says what is wrong with it.
func scoreIn(text string) (s contest.MetricScore, problem string) {
	if begin, end := strings.Index(text, "{"), strings.LastIndex(text, "}"); begin >= 0 && end > begin {
		text = text[begin : end+1]
	}
	var a struct {
		Score   *float64 `json:"score"`
		Comment string   `json:"comment"`
	}
	switch err := json.Unmarshal([]byte(text), &a); {
	case err != nil:
		return s, "it must be an object with score, a number, and comment, a text"
	case a.Score == nil || !(*a.Score >= 0 && *a.Score <= 100): // NaN too
		return s, "score must be a number from 0 to 100"
	case !language.Legible(a.Comment):
		return s, "comment must be a text that is not empty"
	}
	s.Score, s.EvaluatorComment = contest.Round2(*a.Score),
		language.First(strings.TrimSpace(language.Visible(a.Comment)), maxComment)
	return s, ""
}

// scoreSchema is the evaluator's answer. Bounds are in the prompts, since not all vendors accept them in a schema.
var scoreSchema = json.RawMessage(`{"type":"object",` +
	`"properties":{"score":{"type":"number"},"comment":{"type":"string"}},` +
	`"required":["score","comment"],"additionalProperties":false}`)

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
		{PartKind: contest.SystemPrompt, Content: t.prompt.text, Timestamp: &at},
		{PartKind: contest.UserPrompt, Content: data, Timestamp: &at},
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
	text = strings.TrimSpace(language.Visible(ended))
	used := runUsage(got.Usage)
	answer := contest.ModelMessage{Kind: contest.KindResponse, Parts: []contest.Part{}, ModelName: got.Answered,
		Timestamp: &got.At, Usage: &used}
	spoken := model.Message{Role: model.Assistant}
	if text != "" {
		spoken.Parts = append(spoken.Parts, model.Part{Text: text})
		answer.Parts = append(answer.Parts, contest.Part{PartKind: contest.Text, Content: text})
	}
	if t.cutOff {
		got.Calls = nil // the last one may be half
	}
	for i, x := range got.Calls {
		c := model.Call{ID: fmt.Sprintf("call_%d_%d", t.turns, i+1), Name: x.Name, Input: x.Input, Opaque: x.Opaque}
		calls = append(calls, c)
		spoken.Parts = append(spoken.Parts, model.Part{Call: &c})
		answer.Parts = append(answer.Parts, contest.Part{PartKind: contest.ToolCall, ToolName: c.Name, Args: c.Input,
			ToolCallID: c.ID})
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
		if !language.Legible(r.text) {
			r.text = "(empty)"
		}
		at := t.Now().UTC()
		turn.Parts = append(turn.Parts, model.Part{Result: &model.Result{CallID: r.call.ID, Text: r.text, Failed: r.failed}})
		message.Parts = append(message.Parts, contest.Part{PartKind: contest.ToolReturn, ToolName: r.call.Name,
			Content: r.text, ToolCallID: r.call.ID, Timestamp: &at})
	}
	t.said, t.messages = append(t.said, turn), append(t.messages, message)
}

// again asks for another answer and says why.
func (t *talk) again(why string) {
	at := t.Now().UTC()
	t.said = append(t.said, model.Message{Role: model.User, Parts: []model.Part{{Text: why}}})
	t.messages = append(t.messages, contest.ModelMessage{Kind: contest.KindRequest,
		Parts: []contest.Part{{PartKind: contest.RetryPrompt, Content: why, Timestamp: &at}}})
}

// runUsage converts a usage to the form of records, in which input from a cache counts as input.
func runUsage(u model.Usage) contest.RunUsage {
	return contest.RunUsage{InputTokens: u.Input + u.Cached, CacheWriteTokens: u.Written, CacheReadTokens: u.Cached,
		OutputTokens: u.Output, Requests: int64(u.Calls)}
}
