package main

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/driver"
	"ringi/shared/aggregate"
	"ringi/shared/contest"
	"ringi/shared/contests"
	"ringi/shared/expect"
	"ringi/shared/kinds"
	"ringi/shared/result"
	"ringi/shared/store"
	"ringi/shared/teamconfig"
)

// values keeps all in rows.
type values struct{ result.Store }

func (values) KeepContest(_ context.Context, _ aggregate.Ref, v json.RawMessage, _ int) (aggregate.Blob, error) {
	return aggregate.Blob{Bytes: len(v), JSON: aggregate.JSON(v)}, nil
}

// compete begins a contest of the running stack: its team plays, or hangs.
func compete(t *testing.T, prompt string) (*contests.Store, aggregate.Ref) {
	t.Helper()
	s := contests.Of(store.New(dynamodb.NewFromConfig(running.AWS), running.TableName, kinds.All()...), values{})
	config := teamconfig.Contest{
		Evaluator: teamconfig.Evaluator{DefaultModel: "demo", Metrics: []teamconfig.Metric{{Name: "Coverage", Weight: 1}}}, Judgment: teamconfig.Judgment{Model: "demo"},
		Teams: []teamconfig.Team{{TeamID: "solo", TeamName: "ひとり", MaxConcurrentMembers: 1, Leader: teamconfig.Leader{Model: "demo"}}},
	}
	text := expect.Value(json.Marshal(config))(t)
	o := contest.Order{
		Execution: contest.NewID(), Tenant: aggregate.TenantID(running.Sandbox.TeamID()), Prompt: prompt, Locale: "ja", Teams: []contest.Entry{{TeamID: "solo", TeamName: "ひとり"}},
		MaxRounds: 1, MinRounds: 1, TeamTimeoutSeconds: 600, Budget: aggregate.USD(1), By: aggregate.System(), Config: aggregate.Blob{Bytes: len(text), JSON: aggregate.JSON(text)},
	}
	expect.NoError(t, s.Begin(t.Context(), o))
	return s, contest.Ref(o.Tenant, o.Execution)
}

func ended(t *testing.T, s *contests.Store, ref aggregate.Ref) (a *contest.Aggregate) {
	t.Helper()
	driver.Eventually(t, "the contest is summed up", func() bool {
		var err error
		a, err = s.Load(t.Context(), ref)
		return err == nil && a.Summary != nil
	})
	return a
}

func TestAContestThatHangsIsClosedByHand(t *testing.T) {
	s, ref := compete(t, "方針 demo: hang solo")
	team := contest.TeamRef(ref.Tenant, ref.ID, "solo")
	driver.Eventually(t, "the team hangs", func() bool {
		_, err := s.Teams.Load(t.Context(), team)
		return err == nil
	})
	values := map[string]string{"TableName": running.TableName, "tenant": ref.Tenant, "execution": ref.ID}
	commands := runbook(t, "contest", values)
	for _, look := range commands[:2] { // also with -apply: it has time
		if said := rescue(t, look); !strings.Contains(said, `team 1 "solo": running`) || !strings.Contains(said, "let them play") {
			t.Errorf("said %q", said)
		}
	}
	if said := rescue(t, commands[2]); !strings.Contains(said, "run 2 begins") {
		t.Errorf("said %q", said)
	}
	a := ended(t, s, ref)
	if a.Contest.Status != contest.Abandoned || a.Summary.Status != contest.SummaryFailed || a.Head.Run != 2 || a.Head.OverAt == nil {
		t.Errorf("%+v %+v", a.Contest, a.Summary)
	}
	if said := rescue(t, commands[2]); !strings.Contains(said, "nothing to do") {
		t.Errorf("a second time said %q", said)
	}
}

func TestRoundsThatNobodyCountedAreCountedOnce(t *testing.T) {
	s, ref := compete(t, "方針")
	ended(t, s, ref)
	sums := func() contests.Statistics {
		return expect.Value(s.TeamStatistics(t.Context(), ref.Tenant, "solo"))(t)
	}
	driver.Eventually(t, "the round is counted", func() bool { return sums().TotalRounds == 1 })
	was := sums()
	db := dynamodb.NewFromConfig(running.AWS)
	pk := "COUNTED#" + ref.Tenant + "#" + contest.TeamHash("solo")
	for _, sk := range []string{"SUM", "ROW#" + contest.TeamRef(ref.Tenant, ref.ID, "solo").ID + "#" + contest.BoardKey(1)} {
		expect.Value(db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &running.TableName, Key: item{
			"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
		}}))(t)
	}
	if lost := sums(); lost.TotalRounds != 0 {
		t.Fatalf("still counted: %+v", lost)
	}
	for range 2 {
		rescue(t, runbook(t, "rounds", map[string]string{"TableName": running.TableName, "tenant": ref.Tenant})[0])
		if now := sums(); now != was {
			t.Errorf("counted %+v, was %+v", now, was)
		}
	}
}
