package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store/contests"
	"ringi/shared/tool"
)

// listable returns the problems of the sources and of the reads that x lists and was doesn't.
func (c *Pages) listable(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	[]tenancy.Problem, error) {
	all, err := c.GitHub.list(ctx, v, was, x)
	if err != nil {
		return nil, err
	}
	reads, err := c.unlistableReads(ctx, v, was, *x)
	if err != nil {
		return nil, err
	}
	unplayable, err := c.unplayable(ctx, v, was, *x)
	return append(append(all, reads...), unplayable...), err
}

// ContestFiles checks the files of contests, which the console has no access to.
type ContestFiles interface {
	Ask(ctx context.Context, asked contests.Asked) (contests.Answered, error)
}

// errNoFiles: the files of a contest could not be checked, so nothing was saved.
var errNoFiles = errors.New("the files of contests can't be checked")

// unplayable returns the problems of the contest's files. Settings of contests that stay are not checked, so that a
// file which broke later prevents no other setting.
func (c *Pages) unplayable(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) ([]tenancy.Problem, error) {
	d := x.DraftContest
	if !d.Enabled || d == was.DraftContest {
		return nil, nil
	}
	answer, err := c.Contests.Ask(ctx, contests.Asked{
		Tenant: v.Tenant, Check: d.File, Prices: append([]tenancy.ModelPrice{}, x.Prices...),
	})
	if err != nil {
		slog.ErrorContext(ctx, "the files of a contest are not checked", "tenant", v.Tenant, "err", err)
		return nil, errNoFiles
	}
	if answer.NotSet {
		return []tenancy.Problem{{Field: "draft_contest.enabled", Rule: tenancy.RuleNoContests}}, nil
	}
	i := slices.IndexFunc(answer.Contests, func(x contests.Described) bool { return x.File == d.File })
	switch {
	case i < 0: // a function of an earlier release answered
		return nil, errNoFiles
	case len(answer.Contests[i].Wrong) > 0:
		p := tenancy.Problem{Field: "draft_contest.file", Rule: tenancy.RuleContest, Words: answer.Contests[i].Wrong}
		return []tenancy.Problem{p}, nil
	}
	return nil, nil
}

// unlistableReads returns the problems of new entries: the tool must be there in this version, and be one that may be
// listed. An entry that stays is not asked for, so that a tool which changed prevents no other setting.
func (c *Pages) unlistableReads(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) (all []tenancy.Problem,
	err error) {
	catalog, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for i, r := range x.ListedReads {
		same := func(old agent.ListedRead) bool { return old.Tool == r.Tool && old.Version == r.Version }
		if slices.ContainsFunc(was.ListedReads, same) {
			continue
		}
		p, _, err := c.Store.ToolPermission(ctx, v.Tenant, r.Tool)
		if err != nil {
			return nil, fmt.Errorf("read the permission of %s: %w", r.Tool, err)
		}
		s, known := catalog.Lookup(r.Tool)
		if pinned, is := tool.Pinned(p, x.MCPServers); is {
			s, known = pinned, true
		}
		field, rule := "tool", agent.Rule("")
		switch {
		case !known || !p.Allowed:
			rule = agent.RuleListedUnknown
		case !tool.Listable(s):
			rule = agent.RuleListedFree
		case s.Version() != r.Version:
			field, rule = "version", agent.RuleListedOther
		}
		if rule != "" {
			all = append(all, tenancy.Problem{Field: fmt.Sprintf("listed_reads[%d].%s", i, field), Rule: tenancy.Rule(rule)})
		}
	}
	return all, nil
}
