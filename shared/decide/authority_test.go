package decide

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
)

// authority is a table of who decides, of a public body or a company: whose posts stand over whom, who has a post
// beside them, and who sits on its board.
type authority struct {
	Of, Kind, Seen string
	Chain          []string    // from the top to who asks
	Beside         [][3]string // name, department and position
	Body           []string
	Lines          []authorityLine
}

// authorityLine is a line of a table, as the rules say it: a request that it takes with whom it asks, and one that it
// doesn't take.
type authorityLine struct {
	Says     string
	Rule     rules.Rule
	Ask, Not authorityAsk
	Asks     string
}

type authorityAsk struct {
	By     string            // a position; empty: the lowest
	Is     map[string]string // by label
	Amount rules.Decimal     // empty: there is none
	Blank  bool              // nobody knows the amount
}

// Each line of authority tables that were found in public takes what it should, asks exactly whom it should, and leaves
// what it should.
func TestAuthorityTables(t *testing.T) {
	var tables []authority
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/authority.json"))(t), &tables))
	kinds, all := map[string]bool{}, 0
	for _, table := range tables {
		kinds[table.Kind] = true
		d, user := table.people(t)
		r := &rules.Rules{Rev: 1}
		for _, l := range table.Lines {
			all++
			l.Rule.ID, l.Rule.Name = fmt.Sprintf("01JD0000000000000000000%03d", len(r.Rules)), l.Says
			r.Rules = append(r.Rules, l.Rule)
		}
		for _, problem := range r.Problems(nil) {
			t.Errorf("%s: %+v", table.Of, problem)
		}
		takes := func(l *authorityLine, ask authorityAsk) bool {
			a := r.Match(table.facts(t, d, r, user, ask))
			return a.Rule.Name == l.Says && !a.Refused
		}
		for _, l := range table.Lines {
			f := table.facts(t, d, r, user, l.Ask)
			if !takes(&l, l.Ask) {
				t.Errorf("%s: %s doesn't take %+v but %+v", table.Of, l.Says, l.Ask, r.Match(f))
				continue
			}
			answer := r.Match(f)
			route, err := answer.Resolve(f, d)
			if err != nil {
				t.Errorf("%s: %s: %v", table.Of, l.Says, err)
				continue
			}
			expect.Is(t, table.names(route, user), l.Asks, "%s: %s", table.Of, l.Says)
			in, out := table.near(&l)
			for _, ask := range in {
				expect.That(t, takes(&l, ask), "%s: %s doesn't take %+v", table.Of, l.Says, ask)
			}
			for _, ask := range append(out, l.Not) {
				expect.That(t, !takes(&l, ask), "%s: %s takes %+v", table.Of, l.Says, ask)
			}
		}
	}
	t.Logf("%d lines of %d tables of %d kinds", all, len(tables), len(kinds))
	expect.That(t, len(tables) == 10 && all >= 40, "%d lines", all)
}

// near returns requests that a line takes, at each end of each of its conditions, and ones that only just miss one.
func (x *authority) near(l *authorityLine) (in, out []authorityAsk) {
	with := func(label, value string) authorityAsk {
		ask := l.Ask
		ask.Is = maps.Clone(ask.Is)
		ask.Is[label] = value
		return ask
	}
	of := func(amount rules.Decimal) authorityAsk {
		ask := l.Ask
		ask.Amount = amount
		return ask
	}
	for label, list := range l.Rule.Labels {
		out = append(out, with(label, none))
		for _, value := range list {
			in = append(in, with(label, value))
		}
	}
	if l.Rule.From != "" {
		in = append(in, of(l.Rule.From))
	}
	if l.Rule.Below != "" {
		blank := l.Ask
		blank.Blank = true
		out = append(out, blank, of(l.Rule.Below))
	}
	return in, out
}

// currency is that of a table's amounts.
func (x *authority) currency() string {
	for _, l := range x.Lines {
		if l.Rule.Bounded() {
			return l.Rule.Currency
		}
	}
	return "JPY"
}

// people returns a table's people, and the account of each by name.
func (x *authority) people(t *testing.T) (d *Directory, user map[string]string) {
	t.Helper()
	rows, head := "", ",yes\n"
	user = map[string]string{}
	members := &people.Members{Team: "T1", Groups: []slackapi.Group{{ID: "S1"}}}
	put := func(name, department, position, head string) {
		user[name] = fmt.Sprintf("U0000000%c", 'A'+len(user))
		mail := user[name] + "@example.com"
		members.People = append(members.People, slackapi.User{ID: user[name], Team: "T1", Mail: mail})
		rows += mail + "," + department + "," + position + head
	}
	department := "D0"
	for i, position := range x.Chain {
		if i == len(x.Chain)-1 {
			head = "\n"
		} else if i > 0 {
			department += fmt.Sprint("/D", i)
		}
		put(position, department, position, head)
	}
	for _, b := range x.Beside {
		put(b[0], "D0/"+b[1], b[2], ",yes\n")
	}
	var body []string
	for _, member := range x.Body {
		put(member, "D0/BODY", "", "\n")
		body = append(body, user[member])
	}
	d = (&Places{Listed: members, Organisation: org(t, rows)}).directory()
	d.groups["S1"] = group{"S1", body}
	return d, user
}

// none is a value that no rule lists.
const none = "なし"

// labels are those that a table's lines tell requests apart by.
func (x *authority) labels() []string {
	all := map[string]bool{}
	for _, l := range x.Lines {
		for _, label := range l.Rule.Names() {
			all[label] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// facts are those of a request for one call, of which a mark says where the labels and the amount stand.
func (x *authority) facts(t *testing.T, d *Directory, r *rules.Rules, user map[string]string,
	ask authorityAsk) *rules.Facts {
	t.Helper()
	by := user[cmp.Or(ask.By, x.Chain[len(x.Chain)-1])]
	f := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: "C9"}, Askers: []circulation.Person{{User: by}}}
	mark := &rules.Mark{Version: "v1", How: rules.HowNothing}
	input := map[string]any{}
	for i, label := range x.labels() {
		at := fmt.Sprint("label", i)
		input[at] = cmp.Or(ask.Is[label], none)
		mark.LabelledBy = append(mark.LabelledBy, rules.Label{Name: label, Pointer: "/" + at})
	}
	amount := cmp.Or(ask.Amount, "0")
	if ask.Blank || amount != "0" {
		mark.How, mark.Pointers, mark.Currency = rules.HowSum, []string{"/amount"}, x.currency()
	}
	if !ask.Blank && amount != "0" {
		input["amount"] = json.Number(amount)
	}
	f.Calls, _ = CallsOf("T1", []task.Step{{Tool: tenancy.DecideTool, ToolVersion: "v1", Access: aggregate.Write,
		Mark: mark, ToolInput: aggregate.JSON(expect.Value(json.Marshal(input))(t))}}, nil)
	AskedBy(f, r, d, by)
	return f
}

// names writes whom a route asks, stage by stage: how many of several stamp, and who is told afterwards (⇒).
func (x *authority) names(route circulation.Route, user map[string]string) string {
	name := map[string]string{}
	for n, id := range user {
		name[id] = n
	}
	names := func(people []circulation.Person) string {
		var all []string
		for _, p := range people {
			all = append(all, name[p.User])
		}
		return strings.Join(all, "/")
	}
	var all []string
	for _, s := range route.Stages {
		says := names(s.People)
		if s.Need > 1 {
			says += fmt.Sprint("×", s.Need)
		}
		all = append(all, says)
	}
	told := ""
	if route.Tells != "" {
		told = "⇒" + route.Tells
	}
	return strings.Join(all, "→") + told
}

// city is a city hall: R and others below a 係長, a 課長, a 部長, a 副市長 and the 市長.
const city = `m@example.com,CITY,市長,yes
f@example.com,CITY,副市長
b@example.com,CITY/GA,部長,yes
s@example.com,CITY/GA/GA1,課長,yes
k@example.com,CITY/GA/GA1/GA11,係長,yes
r@example.com,CITY/GA/GA1/GA11,主事
z@example.com,CITY/FIN,課長,yes
e@example.com,CITY/FIN,主事
o@example.com,CITY/GA,主幹
w@example.com,CITY/GA/GA2,主査
v@example.com,CITY/GA/GA2,課長,yes
q@example.com,CITY/GA,課長,,,
q@example.com,CITY/GA/GA1,主査,,,yes
h@example.com,CITY
i@example.com,CITY/GA/GA3,室長,yes
j@example.com,CITY/GA/GA3,主事
y@example.com,CITY/GA/GA4,主査
`

func cityHall(t *testing.T) *Directory {
	w, all := &workspaceRows{gone: "V "}, &people.Members{Team: "T1"}
	for user := range strings.FieldsSeq("M F B S K R Z E O W V Q H I J Y X") {
		all.People = append(all.People, w.account(user))
	}
	o, wrong := organisation.Read([]byte("email,department,position,head,manager,main\n" + city))
	expect.NoError(t, wrong.Err())
	return (&Places{Team: "T1", Listed: all, Organisation: o}).directory()
}

// A position without a department is the nearest above whoever asks: of their own line, never below them.
func TestAPositionIsLookedForFromWhoAsks(t *testing.T) {
	d := cityHall(t)
	for name, c := range map[string]struct{ user, position, want string }{
		"the nearest":                          {"R", "課長", "S (課長 of CITY/GA/GA1)"},
		"further up":                           {"R", "部長", "B (部長 of CITY/GA)"},
		"at the top":                           {"R", "市長", "M (市長 of CITY)"},
		"of another line":                      {"Z", "部長", "M (over 部長 of CITY/FIN)"},
		"of a line whose head is lower":        {"E", "部長", "M (over 部長 of CITY/FIN)"},
		"a gone one's isn't passed over":       {"W", "課長", "B (over 課長 of CITY/GA/GA2)"},
		"who holds it: who stands above":       {"S", "課長", "B (over 課長 of CITY/GA/GA1)"},
		"who stands above it":                  {"B", "課長", "M (manager 1 of B)"},
		"another post of theirs doesn't count": {"Q", "課長", "S (課長 of CITY/GA/GA1)"},
		"directly in a department above":       {"O", "課長", "Q (課長 of CITY/GA)"},
		"beside who leads":                     {"I", "室長", "B (over 室長 of CITY/GA/GA3)"},
		"without a post in their line":         {"H", "係長", "M (over 係長 of CITY)"},
		"a name of none":                       {"R", "グループ長", "refused: unknown"},
		"who is nowhere":                       {"X", "課長", "refused: above"},
	} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: c.user}}}
		AskedBy(f, &rules.Rules{}, d, c.user)
		s := rules.Stage{Name: "x", Need: 1, Who: rules.Who{Position: c.position}}
		expect.Is(t, askedOn(t, d, f, s), c.want, name)
	}
}

// Who heads a department is asked, and where they ask themselves, or nobody does, who heads the one above.
func TestTheHeadOfADepartmentIsAsked(t *testing.T) {
	d := cityHall(t)
	for _, c := range [][3]string{{"R", "CITY/GA/GA1", "S (head of CITY/GA/GA1)"},
		{"S", "CITY/GA/GA1", "B (over head of CITY/GA/GA1)"},
		{"R", "CITY/GA/GA4", "B (over head of CITY/GA/GA4)"}, {"R", "XX", "refused: unknown"}} {
		f := &rules.Facts{Kind: rules.KindSteps, Askers: []circulation.Person{{User: c[0]}}}
		AskedBy(f, &rules.Rules{}, d, c[0])
		expect.Is(t, askedOn(t, d, f, rules.Stage{Name: "x", Need: 1, Who: rules.Who{Department: c[1]}}), c[2])
	}
}

// A manager is counted by who leads, not by departments: one that nobody leads is no step.
func TestManagersAreCountedByPosts(t *testing.T) {
	d := cityHall(t)
	for level, want := range map[int]string{1: "B", 2: "M"} {
		f := &rules.Facts{Kind: rules.KindSteps, Requester: "Y", Askers: []circulation.Person{{User: "Y"}}}
		s := rules.Stage{Name: "x", Who: rules.Who{Superior: level}, Need: 1}
		expect.That(t, strings.HasPrefix(askedOn(t, d, f, s), want+" "), "%d above Y, whose department nobody leads", level)
	}
}

// askedOn writes whom a stage asks of a request, or why nobody.
func askedOn(t *testing.T, d *Directory, f *rules.Facts, s rules.Stage) string {
	t.Helper()
	route, err := (&rules.Outcome{Stages: []rules.Stage{s}}).Resolve(f, d)
	if err != nil {
		return "refused: " + strings.Fields(err.Error())[2]
	}
	return fmt.Sprintf("%s (%s)", route.Stages[0].People[0].User, route.Stages[0].People[0].Via)
}
