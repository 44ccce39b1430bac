package store_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/model/round"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/large"
	"ringi/shared/store/storetest"
)

var contestTenant = aggregate.TenantID("T1")

// bucket stores values in memory.
type bucket struct {
	mu   sync.Mutex
	kept map[string]json.RawMessage
}

func (b *bucket) KeepContest(_ context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return b.keep("contests", ref, v, inline)
}

func (b *bucket) KeepTurn(_ context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return b.keep("turns", ref, v, inline)
}

func (b *bucket) keep(under string, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	if len(v) <= inline {
		return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	key := fmt.Sprintf("%s/%s/%s/%s.json", under, ref.Tenant, ref.ID, aggregate.HashOf(string(v)))
	b.kept[key] = v
	return aggregate.Blob{Bytes: len(v), S3Key: key, Preview: string(v[:50])}, nil
}

func (b *bucket) Open(_ context.Context, ref aggregate.Ref, x aggregate.Blob) (json.RawMessage, error) {
	if x.S3Key == "" {
		return json.RawMessage(x.JSON), nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if v, ok := b.kept[x.S3Key]; ok && strings.Contains(x.S3Key, ref.ID) {
		return v, nil
	}
	return nil, large.ErrExpired
}

// world is a table with contests.
type contestWorld struct {
	*store.ContestStore
	db     *dynamodb.Client
	table  string
	bucket *bucket
	models round.Models
}

func newWorld(t *testing.T, server *storetest.Server) *contestWorld {
	t.Helper()
	_, name := server.Store(t)
	return over(server.DB, name, &bucket{kept: map[string]json.RawMessage{}})
}

func over(db *dynamodb.Client, table string, b *bucket) *contestWorld {
	return &contestWorld{store.ContestsOf(store.New(db, table, contest.Kind, contest.TeamKind), b), db, table, b, teams{}}
}

// through returns the same table with another transport.
func (w *contestWorld) through(server *storetest.Server, transport http.RoundTripper) *contestWorld {
	cfg := server.Config.Copy()
	cfg.HTTPClient = &http.Client{Transport: transport}
	return over(dynamodb.NewFromConfig(cfg, func(o *dynamodb.Options) { o.Retryer = aws.NopRetryer{} }), w.table, w.bucket)
}

func order(execution string, teams ...string) contest.Order {
	o := contest.Order{
		Execution: execution, Tenant: contestTenant, Prompt: "データ分析を実行してください", Locale: "ja", MaxRounds: 5, MinRounds: 2, TeamTimeoutSeconds: 300,
		Budget: aggregate.USD(1), By: aggregate.Actor{Type: aggregate.ActorUser, ID: "U1"}, Config: aggregate.Blob{JSON: "{}", Bytes: 2},
	}
	for _, t := range teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t, TeamName: "Team " + t})
	}
	return o
}

// begin opens a contest of these teams and enters all of them.
func (w *contestWorld) begin(t *testing.T, execution string, teams ...string) (*contest.Aggregate, []*contest.Work) {
	t.Helper()
	expect.NoError(t, w.Begin(t.Context(), order(execution, teams...)))
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
		Result: contest.RoundResult{
			ExecutionID: execution, TeamID: team, TeamName: "Team " + team, RoundNumber: round, SubmissionContent: fmt.Sprintf("分析結果 %s %d", team, round),
			EvaluationScore: score, EvaluationFeedback: "Relevance (0.90): 高品質な情報が提供されています。", Usage: usage, ExecutionTimeSeconds: 5.2, CompletedAt: at,
		},
		Record: contest.MemberSubmissionsRecord{
			ExecutionID: execution, TeamID: team, TeamName: "Team " + team, RoundNumber: round,
			Submissions: []contest.MemberSubmission{{AgentName: "web", AgentType: contest.WebSearch, Content: "検索結果...", Status: contest.Success, Usage: usage, Timestamp: at, ExecutionTimeMS: &ms}},
		},
		Messages: []contest.ModelMessage{{Kind: contest.KindRequest, Parts: []contest.Part{{PartKind: contest.UserPrompt, Content: contest.Says("データ分析を実行してください")}}}},
		Metrics:  []contest.MetricScore{{MetricName: "Relevance", Score: 90, EvaluatorComment: "高品質な情報が提供されています。"}},
	}}
}

func (w *contestWorld) save(t *testing.T, execution, team string, round int, score float64) {
	t.Helper()
	expect.Value(w.SaveRound(t.Context(), contest.TeamRef(contestTenant, execution, team),
		played(execution, team, round, score)))(t)
}
