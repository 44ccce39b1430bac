package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/infra/local/driver"
	"ringi/shared/domain/contest"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
)

func TestAContestThatHangsIsClosedByHand(t *testing.T) {
	s, ref := driver.Compete(t, running, "方針 demo: hang team-1", 1, 1)
	team := contest.TeamRef(ref.Tenant, ref.ID, "team-1")
	expect.Eventually(t, "the team hangs", func() bool {
		_, err := s.Teams.Load(t.Context(), team)
		return err == nil
	})
	values := map[string]string{"TableName": running.TableName, "tenant": ref.Tenant, "execution": ref.ID}
	commands := runbook(t, "contest", values)
	for _, look := range commands[:2] { // even with -apply: the contest has time left
		said := rescue(t, look)
		expect.That(t, strings.Contains(said, `team 1 "team-1": running`) && strings.Contains(said, "let them play"),
			"said %q", said)
	}
	expect.Has(t, rescue(t, commands[2]), "run 2 begins")
	a := driver.SummedUp(t, s, ref)
	expect.That(t, a.Contest.Status == contest.Abandoned && a.Summary.Status == contest.SummaryFailed &&
		a.Head.Run == 2 && a.Head.OverAt != nil, "%+v %+v", a.Contest, a.Summary)
	expect.Has(t, rescue(t, commands[2]), "nothing to do", "a second time")
}

func TestRoundsThatNobodyCountedAreCountedOnce(t *testing.T) {
	s, ref := driver.Compete(t, running, "方針", 1, 1)
	driver.SummedUp(t, s, ref)
	sums := func() store.Statistics {
		return expect.Value(s.TeamStatistics(t.Context(), ref.Tenant, "team-1"))(t)
	}
	expect.Eventually(t, "the round is counted", func() bool { return sums().TotalRounds == 1 })
	was := sums()
	db := dynamodb.NewFromConfig(running.AWS)
	pk := "COUNTED#" + ref.Tenant + "#" + contest.TeamHash("team-1")
	for _, sk := range []string{"SUM", "ROW#" + contest.TeamRef(ref.Tenant, ref.ID, "team-1").ID + "#" + contest.BoardKey(1)} {
		expect.Value(db.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &running.TableName, Key: item{
			"PK": &types.AttributeValueMemberS{Value: pk}, "SK": &types.AttributeValueMemberS{Value: sk},
		}}))(t)
	}
	lost := sums()
	expect.Must(t, lost.TotalRounds == 0, "still counted: %+v", lost)
	for range 2 {
		rescue(t, runbook(t, "rounds", map[string]string{"TableName": running.TableName, "tenant": ref.Tenant})[0])
		now := sums()
		expect.That(t, now == was, "counted %+v, was %+v", now, was)
	}
}
