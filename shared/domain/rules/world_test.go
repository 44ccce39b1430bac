package rules_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/runtime/expect"
)

// The tools of these tests.
var (
	dm    = rules.Tool{Name: "send_slack_dm"}
	sheet = rules.Tool{Name: "write_rows_to_google_sheet"}
	read  = rules.Tool{Name: "list_employees"}
	pay   = rules.Tool{Address: "https://rooms.example.com/mcp", Name: "pay"}
	known = []rules.Known{{Tool: dm, Access: aggregate.Write}, {Tool: sheet, Access: aggregate.Write},
		{Tool: read, Access: aggregate.Read}, {Tool: pay, Access: aggregate.Write}}
)

func yen(n string) rules.Amount { return rules.Amount{Value: rules.Decimal(n), Currency: "JPY"} }

func writes(tool rules.Tool, a rules.Amount) rules.Call {
	return rules.Call{Tool: tool, Access: aggregate.Write, Amount: a}
}

func reads() rules.Call {
	return rules.Call{Tool: read, Access: aggregate.Read, Amount: rules.Nothing()}
}

// asked are the facts of a request for these calls by R in channel C1.
func asked(calls ...rules.Call) *rules.Facts {
	return &rules.Facts{Kind: rules.KindSteps, Place: rules.Place{Channel: "C1"}, Requester: "R",
		Askers: []circulation.Person{person("R")}, Calls: calls}
}

func person(user string) circulation.Person { return circulation.Person{User: user} }

// id is a ULID with a number.
func id(n int) string { return fmt.Sprintf("01JD0000000000000000000%03d", n) }

// of is a tenant's rules.
func of(list ...rules.Rule) *rules.Rules { return &rules.Rules{Rev: 7, Rules: list} }

// rule is one that asks these stages.
func rule(n int, when rules.Conditions, stages ...rules.Stage) rules.Rule {
	return rules.Rule{ID: id(n), Name: fmt.Sprint("rule ", n), Conditions: when, Outcome: *policy(stages...)}
}

func policy(stages ...rules.Stage) *rules.Outcome { return &rules.Outcome{Stages: stages} }

func stage(source string, who rules.Who, need int) rules.Stage {
	return rules.Stage{Name: "stage " + source, Who: who, Need: need}
}

func people(need int, users ...string) rules.Stage {
	return stage("people", rules.Who{People: users}, need)
}

func group(need int) rules.Stage { return stage("group", rules.Who{Group: "S1"}, need) }

func superior(level int) rules.Stage { return stage("superior", rules.Who{Superior: level}, 1) }

func head() rules.Stage {
	return stage("position", rules.Who{Position: "部長", Department: "sales"}, 0)
}

// nearest is the nearest of a position above whoever asks.
func nearest(position string) rules.Stage { return stage("position", rules.Who{Position: position}, 1) }

// either asks so many of those whom any of these finds.
func either(need int, of ...rules.Stage) rules.Stage {
	var who rules.Who
	for _, s := range of {
		who.People = append(who.People, s.People...)
		who.Group, who.Superior = cmp.Or(who.Group, s.Group), cmp.Or(who.Superior, s.Superior)
		who.Department, who.Position = cmp.Or(who.Department, s.Department), cmp.Or(who.Position, s.Position)
	}
	return stage("either", who, need)
}

func channel() rules.Stage { return stage("channel", rules.Who{Channel: true}, 1) }

// some, only and writing are conditions on tools.
func some(tools ...rules.Tool) rules.Conditions { return rules.Conditions{Tools: tools} }

func only(tools ...rules.Tool) rules.Conditions { return rules.Conditions{Tools: tools, Only: true} }

func writing() rules.Conditions { return rules.Conditions{} }

// from adds an amount from which the conditions hold.
func from(c rules.Conditions, n string) rules.Conditions {
	c.From, c.Currency = rules.Decimal(n), "JPY"
	return c
}

func under(c rules.Conditions, n string) rules.Conditions {
	c.Below, c.Currency = rules.Decimal(n), "JPY"
	return c
}

// company is a directory. Without org it knows accounts and groups only.
type company struct {
	org         string
	managers    map[string]string
	holders     map[string][]string // by post or department, else for each
	over        map[string]string   // who stands over posts
	group       []string
	barred      []string            // who may not stamp
	empty       []string            // channels that have nobody but askers
	unknown     []string            // posts and departments that the organisation doesn't have
	lost        []string            // of whom it doesn't say who is above
	departments map[string][]string // of an account, its own first
}

func (c *company) Empty(channel string, _ []circulation.Person) bool {
	return slices.Contains(c.empty, channel)
}

func (c *company) Organised() bool { return c.org != "" }

func (c *company) Person(user string) string { return user }

func (c *company) Account(person string) string { return person }

func (c *company) MayStamp(user string) bool { return !slices.Contains(c.barred, user) }

func (c *company) Members(string) []string { return c.group }

func (c *company) Handle(group string) string { return "@" + group }

func (c *company) Above(user string) (chain []string, top bool) {
	if c.org == "" {
		return nil, false
	}
	for at := user; ; {
		next, below := c.managers[at]
		if !below || next == user || slices.Contains(chain, next) {
			return chain, !below && !slices.Contains(c.lost, at)
		}
		chain, at = append(chain, next), next
	}
}

func (c *company) Over(department, position string) []string {
	user, ok := c.over[position+" of "+department]
	if !ok || c.org == "" {
		return nil
	}
	chain, _ := c.Above(user)
	return append([]string{user}, chain...)
}

func (c *company) Knows(department, position string) bool {
	post := position + " of " + department
	return c.org != "" && !slices.Contains(c.unknown, department) && !slices.Contains(c.unknown, post)
}

func (c *company) Departments(user string) []string { return c.departments[user] }

func (c *company) Holders(department, position string) []string {
	for _, of := range []string{position + " of " + department, department, ""} {
		if users, is := c.holders[of]; is {
			return users
		}
	}
	return nil
}

// usersOf returns the accounts of people.
func usersOf(people []circulation.Person) (users []string) {
	for _, p := range people {
		users = append(users, p.User)
	}
	return users
}

// fieldsOf returns what is wrong, by field.
func fieldsOf(all aggregate.Problems) (fields []string) {
	for _, x := range all {
		if !slices.Contains(fields, x.Field) {
			fields = append(fields, x.Field)
		}
	}
	return fields
}

func saved(t *testing.T, r *rules.Rules) *rules.Rules {
	t.Helper()
	expect.NoError(t, r.Problems(known).Err())
	return r
}

// Whatever the reason why an amount isn't known, it meets every condition on "at least" and none on "below", alone and
// beside amounts that are known.
func TestAnUnknownAmountMeetsEveryAtLeastAndNoBelow(t *testing.T) {
	for _, why := range append([]rules.Why{""}, rules.Whys...) {
		a := rules.Unknown(why)
		if why == "" {
			a = rules.Amount{}
		}
		for bounds, meets := range map[[2]rules.Decimal]bool{
			{"1", ""}: true, {"999999999999999", ""}: true, {"", "0.01"}: false, {"", "999999999999999"}: false,
			{"0.01", "5"}: false, {"1", "999999999999999.9"}: false,
		} {
			c := rules.Conditions{From: bounds[0], Below: bounds[1], Currency: "JPY", Tools: []rules.Tool{pay}}
			for _, f := range []*rules.Facts{asked(writes(pay, a)), asked(reads(), writes(pay, yen("1")), writes(pay, a))} {
				answer := of(rule(1, c, people(1, "A"))).Match(f)
				expect.Is(t, answer.Rule.ID == id(1), meets, "%s of %d calls: %+v takes it", why, len(f.Calls), c)
			}
		}
	}
}

// settles reports whether a route's stages can all be stamped, each by as many as it needs and nobody twice, by trying
// every choice. A channel has somebody else.
func settles(route circulation.Route, at int, stamped map[string]bool) bool {
	if at == len(route.Stages) {
		return true
	}
	s := route.Stages[at]
	if s.Mode == circulation.ModeChannel {
		return settles(route, at+1, stamped)
	}
	for choice := range 1 << len(s.People) {
		more, n := map[string]bool{}, 0
		for user := range stamped {
			more[user] = true
		}
		for i, p := range s.People {
			if choice>>i&1 == 1 && !more[p.User] {
				more[p.User], n = true, n+1
			}
		}
		if n == s.Need && settles(route, at+1, more) {
			return true
		}
	}
	return false
}

// Every route can be settled by people who may stamp, none of them an asker, nobody twice.
func TestARouteCanBeSettledByOthersThanItsAskers(t *testing.T) {
	opened := 0
	rapid.Check(t, func(t *rapid.T) {
		d := drawnCompany(t)
		for range 30 {
			f, p := drawnAsk(t), drawnPolicy(t)
			route, err := p.Resolve(f, d)
			again, err2 := p.Resolve(f, d)
			expect.Same(t, again, route)
			expect.Is(t, fmt.Sprint(err), fmt.Sprint(err2))
			if err == nil {
				opened++
				checkRoute(t, p, f, d, route)
				continue
			}
			no, is := err.(*rules.Unresolved)
			expect.That(t, is && no.Why != "" && no.Stage <= len(p.Stages), "%v", err)
		}
	})
	t.Logf("%d routes were opened", opened)
	expect.That(t, opened > 100 || testing.Short(), "only %d routes were opened", opened) // short: few tries
}

func checkRoute(t *rapid.T, p *rules.Outcome, f *rules.Facts, d *company, route circulation.Route) {
	named, last := false, 0
	for _, s := range route.Stages {
		// each stage is one of the policy's, in their order
		i := slices.IndexFunc(p.Stages[last:], func(x rules.Stage) bool { return x.Name == s.Name })
		expect.Must(t, i >= 0, "%s of %+v", drawn(route), p)
		last += i
		if named = named || s.Mode == circulation.ModePeople; s.Mode == circulation.ModeChannel {
			continue
		}
		expect.That(t, s.Need >= 1 && len(s.People) >= s.Need, "%+v", s)
		for j, x := range s.People {
			expect.That(t, x.User != f.Requester && !slices.ContainsFunc(f.Askers, x.Is), "the asker %s is asked", x.User)
			expect.That(t, x.User != "" && d.MayStamp(x.User) && x.Via != "", "%+v may not stamp", x)
			expect.That(t, !slices.ContainsFunc(s.People[:j], x.Is), "%s is there twice", x.User)
		}
	}
	expect.That(t, settles(route, 0, nil), "%s", drawn(route))
	expect.That(t, named || !f.Writes(), "only the channel is asked: %s", drawn(route))
}

// Drawn values are few, so that rules and requests often meet.
func drawnConditions(t *rapid.T) (c rules.Conditions) {
	if rapid.Bool().Draw(t, "by kind") {
		c.Asks = subset(t, 1, rules.Kinds...)
	}
	if rapid.Bool().Draw(t, "by place") {
		c.Channels = subset(t, 1, "C1", "C2", "C3", rules.Direct)
	}
	if rapid.Bool().Draw(t, "by requester") {
		c.People, c.Departments = subset(t, 0, "R", "X"), subset(t, 0, "d1", "d2", "d3")
		c.Groups = subset(t, 0, "S1", "S2")
	}
	if rapid.Bool().Draw(t, "by tools") {
		c.Tools, c.Only = subset(t, 1, dm, sheet, read, pay), rapid.Bool().Draw(t, "only")
	}
	if rapid.Bool().Draw(t, "by label") {
		c.Labels = map[string][]string{"費目": subset(t, 1, "a", "b", "c")}
	}
	if rapid.Bool().Draw(t, "by amount") {
		c.Currency = rapid.SampledFrom([]string{"JPY", "JPY", "USD"}).Draw(t, "currency")
		bound := rapid.SampledFrom([]rules.Decimal{"10", "20", "30"}).Draw(t, "bound")
		switch rapid.IntRange(0, 2).Draw(t, "bounds") {
		case 0:
			c.From = bound
		case 1:
			c.Below = bound
		default:
			c.From, c.Below = "5", bound
		}
	}
	return c
}

// subset draws some of these values, at least so many.
func subset[T comparable](t *rapid.T, least int, of ...T) []T {
	return rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, len(of), rapid.ID).Draw(t, "subset")
}

func drawnRules(t *rapid.T) *rules.Rules {
	r := of()
	for i := range rapid.IntRange(0, 4).Draw(t, "rules") {
		x := rules.Rule{ID: id(i), Name: fmt.Sprint("rule ", i), Conditions: drawnConditions(t)}
		if rapid.IntRange(0, 3).Draw(t, "refuses") == 0 {
			x.Refuse = "No."
		} else {
			x.Outcome = *drawnPolicy(t)
		}
		r.Rules = append(r.Rules, x)
	}
	return r
}

func drawnPolicy(t *rapid.T) *rules.Outcome {
	p := policy()
	for i := range rapid.IntRange(1, 3).Draw(t, "stages") {
		s := rapid.SampledFrom([]rules.Stage{
			people(0, "A"), people(1, "A", "B"), people(2, "A", "B", "D"), people(0, "B", "R"),
			group(1), group(2), group(0), superior(1), superior(2), head(), channel(), nearest("課長"),
			either(1, people(1, "A"), group(1)), either(2, superior(1), head()), either(0, people(1, "R"), nearest("課長")),
		}).Draw(t, "stage")
		s.Name = fmt.Sprint("stage ", i)
		p.Stages = append(p.Stages, s)
	}
	return p
}

func drawnFacts(t *rapid.T) *rules.Facts {
	f := asked()
	f.Kind = rapid.SampledFrom(rules.Kinds).Draw(t, "kind")
	f.Place.Channel = rapid.SampledFrom([]string{"C1", "C2", "C3", "C4"}).Draw(t, "channel")
	f.Place.Direct = rapid.Bool().Draw(t, "direct")
	if f.Organised = rapid.Bool().Draw(t, "organised"); f.Organised {
		f.Departments, f.Groups = subset(t, 0, "d1", "d2", "d3"), subset(t, 0, "S1", "S2")
	}
	for range rapid.IntRange(0, 3).Draw(t, "calls") {
		k := rapid.SampledFrom(known).Draw(t, "tool")
		c := rules.Call{Tool: k.Tool, Access: k.Access, Amount: drawnAmount(t)}
		if rapid.Bool().Draw(t, "labelled") {
			c.Labels = map[string][]string{"費目": subset(t, 0, "a", "b", "c", "d")}
		}
		f.Calls = append(f.Calls, c)
	}
	return f
}

func drawnAmount(t *rapid.T) rules.Amount {
	return rapid.SampledFrom([]rules.Amount{
		rules.Nothing(), yen("0"), yen("4.5"), yen("9.99"), yen("10"), yen("19"), yen("30"), {Value: "15", Currency: "USD"},
		rules.Unknown(rules.WhyReference),
	}).Draw(t, "amount")
}

func drawnCompany(t *rapid.T) *company {
	users := []string{"R", "A", "B", "D"}
	c := &company{managers: map[string]string{}, holders: map[string][]string{"": subset(t, 0, users...)},
		over:    map[string]string{"部長 of sales": rapid.SampledFrom(users).Draw(t, "over")},
		unknown: subset(t, 0, "課長 of d1", "課長 of d2", "課長 of "),
		group:   subset(t, 0, users...), barred: subset(t, 0, "B", "D")}
	if rapid.Bool().Draw(t, "organised") {
		c.org = "v1"
	}
	for _, u := range users {
		if m := rapid.SampledFrom(append(users, "")).Draw(t, "manager"); m != "" {
			c.managers[u] = m
		}
	}
	return c
}

// drawnAsk are facts of a request by R, which A has a part in at times.
func drawnAsk(t *rapid.T) *rules.Facts {
	f := drawnFacts(t)
	if rapid.IntRange(0, 3).Draw(t, "with A") == 0 {
		f.Askers = append(f.Askers, person("A"))
	}
	return f
}
