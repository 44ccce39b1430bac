package rules_test

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

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
