// Package round plays one round of one team of a contest. A leader, who delegates to members, submits a text. An
// evaluator scores it. Each answer of a model is saved immediately, so that a round that was interrupted continues
// where it stopped and nothing is paid for twice.
//
// The leader's model is offered one tool for each member. What it calls in one answer runs side by side; what a member
// could not do is the result of its call. The evaluator is asked by each metric at once, and again, twice, for an
// answer that can't be used.
//
// Before each call of a model the contest's head is read (is it over?) and the team's own rows (is something left of
// its part of the budget?). What goes beyond is at most what is in flight. While a round lasts the head is read every
// five seconds, and calls in flight are cancelled once the contest is over.
//
// A rate limit is none of a call's retries: it is waited for as long as the vendor says, else in growing pauses, varied
// so that teams with one key don't ask again together, and only within the team's time.
//
// Members act before anybody has approved anything. So they read only with tools that an administrator allowed as
// reading and then listed for contests, unchanged since; the permission is read again before each call. Scripts run
// isolated, without files, and nothing of them is kept. The vendor's web search is a call of its own with fixed rules,
// priced and counted in every budget. What comes is data for everyone.
package round

import (
	"context"
	"encoding/json"
	"errors"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/teamconfig"
	"ringi/shared/words/language"
)

// Play describes the round that a team plays.
type Play struct {
	Execution string
	Team      teamconfig.Team
	Evaluator teamconfig.Evaluator
	Prompt    string // the text that all teams work on
	Number    int    // from 1
	MaxRounds int
	History   []contest.RoundResult // this team's scored rounds, oldest first
	Until     time.Time             // when the team's time ends; zero: never
	Locale    string                // of the built-in prompts and of sentences for people
	// Accept returns a submission's problems in words that help the leader to repair it; nil: every text is accepted.
	// An accepted text has nothing that a card would hide, because plans are made from the text that people approve.
	Accept func(submission string) (problems []string)
}

// Models opens models by their names in the configuration. Its errors are *model.Error.
type Models interface {
	Open(name string) (model.Wire, error)
}

// Kept saves the answers of a round. Keys consist of letters, digits, "/" and "-", and begin with the round's number.
// They are unique within a team.
type Kept interface {
	Turn(ctx context.Context, key string) (answer []byte, ok bool, err error)
	// Keep saves an answer and its cost. If the key has an answer already, Keep returns an error and does not replace
	// it, because the round continues from the first one.
	Keep(ctx context.Context, key string, answer []byte, spent aggregate.Usage) error
}

// May is called before every call of a model or a tool, sometimes by several members at once. It returns ErrStopped if
// the contest has ended, and ErrBudget if the team has spent its part.
type May func(ctx context.Context) error

// Reads are the read-only tools of members of type web-search: those that an administrator listed for contests.
type Reads interface {
	Tools() []model.Tool
	// Lacking tells people why there are no tools; empty: none are listed.
	Lacking() string
	// Read returns Refused for a tool that may no longer be called. The model sees any other error and may go on.
	Read(ctx context.Context, tool string, input json.RawMessage) (text string, err error)
}

// Refused is a sentence for people about a tool that may no longer be called. If a member's tools returned nothing
// else, the member fails with this sentence, since it could only make up an answer.
type Refused string

func (r Refused) Error() string { return string(r) }

// Sandbox runs the scripts of members of type code-exec, without files and network. Nothing of a run is saved.
type Sandbox interface {
	// About tells the model which programs can be run.
	About() string
	Run(ctx context.Context, script string) (output string, err error)
}

// Runner plays rounds. Only Models is needed.
type Runner struct {
	Models  Models
	Kept    Kept
	May     May
	Stands  May // as May, but without the budget; asked every lookAfter while a round lasts. nil: nobody ends the contest
	Reads   Reads
	Search  Search
	Sandbox Sandbox
	Now     func() time.Time
	// Spare is the part of the caller's time that is reserved for saving the outcome. If it is 0, 15 s are reserved.
	Spare time.Duration
}

// Outcome is the result of a round.
type Outcome struct {
	contest.ScoredRound
	// Exit says why the team has finished. If it is empty, the team plays on.
	Exit contest.ExitReason
	// Usage covers all calls of the round, including the evaluator's and those before a crash.
	Usage model.Usage
}

// Limits of a round.
const (
	spare       = 15 * time.Second
	leaderTurns = 16      // answers of a leader in one round
	memberTurns = 8       // answers of a member to one call
	toolCalls   = 20      // calls of tools by a member for one call of the leader's
	maxSaid     = 2 << 20 // bytes of all members' talks, which the round's size-limited record has twice
	maxCalls    = 100     // calls of members in one round
	// maxSubmission limits a submission, in bytes: the contest's size-limited summary has those of all teams.
	maxSubmission = 128 << 10
	mostAgain     = 2 // how often a model is asked again after an unusable answer
)

// playing is the state of a round.
type playing struct {
	Runner
	Play
	begun time.Time

	mu    sync.Mutex
	fresh bool // this invocation has not called a model yet
	spent model.Usage
	calls int // calls of members
}

// Round plays a round, or the rest of a round that was interrupted. It returns an *Error if the team has ended,
// ErrAgain if the caller should call again with more time, ErrStopped, or an error of Kept or May.
func (r Runner) Round(ctx context.Context, play Play) (Outcome, error) {
	if !language.Legible(play.Prompt) {
		return Outcome{}, ErrBlankPrompt
	}
	p := r.of(play)
	ctx, done := p.untilStopped(ctx)
	defer done()
	out, err := p.play(ctx)
	if err != nil && errors.Is(context.Cause(ctx), ErrStopped) {
		err = ErrStopped
	}
	out.Usage = p.spent
	return out, err
}

func (r Runner) of(play Play) *playing {
	p := &playing{Runner: r, Play: play, fresh: true}
	if p.Now == nil {
		p.Now = time.Now
	}
	if p.Spare == 0 {
		p.Spare = spare
	}
	return p
}

func (p *playing) play(ctx context.Context) (out Outcome, err error) {
	l, err := p.leader(ctx)
	if err != nil {
		return out, err
	}
	text, err := l.submit(ctx)
	if err != nil {
		return out, err
	}
	out.Metrics, err = p.evaluate(ctx, text)
	if err != nil {
		return out, err
	}
	out.Record = contest.MemberSubmissionsRecord{ExecutionID: p.Execution, TeamID: p.Team.TeamID,
		TeamName: p.Team.TeamName, RoundNumber: p.Number, Submissions: savable(l.submissions)}
	out.Messages = l.messages
	sum := 0.0 // of the rounded scores, from 0 to 100: the weights may differ from a sum of 1 by a thousandth
	for i, m := range p.Evaluator.Metrics {
		sum += m.Weight * out.Metrics[i].Score
	}
	now := p.Now().UTC()
	out.Result = contest.RoundResult{
		ExecutionID: p.Execution, TeamID: p.Team.TeamID, TeamName: p.Team.TeamName, RoundNumber: p.Number,
		SubmissionContent:  text,
		EvaluationScore:    contest.Scaled(min(100, contest.Round2(sum))),
		EvaluationFeedback: contest.Feedback(out.Metrics),
		Usage:              l.usage.Plus(out.Record.TotalUsage()), ExecutionTimeSeconds: max(0, now.Sub(p.begun).Seconds()),
		CompletedAt: now,
	}
	if err := out.Result.Check(); err != nil {
		return out, err
	}
	if p.Number >= p.MaxRounds {
		out.Exit = contest.MaxRoundsReached
	}
	return out, nil
}
