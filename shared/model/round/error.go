package round

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

var (
	// ErrBlankPrompt says that the prompt is empty.
	ErrBlankPrompt = errors.New("the prompt must not be empty")
	// ErrBlankSubmission says that there is no text to evaluate.
	ErrBlankSubmission = errors.New("the submission must not be empty")
	// ErrLongSubmission says that a text is longer than a team's may be.
	ErrLongSubmission = fmt.Errorf("the submission must be at most %d bytes", maxSubmission)
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
	judge     = "judge"
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
	limitWaited, limitAsked     string // model, how long
	seconds, minutes            string
	noReads, noSandbox, noWords string // about a member
	noSearch                    string // the model
	closedSearch                string
	tooLong, cutOff             string
	unread                      string
}

// because is why, with the model, and with the time of a rate limit.
func (w texts) because(e *model.Error) string {
	name := legible.OneLine(legible.Clip(e.Model, maxNamed))
	why := w.why(e.Kind)
	if _, named := w.kinds[e.Kind]; !named && e.Status >= http.StatusBadRequest {
		why = fmt.Sprintf(w.answered, e.Status)
	}
	switch {
	case e.Kind != model.RateLimited && name != "":
		return why + " (" + name + ")"
	case e.Kind != model.RateLimited:
		return why
	case e.Waited >= time.Second:
		return fmt.Sprintf(w.limitWaited, name, w.span(e.Waited))
	}
	return fmt.Sprintf(w.limitAsked, name, w.span(e.RetryAfter))
}

// span writes a time in minutes and seconds.
func (w texts) span(d time.Duration) string {
	s := int(d.Round(time.Second).Seconds())
	switch {
	case s < 60:
		return fmt.Sprintf(w.seconds, s)
	case s%60 == 0:
		return fmt.Sprintf(w.minutes, s/60)
	}
	return fmt.Sprintf(w.minutes, s/60) + " " + fmt.Sprintf(w.seconds, s%60)
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
		timeout: "チームの持ち時間が終わりました。", budget: "チームに割り当てられた予算を使い切りました。", failed: "%sが最後まで進めませんでした: %s", leader: "リーダー",
		evaluator: "評価者",
		kinds: map[model.Kind]string{
			model.Refused: "AI モデルが回答を断りました。", model.BadRequest: "AI モデルの提供元が内容を受け付けませんでした。",
			model.Unauthorized: "AI モデルの API キーが登録されていないか、正しくありません。",
			model.Forbidden:    "このモデルを使う権限がありません。", model.NoCredit: "AI モデルの提供元の残高または利用枠がありません。",
			model.UnknownModel: "設定されている AI モデルが使えません。",
			model.Misplaced:    "AI モデルの接続先に接続できません。", model.Unpriced: "費用に上限がありますが、このモデルの料金が分からないため、呼び出しませんでした。",
			model.Timeout: "AI モデルの回答が時間内に届きませんでした。", model.Demo: "デモ用のモデルが、頼まれたとおりに失敗しました。",
		},
		seconds: "%d 秒", minutes: "%d 分",
		limitWaited: "AI モデル %s の提供元が呼び出しの回数を制限しています(レート制限)。%s待っても解除されませんでした。",
		limitAsked:  "AI モデル %s の提供元が呼び出しの回数を制限していて(レート制限)、解除までの %sを待つ時間がありません。",
		answered:    "AI モデルの提供元がエラー (HTTP %d) を返しました。",
		unreachable: "AI モデルに接続できませんでした。", unusable: "AI モデルの回答を使える形で受け取れませんでした。",
		noReads: "コンテストで使える読み取りツールが登録されていません。", noSandbox: "この環境では、コードを実行できません。",
		noSearch:     "AI モデル %s の提供元の Web 検索は使えず、ほかの読み取りツールも登録されていません。",
		closedSearch: "Web 検索は、コンテストで使えなくなりました。使う場合は、管理者が設定で許可してください。", noWords: "メンバーが何も答えませんでした。",
		unread:  "保存した回答を読み取れないため、チームを終えました。",
		tooLong: "メンバーが答えをまとめきれませんでした。", cutOff: "(長さの上限に達したため、この答えは途中で切れています。)",
	},
	texts{
		timeout: "The team's time is over.", budget: "The team has spent its part of the budget.",
		failed: "The %s could not go on: %s", leader: "leader", evaluator: "evaluator",
		kinds: map[model.Kind]string{
			model.Refused:      "the AI model declined to answer.",
			model.BadRequest:   "the AI model's vendor did not accept what was sent.",
			model.Unauthorized: "the AI model's API key is missing or not valid.",
			model.Forbidden:    "this model may not be used.",
			model.NoCredit:     "the account with the AI model's vendor has no credit or quota left.",
			model.UnknownModel: "the configured AI model can't be used.",
			model.Misplaced:    "the AI model's endpoint may not be called.",
			model.Unpriced:     "costs are limited, but nobody knows this model's price, so it was not called.",
			model.Timeout:      "the AI model's answer did not come in time.",
			model.Demo:         "the demo model failed, as it was asked to.",
		},
		seconds: "%d s", minutes: "%d min",
		limitWaited: "the vendor of the AI model %s limits how often it may be called (rate limit), and still did after %s of waiting.",
		limitAsked:  "the vendor of the AI model %s limits how often it may be called (rate limit), and there is no time to wait for the %s that it asks for.",
		answered:    "the AI model's vendor answered with an error (HTTP %d).",
		unreachable: "the AI model could not be reached.", unusable: "the AI model's answers could not be used.",
		noReads: "No tool for reading is listed for contests.", noSandbox: "Code can't be executed in this deployment.",
		noSearch:     "The vendor of the AI model %s has no web search that can be used, and no other tool for reading is listed.",
		closedSearch: "Contests may no longer search the web. An administrator can allow it in the settings.",
		noWords:      "The member answered nothing.", tooLong: "The member came to no answer.",
		unread: "An answer that was saved can't be read, so the team ended.",
		cutOff: "(This answer ends early: it reached the limit of its length.)",
	})
