package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool"
	"ringi/shared/tool/github"
)

// listable returns the problems of the sources and of the reads that x lists and was doesn't.
func (c *Pages) listable(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	aggregate.Problems, error) {
	all, err := c.GitHub.list(ctx, v, was, x)
	if err != nil {
		return nil, err
	}
	reads, err := c.unlistableReads(ctx, v, was, *x)
	return append(all, reads...), err
}

// unlistableReads returns the problems of new entries: the tool must be there in this version, and be one that may be
// listed. An entry that stays is not asked for, so that a tool which changed prevents no other setting.
func (c *Pages) unlistableReads(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) (all aggregate.Problems,
	err error) {
	catalog, err := tool.Builtin()
	if err != nil {
		return nil, err
	}
	for i, r := range x.ListedReads {
		same := func(old tenancy.ListedRead) bool { return old.Tool == r.Tool && old.Version == r.Version }
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
		field, rule := "tool", ""
		switch {
		case !known || !p.Allowed:
			rule = "listed_unknown"
		case !tool.Listable(s):
			rule = "listed_free"
		case s.Version() != r.Version:
			field, rule = "version", "listed_other"
		}
		if rule != "" {
			all = append(all, aggregate.Problem{Field: fmt.Sprintf("listed_reads[%d].%s", i, field), Code: rule})
		}
	}
	return all, nil
}

// GitHub is asked for the repositories that become sources.
type GitHub struct {
	github.Config
	// App returns a workspace's GitHub App, or an error wrapping aggregate.ErrNotFound if GitHub is not connected.
	App func(ctx context.Context, tenant string) (github.App, error)
}

// listWithin bounds all calls to GitHub for one form, within the time of a page.
const listWithin = 20 * time.Second

// list asks GitHub for the sources that x has and was hasn't, and notes their repositories' numbers in x. A source
// keeps its number while its name and its repository's name stay: for another number it must be removed and listed
// anew. Other sources are not asked for, so that GitHub's outage prevents no other setting. list returns the problems
// of the sources that can't be listed, and explain.ErrUnavailable if GitHub does not answer.
func (g GitHub) list(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	aggregate.Problems, error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	x.Sources = slices.Clone(x.Sources)
	var all aggregate.Problems
	for i := range x.Sources {
		s := &x.Sources[i]
		at := slices.IndexFunc(was.Sources, func(old tenancy.Source) bool {
			return old.Name == s.Name && old.Repository == s.Repository && old.RepositoryID > 0
		})
		if at >= 0 && s.RepositoryID == 0 {
			s.RepositoryID = was.Sources[at].RepositoryID
		}
		if at >= 0 && s.RepositoryID == was.Sources[at].RepositoryID && s.Ref == was.Sources[at].Ref {
			continue
		}
		field, rule, err := g.find(ctx, v.Tenant, s)
		if err != nil {
			slog.WarnContext(ctx, "a source is not listed", "tenant", v.Tenant, "err", err)
			return nil, fmt.Errorf("GitHub does not answer: %w", explain.ErrUnavailable)
		}
		if rule != "" {
			all = append(all, aggregate.Problem{Field: fmt.Sprintf("sources[%d].%s", i, field), Code: rule})
		}
	}
	return all, nil
}

// find asks GitHub for a source's repository and ref. It returns the field that isn't there, with the rule it breaks.
func (g GitHub) find(ctx context.Context, tenant string, s *tenancy.Source) (field string, rule string, err error) {
	app, err := g.App(ctx, tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		return "repository", "source_unconnected", nil
	}
	if err != nil {
		return "", "", err
	}
	c := g.Find(app, s.Repository)
	found, err := c.Repository(ctx)
	if err != nil {
		rule, err := unknown(err, "source_missing")
		return "repository", rule, err
	}
	if s.RepositoryID != 0 && int64(s.RepositoryID) != found.ID {
		return "repository", "source_other", nil
	}
	if _, err := c.Resolve(ctx, s.Ref); err != nil {
		rule, err := unknown(err, "source_no_ref")
		return "ref", rule, err
	}
	s.RepositoryID = int(found.ID)
	return "", "", nil
}

// unknown returns the rule that GitHub's refusal means, or the error if GitHub gave no usable answer.
func unknown(err error, rule string) (string, error) {
	e, ok := errors.AsType[*explain.CallError](err)
	switch {
	case !ok:
		return "", err
	case e.Problem == explain.ProblemUnauthorized:
		return "source_unconnected", nil
	case github.Refuses(err):
		return rule, nil
	}
	return "", err
}
