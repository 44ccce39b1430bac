package round

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
)

// agent has the settings with which an agent asks its model.
type agent struct {
	name     string
	prompt   prompt
	model    string
	timeout  time.Duration // for one call
	retries  int
	tokens   int
	sampling model.Sampling
}

// called sets the model's settings from the configuration. tokens is the limit of answers if it has none.
func (a agent) called(c teamconfig.Call, tokens int) agent {
	a.timeout = time.Duration(whole(c.TimeoutSeconds, int(unbounded/time.Second))) * time.Second
	a.retries, a.tokens = whole(c.MaxRetries, 0), whole(c.MaxTokens, tokens)
	a.sampling = model.Sampling{Temperature: c.Temperature, TopP: c.TopP, Seed: c.Seed, StopSequences: c.StopSequences}
	return a
}

// unbounded is the time limit of a call if the configuration has none.
const unbounded = 5 * time.Minute

// keptAnswer is a model's answer in its saved form.
type keptAnswer struct {
	Text     string     `json:"text,omitempty"`
	Calls    []call     `json:"calls,omitempty"`
	Stop     model.Stop `json:"stop"`
	Answered string     `json:"answered,omitempty"`
	// Found and SearchFailed are of a vendor's search.
	Found        []model.Source `json:"found,omitempty"`
	SearchFailed string         `json:"search_failed,omitempty"`
	Usage        model.Usage    `json:"usage"`
	At           time.Time      `json:"at"`
}

type call struct {
	Name   string          `json:"name"`
	Input  json.RawMessage `json:"input"`
	Opaque *model.Opaque   `json:"opaque,omitempty"` // of the vendor, if it hung anything on the call
}

// turn asks a model, or returns the answer that was saved under the key. An answer that was cut off is asked for again
// with more room, once; both are paid for. Its error is either the agent's own (see ofAgent) or one for Round to
// return.
func (p *playing) turn(ctx context.Context, a agent, key string, r model.Request) (keptAnswer, error) {
	var t keptAnswer
	if ok, err := p.kept(ctx, key, &t); err != nil || ok {
		if ok {
			p.spend(t.Usage)
		}
		return t, err
	}
	r.Purpose, r.MaxTokens, r.Sampling = model.Purpose(a.name), a.tokens, a.sampling
	var short keptAnswer
	cut, err := p.kept(ctx, key+cutOff, &short)
	if err != nil {
		return t, err
	}
	if cut {
		p.spend(short.Usage)
		r.More = true
	}
	got, err := p.answered(ctx, a, key, r)
	if err == nil && a.cut(got, r) {
		short, cut, r.More = keptOf(got, p.Now()), true, true
		if err := p.keep(ctx, key+cutOff, short, got.Usage); err != nil {
			return t, err
		}
		got, err = p.answered(ctx, a, key, r)
	}
	if err != nil {
		return t, err
	}
	t = keptOf(got, p.Now())
	if cut { // its own row has its cost
		t.Usage = short.Usage.Plus(t.Usage)
	}
	return t, p.keep(ctx, key, t, got.Usage)
}

// cut reports whether an answer was cut off and is asked for again. One that has a stop sequence was long enough.
func (a agent) cut(got model.Response, of model.Request) bool {
	return got.Cut(of) && beforeStop(got.Text, a.sampling.StopSequences) == got.Text
}

// cutOff ends the key of an answer that was cut off and asked for again.
const cutOff = "/" + contest.CutOff

func keptOf(got model.Response, now time.Time) keptAnswer {
	t := keptAnswer{Text: got.Text, Stop: got.Stop, Answered: model.Named(got.Answered), Found: got.Found,
		SearchFailed: language.Clip(got.SearchFailed, maxNamed), Usage: got.Usage, At: now.UTC()}
	for _, c := range got.Calls {
		t.Calls = append(t.Calls, call{c.Name, c.Object(), c.Opaque})
	}
	return t
}

// answered asks a model until it answers, as often as the agent's settings say, and when its vendor limits the rate as
// long as the team has time.
func (p *playing) answered(ctx context.Context, a agent, key string, r model.Request) (model.Response, error) {
	w, err := p.Models.Open(a.model)
	if err != nil {
		return model.Response{}, err
	}
	for tries, limited, broke := 0, 0, 0; ; {
		got, err := p.call(ctx, w, a, r)
		if err == nil {
			return got, nil
		}
		if !got.Usage.Free() { // a failed call may have cost something
			if err := p.keep(ctx, fmt.Sprintf("%s/failed-%d", key, tries+limited+broke+1), nil, got.Usage); err != nil {
				return got, err
			}
		}
		e := new(model.Error)
		if ofAgent(err) && model.Broke(err) && broke == 0 {
			broke++ // as everywhere, such an answer is asked for once more
			continue
		}
		if !ofAgent(err) || !errors.As(err, &e) || !e.Retryable {
			return got, err
		}
		wait := growing(tries, 30*time.Second)
		if e.Kind == model.RateLimited {
			if wait = p.forRate(e, limited); wait == 0 {
				return got, err
			}
			limited++
		} else {
			wait = max(e.RetryAfter, wait)
			if tries++; tries > a.retries || wait > a.timeout { // the vendor asks for a longer wait than an answer may take
				return got, err
			}
		}
		if err := p.pause(ctx, wait); err != nil {
			return got, err
		}
	}
}

// call asks a model once, within the time that is left.
func (p *playing) call(ctx context.Context, w model.Wire, a agent, r model.Request) (model.Response, error) {
	if err := p.may(ctx, a.timeout); err != nil {
		return model.Response{}, err
	}
	limited, cancel := context.WithTimeout(ctx, p.limit(ctx, a.timeout))
	defer cancel()
	got, err := model.Say(limited, w, r, a.prompt.name)
	got.Usage.ID = aggregate.NewID()
	if err == nil && a.cut(got, r) {
		got.Usage.CutOff = 1
	}
	p.spend(got.Usage)
	if err != nil && limited.Err() != nil { // find out whose time is up
		switch over := p.over(ctx); {
		case over != nil:
			return got, over
		case ctx.Err() != nil:
			return got, ctx.Err()
		}
	}
	return got, err
}

// may returns an error if there is no time, or no permission, to call a model with that timeout now.
func (p *playing) may(ctx context.Context, timeout time.Duration) error {
	if err := ctx.Err(); errors.Is(err, context.Canceled) {
		return err
	}
	if err := p.over(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	fresh := p.fresh
	p.fresh = false
	p.mu.Unlock()
	// If less time is left than the call's timeout, the call is made in the next invocation.
	if rest, bounded := p.rest(ctx); bounded && !fresh && rest < min(timeout, p.left()) {
		return ErrAgain
	}
	return p.stands(ctx)
}

// stands returns an error if the contest has ended or the team has spent its budget.
func (p *playing) stands(ctx context.Context) error {
	if p.May == nil {
		return nil
	}
	err := p.May(ctx)
	if errors.Is(err, ErrBudget) {
		return &Error{Exit: contest.BudgetExhausted, Err: err}
	}
	return err
}

func (p *playing) spend(u model.Usage) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.spent = p.spent.Plus(u)
}

// kept reads a saved value into v. If it is missing, kept reports false and the caller makes a new one. If it is
// unreadable, the team ends: another can't be saved in its place, and would be paid for again in each invocation.
func (p *playing) kept(ctx context.Context, key string, v any) (bool, error) {
	if p.Kept == nil {
		return false, nil
	}
	b, ok, err := p.Kept.Turn(ctx, key)
	if err != nil || !ok {
		return false, err
	}
	if err := json.Unmarshal(b, v); err != nil {
		slog.ErrorContext(ctx, "a saved answer can't be read", "execution_id", p.Execution, "team_id", p.Team.TeamID,
			"key", key, "err", err)
		return false, &Error{Exit: contest.PartialFailure, Err: ErrUnread}
	}
	return true, nil
}

// keep saves a value and its cost, even if the context has ended, since it is paid for. A nil v saves only the cost.
func (p *playing) keep(ctx context.Context, key string, v any, spent model.Usage) error {
	if p.Kept == nil {
		return nil
	}
	var b []byte
	if v != nil {
		var err error
		if b, err = json.Marshal(v); err != nil {
			return fmt.Errorf("write the answer %s: %w", key, err)
		}
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), spare)
	defer cancel()
	return p.Kept.Keep(ctx, key, b, spent)
}

func (p *playing) key(of ...any) string {
	s := fmt.Sprintf("%02d", p.Number)
	for _, x := range of {
		s += fmt.Sprint("/", x)
	}
	return s
}

// beforeStop cuts a text at the first stop sequence, because not every vendor supports stop sequences.
func beforeStop(text string, stops []string) string {
	for _, s := range stops {
		if i := strings.Index(text, s); s != "" && i >= 0 {
			text = text[:i]
		}
	}
	return text
}

func whole(n *int, otherwise int) int {
	if n == nil || *n <= 0 {
		return otherwise
	}
	return *n
}
