package settings

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/agent"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/tool/github"
)

// GitHub is asked for the repositories that become sources.
type GitHub struct {
	github.Config
	// App returns a workspace's GitHub App, or an error wrapping aggregate.ErrNotFound if GitHub is not connected.
	App func(ctx context.Context, tenant string) (github.App, error)
}

// listWithin bounds all calls to GitHub for one form, within the time of a page.
const listWithin = 20 * time.Second

// errNoGitHub: GitHub did not answer, so nothing was saved.
var errNoGitHub = errors.New("GitHub does not answer")

// list asks GitHub for the sources that x has and was hasn't, and notes their repositories' numbers in x. A source
// keeps its number while its name and its repository's name stay: for another number it must be removed and listed
// anew. Other sources are not asked for, so that GitHub's outage prevents no other setting. list returns the problems
// of the sources that can't be listed, and errNoGitHub.
func (g GitHub) list(ctx context.Context, v *web.Viewer, was tenancy.Settings, x *tenancy.Settings) (
	[]tenancy.Problem, error) {
	ctx, cancel := context.WithTimeout(ctx, listWithin)
	defer cancel()
	x.Sources = slices.Clone(x.Sources)
	var all []tenancy.Problem
	for i := range x.Sources {
		s := &x.Sources[i]
		at := slices.IndexFunc(was.Sources, func(old agent.Source) bool {
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
			return nil, errNoGitHub
		}
		if rule != "" {
			all = append(all, tenancy.Problem{Field: fmt.Sprintf("sources[%d].%s", i, field), Rule: tenancy.Rule(rule)})
		}
	}
	return all, nil
}

// find asks GitHub for a source's repository and ref. It returns the field that GitHub knows nothing of, with the rule
// that it breaks.
func (g GitHub) find(ctx context.Context, tenant string, s *agent.Source) (field string, rule agent.Rule, err error) {
	app, err := g.App(ctx, tenant)
	if errors.Is(err, aggregate.ErrNotFound) {
		return "repository", agent.RuleSourceUnconnected, nil
	}
	if err != nil {
		return "", "", err
	}
	c := g.Find(app, s.Repository)
	found, err := c.Repository(ctx)
	if err != nil {
		rule, err := unknown(err, agent.RuleSourceMissing)
		return "repository", rule, err
	}
	if s.RepositoryID != 0 && int64(s.RepositoryID) != found.ID {
		return "repository", agent.RuleSourceOther, nil
	}
	if _, err := c.Resolve(ctx, s.Ref); err != nil {
		rule, err := unknown(err, agent.RuleSourceNoRef)
		return "ref", rule, err
	}
	s.RepositoryID = int(found.ID)
	return "", "", nil
}

// unknown returns the rule that GitHub's refusal means, or the error if GitHub gave no usable answer.
func unknown(err error, rule agent.Rule) (agent.Rule, error) {
	e, ok := errors.AsType[*explain.CallError](err)
	switch {
	case !ok:
		return "", err
	case e.Problem == explain.ProblemUnauthorized:
		return agent.RuleSourceUnconnected, nil
	case github.Refuses(err):
		return rule, nil
	}
	return "", err
}
