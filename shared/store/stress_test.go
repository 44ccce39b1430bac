package store_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model"
	"ringi/shared/model/demo"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

const (
	stressTeams  = 10 // four by day, where rounds must not be lost
	stressRounds = 5
)

// TestTeamsInParallelLoseNoRound plays teams of 5 rounds in parallel three times: undisturbed; with every tenth
// write failing, half of them after they were made; and with invocations killed at random in addition. All three must
// leave the same rows.
func TestTeamsInParallelLoseNoRound(t *testing.T) {
	expect.Patience(t)
	server := storetest.Start(t)
	id, teams := contest.NewID(), 4
	if expect.Long() {
		teams = stressTeams
	}
	var want string
	for _, tt := range []struct {
		name         string
		fail, killed bool
	}{{"undisturbed", false, false}, {"writes fail", true, false}, {"invocations are killed too", true, true}} {
		w := newWorld(t, server)
		faults := &faults{fail: tt.fail, killed: tt.killed}
		began := time.Now()
		w.playAll(t, server, faults, id, teams)
		got := w.left(t, id, teams)
		t.Logf("%s: %v, %d writes failed, %d invocations killed", tt.name, time.Since(began).Round(time.Millisecond),
			faults.failed.Load(), faults.kills.Load())
		expect.That(t, (!tt.fail || faults.failed.Load() >= 10) && (!tt.killed || faults.kills.Load() >= 10),
			"%s: hardly anything was disturbed", tt.name)
		if want == "" {
			want = got
		}
		expect.Same(t, want, got)
	}
}

// faults makes calls to the table fail.
type faults struct {
	fail, killed  bool
	failed, kills atomic.Int32
}

// invocation is the transport of one invocation. After the invocation was killed it lets no call through.
type invocation struct {
	*faults
	left   atomic.Int32 // calls until it is killed
	cancel context.CancelFunc
}

var errDown = errors.New("the connection was closed")

func (v *invocation) RoundTrip(q *http.Request) (*http.Response, error) {
	if v.killed && v.left.Add(-1) < 0 {
		v.cancel()
		return nil, errDown
	}
	writes := q.Header.Get("X-Amz-Target") != "DynamoDB_20120810.Query" &&
		q.Header.Get("X-Amz-Target") != "DynamoDB_20120810.GetItem"
	chance := rand.N(20)
	if v.fail && writes && chance == 0 {
		v.failed.Add(1)
		return nil, errDown
	}
	res, err := http.DefaultTransport.RoundTrip(q)
	if err == nil && v.fail && writes && chance == 1 { // the write was made but its answer is lost
		v.failed.Add(1)
		_, _ = io.Copy(io.Discard, res.Body)
		res.Body.Close()
		return nil, errDown
	}
	return res, err
}

// invoke repeats an invocation until one is not killed.
func (w *contestWorld) invoke(t *testing.T, server *storetest.Server, f *faults,
	do func(ctx context.Context, x *contestWorld) error) {
	for try := 0; ; try++ {
		ctx, cancel := context.WithCancel(t.Context())
		v := &invocation{faults: f, cancel: cancel}
		v.left.Store(3 + rand.N[int32](40))
		x := w.through(server, v)
		x.Sleep = func(ctx context.Context, _ time.Duration) error { return ctx.Err() }
		err := do(ctx, x)
		killed := ctx.Err() != nil
		cancel()
		if killed {
			f.kills.Add(1)
		}
		if err == nil && !killed {
			return
		}
		if try == 200 {
			t.Errorf("never done: %v", err)
			return
		}
	}
}

// playAll plays a contest from its beginning to its summary.
func (w *contestWorld) playAll(t *testing.T, server *storetest.Server, f *faults, id string, teams int) {
	var names []string
	for i := range teams {
		names = append(names, fmt.Sprintf("team-%02d", i))
	}
	o := order(id, names...)
	expect.NoError(t, storetest.Begin(t, w.ContestStore, o))
	ref := contest.Ref(contestTenant, id)
	var wait sync.WaitGroup
	for i := range names {
		wait.Go(func() {
			for over := false; !over; {
				w.invoke(t, server, f, func(ctx context.Context, x *contestWorld) (err error) {
					over, err = x.playRound(ctx, ref, i+1)
					return err
				})
			}
		})
	}
	wait.Wait()
	w.invoke(t, server, f, func(ctx context.Context, x *contestWorld) error {
		_, err := x.Settle(ctx, ref, 1)
		return err
	})
}

// playRound plays one round of one team in one invocation.
func (w *contestWorld) playRound(ctx context.Context, ref aggregate.Ref, place int) (over bool, err error) {
	a, err := w.Load(ctx, ref)
	if err != nil {
		return false, err
	}
	team, err := w.Enter(ctx, a, place)
	if err != nil {
		return false, err
	}
	if exit := team.Next(time.Now()); exit != "" {
		_, err := w.End(ctx, team.Ref(), exit, "")
		return err == nil, err
	}
	if team.Team.Status != contest.TeamRunning {
		return true, nil
	}
	history, err := w.History(ctx, team)
	if err != nil {
		return false, err
	}
	e := team.Team
	play := round.Play{
		Execution: ref.ID, Prompt: a.Contest.UserPrompt, Number: e.Rounds + 1, MaxRounds: e.MaxRounds,
		Locale: "ja", History: history,
		Team: teamconfig.Team{TeamID: e.TeamID, TeamName: e.TeamName, MaxConcurrentMembers: 15,
			Leader: teamconfig.Leader{Model: "demo"}, Members: []teamconfig.Member{
				{AgentName: "analyst", AgentType: string(contest.Plain), ToolDescription: "analyses", Model: "demo"},
			}},
		Evaluator: teamconfig.Evaluator{Metrics: []teamconfig.Metric{
			{Name: "ClarityCoherence", Weight: 0.334, Model: "demo"}, {Name: "Coverage", Weight: 0.333,
				Model: "demo"}, {Name: "Relevance", Weight: 0.333, Model: "demo"},
		}},
	}
	kept := store.Kept{Store: w.ContestStore, Team: team.Ref(), Execution: ref.ID}
	out, err := round.Runner{Models: w.models, Kept: kept,
		Now: func() time.Time { return time.Date(2026, 11, 5, 10, 0, 0, 0, time.UTC) }}.Round(ctx, play)
	if err != nil {
		return false, err
	}
	_, err = w.SaveRound(ctx, team.Ref(), store.Played{ScoredRound: out.ScoredRound})
	return false, err
}

type teams struct{}

func (teams) Open(string) (model.Wire, error) { return demo.Teams{}, nil }

// left prints the rows of a contest without times, ids, revisions and the cost of repeated calls.
func (w *contestWorld) left(t *testing.T, id string, teams int) (out string) {
	t.Helper()
	a := expect.Value(w.Load(t.Context(), contest.Ref(contestTenant, id)))(t)
	rounds := 0
	for i := range a.Contest.Teams {
		team := expect.Value(w.Enter(t.Context(), a, i+1))(t)
		best := 0
		for j, r := range team.Rounds {
			b := team.Board[j]
			out += fmt.Sprintln(r.TeamID, r.RoundNumber, r.EvaluationScore, r.EvaluationFeedback, r.SubmissionContent,
				r.MessageHistory, r.MemberSubmissionsRecord, r.Usage, r.CompletedAt, r.Metrics)
			out += fmt.Sprintln(b.TeamID, b.RoundNumber, b.EvaluationScore, b.SubmissionContent, b.SubmissionHash, b.UsageInfo,
				b.IsBest)
			if b.IsBest {
				best++
			}
		}
		rounds += len(team.Rounds)
		expect.That(t, best == 1 && len(team.Uses) >= 6*stressRounds, "%s: %d best rounds, %d calls", team.Team.TeamID, best,
			len(team.Uses))
		out += fmt.Sprintln(team.Team.Status, team.Team.ExitReason, team.Team.BestRound, *team.Team.BestScore)
	}
	expect.That(t, rounds == teams*stressRounds, "%d rounds are there", rounds)
	s := expect.Value(w.Summary(t.Context(), contestTenant, id))(t)
	out += fmt.Sprintln(s.Status, *s.BestScore, len(s.TeamResults), s.TeamResults, s.FailedTeams)
	board := expect.Value(w.Board(t.Context(), contestTenant, store.ContestFilter{Execution: id}, "", 100))(t)
	return out + fmt.Sprintln(len(board.Items))
}

func TestOneOfManyBeginsWhatIsToBeDoneOnce(t *testing.T) {
	s, _ := storetest.Start(t).Store(t)
	begin := func(what string) bool {
		first, came, err := s.Once(t.Context(), "01TENANT", what)
		expect.That(t, err == nil && came == (store.Came{}), "%+v, %v", came, err)
		return first
	}
	var first atomic.Int32
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if begin("trigger 1") {
				first.Add(1)
			}
		})
	}
	all.Wait()
	expect.That(t, first.Load() == 1, "%d of eight were the first", first.Load())
	expect.That(t, begin("trigger 2"), "another is taken for the same")
	expect.NoError(t, s.Again(t.Context(), "01TENANT", "trigger 1"))
	expect.That(t, begin("trigger 1") && !begin("trigger 1"), "what failed begins again, and only once")
	is := store.Came{As: "accepted", Channel: "C1", TS: "1776675600.000900"}
	expect.NoError(t, s.Came(t.Context(), "01TENANT", "trigger 1", is))
	if first, came, err := s.Once(t.Context(), "01TENANT", "trigger 1"); first || came != is || err != nil {
		t.Errorf("%v, %+v, %v", first, came, err)
	}
}
