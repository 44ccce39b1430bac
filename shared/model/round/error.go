package round

import (
	"context"
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
	"ringi/shared/words/legible"
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
	Spent model.Usage        // in the round so far
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
	var e *Error
	var m *model.Error
	switch {
	case errors.As(err, &e), !errors.As(err, &m):
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
	var e *Error
	var m *model.Error
	return errors.As(err, &m) && !errors.As(err, &e) && !errors.Is(err, ErrAgain) && !errors.Is(err, context.Canceled)
}

// Sentence tells people why the team ended.
func (e *Error) Sentence(locale string) string {
	w := words.In(locale)
	switch e.Exit {
	case contest.TeamTimeout:
		return w.timeout
	case contest.BudgetExhausted:
		return w.budget
	}
	if errors.Is(e.Err, ErrUnread) {
		return w.unread
	}
	who := w.leader
	if e.Agent == Evaluator {
		who = w.evaluator
	}
	if m := new(model.Error); errors.As(e.Err, &m) {
		return fmt.Sprintf(w.failed, who, w.because(m))
	}
	return fmt.Sprintf(w.failed, who, w.why(e.Kind))
}

// texts are sentences about failures, for people and leaders.
type texts struct {
	timeout, budget             string
	failed                      string // who, why
	leader, evaluator           string
	kinds                       map[model.Kind]string
	unreachable, unusable       string
	answered                    string // with an error; its number
	noReads, noSandbox, noWords string // about a member
	noSearch                    string // the model
	closedSearch                string
	tooLong, cutOff             string
	unread                      string
}

// because is why, with the model.
func (w texts) because(e *model.Error) string {
	name := legible.OneLine(legible.Clip(e.Model, maxNamed))
	why := w.why(e.Kind)
	if _, named := w.kinds[e.Kind]; !named && e.Status >= http.StatusBadRequest {
		why = fmt.Sprintf(w.answered, e.Status)
	}
	if name != "" {
		why += " (" + name + ")"
	}
	return why
}

// maxNamed is how many characters of a model's name a sentence has.
const maxNamed = 100

func (w texts) why(kind model.Kind) string {
	if kind == "" {
		return w.unusable
	}
	if s, ok := w.kinds[kind]; ok {
		return s
	}
	return w.unreachable
}

var words = language.InEach(
	texts{
		timeout: "チームの制限時間に達しました。", budget: "チームの予算を使い切りました。", failed: "%sが続行できませんでした: %s", leader: "リーダー",
		evaluator: "評価者",
		kinds: map[model.Kind]string{
			model.Refused: "AI モデルが回答を断りました。", model.BrokenOff: "AI モデルの回答が途中で終わりました。",
			model.Unreadable:   "AI モデルの回答を読み取れませんでした。",
			model.BadRequest:   "AI モデルの提供元が内容を受け付けませんでした。",
			model.Unauthorized: "AI モデルの API キーが登録されていないか、正しくありません。",
			model.Forbidden:    "このモデルを使う権限がありません。", model.NoCredit: "AI モデルの提供元の残高または利用枠がありません。",
			model.UnknownModel: "設定されている AI モデルが使えません。",
			model.Misplaced:    "AI モデルの接続先に接続できません。", model.Unpriced: "このモデルの料金が不明なため、予算のある依頼には使えません。",
			model.Timeout: "AI モデルが時間内に回答しませんでした。", model.RateLimited: "AI モデルのレート制限が、チームの時間内に解除されませんでした。",
			model.Demo: "デモ用のモデルを、設定どおりに失敗させました。",
		},
		answered:    "AI モデルの提供元がエラー (HTTP %d) を返しました。",
		unreachable: "AI モデルに接続できませんでした。", unusable: "AI モデルの回答が正しい形式ではありませんでした。",
		noReads: "コンテストに許可された読み取りツールがありません。", noSandbox: "この環境では、コードを実行できません。",
		noSearch:     "AI モデル %s では Web 検索を使えず、ほかの読み取りツールも許可されていません。",
		closedSearch: "コンテストで Web 検索を使えなくなりました。使うには、設定での許可を管理者に依頼してください。", noWords: "メンバーが回答しませんでした。",
		unread:  "保存した回答を読み取れないため、チームを終了しました。",
		tooLong: "メンバーが回答をまとめられませんでした。", cutOff: "メンバーの回答が長さの上限で途中で切れたため、使っていません。",
	},
	texts{
		timeout: "The team ran out of time.", budget: "The team has used up its share of the budget.",
		failed: "The %s couldn’t continue: %s", leader: "leader", evaluator: "evaluator",
		kinds: map[model.Kind]string{
			model.Refused:      "the AI model declined to answer.",
			model.BrokenOff:    "the AI model stopped in the middle of its answer.",
			model.Unreadable:   "the AI model’s answer couldn’t be read.",
			model.BadRequest:   "the AI model’s vendor rejected the request.",
			model.Unauthorized: "the AI model’s API key is missing or invalid.",
			model.Forbidden:    "the account isn’t allowed to use this model.",
			model.NoCredit:     "the vendor account has no credit or quota left.",
			model.UnknownModel: "the configured AI model isn’t available.",
			model.Misplaced:    "the AI model’s endpoint isn’t allowed.",
			model.Unpriced:     "this model’s price is unknown, so it can’t be used with a budget.",
			model.Timeout:      "the AI model didn’t answer in time.",
			model.RateLimited:  "the rate limit of the AI model’s vendor was not lifted within the team’s time.",
			model.Demo:         "the demo model failed on purpose.",
		},
		answered:    "the AI model’s vendor returned an error (HTTP %d).",
		unreachable: "couldn’t connect to the AI model.", unusable: "the AI model’s answers weren’t usable.",
		noReads: "No reading tool is allowed for contests.", noSandbox: "Code can’t be run in this installation.",
		noSearch:     "The AI model %s has no web search available, and no other reading tool is allowed.",
		closedSearch: "Contests can no longer search the web. An administrator can allow it in Settings.",
		noWords:      "The member gave no answer.", tooLong: "The member couldn’t finish an answer.",
		unread: "A saved answer can’t be read, so the team stopped.",
		cutOff: "The member’s answer was cut off at the length limit, so it isn’t used.",
	})

// growing is the wait before a call after so many that failed: 1, 2, 4 s and so on.
func growing(failed int, most time.Duration) time.Duration {
	return min(most, time.Second<<min(failed, 6))
}

const (
	// leastPause is what the pauses grow to at least where the vendor says each time how long to wait.
	leastPause = 16 * time.Second
	// mostLater bounds by how much longer than the vendor says a pause may be.
	mostLater = 15 * time.Second
)

// mostPause bounds the wait for a rate limit of which the vendor doesn't say how long it lasts: quotas are per minute.
const mostPause = time.Minute

// forRate returns how long to wait for a vendor's rate limit, 0 if the team's time does not suffice. Pauses vary, so
// that the teams, members and answers that one limit meets at the same time don't all ask again at once.
func (p *playing) forRate(e *model.Error, limited int) time.Duration {
	left := p.left()
	switch {
	case e.RetryAfter >= left, left < 2*time.Second:
		return 0
	case e.RetryAfter == 0:
		return varied(min(growing(limited, mostPause), left/2))
	}
	said := e.RetryAfter + rand.N(1+min(e.RetryAfter/2, mostLater, left-e.RetryAfter))
	if limited == 0 {
		return said
	}
	// A vendor that says again and again that a moment is enough is not asked a hundred times in a second.
	return max(said, varied(min(growing(limited-1, leastPause), left/2)))
}

// varied returns a pause of at least the half of d.
func varied(d time.Duration) time.Duration { return d/2 + rand.N(1+d/2) }

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

// stopped reports whether a round's context ended because the contest did.
func stopped(ctx context.Context) bool { return errors.Is(context.Cause(ctx), ErrStopped) }

// pause waits before a retry, at most until the time is up.
func (p *playing) pause(ctx context.Context, d time.Duration) error {
	if err := clock.Sleep(ctx, max(0, p.limit(ctx, d))); err != nil && p.over(ctx) == nil {
		return err
	}
	return p.over(ctx)
}
