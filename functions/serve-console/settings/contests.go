package settings

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/tenancy"
	"ringi/shared/store"
)

// ContestFiles checks the files of contests, which the console has no access to.
type ContestFiles interface {
	Ask(ctx context.Context, asked store.Asked) (store.Answered, error)
}

// errNoFiles: the files of a contest could not be checked, so nothing was saved.
var errNoFiles = errors.New("the files of contests can't be checked")

// described returns what is wrong with a contest's files and what has no effect, or nil if the deployment has no files.
// The prices are those that are saved with the setting; nil: those that were saved before.
func (c *Pages) described(ctx context.Context, v *web.Viewer, d tenancy.DraftContest, prices []tenancy.ModelPrice) (
	*store.Described, error) {
	answer, err := c.Contests.Ask(ctx, store.Asked{
		Tenant: v.Tenant, Check: d.File, MaxRounds: d.MaxRounds, Prices: prices, Locale: v.Locale,
	})
	if err != nil {
		slog.ErrorContext(ctx, "the files of a contest are not checked", "tenant", v.Tenant, "err", err)
		return nil, errNoFiles
	}
	if answer.NotSet {
		return nil, nil
	}
	return &answer.Contests[0], nil
}

// unplayable returns the problems of the contest's files. Settings of contests that stay are not checked, so that a
// file which broke later prevents no other setting.
func (c *Pages) unplayable(ctx context.Context, v *web.Viewer, was, x tenancy.Settings) ([]tenancy.Problem, error) {
	if !x.DraftContest.Enabled || x.DraftContest == was.DraftContest {
		return nil, nil
	}
	d, err := c.described(ctx, v, x.DraftContest, append([]tenancy.ModelPrice{}, x.Prices...))
	switch {
	case err != nil:
		return nil, err
	case d == nil:
		return []tenancy.Problem{{Field: "draft_contest.enabled", Rule: tenancy.RuleNoContests}}, nil
	case len(d.Wrong) > 0:
		return []tenancy.Problem{{Field: "draft_contest.file", Rule: tenancy.RuleContest, Words: d.Wrong}}, nil
	}
	return nil, nil
}

// contestNote says above the settings what the files of the saved contest come to.
type contestNote struct {
	At, Text string
	Wrong    bool
	Lines    []string // findings in the files
}

// lookWithin bounds the check of a contest's files for a page that shows the settings without it, too.
const lookWithin = 10 * time.Second

// contestNote checks the files of the saved contest. It returns nil if policies are drafted without one, and for files
// without mistake or warning.
func (c *Pages) contestNote(ctx context.Context, v *web.Viewer, s tenancy.Settings) *contestNote {
	if !s.DraftContest.Enabled {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, lookWithin)
	defer cancel()
	t, file := settingsTexts{v.Texts("settings")}, s.DraftContest.File
	d, err := c.described(ctx, v, s.DraftContest, nil)
	n := &contestNote{At: inputID("draft_contest.file")}
	switch {
	case err != nil:
		n.Text = t.Say("contest_unchecked")
	case d == nil:
		n.Wrong, n.Text = true, t.rule(tenancy.RuleNoContests)
	case len(d.Wrong) > 0:
		n.Wrong, n.Text, n.Lines = true, t.Say("contest_wrong", "file", file), slices.Concat(d.Wrong, d.Warnings)
	case len(d.Warnings) > 0:
		n.Text, n.Lines = t.Say("contest_warned", "file", file), d.Warnings
	default:
		return nil
	}
	return n
}
