package slackapi_test

import (
	"context"
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
)

type signInSlack struct {
	team string
	err  error
}

func (s signInSlack) Team(context.Context) (string, error) { return s.team, s.err }

type rows struct {
	of  string
	all []tenancy.Integration
	err error
}

func (r rows) Integrations(_ context.Context, tenant string) ([]tenancy.Integration, error) {
	if tenant != aggregate.TenantID(r.of) {
		return nil, r.err
	}
	return r.all, r.err
}

func TestWhichWorkspacesAreOurs(t *testing.T) {
	connected := rows{of: "T0OTHER",
		all: []tenancy.Integration{{Provider: tenancy.SlackProvider, Status: tenancy.Connected, Credentials: "sealed"}}}
	bare := rows{of: "T0OTHER", all: []tenancy.Integration{{Provider: tenancy.SlackProvider, Status: tenancy.Connected}}}
	removed := rows{of: "T0OTHER", all: []tenancy.Integration{{Provider: tenancy.SlackProvider,
		Status: tenancy.Disconnected}, {Provider: "freee", Status: tenancy.Connected}}}
	silent, down := errors.New("timeout"), errors.New("no table")
	for name, tt := range map[string]struct {
		slack signInSlack
		rows  rows
		team  string
		knows bool
		err   error
	}{
		"our own":                       {signInSlack{team: "T0OURS"}, rows{err: down}, "T0OURS", true, nil},
		"another":                       {signInSlack{team: "T0OURS"}, rows{}, "T0OTHER", false, nil},
		"one that connected Slack":      {signInSlack{team: "T0OURS"}, connected, "T0OTHER", true, nil},
		"one without a token":           {signInSlack{team: "T0OURS"}, bare, "T0OTHER", false, nil},
		"one that only removed the app": {signInSlack{team: "T0OURS"}, removed, "T0OTHER", false, nil},
		"nobody knows which":            {signInSlack{err: silent}, rows{}, "T0OURS", false, slackapi.ErrNoWorkspace},
		"one that needs nobody to know": {signInSlack{err: silent}, connected, "T0OTHER", true, nil},
		"the table doesn't answer":      {signInSlack{team: "T0OURS"}, rows{err: down}, "T0OTHER", false, down},
		"a Slack that has one workspace": {signInSlack{err: slackapi.Refused{Code: slackapi.CodeUnknownMethod}}, rows{},
			"T0OTHER", true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			knows, err := slackapi.HomeWorkspaces{Slack: tt.slack, Rows: tt.rows}.Knows(t.Context(), aggregate.TenantID(tt.team))
			expect.That(t, knows == tt.knows && errors.Is(err, tt.err) && (err == nil) == (tt.err == nil),
				"%v, %v; want %v, %v", knows, err, tt.knows, tt.err)
		})
	}
}
