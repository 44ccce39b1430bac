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
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
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

// authorityLine is a line of a table, and how the rules say it: a request that it takes with whom it asks, and one that
// it doesn't take.
type authorityLine struct {
	Says, How, Why string
	Rule           struct {
		When  rules.Conditions
		Route *rules.Policy
	}
	Ask, Not authorityAsk
	Asks     string
}

type authorityAsk struct {
	By     string // a position; empty: the lowest
	Is     map[string]string
	Amount rules.Decimal
}

const exact, trick, notAtAll = "exact", "trick", "not at all"

// The lines of authority tables that were found in public are said exactly but for a few, and each of those that are
// said takes what it should, asks exactly whom it should, and leaves what it should.
func TestAuthorityTables(t *testing.T) {
	var tables []authority
	expect.NoError(t, json.Unmarshal(expect.Value(os.ReadFile("testdata/authority.json"))(t), &tables))
	how, kinds, all := map[string]int{}, map[string]bool{}, 0
	for _, table := range tables {
		kinds[table.Kind] = true
		d, user := table.people(t)
		r := &rules.Rules{Form: rules.Form, Rev: 1, Floor: rules.Floor{Stamps: 1}}
		for _, l := range table.Lines {
			how[l.How]++
			all++
			expect.That(t, slices.Contains([]string{exact, trick, notAtAll}, l.How) && (l.How == exact) == (l.Why == ""),
				"%s: %s is %q", table.Of, l.Says, l.How)
			if l.How != notAtAll {
				r.Rules = append(r.Rules, rules.Rule{ID: fmt.Sprintf("01JD0000000000000000000%03d", len(r.Rules)),
					Name: l.Says, When: l.Rule.When, Outcome: rules.Outcome{Route: l.Rule.Route}})
			}
		}
		for _, problem := range r.Problems(nil) {
			t.Errorf("%s: %+v", table.Of, problem)
		}
		for _, l := range table.Lines {
			if l.How == notAtAll {
				continue
			}
			f := table.facts(d, r, user, l.Ask)
			if !table.takes(t, d, r, user, &l, l.Ask) {
				continue
			}
			route, err := r.Match(f).Route.Resolve(f, r.Floor, d)
			if err != nil {
				t.Errorf("%s: %s: %v", table.Of, l.Says, err)
				continue
			}
			expect.Is(t, table.names(route, user), l.Asks, "%s: %s", table.Of, l.Says)
			in, out := table.near(&l)
			for _, ask := range in {
				table.takes(t, d, r, user, &l, ask)
			}
			for _, ask := range append(out, l.Not) {
				a := r.Match(table.facts(d, r, user, ask))
				expect.That(t, a.Rule.Name != l.Says, "%s: %s takes %+v", table.Of, l.Says, ask)
			}
		}
	}
	t.Logf("%d lines of %d tables of %d kinds: %v", all, len(tables), len(kinds), how)
	expect.That(t, len(kinds) >= 10 && all >= 60 && how[exact]*8 >= all*7, "%d lines, %v", all, how)
}

// takes reports whether a line takes a request, and fails the test if it doesn't.
func (x *authority) takes(t *testing.T, d *Directory, r *rules.Rules, user map[string]string, l *authorityLine,
	ask authorityAsk) bool {
	t.Helper()
	a := r.Match(x.facts(d, r, user, ask))
	is := a.Rule.Name == l.Says && !a.Refused
	expect.That(t, is, "%s: %q takes what is %q's: %+v", x.Of, a.Rule.Name, l.Says, ask)
	return is
}

// near returns requests that a line takes, at each end of each of its conditions, and ones that only just miss one.
func (x *authority) near(l *authorityLine) (in, out []authorityAsk) {
	with := func(label, value string) authorityAsk {
		ask := l.Ask
		ask.Is = maps.Clone(ask.Is)
		ask.Is[label] = value
		return ask
	}
	when := l.Rule.When
	for _, label := range when.Labels {
		such, others := valuesOf(label)
		if label.Is == rules.UseNot {
			such, others = others, such
		}
		for _, value := range such {
			in = append(in, with(label.Name, value))
		}
		for _, value := range others {
			out = append(out, with(label.Name, value))
		}
	}
	of := func(amount string) authorityAsk { return authorityAsk{l.Ask.By, l.Ask.Is, rules.Decimal(amount)} }
	if b := when.Amount; b != nil && b.AtLeast != "" {
		in, out = append(in, of(string(b.AtLeast))), append(out, of(plus(string(b.AtLeast), "-0.000001")))
	}
	if b := when.Amount; b != nil && b.Below != "" {
		in, out = append(in, of(plus(string(b.Below), "-0.000001"))), append(out, of(string(b.Below)))
	}
	if when.Requester != nil {
		for _, position := range when.Requester.Positions {
			in = append(in, authorityAsk{position, l.Ask.Is, l.Ask.Amount})
		}
		out = append(out, authorityAsk{"", l.Ask.Is, l.Ask.Amount})
	}
	return in, out
}

// valuesOf returns values that a condition on a label has, and such that only just miss it.
func valuesOf(label rules.Labelled) (such, others []string) {
	switch such = label.List; {
	case label.Bounded():
	case rules.Decimal(such[0]).Valid():
		others = []string{"0.5"}
	default:
		others = []string{"なし"}
	}
	if least := string(label.AtLeast); least != "" {
		such, others = append(such, least), append(others, plus(least, "-0.000001"))
	}
	if below := string(label.Below); below != "" {
		such, others = append(such, plus(below, "-0.000001")), append(others, below)
	}
	return such, others
}

// people returns a table's people, and the account of each by name.
func (x *authority) people(t *testing.T) (d *Directory, user map[string]string) {
	t.Helper()
	rows := "employee_number,name,email,department_code,parent_department,position,rank,employment\n"
	user = map[string]string{}
	put := func(name, department, parent, position, rank string) {
		user[name] = fmt.Sprintf("U0000000%c", 'A'+len(user))
		rows += fmt.Sprintf("%d,%s,%s@example.com,%s,%s,%s,%s,employee\n", len(user), name, strings.ToLower(user[name]),
			department, parent, position, rank)
	}
	parent := ""
	for i, position := range x.Chain {
		department, rank := fmt.Sprint("D", i), fmt.Sprint(i+1)
		if i == len(x.Chain)-1 {
			department, parent, rank = fmt.Sprint("D", i-1), fmt.Sprint("D", i-2), ""
		}
		put(position, department, parent, position, rank)
		parent = department
	}
	for _, b := range x.Beside {
		rank := 2 // the same position has one rank everywhere
		if n := slices.Index(x.Chain, b[2]); n >= 0 {
			rank = n + 1
		}
		put(b[0], b[1], "D0", b[2], fmt.Sprint(rank))
	}
	var users, body []string
	for _, member := range x.Body {
		put(member, "BODY", "D0", "", "")
		body = append(body, user[member])
	}
	for _, id := range user {
		users = append(users, id)
	}
	return NewDirectory(matchedWith(t, rows, users...), workspace{members: body}), user
}

func (x *authority) facts(d *Directory, r *rules.Rules, user map[string]string, ask authorityAsk) *rules.Facts {
	by := user[cmp.Or(ask.By, x.Chain[len(x.Chain)-1])]
	f := &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: "C9"}, On: day,
		Askers: []circulation.Person{d.Person(by)}}
	c := rules.Call{Tool: rules.Tool{Name: "record_decision"}, Access: aggregate.Write, Amount: rules.Nothing(),
		Labels: map[string][]string{}}
	for label, value := range ask.Is {
		c.Labels[label] = []string{value}
	}
	if ask.Amount != "" {
		currency := "JPY"
		if _, dollars := ask.Is["Kind"]; dollars {
			currency = "USD"
		}
		c.Amount = rules.Amount{Value: ask.Amount, Currency: currency}
	}
	f.Calls = []rules.Call{c}
	AskedBy(f, r, d, by)
	return f
}

// names writes whom a route asks, stage by stage: how many of several stamp, who is only consulted (?), for whom a
// stand-in stamps and who reads it then (<), where minutes are needed (*), and who is told afterwards (⇒).
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
		if s.As == circulation.AsConsult {
			says += "?"
		}
		if s.ReadAfter {
			says += "<"
		}
		if s.Minutes {
			says += "*"
		}
		all = append(all, says)
	}
	told := ""
	if len(route.Readers) > 0 {
		told = "⇒" + names(route.Readers)
	}
	return strings.Join(all, "→") + told
}
