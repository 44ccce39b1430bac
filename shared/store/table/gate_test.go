package table_test

import (
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
		Via: "manager of @sato"}, circulation.Person{User: "B"}, circulation.Person{User: "Z"}
	p := &task.Process{ID: "p", TaskID: "t", Version: 1, Gate: aggregate.Gate{
		Status: aggregate.Approved, AskedAt: &at, AskedSum: "sum", Askers: []circulation.Person{{User: "Q"}},
		Terms: aggregate.Terms{ApprovalHours: 72, Rule: &circulation.Rule{ID: "r1", Name: "10万円以上", Revision: 3}},
		Route: &circulation.Route{Form: circulation.Form, Stages: []circulation.Stage{
			{Name: "課長", Mode: circulation.ModePeople, People: []circulation.Person{a, b}, Need: 2},
		}},
	}}
	act := circulation.Act{Form: circulation.Form, Kind: circulation.Stamp, Hand: a, Principal: a, At: at.Add(time.Hour),
		Stage: 1, Hash: "sum", Surface: "slack"}
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
	expect.That(t, !expect.Value(table.UnpackAs[*task.Process](it))(t).Stands("sum"), "an act of a later form counts")
}
