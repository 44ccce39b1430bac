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

// foundRows resolves stages for R, and writes the route or why there is none.
func foundRows(t *testing.T, p *Places, stages ...rules.Stage) (string, error) {
	t.Helper()
	return foundBy(t, p, func(*Directory) *rules.Facts {
		return &rules.Facts{Kind: rules.KindSteps, Requester: "R", Askers: []circulation.Person{{User: "R"}}}
	}, stages...)
}

func foundBy(t *testing.T, p *Places, facts func(d *Directory) *rules.Facts, stages ...rules.Stage) (string, error) {
	t.Helper()
	var route circulation.Route
	err := p.Resolve(t.Context(), func(d *Directory) (err error) {
		route, err = (&rules.Outcome{Stages: stages}).Resolve(facts(d), d)
		return err
	})
	if no, is := errors.AsType[*rules.Unresolved](err); is {
		return strings.TrimSpace("refused: " + no.Why + " " + no.What), nil
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
	o, wrong := rules.ReadOrganisation([]byte("email,department,position,head,manager,main\n" + rows))
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

// city is a city hall: R and others below a 係長, a 課長, a 部長, a 副市長 and the 市長.
const city = `m@example.com,CITY,市長,yes
f@example.com,CITY,副市長
b@example.com,CITY/GA,部長,yes
s@example.com,CITY/GA/GA1,課長,yes
k@example.com,CITY/GA/GA1/GA11,係長,yes
r@example.com,CITY/GA/GA1/GA11,主事
z@example.com,CITY/FIN,課長,yes
e@example.com,CITY/FIN,主事
n@example.com,CITY/FIN,主査,,f@example.com
o@example.com,CITY/GA,主幹
w@example.com,CITY/GA/GA2,主査
v@example.com,CITY/GA/GA2,課長,yes
q@example.com,CITY/GA,課長,,,
q@example.com,CITY/GA/GA1,主査,,,yes
h@example.com,CITY
i@example.com,CITY/GA/GA3,室長,yes
j@example.com,CITY/GA/GA3,主事
y@example.com,CITY/GA/GA4,主査
UBYID,CITY/LAW,部長,yes
`

// Of the post that a stage asks, who stands over it takes the place of whoever is gone. A position without a department
// is the nearest above whoever asks: of their own line, never below them. That nobody stands above them, or that a post
// is vacant, only the file can say: what it doesn't have is named.
func TestAnOrganisationSaysWhoIsAsked(t *testing.T) {
	w := &workspaceRows{groups: map[string][]string{"S1": {"R", "E", "X", "S"}}, absent: "w@example.com ",
		users: map[string]slackapi.User{"E": {ID: "E", Team: "T1", Guest: true, Mail: "e@example.com"}}}
	o := org(t, city)
	for name, c := range map[string]struct {
		user, gone string
		stage      rules.Stage
		want       string
	}{
		"the manager":                 {"R", "", superior(1), "K (manager 1 of R)"},
		"the manager's manager":       {"R", "", superior(2), "S (manager 2 of R)"},
		"the highest there is":        {"B", "", superior(2), "M (manager 1 of B)"},
		"whom the file names":         {"N", "", superior(1), "F (manager 1 of N)"},
		"above who is gone":           {"R", "K ", superior(1), "S (manager 1 of K)"},
		"above the top":               {"M", "", superior(1), "refused: vacant"},
		"nobody is left":              {"R", "K S B M ", superior(1), "refused: standing"},
		"no stranger or guest":        {"R", "", ofGroup("S1"), "S (group @keiri)"},
		"above who is gone of these":  {"R", "S ", ofGroup("S1"), "K (manager 1 of R)"},
		"a position":                  {"R", "", position("部長", "CITY/GA"), "B (部長 of CITY/GA)"},
		"one that is typed otherwise": {"R", "", position("部　長", "ＣＩＴＹ／ＧＡ"), "B (部　長 of ＣＩＴＹ／ＧＡ)"},
		"who is named by id":          {"R", "", position("部長", "CITY/LAW"), "UBYID (部長 of CITY/LAW)"},
		"a head":                      {"R", "", position("", "CITY/GA"), "B (head of CITY/GA)"},
		"over a guest":                {"R", "", position("主事", "CITY/FIN"), "Z (over 主事 of CITY/FIN)"},
		"over one without an account": {"R", "", position("主査", "CITY/GA/GA2"), "V (over 主査 of CITY/GA/GA2)"},
		"over who is gone":            {"R", "B ", position("部長", "CITY/GA"), "M (over 部長 of CITY/GA)"},
		"and who stands over it":      {"R", "S B ", position("課長", "CITY/GA/GA1"), "M (manager 1 of B)"},
		"at the top":                  {"R", "M ", position("市長", "CITY"), "refused: standing"},
		"a post that nobody ever had": {"R", "", position("係長", "CITY/FIN"), "refused: unknown 係長 (CITY/FIN)"},
		"of no department":            {"R", "", position("部長", "NONE"), "refused: unknown NONE"},

		"the nearest":                          {"R", "", position("課長", ""), "S (課長 of CITY/GA/GA1)"},
		"further up":                           {"R", "", position("部長", ""), "B (部長 of CITY/GA)"},
		"the nearest at the top":               {"R", "", position("市長", ""), "M (市長 of CITY)"},
		"of another line":                      {"Z", "", position("部長", ""), "M (over 部長 of CITY/FIN)"},
		"of a line whose head is lower":        {"E", "", position("部長", ""), "M (over 部長 of CITY/FIN)"},
		"a gone one's isn't passed over":       {"W", "V ", position("課長", ""), "B (over 課長 of CITY/GA/GA2)"},
		"who holds it: who stands above":       {"S", "", position("課長", ""), "B (over 課長 of CITY/GA/GA1)"},
		"who stands above it":                  {"B", "", position("課長", ""), "M (manager 1 of B)"},
		"another post of theirs doesn't count": {"Q", "", position("課長", ""), "S (課長 of CITY/GA/GA1)"},
		"directly in a department above":       {"O", "", position("課長", ""), "Q (課長 of CITY/GA)"},
		"beside who leads":                     {"I", "", position("室長", ""), "B (over 室長 of CITY/GA/GA3)"},
		"without a post in their line":         {"H", "", position("係長", ""), "M (over 係長 of CITY)"},
		"a name of none":                       {"R", "", position("グループ長", ""), "refused: unknown グループ長"},
		"who is nowhere":                       {"X", "", position("課長", ""), "refused: above"},
	} {
		w.gone = c.gone
		got, err := foundBy(t, w.places(o), func(d *Directory) *rules.Facts {
			f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: c.user}}}
			AskedBy(f, &rules.Rules{}, d, c.user)
			return f
		}, c.stage)
		expect.That(t, err == nil && got == c.want, "%s: %q, %v, want %q", name, got, err, c.want)
	}
	for want, s := range map[string]rules.Stage{"refused: above": superior(1),
		"refused: unknown CITY": position("", "CITY")} {
		expect.Is(t, expect.Value(foundRows(t, w.places(nil), s))(t), want, "no organisation stands")
	}
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
