package store_test

import (
	"context"
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// TestAContestThatIsClosedOverCrashesIsPaidForOnce crashes the code that closes an abandoned contest before and after
// each of its writes. In the end there is one summary of the scored rounds and one sum of their cost.
func TestAContestThatIsClosedOverCrashesIsPaidForOnce(t *testing.T) {
	server := storetest.Start(t)
	w := newWorld(t, server)
	id := contest.NewID()
	ref := contest.Ref(contestTenant, id)
	_, teams := w.begin(t, id, "scored", "idle")
	w.save(t, id, "scored", 1, 0.8)
	for i, team := range teams {
		k := store.Kept{Store: w.ContestStore, Team: team.Ref(), Execution: id}
		expect.NoError(t, k.Keep(t.Context(), "01/leader/1", []byte(`{}`),
			aggregate.Usage{ID: aggregate.NewID(), Calls: 1, Cost: aggregate.MicroUSD(100 * (i + 1))}))
	}
	for range 6 { // its runs crash
		expect.Value(w.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) {
			return a.RestartRun(a.Head.Run, time.Now())
		}))(t)
	}
	a := expect.Value(w.Load(t.Context(), ref))(t)
	expect.Must(t, a.Contest.Status == contest.Abandoned && a.Contest.SettledAt == nil, "%+v", a.Contest)
	died := 0
	for n := 0; ; n++ {
		ctx, cancel := context.WithCancel(t.Context())
		d := &ringitest.Death{At: 1, After: n%2 == 1, Then: cancel}
		_, err := w.through(server, d.Over(server.Transport)).Settle(ctx, ref, a.Head.Run)
		killed := ctx.Err() != nil
		cancel()
		if err == nil && !killed {
			break
		}
		if died++; died > 50 {
			t.Fatal(err)
		}
	}
	settled := expect.Value(w.Load(t.Context(), ref))(t)
	s := expect.Value(w.Summary(t.Context(), contestTenant, id))(t)
	expect.That(t, died >= 5 && s.Status == contest.SummaryPartialFailure && *s.BestTeamID == "scored" &&
		len(s.TeamResults) == 1 && len(s.FailedTeams) == 1 && s.FailedTeams[0].Reason == contest.ReasonUnfinished &&
		settled.Contest.Status == contest.Abandoned &&
		settled.Contest.Reason == contest.ReasonRunFailed, "after %d crashes %+v of %+v", died, s, settled.Contest)
	u := settled.Contest.Usage
	expect.That(t, u.Cost == 300 && u.Calls == 2 && u.ID == id, "it cost %+v", u)
	again := expect.Value(w.Settle(t.Context(), ref, a.Head.Run))(t)
	expect.Is(t, again.Head.Rev, settled.Head.Rev, "settled twice")
}

// All teams of a contest that was cancelled before their time was up say so, however late their last calls returned.
func TestACancelledTeamWasNotTooLate(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	id := contest.NewID()
	ref := contest.Ref(contestTenant, id)
	_, teams := w.begin(t, id, "scored", "idle")
	w.save(t, id, "scored", 1, 0.8)
	expect.Value(w.Decide(t.Context(), ref, func(a *contest.Aggregate) (aggregate.Change, error) {
		return a.Withdraw(aggregate.Ref{Tenant: ref.Tenant, Kind: a.Contest.ForKind, ID: a.Contest.ForID}, time.Now())
	}))(t)
	w.Now = func() time.Time { return time.Now().Add(time.Hour) }
	expect.Value(w.Settle(t.Context(), ref, 1))(t)
	for _, x := range teams {
		k := expect.Value(w.Teams.Load(t.Context(), x.Ref()))(t).Team
		expect.Is(t, k.Reason, contest.ReasonCancelled, "%s ended by %s", k.TeamID, k.ExitReason)
	}
}

func testStatistics(t *testing.T, w *contestWorld) {
	expect.Is(t, expect.Value(w.TeamStatistics(t.Context(), contestTenant, "team-001"))(t), store.Statistics{},
		"of no rounds")
	id := contest.NewID()
	w.begin(t, id, "team-001", "b")
	for i, score := range []float64{0.75, 0.95, 0.8, 0.7, 0.9} {
		w.save(t, id, "team-001", i+1, score)
	}
	w.save(t, id, "b", 1, 0.3)
	w.save(t, id, "team-001", 2, 0.2) // an upsert: round 5 is the best now
	got := expect.Value(w.TeamStatistics(t.Context(), contestTenant, "team-001"))(t)
	want := (store.Statistics{TotalRounds: 5, AvgScore: 0.67, BestScore: 0.9, TotalInputTokens: 2250,
		TotalOutputTokens: 4500})
	expect.That(t, got == want, "%+v, want %+v", got, want)
	b := expect.Value(w.TeamStatistics(t.Context(), contestTenant, "b"))(t)
	expect.That(t, b.TotalRounds == 1 && b.BestScore == 0.3, "%+v", b)
}

var contestTenant = aggregate.TenantID("T1")

// contestWorld is a table with contests.
type contestWorld struct {
	*store.ContestStore
	db     *dynamodb.Client
	table  string
	bucket storetest.Bucket
}

func newWorld(t *testing.T, server *storetest.Server) *contestWorld {
	t.Helper()
	_, name := server.Store(t)
	return over(server.DB, name, storetest.Bucket{})
}

func over(db *dynamodb.Client, table string, b storetest.Bucket) *contestWorld {
	return &contestWorld{store.ContestsOf(store.New(db, table, contest.Kind, contest.TeamKind), b), db, table, b}
}

// through returns the same table with another transport.
func (w *contestWorld) through(server *storetest.Server, transport http.RoundTripper) *contestWorld {
	cfg := server.Config.Copy()
	cfg.HTTPClient = &http.Client{Transport: transport}
	return over(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }), w.table, w.bucket)
}

func order(execution string, teams ...string) contest.Order {
	o := contest.Order{Execution: execution, Tenant: contestTenant, Prompt: "データ分析を実行してください", Locale: "ja", MaxRounds: 5,
		TeamTimeoutSeconds: 300, Budget: aggregate.USD(1),
		Config: aggregate.Blob{JSON: "{}", Bytes: 2}, For: task.RefOf(contestTenant, aggregate.NewID()),
		ForRow: task.PromptKey(1)}
	for _, t := range teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t, TeamName: "Team " + t})
	}
	return o
}

// begin opens a contest of these teams and enters all of them.
func (w *contestWorld) begin(t *testing.T, execution string, teams ...string) (*contest.Aggregate, []*contest.Work) {
	t.Helper()
	expect.NoError(t, storetest.Begin(t, w.ContestStore, order(execution, teams...)))
	a := expect.Value(w.Load(t.Context(), contest.Ref(contestTenant, execution)))(t)
	var all []*contest.Work
	for i := range teams {
		all = append(all, expect.Value(w.Enter(t.Context(), a, i+1))(t))
	}
	return a, all
}

// played returns a round whose content is derived from the arguments.
func played(execution, team string, round int, score float64) store.Played {
	at := time.Date(2025, 11, 5, 10, 0, round, 0, time.UTC)
	usage := contest.RunUsage{InputTokens: 450, OutputTokens: 900, Requests: 3}
	ms := 2500.0
	return store.Played{ScoredRound: contest.ScoredRound{
		Result: contest.RoundResult{ExecutionID: execution, TeamID: team, TeamName: "Team " + team, RoundNumber: round,
			SubmissionContent: fmt.Sprintf("分析結果 %s %d", team, round), EvaluationScore: score,
			EvaluationFeedback: "Relevance (0.90): " + "高品質な情報が提供されています。", Usage: usage, ExecutionTimeSeconds: 5.2,
			CompletedAt: at},
		Record: contest.MemberSubmissionsRecord{
			ExecutionID: execution, TeamID: team, TeamName: "Team " + team, RoundNumber: round,
			Submissions: []contest.MemberSubmission{{AgentName: "web", AgentType: contest.WebSearch, Content: "検索結果...",
				Status: contest.Success, Usage: usage, Timestamp: at, ExecutionTimeMS: &ms}},
		},
		Messages: []contest.ModelMessage{{Kind: contest.KindRequest,
			Parts: []contest.Part{{PartKind: contest.UserPrompt, Content: "データ分析を実行してください"}}}},
		Metrics: []contest.MetricScore{{MetricName: "Relevance", Score: 90, EvaluatorComment: "高品質な情報が提供されています。"}},
	}}
}

func (w *contestWorld) save(t *testing.T, execution, team string, round int, score float64) {
	t.Helper()
	expect.Value(w.SaveRound(t.Context(), contest.TeamRef(contestTenant, execution, team),
		played(execution, team, round, score)))(t)
}
