package storetest

import (
	"context"
	"encoding/json"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/store"
)

// Rows stores every value in its row, whatever its size.
type Rows struct{}

func (Rows) KeepContest(_ context.Context, _ aggregate.Ref, v json.RawMessage, _ int) (aggregate.Blob, error) {
	return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
}

func (r Rows) KeepTurn(ctx context.Context, ref aggregate.Ref, v json.RawMessage, inline int) (aggregate.Blob, error) {
	return r.KeepContest(ctx, ref, v, inline)
}

func (Rows) Open(_ context.Context, _ aggregate.Ref, b aggregate.Blob) (json.RawMessage, error) {
	return json.RawMessage(b.JSON), nil
}

// Store returns a store of contests over a new table.
func Store(t testing.TB, server *Server) *store.ContestStore {
	t.Helper()
	_, table := server.Store(t)
	return Over(server.DB, table)
}

// Over returns a store of contests over an existing table.
func Over(db *dynamodb.Client, table string) *store.ContestStore {
	return store.ContestsOf(store.New(db, table, contest.Kind, contest.TeamKind), Rows{})
}

// Order returns an order of a contest of these teams without a configuration.
func Order(teams ...string) contest.Order {
	o := contest.Order{
		Execution: contest.NewID(), Tenant: aggregate.TenantID("T1"), Prompt: "経費精算の手順", Locale: "ja", MaxRounds: 5, MinRounds: 2, TeamTimeoutSeconds: 300,
		Budget: aggregate.USD(1), By: aggregate.System(), Config: aggregate.Blob{JSON: "{}", Bytes: 2},
	}
	for _, t := range teams {
		o.Teams = append(o.Teams, contest.Entry{TeamID: t, TeamName: "チーム " + t})
	}
	return o
}

// Round returns a scored round of a team with only the required fields.
func Round(execution string, of contest.Entry, number int, text string, score float64, at time.Time) store.Played {
	return store.Played{ScoredRound: contest.ScoredRound{
		Result: contest.RoundResult{
			ExecutionID: execution, TeamID: of.TeamID, TeamName: of.TeamName, RoundNumber: number, SubmissionContent: text, EvaluationScore: score, CompletedAt: at,
		},
		Record: contest.MemberSubmissionsRecord{ExecutionID: execution, TeamID: of.TeamID, TeamName: of.TeamName, RoundNumber: number},
	}}
}
