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
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// workspaceRows is a Slack that counts who is asked about. An account's address begins with its id.
type workspaceRows struct {
	users  map[string]slackapi.User
	gone   string // ids of those who have left, with a blank after each
	absent string // addresses that nobody has, with a blank after each
	groups map[string][]string
	fails  map[string]error // by what is asked about
	more   bool             // channels have more members than it says

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
	return w.account(id), nil
}

func (w *workspaceRows) account(id string) slackapi.User {
	return slackapi.User{ID: id, Team: "T1", Mail: strings.ToLower(id) + "@example.com",
		Gone: strings.Contains(w.gone, id+" ")}
}

func (w *workspaceRows) UserByMail(_ context.Context, mail string) (slackapi.User, error) {
	if err := w.ask(mail); err != nil {
		return slackapi.User{}, err
	}
	id := strings.ToUpper(strings.TrimSuffix(mail, "@example.com"))
	if u, known := w.users[id]; known {
		return u, nil
	}
	if strings.Contains(w.absent, mail+" ") {
		return slackapi.User{}, slackapi.Refused{Code: slackapi.CodeNobody}
	}
	return w.account(id), nil
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
	return []string{"ASKER", "BOT"}, w.more, nil
}

func noon() time.Time { return time.Date(2026, 11, 25, 3, 0, 0, 0, time.UTC) }

func (w *workspaceRows) places(org *rules.Organisation) *Places {
	return &Places{Slack: w, Known: &people.Requesters{}, Team: "T1", Organisation: org, Now: noon()}
}

func stage(who rules.Who) rules.Stage { return rules.Stage{Name: "stage", Who: who, Need: 1} }

func ofGroup(id string) rules.Stage { return stage(rules.Who{Group: id}) }

func named(users ...string) rules.Stage { return stage(rules.Who{People: users}) }

func ofR(stages ...rules.Stage) *rules.Outcome { return &rules.Outcome{Stages: stages} }

func factsOfR() *rules.Facts {
	return &rules.Facts{Kind: rules.KindSteps, Requester: "R", Askers: []circulation.Person{{User: "R"}}}
}

// foundRows resolves stages for R, and writes the route or why there is none.
func foundRows(t *testing.T, p *Places, stages ...rules.Stage) (string, error) {
	t.Helper()
	var route circulation.Route
	err := p.Resolve(t.Context(), func(d *Directory) (err error) {
		route, err = ofR(stages...).Resolve(factsOfR(), d)
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
		stage rules.Stage
		want  string
	}{
		"a group":               {ofGroup("S1"), "A (group @keiri), GRID (group @keiri)"},
		"one without a handle":  {ofGroup("S2"), "B (group S2)"},
		"one that is gone":      {ofGroup("S9"), "refused: vacant"},
		"one that is disabled":  {ofGroup("SOFF"), "refused: vacant"},
		"somebody who has left": {named("GONE"), "refused: standing"},
	} {
		got, err := foundRows(t, w.places(nil), c.stage)
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
		expect.Fails(t, expect.Err(foundRows(t, p, ofGroup("S1"))), silence, "%s", about)
		w.fails, w.asked = nil, nil
		expect.Is(t, expect.Value(foundRows(t, p, ofGroup("S1")))(t), "A (group @keiri), B (group @keiri)", about)
		expect.That(t, !slices.Contains(w.asked, "groups"), "asked again: %v", w.asked)
	}
	w := &workspaceRows{groups: map[string][]string{"S1": {"A"}}, fails: map[string]error{"groups": limited}}
	expect.Is(t, expect.Value(foundRows(t, w.places(nil), ofGroup("S1")))(t), "A (group S1)", "unnamed")
}

// org reads an organisation; each line has who, department, position, whether they head it, and who is named above.
func org(t *testing.T, rows string) *rules.Organisation {
	t.Helper()
	o, wrong := rules.ReadOrganisation([]byte("email,department,position,head,manager\n" + rows))
	expect.NoError(t, wrong.Err())
	return o
}

const companyRows = `a@example.com,HQ,社長,yes
B@example.com,HQ/SALES,部長,yes
r@example.com,HQ/SALES
c@example.com,HQ/SALES,主任
n@example.com,HQ/SALES,主任
UBYID,HQ/LEGAL,部長,yes
`

func superior(level int) rules.Stage { return stage(rules.Who{Superior: level}) }

func position(name, of string) rules.Stage { return stage(rules.Who{Position: name, Department: of}) }

func TestAnOrganisationSaysWhoIsAsked(t *testing.T) {
	w := &workspaceRows{users: map[string]slackapi.User{"C": {ID: "C", Team: "T1", Guest: true}},
		groups: map[string][]string{"S1": {"R", "C", "X", "A"}}, absent: "n@example.com "}
	for name, c := range map[string]struct {
		stage rules.Stage
		want  string
	}{
		"the manager":           {superior(1), "B (manager 1 of R)"},
		"the manager's manager": {superior(2), "A (manager 2 of R)"},
		"a position":            {position("部長", "HQ/SALES"), "B (部長 of HQ/SALES)"},
		"of a guest and one without an account, over": {position("主任", "HQ/SALES"), "B (over 主任 of HQ/SALES)"},
		"who is named by id":                          {position("部長", "HQ/LEGAL"), "UBYID (部長 of HQ/LEGAL)"},
		"a head":                                      {position("", "HQ/SALES"), "B (head of HQ/SALES)"},
		"no stranger or guest":                        {ofGroup("S1"), "A (group @keiri)"},
	} {
		got, err := foundRows(t, w.places(org(t, companyRows)), c.stage)
		expect.That(t, err == nil && got == c.want, "%s: %q, %v, want %q", name, got, err, c.want)
	}
	w.gone = "A "
	got := expect.Value(foundRows(t, w.places(org(t, companyRows)), ofGroup("S1")))(t)
	expect.Is(t, got, "B (manager 1 of R)", "who is gone")
	w.gone = "B "
	got = expect.Value(foundRows(t, w.places(org(t, companyRows)), superior(1)))(t)
	expect.Is(t, got, "A (manager 1 of B)", "who stands above who is gone")
	w.absent += "b@example.com a@example.com "
	got = expect.Value(foundRows(t, w.places(org(t, companyRows)), superior(1)))(t)
	expect.Is(t, got, "refused: standing", "nobody has an account")
}

// Only who asks and whom a stage finds are asked about, each once in one opening. Who stands higher isn't.
func TestOnlyWhomAStageFindsIsLookedUpByAddress(t *testing.T) {
	w := &workspaceRows{}
	p := w.places(org(t, companyRows))
	for range 2 {
		expect.Value(foundRows(t, p, superior(1), position("部長", "HQ/SALES")))(t)
		expect.Same(t, w.asked, []string{"R", "b@example.com"})
		w.asked, p.Known = nil, &people.Requesters{}
	}
	w.fails = map[string]error{"b@example.com": slackapi.Unknown{Cause: "timeout"}}
	expect.Fails(t, expect.Err(foundRows(t, p, superior(1))), explain.ErrUnverified)
	w.fails = nil
	expect.Is(t, expect.Value(foundRows(t, p, superior(1)))(t), "B (manager 1 of R)", "asked again")
	expect.Same(t, w.asked, []string{"R", "b@example.com", "b@example.com"})
	p.Now = p.Now.Add(9 * time.Minute)
	expect.Is(t, expect.Value(foundRows(t, p, superior(1)))(t), "B (manager 1 of R)")
	expect.Is(t, len(w.asked), 3, "calls: nobody is asked about again within ten minutes")
}

// Whoever asks is known by their address, too, and of more people than a stage may have nobody is looked up.
func TestWhoIsKnownOrTooManyIsNotLookedUpByAddress(t *testing.T) {
	w := &workspaceRows{}
	rows := companyRows
	for i := range 100 {
		rows += fmt.Sprintf("m%d@example.com,HQ/SALES,主任\n", i)
	}
	p := w.places(org(t, rows))
	expect.Is(t, expect.Value(foundRows(t, p, position("主任", "HQ/SALES")))(t), "refused: many")
	expect.Is(t, len(w.asked), 0, "calls")
	p = w.places(org(t, "a@example.com,HQ,社長,yes\nr@example.com,HQ/SALES,部長,yes\n"))
	expect.Is(t, expect.Value(foundRows(t, p, superior(1), position("部長", "HQ/SALES")))(t), "A (manager 1 of R)")
	expect.Same(t, w.asked, []string{"R", "a@example.com"})
}

// A list of the workspace's members answers before Slack does, and so many answers of Slack's are too many.
func TestAListOfMembersAnswersFirst(t *testing.T) {
	w := &workspaceRows{groups: map[string][]string{"S1": {"A", "B"}}}
	p := w.places(org(t, companyRows))
	p.Listed = &people.Members{Team: "T1", People: []slackapi.User{w.account("R"), w.account("B")},
		Groups: []slackapi.Group{{ID: "S1"}, {ID: "S2", Disabled: true}}}
	expect.Is(t, expect.Value(foundRows(t, p, superior(1)))(t), "B (manager 1 of R)")
	expect.Is(t, expect.Value(foundRows(t, p, superior(2)))(t), "refused: standing", "who isn't listed has no account")
	expect.Is(t, expect.Value(foundRows(t, p, ofGroup("S2")))(t), "refused: vacant", "a group that is disabled")
	expect.Is(t, len(w.asked), 0, "answers of Slack's")
	p.Listed.More, p.Most = true, 1
	expect.Is(t, expect.Value(foundRows(t, p, superior(2)))(t), "A (manager 2 of R)")
	expect.Fails(t, expect.Err(foundRows(t, p, superior(2), ofGroup("S1"))), explain.ErrUnverified)
}

func TestFactsKnowWhoAsks(t *testing.T) {
	x := &rules.Rules{Rules: []rules.Rule{
		{Conditions: rules.Conditions{Groups: []string{"S1"}}}, {},
		{Conditions: rules.Conditions{Groups: []string{"S1"}, Departments: []string{"HQ"}}},
	}}
	w := &workspaceRows{groups: map[string][]string{"S1": {"R"}}}
	about := func(o *rules.Organisation, askers ...circulation.Person) (f rules.Facts) {
		expect.NoError(t, w.places(o).Resolve(t.Context(), func(d *Directory) error {
			f = rules.Facts{Askers: askers, Calls: []rules.Call{{}}}
			AskedBy(&f, x, d, "R")
			return nil
		}))
		return f
	}
	expect.Same(t, about(org(t, companyRows)), rules.Facts{Requester: "R", Organised: true,
		Departments: []string{"HQ/SALES", "HQ"}, Groups: []string{"S1"}, Calls: []rules.Call{{}}})
	anybody := &rules.Rules{Rules: []rules.Rule{{Outcome: rules.Outcome{Stages: []rules.Stage{{Name: "x"}}}}}}
	for user, here := range map[string]bool{"B": true, "X": false, "UBYID": true} {
		f := about(org(t, companyRows), circulation.Person{User: user})
		expect.That(t, (f.Stranger == "") == here && anybody.Match(&f).Refused == !here, "%s", user)
	}
	expect.Same(t, about(nil), rules.Facts{Requester: "R", Groups: []string{"S1"}, Calls: []rules.Call{{}}})
	none := w.places(nil).directory()
	above, top := none.Above("R")
	expect.That(t, above == nil && !top && none.Holders("SALES", "部長") == nil && !none.Organised() &&
		none.Departments("R") == nil, "there is no organisation")
	expect.That(t, none.MayStamp("R"), "a full member")
}

const firm = `a@example.com,HQ,社長,yes
b@example.com,HQ/DIV,本部長,yes
h@example.com,HQ/DIV/SALES,部長,yes
c@example.com,HQ/DIV/SALES/SEC,課長,yes
r@example.com,HQ/DIV/SALES/SEC
`

// The 部長 of SALES has no account any more, and the requester's own superior is a 課長 below: who stands over the post
// takes the place.
func TestAPostWhoseHolderIsGoneGoesToWhoStandsOverIt(t *testing.T) {
	const sales = "HQ/DIV/SALES"
	for name, c := range map[string]struct {
		gone  string
		stage rules.Stage
		want  string
	}{
		"held":                   {"", position("部長", sales), "H (部長 of HQ/DIV/SALES)"},
		"gone":                   {"H ", position("部長", sales), "B (over 部長 of HQ/DIV/SALES)"},
		"and who stands over it": {"H B ", position("部長", sales), "A (manager 1 of B)"},
		"a post nobody ever had": {"", position("係長", sales+"/SEC"), "refused: unknown"},
		"of no department":       {"", position("部長", "NONE"), "refused: unknown"},
		"at the top":             {"A ", position("社長", "HQ"), "refused: standing"},
	} {
		w := &workspaceRows{gone: c.gone}
		expect.Is(t, expect.Value(foundRows(t, w.places(org(t, firm)), c.stage))(t), c.want, name)
	}
}

// A rule asks the 部長 of 0010. However a new file writes either, the head is still there: the stage asks them, or nobody
// can say that the post is vacant, and the request is refused with the name of what the file doesn't have.
func TestAPostThatTheFileDoesNotHaveIsNotVacant(t *testing.T) {
	const rest = "a@example.com,HQ,社長,yes\nr@example.com,HQ\n"
	const unknown = "unknown 部長 (HQ/0010)"
	for name, c := range map[string][2]string{
		"as it is":             {"HQ/0010,部長", "B"},
		"typed otherwise":      {"ＨＱ／００１０ , 部　長", "B"},
		"Excel took the zeros": {"HQ/10,部長", "unknown HQ/0010"},
		"a longer name":        {"HQ/0010,営業部長", unknown},
		"another post":         {"HQ/0010,部長代理", unknown},
		"moved elsewhere":      {"HQ/0020,部長\nx@example.com,HQ/0010", unknown},
	} {
		got := asked(t, org(t, rest+"b@example.com,"+c[0]+"\n"), rules.Who{Position: "部長", Department: "HQ/0010"})
		expect.Is(t, got, c[1], name)
	}
	expect.Is(t, asked(t, nil, rules.Who{Position: "部長", Department: "HQ/0010"}), "unknown HQ/0010", "no organisation")
}

// That nobody stands above the requester only the file can say.
func TestAManagerWhomTheFileDoesNotTellIsNotVacant(t *testing.T) {
	for name, c := range map[string]struct {
		rows  string
		level int
		want  string
	}{
		"above the top": {"a@example.com,HQ,社長,yes\nr@example.com,HQ/SALES\n", 2, "A"},
		"the top asks":  {"r@example.com,HQ,社長,yes\na@example.com,HQ\n", 1, "vacant "},
		"named":         {"a@example.com,HQ\nr@example.com,HQ,,,a@example.com\n", 2, "A"},
	} {
		expect.Is(t, asked(t, org(t, c.rows), rules.Who{Superior: c.level}), c.want, name)
	}
	expect.Is(t, asked(t, nil, rules.Who{Superior: 1}), "above ", "no organisation")
}

// asked resolves a stage for R, and writes whom it asks or why nobody.
func asked(t *testing.T, o *rules.Organisation, who rules.Who) string {
	t.Helper()
	var route circulation.Route
	err := new(workspaceRows).places(o).Resolve(t.Context(), func(d *Directory) (err error) {
		route, err = ofR(stage(who)).Resolve(factsOfR(), d)
		return err
	})
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return no.Why + " " + no.What
	}
	expect.NoError(t, err)
	return route.Stages[0].People[0].User
}

// Slack says whether anybody but the askers is in a channel. While it is silent nothing is known.
func TestSlackSaysWhoElseIsInAChannel(t *testing.T) {
	askers := []circulation.Person{{User: "ASKER"}}
	for name, c := range map[string]struct {
		bot, empty, known bool
		fails             error
	}{
		"the asker and a bot":        {true, true, true, nil},
		"there may be more":          {true, false, true, nil},
		"the asker and a member":     {false, false, true, nil},
		"a group direct message":     {false, true, true, slackapi.Refused{Code: slackapi.CodeMissingScope, App: true}},
		"one that the app can't see": {false, false, true, slackapi.Refused{Code: "channel_not_found", Permanent: true}},
		"Slack is silent":            {false, false, false, errors.New("silent")},
	} {
		w := &workspaceRows{users: map[string]slackapi.User{"BOT": {ID: "BOT", Team: "T1", Bot: c.bot}},
			fails: map[string]error{"C1": c.fails}, more: name == "there may be more"}
		empty := false
		err := w.places(nil).Resolve(t.Context(), func(d *Directory) error {
			empty = d.Empty("C1", askers)
			return nil
		})
		expect.That(t, (err == nil) == c.known && empty == c.empty, "%s: %t, %v", name, empty, err)
	}
}
