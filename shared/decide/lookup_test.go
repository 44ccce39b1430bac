package decide

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// workspaceRows is a Slack that counts who is asked about.
type workspaceRows struct {
	users  map[string]slackapi.User
	groups map[string][]string
	fails  map[string]error // by what is asked about

	mu    sync.Mutex
	asked []string
}

func (w *workspaceRows) ask(about string) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, about)
	return w.fails[about]
}

func (w *workspaceRows) User(_ context.Context, id string) (slackapi.User, error) {
	u, known := w.users[id]
	if err := w.ask(id); err != nil || known {
		return u, err
	}
	return slackapi.User{ID: id, Team: "T1"}, nil
}

func (w *workspaceRows) UsergroupMembers(_ context.Context, id string) ([]string, error) {
	members, known := w.groups[id]
	if err := w.ask(id); err != nil || known {
		return members, err
	}
	return nil, slackapi.Refused{Code: slackapi.CodeNoSuchGroup}
}

func (w *workspaceRows) Usergroups(context.Context) ([]slackapi.Group, error) {
	if err := w.ask("groups"); err != nil {
		return nil, err
	}
	return []slackapi.Group{{ID: "S1", Handle: "keiri"}, {ID: "SOFF", Handle: "off", Disabled: true}}, nil
}

func (w *workspaceRows) Members(_ context.Context, id string, _ int) ([]string, bool, error) {
	if err := w.ask(id); err != nil {
		return nil, false, err
	}
	return []string{"ASKER", "BOT"}, false, nil
}

func noon() time.Time { return time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC) }

func (w *workspaceRows) places(org *Organisation) *Places {
	return &Places{Slack: w, Known: &people.Requesters{}, Team: "T1", Organisation: org, Now: noon()}
}

func stage(who rules.Who) rules.Stage { return rules.Stage{Name: "stage", Who: who, Need: 1} }

func ofGroup(id string) rules.Stage { return stage(rules.Who{Group: id}) }

func named(users ...string) rules.Stage {
	return stage(rules.Who{People: users})
}

// found resolves a policy for R, and writes the route or why there is none.
func foundRows(t *testing.T, p *Places, stages ...rules.Stage) (string, error) {
	t.Helper()
	var route circulation.Route
	err := p.Resolve(t.Context(), func(d *OpenDirectory) (err error) {
		f := &rules.Facts{Kind: rules.KindSteps, Requester: "R", Askers: []circulation.Person{{User: "R"}}}
		route, err = (&rules.Outcome{Stages: stages}).Resolve(f, d)
		return err
	})
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return "refused: " + no.Why, nil
	}
	var out []string
	for _, s := range route.Stages {
		for _, x := range s.People {
			out = append(out, fmt.Sprintf("%s (%s)", x.User, x.Via))
		}
	}
	return strings.Join(out, ", "), err
}

func TestSlackSaysWhoMayStamp(t *testing.T) {
	w := &workspaceRows{
		users: map[string]slackapi.User{
			"GUEST": {Team: "T1", Guest: true}, "GONE": {Team: "T1", Gone: true}, "BOT": {Team: "T1", Bot: true},
			"STRANGER": {Team: "T2"}, "GRID": {Team: "T2", Teams: []string{"T1"}},
		},
		groups: map[string][]string{"S1": {"R", "A", "GUEST", "GONE", "BOT", "STRANGER", "GRID", "HIDDEN"}, "S2": {"B"},
			"SOFF": {"A"}},
		fails: map[string]error{"HIDDEN": slackapi.Refused{Code: slackapi.CodeUserNotVisible}},
	}
	for name, c := range map[string]struct {
		stages []rules.Stage
		want   string
	}{
		"a group":               {[]rules.Stage{ofGroup("S1")}, "A (group @keiri), GRID (group @keiri)"},
		"one without a handle":  {[]rules.Stage{ofGroup("S2")}, "B (group S2)"},
		"one that is gone":      {[]rules.Stage{ofGroup("S9")}, "refused: vacant"},
		"one that is disabled":  {[]rules.Stage{ofGroup("SOFF")}, "refused: vacant"},
		"somebody who has left": {[]rules.Stage{named("GONE")}, "refused: standing"},
	} {
		got, err := foundRows(t, w.places(nil), c.stages...)
		expect.That(t, err == nil && got == c.want, "%s: %q, %v, want %q", name, got, err, c.want)
	}
}

// Only whom the route needs is asked about, each once in ten minutes.
func TestOnlyWhomARouteNeedsIsAskedAbout(t *testing.T) {
	w := &workspaceRows{groups: map[string][]string{"S1": {"A", "B", "R"}}}
	p := w.places(nil)
	expect.Value(foundRows(t, p, ofGroup("S1"), named("B", "C")))(t)
	slices.Sort(w.asked)
	expect.Same(t, w.asked, []string{"A", "B", "C", "S1", "groups"})
	p.Now = p.Now.Add(9 * time.Minute)
	expect.Value(foundRows(t, p, named("A", "B")))(t)
	expect.Is(t, len(w.asked), 5, "calls")
	p.Now = p.Now.Add(time.Minute)
	expect.Value(foundRows(t, p, named("A", "B")))(t)
	expect.Is(t, len(w.asked), 7, "calls after ten minutes")
}

// Whoever Slack refuses to answer goes on where they were.
func TestSilenceIsAnError(t *testing.T) {
	limited := slackapi.RateLimited{RetryAfter: 30 * time.Second}
	for about, silence := range map[string]error{"A": limited, "S1": slackapi.Unknown{Cause: "timeout"}} {
		w := &workspaceRows{groups: map[string][]string{"S1": {"A", "B"}}, fails: map[string]error{about: silence}}
		p := w.places(nil)
		_, err := foundRows(t, p, ofGroup("S1"))
		expect.That(t, errors.Is(err, silence), "%s: %v", about, err)
		w.fails, w.asked = nil, nil
		again := expect.Value(foundRows(t, p, ofGroup("S1")))(t)
		expect.Is(t, again, "A (group @keiri), B (group @keiri)", about)
		expect.That(t, !slices.Contains(w.asked, "groups"), "asked again: %v", w.asked)
	}
	w := &workspaceRows{groups: map[string][]string{"S1": {"A"}}, fails: map[string]error{"groups": limited}}
	expect.Is(t, expect.Value(foundRows(t, w.places(nil), ofGroup("S1")))(t), "A (group S1)", "unnamed")
}

const companyRows = `employee_number,name,email,department_code,parent_department,position,rank,employment
1,President,a@example.com,HQ,,社長,1,employee
2,Head,b@example.com,SALES,HQ,部長,2,employee
3,Requester,r@example.com,SALES,HQ,,,employee
4,Contractor,c@example.com,SALES,HQ,主任,3,contractor
5,Nobody here,,SALES,HQ,主任,3,employee
`

func organisedRows(t *testing.T) *Organisation {
	t.Helper()
	o := expect.Value(organisation.Read([]byte(companyRows)))(t)
	all := append(accounts("A", "B", "R", "C", "X"), organisation.Account{ID: "R2", Mail: "r@example.com"})
	m := o.Match(all)
	m.Accounts["3"] = []organisation.Matched{{ID: "R"}, {ID: "R2"}} // an administrator said that both are theirs
	m.Accounts["2"] = []organisation.Matched{{ID: "B0"}, {ID: "B"}}
	return &Organisation{Version: "v1", People: o, Accounts: m.Kept()}
}

func TestAnOrganisationSaysWhoStandsAbove(t *testing.T) {
	w := &workspaceRows{
		users:  map[string]slackapi.User{"B0": {Team: "T1", Gone: true}},
		groups: map[string][]string{"S1": {"R", "C", "X", "A"}},
	}
	manager := func(level int) rules.Stage {
		return stage(rules.Who{Superior: level})
	}
	position := func(name, of string) rules.Stage {
		return stage(rules.Who{Position: name, Department: of})
	}
	for name, c := range map[string]struct {
		stage rules.Stage
		want  string
	}{
		"the manager, by the account that is left":   {manager(1), "B (manager 1 of R)"},
		"the manager's manager":                      {manager(2), "A (manager 2 of R)"},
		"a position":                                 {position("部長", "SALES"), "B (部長 of SALES)"},
		"of people without an account who may, over": {position("主任", "SALES"), "B (over 主任 of SALES)"},
		"no stranger or contractor":                  {ofGroup("S1"), "A (group @keiri)"},
	} {
		got, err := foundRows(t, w.places(organisedRows(t)), c.stage)
		expect.That(t, err == nil && got == c.want, "%s: %q, %v, want %q", name, got, err, c.want)
	}
	d := newDirectory(organisedRows(t))
	expect.Same(t, []any{d.Departments("R2"), d.Org()}, []any{[]string{"SALES", "HQ"}, "v1"})
	none := newDirectory(nil)
	expect.That(t, none.Departments("R") == nil && none.Org() == "", "there is no organisation")
}

// Slack says whether anybody but the askers is in a channel. While it is silent nothing is known.
func TestSlackSaysWhoElseIsInAChannel(t *testing.T) {
	askers := []circulation.Person{{User: "ASKER"}}
	for name, c := range map[string]struct {
		bot, empty, known bool
		fails             error
	}{
		"the asker and a bot":        {true, true, true, nil},
		"the asker and a member":     {false, false, true, nil},
		"a group direct message":     {false, true, true, slackapi.Refused{Code: slackapi.CodeMissingScope, App: true}},
		"one that the app can't see": {false, false, true, slackapi.Refused{Code: "channel_not_found", Permanent: true}},
		"Slack is silent":            {false, false, false, errors.New("silent")},
	} {
		w := &workspaceRows{users: map[string]slackapi.User{"BOT": {ID: "BOT", Team: "T1", Bot: c.bot}},
			fails: map[string]error{"C1": c.fails}}
		empty := false
		err := w.places(nil).Resolve(t.Context(), func(d *OpenDirectory) error {
			empty = d.Empty("C1", askers)
			return nil
		})
		expect.That(t, (err == nil) == c.known && empty == c.empty, "%s: %t, %v", name, empty, err)
	}
}
