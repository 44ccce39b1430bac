package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Say makes one call, computes its cost, and logs it without any of its content. prompt is the prompt's name with its
// version. An answer that broke off is an error. Unless the request has Once, the error is an *Error.
func Say(ctx context.Context, w Wire, r Request, prompt string) (Response, error) {
	began, begun := time.Now(), ctx.Err() == nil
	got, err := w.Say(ctx, r)
	broke := errors.New(got.Why)
	if slices.ContainsFunc(got.Calls, r.noTool) {
		got.Stop, broke = StopBroken, ErrNoTool
	}
	if err == nil && got.Stop == StopBroken {
		err = &Error{Provider: got.Usage.Provider, Model: got.Usage.Model, Kind: BrokenOff, RequestID: got.Usage.RequestID,
			Err: broke}
	}
	u := r.counted(got, err, begun && ctx.Err() != nil)
	if !r.Once { // a turn counts as a call even if nothing could be sent
		u.Calls = max(1, u.Calls)
	}
	u.Prompt, u.MS = prompt, time.Since(began).Milliseconds()
	charge(&u, Named(got.Answered), got.Prices)
	got.Usage = u
	level, failed := slog.LevelInfo, ""
	if err != nil {
		level, failed = slog.LevelWarn, err.Error()
		if e := new(Error); !r.Once && !errors.As(err, &e) {
			err = FromTransport(u.Provider, err)
		}
	}
	slog.Log(ctx, level, "model call", "provider", u.Provider, "model", u.Model, "purpose", r.Purpose, "prompt", prompt,
		"try", r.Try,
		"turn", len(r.Messages), "stop", got.Stop, "tokens", got.Tokens, "more", r.More, "calls", len(got.Calls), "input",
		u.Input, "output", u.Output, "cached",
		u.Cached, "estimated", u.Estimated,
		"cost_micro_usd", int64(u.Cost), "unpriced", u.Unpriced, "ms", u.MS, "vendor_request_id", u.RequestID, "err", failed)
	return got, err
}

// ErrNoTool says that an answer has a call of a tool that does not exist.
var ErrNoTool = errors.New("a call of no tool")

// noTool reports whether a call is of a tool that the request neither offers nor has a call of before: some tools are
// taken back.
func (r Request) noTool(c Call) bool {
	return !slices.ContainsFunc(r.Tools, func(t Tool) bool { return t.Name == c.Name }) &&
		!slices.ContainsFunc(r.Messages, func(m Message) bool {
			return slices.ContainsFunc(m.Parts, func(p Part) bool { return p.Call != nil && p.Call.Name == c.Name })
		})
}

// SayWhole is Say, and if the answer was cut off, once more with more room, or if it broke off otherwise, once more.
// Then the usage is both calls'. That needs at least the time again that the first answer took; without it the first
// stands.
func SayWhole(ctx context.Context, w Wire, r Request, prompt string) (Response, error) {
	began := time.Now()
	got, err := Say(ctx, w, r, prompt)
	if !got.Cut(r) && !Broke(err) {
		return got, err
	}
	if deadline, bounded := ctx.Deadline(); bounded && time.Until(deadline) < time.Since(began) {
		return got, err
	}
	short := got.Usage
	short.CutOff = 1
	r.More = got.Cut(r)
	got, err = Say(ctx, w, r, prompt)
	got.Usage = short.Plus(got.Usage)
	return got, err
}

// Broke reports whether an error is that of an answer that broke off.
func Broke(err error) bool {
	e, is := errors.AsType[*Error](err)
	return is && e.Kind == BrokenOff
}

// counted returns what a call used. Where the server of an answer reports no tokens, as some endpoints do, both counts
// are estimated from the texts: a budget holds for them, too. Of a call that was given up before its answer began, that
// is the request, for which vendors charge; the thoughts that the model had by then nobody knows.
func (r Request) counted(got Response, err error, givenUp bool) Usage {
	u := got.Usage.Counted()
	e, is := errors.AsType[*Error](err)
	said := got.Text != "" || got.Thought > 0 || len(got.Calls) > 0 || got.Stop == StopBroken || is && e.Kind == Unreadable
	nothing := err != nil && (!givenUp || u.Calls == 0) || got.Stop == StopRefused
	if u.Provider == "" || !said && nothing {
		return u
	}
	input, output := r.Tokens(), Tokens(got.Text)+got.Thought
	for _, c := range got.Calls {
		output += c.Tokens()
	}
	switch {
	case u.Input+u.Cached == 0 && u.Output == 0:
		u.Input, u.Output = int64(input), int64(output)
	case u.Input+u.Cached == 0:
		u.Input = int64(input)
	case u.Output == 0 && output > 0:
		u.Output = int64(output)
	default:
		return u
	}
	u.Estimated = max(1, u.Calls)
	return u
}

// charge adds the cost of a call at the price of the model that the answer names. If that price is unknown, charge uses
// the requested model's, because a gateway may report a name of its own.
func charge(u *Usage, answered string, own []tenancy.ModelPrice) {
	asked := u.Model
	u.Model = cmp.Or(answered, asked)
	cost, known := tenancy.Cost(*u, own)
	if !known {
		by := *u
		by.Model = asked
		cost, known = tenancy.Cost(by, own)
	}
	u.Cost += cost // the demo model sets its own cost
	if !known {
		u.Unpriced = u.Calls
	}
}

// WithSpare reserves a twelfth of the caller's time, so that the outcome of a slow call can still be committed.
func WithSpare(ctx context.Context) (context.Context, context.CancelFunc) {
	deadline, ok := ctx.Deadline()
	if !ok {
		return context.WithTimeout(ctx, unbounded)
	}
	return context.WithDeadline(ctx, deadline.Add(-time.Until(deadline)/12))
}

// unbounded is a model's time limit when the caller has no deadline.
const unbounded = 2 * time.Minute

// Priced wraps a wire so that its calls are charged at a workspace's own prices, where it has one for them.
func Priced(w Wire, own []tenancy.ModelPrice) Wire {
	if len(own) == 0 {
		return w
	}
	return priced{w, own}
}

type priced struct {
	Wire
	own []tenancy.ModelPrice
}

func (p priced) Say(ctx context.Context, r Request) (Response, error) {
	got, err := p.Wire.Say(ctx, r)
	got.Prices = p.own
	return got, err
}

// Within opens a model, and stores the requests that it is sent. It returns an *Error of kind Unpriced if the settings
// limit costs and the model's price is unknown, because the limit could not be enforced.
func Within(s tenancy.Settings, open func(name string) (Wire, error), name string, keep Keep) (Wire, error) {
	if s.CostsLimited() && !tenancy.PriceKnown(name, s.Prices) {
		return nil, &Error{Provider: "none", Model: name, Kind: Unpriced}
	}
	w, err := open(name)
	if err != nil {
		return nil, err
	}
	return Priced(Keeping(w, keep), s.Prices), nil
}

// Error describes a call without an answer, in one form for every provider. It has no text of the request or the
// answer.
type Error struct {
	Provider   string // the name of its key in the model secret: openai, compatible.gemini
	Model      string
	Kind       Kind
	Status     int  // HTTP, 0 without one
	Retryable  bool // the same call may work later
	RetryAfter time.Duration
	RequestID  string
	Err        error

	// What the vendor refuses of a request, if it says so: the form of the answer, or as many tokens of it. most is how
	// many it gives, if it names that.
	form, tokens bool
	most         int
}

// Kind is the class of an Error.
type Kind string

const (
	RateLimited  Kind = "rate_limited"
	Overloaded   Kind = "overloaded" // the vendor's fault, or no connection to it
	Timeout      Kind = "timeout"
	Refused      Kind = "refused"    // the model does not want to
	BrokenOff    Kind = "broken_off" // the answer is not whole
	Unreadable   Kind = "unreadable" // what came is no answer
	BadRequest   Kind = "bad_request"
	TooLong      Kind = "too_long"     // the model takes less at once
	Unauthorized Kind = "unauthorized" // a key is missing or wrong
	Forbidden    Kind = "forbidden"    // the key, or the account, may not use the model
	NoCredit     Kind = "no_credit"    // the account with the vendor has nothing left
	UnknownModel Kind = "unknown_model"
	Misplaced    Kind = "misplaced" // the endpoint may not be called
	Unpriced     Kind = "unpriced"  // a task's cost is limited, and nobody knows the model's price
	Demo         Kind = "demo"      // asked for by the message, to show a failure
)

func (e *Error) Error() string {
	s := fmt.Sprintf("model %s %s: %s", e.Provider, e.Model, e.Kind)
	if e.Status != 0 {
		s += fmt.Sprintf(" (%d)", e.Status)
	}
	if e.RequestID != "" {
		s += " request " + e.RequestID
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// tooLong is the beginning of each problem that says a policy or its steps don't fit on a card. The rest of such a
// problem quotes no content.
const tooLong = "it can't be shown whole to the people who approve it"

// OutputError reports an answer that stayed unusable after a second request. Its text contains no content; Problems do.
type OutputError struct {
	Purpose  Purpose
	Problems []string
	CutOff   bool   // the last answer was too long
	TooLong  string // why no card can show the last answer in full
	People   int    // how many people the last answer mentions, if more than task.MaxMentioned
}

func (e *OutputError) Error() string {
	if e.CutOff {
		return fmt.Sprintf("model output for %s is cut off", e.Purpose)
	}
	if e.TooLong != "" {
		return fmt.Sprintf("model output for %s is unusable: %s", e.Purpose, e.TooLong)
	}
	return fmt.Sprintf("model output for %s is unusable: %d problems", e.Purpose, len(e.Problems))
}

// reasons maps a kind of error to the reason that people see. Any other kind means that the model could not be reached.
var reasons = map[Kind]aggregate.Reason{
	Refused: task.ReasonModelRefused, BrokenOff: task.ReasonModelBrokenOff, Unreadable: task.ReasonModelBadOutput,
	BadRequest: task.ReasonModelBadRequest, TooLong: task.ReasonModelTooLong,
	Unauthorized: task.ReasonModelKey,
	Forbidden:    task.ReasonModelForbidden,
	NoCredit:     task.ReasonModelNoCredit, UnknownModel: task.ReasonModelUnknown, Misplaced: task.ReasonModelMisplaced,
	Unpriced: task.ReasonModelUnpriced,
	Demo:     task.ReasonModelDemo,
}

// FailedAtCost returns the Failure of err with the usage of the calls that were made before it.
func FailedAtCost(err error, u Usage) task.Failure {
	f := Failure(err)
	f.Usage = u
	return f
}

// Failure returns what people are told about an error of this package, and whether the same call may work later.
func Failure(err error) task.Failure {
	var output *OutputError
	var lack *LackError
	var e *Error
	switch {
	case errors.As(err, &lack):
		reason := task.ReasonPlanLacks
		if lack.never() {
			reason = task.ReasonPlanNever
		}
		return task.Failure{Reason: reason, Said: lack.sentence()}
	case errors.As(err, &output) && output.CutOff:
		return task.Failure{Reason: task.ReasonModelCutOff}
	case errors.As(err, &output) && output.People > 0:
		return task.Failure{Reason: task.ReasonTooManyPeople, Detail: fmt.Sprintf("%d/%d", output.People, task.MaxMentioned)}
	case errors.As(err, &output) && output.TooLong != "" && output.Purpose == Drafting:
		return task.Failure{Reason: task.ReasonPolicyTooLong}
	case errors.As(err, &output) && output.TooLong != "":
		return task.Failure{Reason: task.ReasonPlanTooLong}
	case errors.As(err, &output):
		return task.Failure{Reason: task.ReasonModelBadOutput}
	case errors.As(err, &e):
		if reason, ok := reasons[e.Kind]; ok {
			return task.Failure{Reason: reason, Detail: e.detail()}
		}
		return task.Failure{Reason: task.ReasonModelUnavailable, RetryAfter: e.RetryAfter, Transient: e.Retryable}
	case errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return task.Failure{Reason: task.ReasonModelUnavailable, Transient: true}
	}
	return task.Failure{Reason: task.ReasonRunFailed}
}

// detail names the key or the model that an administrator has to look at.
func (e *Error) detail() string {
	switch e.Kind {
	case Unauthorized, NoCredit, Misplaced:
		return e.Provider
	case BrokenOff:
		return e.Err.Error()
	case Unreadable:
		if what := new(UnreadableError); errors.As(e.Err, &what) {
			return what.What
		}
	case Forbidden, UnknownModel, BadRequest, TooLong, Unpriced:
		return language.Clip(e.Model, 150)
	}
	return ""
}
