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
	"ringi/shared/domain/catalog"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
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
	f := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: "C9"},
		Askers: []circulation.Person{{User: by}}}
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
	f.Calls, _ = CallsOf("T1", []task.Step{{Tool: catalog.Decide, ToolVersion: "v1", Access: aggregate.Write, Mark: mark,
		ToolInput: aggregate.JSON(expect.Value(json.Marshal(input))(t))}}, nil)
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
