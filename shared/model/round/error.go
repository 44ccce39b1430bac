package round

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net/http"
	"sync"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/runtime/clock"
	"ringi/shared/words/language"
)

var (
	// ErrBlankPrompt says that the prompt is empty.
	ErrBlankPrompt = errors.New("the prompt must not be empty")
	// ErrAgain says that the caller's time is up. The next call of Round continues where this one stopped.
	ErrAgain = errors.New("the time of this invocation is up")
	// ErrStopped says that the contest has ended.
	ErrStopped = errors.New("the contest was ended")
	// ErrNoSandbox says that code can't be executed here. A retry does not help.
	ErrNoSandbox = errors.New("code can't be executed here")
	// ErrUnread says that an answer which was saved and paid for can't be read. Round returns it inside an *Error.
	ErrUnread = errors.New("a saved answer can't be read")
	// ErrBudget says that the team has spent its part of the budget. Round returns it inside an *Error.
	ErrBudget = errors.New("the team's budget is spent")
)

// Error ends a team's contest: with its best scored round, or as failed if it has none.
type Error struct {
	Exit  contest.ExitReason // partial_failure, team_timeout, budget_exhausted
	Agent string             // Leader or Evaluator; empty when the team ran out of time or budget, and with ErrUnread
	Kind  model.Kind         // how the agent's model failed; empty: its answers were unusable
	Err   error
}

// Agents of a team that can end a round.
const (
	Leader    = contest.Leader
	Evaluator = "evaluator"
)

func (e *Error) Error() string {
	s := "round ended: " + string(e.Exit)
	if e.Agent != "" {
		s += ", " + e.Agent
	}
	if e.Err != nil {
		s += ": " + e.Err.Error()
	}
	return s
}

func (e *Error) Unwrap() error { return e.Err }

// failure turns an agent's model error into the *Error that ends the round. It returns other errors unchanged, because
// they already say how the round continues.
func failure(agent string, err error) error {
	var m *model.Error
	switch {
	case errors.As(err, new(*Error)), !errors.As(err, &m):
		return err
	}
	return &Error{Exit: contest.PartialFailure, Agent: agent, Kind: m.Kind, Err: err}
}

// unusable is the error of an agent that gave no usable answer.
func unusable(agent, why string) *Error {
	return &Error{Exit: contest.PartialFailure, Agent: agent, Err: errors.New(why)}
}

// ofAgent reports whether an error is a failure of one agent's model, which need not end the round.
func ofAgent(err error) bool {
	return errors.As(err, new(*model.Error)) && !errors.As(err, new(*Error)) && !errors.Is(err, ErrAgain) &&
		!errors.Is(err, context.Canceled)
}

// Sentence tells people why the team ended.
func (e *Error) Sentence(locale string) string {
	w := words.In(locale)
	switch e.Exit {
	case contest.TeamTimeout:
		return w.Timeout
	case contest.BudgetExhausted:
		return w.Budget
	}
	if errors.Is(e.Err, ErrUnread) {
		return w.Unread
	}
	who := w.Leader
	if e.Agent == Evaluator {
		who = w.Evaluator
	}
	if m := new(model.Error); errors.As(e.Err, &m) {
		return fmt.Sprintf(w.Failed, who, w.because(m))
	}
	return fmt.Sprintf(w.Failed, who, w.why(e.Kind))
}

// texts are sentences about failures, for people and leaders.
type texts struct {
	Timeout, Budget, Unread       string
	Failed                        string // who, why
	Leader, Evaluator             string
	Kinds                         map[model.Kind]string
	Unreachable, Unusable         string
	Answered                      string // with an error; its number
	NoReads, NoSandbox, NoWords   string // about a member
	NoSearch                      string // the model
	Closed                        string // a tool
	ClosedSearch, TooLong, CutOff string
}

// because is why, with the model.
func (w *texts) because(e *model.Error) string {
	name := language.OneLine(language.Clip(e.Model, maxNamed))
	why := w.why(e.Kind)
	if _, named := w.Kinds[e.Kind]; !named && e.Status >= http.StatusBadRequest {
		why = fmt.Sprintf(w.Answered, e.Status)
	}
	if name != "" {
		why += " (" + name + ")"
	}
	return why
}

// maxNamed is how many characters of a model's name a sentence has.
const maxNamed = 100

func (w *texts) why(kind model.Kind) string {
	if kind == "" {
		return w.Unusable
	}
	if s, ok := w.Kinds[kind]; ok {
		return s
	}
	return w.Unreachable
}

//go:embed texts/*.json
var embedded embed.FS

var words = language.Catalog[texts]{Files: &embedded, Folder: "texts"}

// growing is the wait before a call after so many that failed: 1, 2, 4 s and so on.
func growing(failed int, most time.Duration) time.Duration {
	return min(most, time.Second<<min(failed, 6))
}

// mostPause bounds the pauses where the vendor doesn't say how long to wait: quotas are per minute. mostLater bounds by
// how much longer than the vendor says one may be.
const mostPause, mostLater = time.Minute, 15 * time.Second

// forRate returns how long to wait for a vendor's rate limit, 0 if the team's time does not suffice. Pauses vary, so
// that the teams, members and answers that one limit meets at the same time don't all ask again at once, and grow even
// where the vendor says each time that a moment is enough.
func (p *playing) forRate(e *model.Error, limited int) time.Duration {
	left := p.left()
	if e.RetryAfter >= left || left < 2*time.Second {
		return 0
	}
	most := min(growing(limited, mostPause), left/2)
	wait := most/2 + rand.N(1+most/2)
	if e.RetryAfter > 0 {
		wait = max(wait, e.RetryAfter+rand.N(1+min(e.RetryAfter/2, mostLater, left-e.RetryAfter)))
	}
	return wait
}

// over returns an error if the team's or the caller's time is up.
func (p *playing) over(ctx context.Context) error {
	if p.left() <= 0 {
		return &Error{Exit: contest.TeamTimeout, Err: context.DeadlineExceeded}
	}
	if rest, bounded := p.rest(ctx); bounded && rest <= 0 {
		return ErrAgain
	}
	return nil
}

func (p *playing) left() time.Duration {
	if p.Until.IsZero() {
		return 24 * time.Hour
	}
	return p.Until.Sub(p.Now())
}

// rest is the caller's remaining time without the time reserved for saving.
func (p *playing) rest(ctx context.Context) (time.Duration, bool) {
	deadline, ok := ctx.Deadline()
	return time.Until(deadline) - p.Spare, ok
}

func (p *playing) limit(ctx context.Context, timeout time.Duration) time.Duration {
	limit := min(timeout, p.left())
	if rest, bounded := p.rest(ctx); bounded {
		limit = min(limit, rest)
	}
	return limit
}

// lookAfter is how long a call, or a wait for a vendor's rate limit, may go on after its contest has ended.
const lookAfter = 5 * time.Second

// untilStopped returns a context that ends soon after the contest has, since a model that hangs may have longer than
// people want to wait who have ended it. done ends the looking.
func (p *playing) untilStopped(ctx context.Context) (_ context.Context, done func()) {
	if p.Stands == nil {
		return ctx, func() {}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	var looking sync.WaitGroup
	looking.Go(func() {
		for clock.Sleep(ctx, lookAfter) == nil {
			switch err := p.Stands(ctx); {
			case errors.Is(err, ErrStopped):
				cancel(ErrStopped)
			case err != nil && ctx.Err() == nil:
				slog.WarnContext(ctx, "whether the contest has ended is not known", "execution_id", p.Execution, "err", err)
			}
		}
	})
	return ctx, func() {
		cancel(nil)
		looking.Wait()
	}
}

// pause waits before a retry, at most until the time is up.
func (p *playing) pause(ctx context.Context, d time.Duration) error {
	if err := clock.Sleep(ctx, max(0, p.limit(ctx, d))); err != nil && p.over(ctx) == nil {
		return err
	}
	return p.over(ctx)
}
