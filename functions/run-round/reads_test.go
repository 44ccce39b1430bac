package main

import (
	"context"
	"errors"
	"testing"

	"ringi/shared/domain/contest"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
)

func TestToolsAreOpenedForTheTenantOfTeamsThatReadAlone(t *testing.T) {
	down := errors.New("the table is down")
	for _, tt := range []struct {
		of     contest.AgentType
		opened int
	}{{contest.Plain, 0}, {contest.CodeExec, 0}, {contest.WebSearch, 1}} {
		opened := 0
		h := &Handler{Reads: func(_ context.Context, tenant, locale string) (round.Reads, error) {
			if opened++; tenant != "T1" || locale != "ja" {
				t.Errorf("opened for %q in %q", tenant, locale)
			}
			return nil, down
		}}
		a := &contest.Aggregate{Contest: &contest.Contest{Locale: "ja"}}
		a.Head.TenantID = "T1"
		team := &team{Handler: h, contest: a, own: teamconfig.Team{Members: []teamconfig.Member{{AgentType: string(contest.Plain)}, {AgentType: string(tt.of)}}}}
		if _, err := team.reads(t.Context()); opened != tt.opened || errors.Is(err, down) != (tt.opened > 0) {
			t.Errorf("%s: opened %d times, %v", tt.of, opened, err)
		}
	}
}
