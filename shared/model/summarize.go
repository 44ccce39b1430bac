package model

import (
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

// SummaryInput is the input for the summary at the end of the fourth layer.
type SummaryInput struct {
	Task    task.Task
	Request string // the message
	Steps   []StepResult
	Locale  string
	Now     time.Time
	Try     int
}

// StepResult is a completed step. Its result may be large; a model sees only its Facts.
type StepResult struct {
	StepID string
	Title  string
	Tool   string
	Result json.RawMessage
}

// Summarize tells in a few lines what was done. It returns the same errors as Extract, and with each of them Plain's
// summary, so that the execution can be completed anyway.
func Summarize(ctx context.Context, w Wire, in SummaryInput) (string, Usage, error) {
	d := SummaryData{Task: taskData(in.Task), Message: in.Request, Steps: []StepFact{}, Now: stamp(in.Now),
		Locale: in.Locale}
	for _, s := range in.Steps {
		d.Steps = append(d.Steps, StepFact{StepID: s.StepID, Title: s.Title, Tool: s.Tool, Facts: Facts(s.Result)})
	}
	var summary string
	usage, err := ask(ctx, w, question{
		purpose: Summarizing, locale: in.Locale, try: in.Try, tokens: 2048,
		data: d,
		accept: func(answer []byte) []string {
			var a struct{ Summary string }
			if err := json.Unmarshal(answer, &a); err != nil {
				return []string{err.Error()}
			}
			summary = language.Mask(prose(a.Summary))
			return bounded("summary", summary, MaxSummary)
		},
	})
	if err != nil {
		return Plain(in), usage, err
	}
	return withPeriods(summary, in), usage, nil
}

// withPeriods adds the days counted by Ringi's own tools unless the summary has them. They may differ from the month's.
func withPeriods(summary string, in SummaryInput) string {
	label := language.InEach("集計期間: ", "Days counted: ").In(in.Locale)
	for _, s := range in.Steps {
		_, _, foreign := tenancy.ServerTool(s.Tool)
		if period, ok := Facts(s.Result)["period"].(string); ok && !foreign && period != "" &&
			!strings.Contains(summary, period) {
			added := "\n" + label + line(period)
			summary = language.Clip(summary, MaxSummary-utf8.RuneCountInString(added)) + added
		}
	}
	return summary
}

// SummaryData is what the model sees of a SummaryInput.
type SummaryData struct {
	Task    TaskData   `json:"task"`
	Message string     `json:"message"`
	Steps   []StepFact `json:"steps"`
	Now     string     `json:"now"`
	Locale  string     `json:"locale"`
}

// StepFact is what the model sees of a StepResult.
type StepFact struct {
	StepID string         `json:"stepId"`
	Title  string         `json:"title"`
	Tool   string         `json:"tool"`
	Facts  map[string]any `json:"facts"`
}

// maxFact is the longest text or name that counts as a fact, in bytes. maxFacts is the most facts of one result.
const maxFact, maxFacts = 300, 50

// Facts returns the short single values at the first level of a result, by name. Lists of people are left out.
func Facts(result json.RawMessage) map[string]any {
	facts := map[string]any{}
	v, err := tool.Decode(result)
	if err != nil {
		return facts
	}
	members, _ := v.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if len(name) > maxFact || len(facts) == maxFacts {
			continue
		}
		switch value := members[name].(type) {
		case string:
			if len(value) <= maxFact {
				facts[name] = value
			}
		case json.Number:
			if len(value) <= maxFact {
				facts[name] = value
			}
		case bool:
			facts[name] = value
		}
	}
	return facts
}

// Plain is a summary without a model: it lists the steps that were done. Links to their results stand below it.
func Plain(in SummaryInput) string {
	text := language.InEach("完了したステップ:", "Steps done:").In(in.Locale)
	for _, s := range in.Steps {
		text += "\n• " + line(s.Title)
	}
	return withPeriods(language.Clip(text, MaxSummary), in)
}

// Executing is the purpose of a managed session, which has a prompt and no schema.
const Executing Purpose = "execute"

// SessionInput is the input for a managed session's instructions.
type SessionInput struct {
	Task    task.Task
	Request string // the message
	Steps   []SessionStep
	Locale  string
}

// SessionStep is an approved step that the session is to request.
type SessionStep struct {
	StepID    string          `json:"stepId"`
	Order     int             `json:"order"`
	Title     string          `json:"title"`
	Tool      string          `json:"tool"` // the session's name for it
	Arguments json.RawMessage `json:"arguments"`
	Done      bool            `json:"done"`
	Facts     map[string]any  `json:"facts,omitempty"` // of one that is done
}

// Instructions are a session's rules and its first message. Prompt is the name of the prompt that the rules come from.
type Instructions struct{ System, Message, Prompt string }

// Instruct writes a session's instructions. Everything except the rules is fenced as data.
func Instruct(in SessionInput) (Instructions, error) {
	p, err := promptOf(Executing, in.Locale)
	if err != nil {
		return Instructions{}, err
	}
	message, err := fenced(struct {
		Task    TaskData      `json:"task"`
		Message string        `json:"message"`
		Steps   []SessionStep `json:"steps"`
	}{taskData(in.Task), in.Request, in.Steps})
	return Instructions{p.Text, message, p.Name()}, err
}

// SessionSummary returns a session's last message, cut to MaxSummary and without control characters and personal data.
func SessionSummary(said string) string { return language.Clip(language.Mask(prose(said)), MaxSummary) }
