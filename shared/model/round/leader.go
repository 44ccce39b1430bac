package round

import (
	"context"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/boot"
	"ringi/shared/words/language"
)

// leader is the agent that submits, with the submissions of its members.
type leader struct {
	talk
	members     map[string]teamconfig.Member // by the name of the member's tool
	submissions []contest.MemberSubmission
}

// opening is the saved beginning of a round. A round that was interrupted continues with the same data.
type opening struct {
	Data string `json:"data"`
	At   int64  `json:"at"` // ns since 1970
}

func (p *playing) leader(ctx context.Context) (*leader, error) {
	c := p.Team.Leader
	system, err := promptIn("leader", p.Locale)
	if err != nil {
		return nil, err
	}
	data, begun, err := p.opening(ctx)
	if err != nil {
		return nil, err
	}
	p.begun = begun
	l := &leader{members: map[string]teamconfig.Member{}, talk: talk{playing: p, key: p.key(Leader), parallel: true,
		agent: agent{name: Leader, prompt: system.with(c.SystemPrompt), model: c.Model}.called(c.Call, turn.MaxTokens),
	}}
	for _, m := range p.Team.Members {
		l.members[m.Tool()] = m
		l.tools = append(l.tools, model.Tool{Name: m.Tool(), Description: m.ToolDescription, Schema: taskSchema})
	}
	l.begin(data, begun.UTC())
	return l, nil
}

var taskSchema = json.RawMessage(`{"type":"object","properties":{"task":{"type":"string",` +
	`"description":"The whole task, with everything the member needs to know: it sees nothing else"}},` +
	`"required":["task"],"additionalProperties":false}`)

// submit talks with the leader's model until it makes a submission.
func (l *leader) submit(ctx context.Context) (string, error) {
	for again := 0; l.turns < leaderTurns; {
		text, calls, err := l.ask(ctx)
		if err != nil {
			return "", failure(Leader, err)
		}
		if len(calls) > 0 {
			results, err := l.delegate(ctx, calls)
			if err != nil {
				return "", err
			}
			l.answer(results)
			continue
		}
		if l.Accept != nil {
			text = strings.TrimSpace(language.Paragraphs(text))
		}
		problems := l.problems(text)
		if len(problems) == 0 {
			return text, nil
		}
		if again++; again > mostAgain {
			return "", unusable(Leader, strings.Join(problems, "; "))
		}
		l.again("The submission can't be used. What is wrong with it:\n" + fenced(problems) +
			"\nSubmit again: the whole text and nothing else.")
	}
	return "", unusable(Leader, fmt.Sprintf("no submission after %d answers", leaderTurns))
}

func (l *leader) problems(text string) []string {
	switch {
	case !language.Legible(text):
		return []string{"it is empty"}
	case l.cutOff:
		return []string{fmt.Sprintf("it was cut off after %d tokens: be shorter", l.tokens)}
	case len(text) > maxSubmission:
		return []string{fmt.Sprintf("it has %d bytes, the limit is %d: be shorter", len(text), maxSubmission)}
	case l.Accept == nil:
		return nil
	}
	return l.Accept(text)
}

// delegate runs the members that the leader called, at most MaxConcurrentMembers at a time. A member's failure is
// reported in its result. An error ends the round, but only after all running calls have ended and saved their answers.
func (l *leader) delegate(ctx context.Context, calls []model.Call) ([]result, error) {
	results, made := make([]result, len(calls)), make([]*contest.MemberSubmission, len(calls))
	errs := make([]error, len(calls))
	places := make(chan struct{}, max(1, l.Team.MaxConcurrentMembers))
	var all sync.WaitGroup
	for i, c := range calls {
		member, task, why := l.called(c)
		if why != "" {
			results[i] = result{call: c, text: why, failed: true}
			continue
		}
		all.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			defer boot.Recover(ctx, &errs[i], "agent", member.AgentName)
			var s contest.MemberSubmission
			s, errs[i] = l.member(ctx, member, fmt.Sprintf("%s/%d/%d", l.key, l.turns, i+1), task)
			made[i], results[i] = &s, result{call: c, text: s.Content}
			if s.ErrorMessage != nil {
				results[i].text, results[i].failed = "ERROR: "+*s.ErrorMessage, true
			}
		})
	}
	all.Wait()
	if err := first(errs); err != nil {
		return nil, err
	}
	for _, s := range made {
		if s != nil {
			l.submissions = append(l.submissions, *s)
			l.usage.ToolCalls++
		}
	}
	if l.turns >= leaderTurns-2 {
		results[len(results)-1].text += "\n(No more calls are possible in this round: submit now.)"
	}
	return results, nil
}

// called returns the member and the task of a call, or why the call can't be made.
func (l *leader) called(c model.Call) (m teamconfig.Member, task, why string) {
	m = l.members[c.Name]
	var input struct{ Task string }
	if json.Unmarshal(c.Input, &input) != nil || !language.Legible(input.Task) {
		return m, "", "task must be a text that is not empty."
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.calls++; l.calls > maxCalls || l.turns > leaderTurns-2 {
		return m, "", "No more calls are possible in this round: submit now."
	}
	return m, strings.TrimSpace(language.Visible(input.Task)), ""
}

// first returns the most important error: one that ends the team or the contest before others, and ErrAgain last.
func first(errs []error) error {
	var found error
	for _, err := range errs {
		switch {
		case err == nil:
		case errors.As(err, new(*Error)), errors.Is(err, ErrStopped):
			return err
		case found == nil || errors.Is(found, ErrAgain):
			found = err
		}
	}
	return found
}

//go:embed prompts/*.md
var prompts embed.FS

// prompt is a file of prompts/, maybe with a configured text in it.
type prompt struct{ name, text string }

// mark divides a file of prompts/. A configuration may replace the part above it, which describes the agent. The part
// below says how the agent reads and answers.
const mark = "\n---\n"

func promptIn(purpose, locale string) (prompt, error) {
	p, err := model.ReadPrompt(prompts, model.Purpose(purpose), locale)
	return prompt{p.Name(), p.Text}, err
}

// with replaces the part about the agent by a configured text. A blank or nil text changes nothing.
func (p prompt) with(configured *string) prompt {
	if configured == nil || !language.Legible(*configured) {
		return p
	}
	_, rules, _ := strings.Cut(p.text, mark)
	return prompt{p.name, strings.TrimSpace(*configured) + "\n" + mark + rules}
}

// and appends a text to the part about the agent. A blank or nil text changes nothing.
func (p prompt) and(configured *string) prompt {
	if configured == nil || !language.Legible(*configured) {
		return p
	}
	about, _, _ := strings.Cut(p.text, mark)
	both := strings.TrimSpace(about) + "\n\n" + strings.TrimSpace(*configured)
	return p.with(&both)
}

// fenced returns data in the form that models read. No text can end the fence, because JSON escapes every <.
func fenced(data any) string {
	b, err := json.Marshal(data)
	if err != nil {
		panic(fmt.Sprintf("encode what a model is shown: %v", err)) // of texts and numbers
	}
	return "<data>\n" + string(b) + "\n</data>"
}

// brief is the data for a leader.
type brief struct {
	Request     string `json:"request"`
	Team        string `json:"team"`
	TeamID      string `json:"team_id"`
	Round       int    `json:"round"`
	MaxRounds   int    `json:"max_rounds"`
	History     []past `json:"history"`
	SecondsLeft int    `json:"seconds_left,omitempty"`
	Today       string `json:"today"`
}

// today is the date of the round in the tenant's zone. An agent of the round that goes on the next day reads the same.
func (p *playing) today() string {
	at := p.begun
	if at.IsZero() { // no leader spoke
		at = p.Now()
	}
	return at.In(tenancy.Zone()).Format("2006-01-02 (Monday), Asia/Tokyo")
}

// past is a scored round. Only the best and the last round have their submissions.
type past struct {
	Round      int     `json:"round"`
	Score      float64 `json:"score"` // 0 to 100
	Feedback   string  `json:"feedback"`
	Submission string  `json:"submission,omitempty"`
}

// opening returns the leader's first message, saved or new, and the time when the round began.
func (p *playing) opening(ctx context.Context) (string, time.Time, error) {
	var o opening
	key := p.key("opening")
	if ok, err := p.kept(ctx, key, &o); err != nil || ok {
		return o.Data, time.Unix(0, o.At), err
	}
	p.begun = p.Now()
	b := p.brief()
	if !p.Until.IsZero() {
		b.SecondsLeft = max(0, int(p.left()/time.Second))
	}
	o = opening{fenced(b), p.begun.UnixNano()}
	return o.Data, p.begun, p.keep(ctx, key, o, model.Usage{})
}

func (p *playing) brief() brief {
	b := brief{Request: language.Visible(p.Prompt), Team: p.Team.TeamName, TeamID: p.Team.TeamID, Round: p.Number,
		MaxRounds: p.MaxRounds, History: []past{}, Today: p.today()}
	for i, h := range p.History {
		x := past{Round: h.RoundNumber, Score: contest.Round2(h.EvaluationScore * 100),
			Feedback: contest.InPoints(h.EvaluationFeedback, p.Locale)} // as the prompts say, out of 100
		if i == len(p.History)-1 || i == contest.Best(p.History) {
			x.Submission = h.SubmissionContent
		}
		b.History = append(b.History, x)
	}
	return b
}
