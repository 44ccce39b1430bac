package table_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// settledProcess returns a process whose gate under a rule A and, for B, a stand-in stamped.
func settledProcess(t testing.TB) *task.Process {
	at := time.Date(2026, 4, 1, 9, 30, 0, 120e6, time.UTC)
	a, b, z := circulation.Person{User: "A",
		Via: "manager of @sato as of 2026-04-01"}, circulation.Person{User: "B"}, circulation.Person{User: "Z"}
	p := &task.Process{ID: "p", TaskID: "t", Version: 1, Gate: aggregate.Gate{
		Status: aggregate.Approved, AskedAt: &at, AskedSum: "sum", Askers: []circulation.Person{{User: "Q"}},
		Terms: aggregate.Terms{ApprovalHours: 72, Rule: &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}},
		Route: &circulation.Route{Form: circulation.Form, Hands: 2, Stages: []circulation.Stage{
			{Name: "係長", Mode: circulation.ModePeople, LeftOut: "nobody is there"},
			{Name: "課長", Mode: circulation.ModePeople, People: []circulation.Person{a, b}, Need: 2},
		}},
	}}
	act := circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: a, Principal: a, At: at.Add(time.Hour),
		Stage: 2, Hash: "sum", Surface: "slack"}
	p.Gate = expect.Value(p.Acted(act))(t)
	act.Hand, act.Principal, act.Text = z, b, "代理で"
	act.Found.Delegation = &circulation.Delegation{Key: "Z#B#2026-04-01", Rev: 4}
	p.Gate = expect.Value(p.Acted(act))(t)
	return p
}

// Who claims reads the gate from its row: what is read there must hash and walk as it was written.
func TestAGateUnderARuleIsReadAsItWasWritten(t *testing.T) {
	p := settledProcess(t)
	it := expect.Value(table.Pack("process", "TASK#t#1", p.Key(), p))(t)
	read := expect.Value(table.UnpackAs[*task.Process](it))(t)
	expect.Same(t, read.Gate, p.Gate)
	expect.That(t, read.Stands("sum"), "it does not stand as it was settled")

	acts := it["acts"].(*types.AttributeValueMemberL).Value
	acts[0].(*types.AttributeValueMemberM).Value["form"] = table.Number(circulation.Form + 1)
	read = expect.Value(table.UnpackAs[*task.Process](it))(t)
	expect.That(t, !read.Stands("sum"), "an act of a later form counts")
}

// Package circulation bounds a gate by its JSON: the row may not take more.
func TestAGateUnderARuleTakesLessThanItsJSON(t *testing.T) {
	for name, change := range map[string]func(act *circulation.Act){
		"without a text": func(act *circulation.Act) { act.Found = circulation.Found{} },
		"with a text":    func(act *circulation.Act) { act.Text = strings.Repeat("𩸽<\"長\n", 200) },
		"a successor": func(act *circulation.Act) {
			act.For, act.To = &circulation.Person{User: "A", Person: "p"}, &circulation.Person{User: "B", Via: "group S1"}
			act.Found.Admin, act.Found.Resolved = &circulation.Admin{Key: "TENANT", Rev: 1 << 40}, "group S1"
		},
	} {
		p := settledProcess(t)
		for range 20 {
			act := p.Acts[1]
			change(&act)
			p.Acts = append(p.Acts, act)
		}
		it := expect.Value(table.Pack("process", "TASK#t#1", p.Key(), p))(t)
		gate := table.Item{}
		for _, column := range []string{"asked_at", "asked", "askers", "route", "acts"} {
			gate[column] = it[column]
		}
		row, text := table.SizeOf(gate), len(expect.Value(json.Marshal(p.Circulating()))(t))
		expect.That(t, row <= text, "%s: %d bytes, %d as JSON", name, row, text)
	}
}
