package main

import (
	"context"
	"fmt"
	"slices"

	"ringi/shared/domain/contest"
	"ringi/shared/model/round"
	"ringi/shared/model/teamconfig"
)

// search lets the team's members search the web while the tenant's settings do.
func (t *team) search() round.Search {
	if t.Search == nil {
		return round.Search{}
	}
	return round.Search{Instead: t.Instead, Allowed: func(ctx context.Context) (bool, error) {
		return t.Search(ctx, t.contest.Head.TenantID)
	}}
}

// reads returns the tools of the team's reading members, or nil if no member reads.
func (t *team) reads(ctx context.Context) (round.Reads, error) {
	reading := func(m teamconfig.Member) bool { return m.AgentType == string(contest.WebSearch) }
	if t.Reads == nil || !slices.ContainsFunc(t.own.Members, reading) {
		return nil, nil
	}
	r, err := t.Reads(ctx, t.contest.Head.TenantID, t.contest.Contest.Locale)
	if err != nil {
		return nil, fmt.Errorf("open the tools of members that read: %w", err)
	}
	return r, nil
}
