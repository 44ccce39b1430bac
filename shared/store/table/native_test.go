package table

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

func TestArgumentsAreAnObjectOnlyIfItSaysTheVeryText(t *testing.T) {
	nested := func(n int) string { return `{"a":` + strings.Repeat("[", n) + strings.Repeat("]", n) + "}" }
	for name, c := range map[string]struct {
		input  aggregate.JSON
		object bool
	}{
		"the seed's": {`{"department":null,"status":"active"}`, true},
		"all kinds of values": {`{"a":[1,-2,0.5,true,false,null,"",{},[]],"b":{"c":{"d":"日本語 <&> \u2028"}}}`,
			true},
		"none":                           {`{}`, true},
		"38 digits":                      {aggregate.JSON(`{"a":` + strings.Repeat("9", 38) + `}`), true},
		"39 digits":                      {aggregate.JSON(`{"a":` + strings.Repeat("9", 39) + `}`), false},
		"39 digits with a fraction":      {aggregate.JSON(`{"a":1.` + strings.Repeat("9", 38) + `}`), false},
		"a number too large for a float": {`{"a":1e400}`, false},
		"an exponent":                    {`{"a":1e3}`, false},
		"1.0":                            {`{"a":1.0}`, false},
		"0.0":                            {`{"a":0.0}`, false},
		"0.10":                           {`{"a":0.10}`, false},
		"minus zero":                     {`{"a":-0}`, false},
		"a member twice":                 {`{"a":1,"a":2}`, false},
		"members in another order":       {`{"b":1,"a":2}`, false},
		"space":                          {`{"a": 1}`, false},
		"another spelling of a letter":   {`{"a":"\u0041"}`, false},
		"half a surrogate pair":          {`{"a":"\ud800"}`, false},
		"a member without a name":        {`{"":1}`, false},
		"deep":                           {aggregate.JSON(nested(maxNested - 1)), true},
		"too deep":                       {aggregate.JSON(nested(maxNested)), false},
		"a list":                         {`[1]`, false},
		"a text":                         {`"{}"`, false},
		"nothing":                        {``, false},
		"no JSON":                        {`{"a":1}x`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := task.Process{Version: 1, Steps: []task.Step{{StepID: "step-1", Order: 1, Tool: "x", ToolInput: c.input,
				Access: aggregate.Read}}}
			it := expect.Value(Pack("process", "PK", p.Key(), &p))(t)
			input := it["steps"].(*types.AttributeValueMemberL).Value[0].(*types.AttributeValueMemberM).Value["toolInput"]
			_, object := input.(*types.AttributeValueMemberM)
			expect.Is(t, object, c.object, "stored as %T", input)
			var back task.Process
			err := Unpack(it, &back)
			expect.That(t, err == nil && reflect.DeepEqual(p, back), "it comes back as %+v, %v", back, err)
			expect.That(t, !json.Valid([]byte(c.input)) || task.Hash(p.Steps) == task.Hash(back.Steps),
				"what people stamped has another hash")
		})
	}
}

func FuzzNative(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2,0.5,true,null,"",{},[]]}`, `{"a":1e400,"b":1.0,"b":2}`, `{"a":"\ud800"}`,
		`{"a":{"":0}}`, `[[[{}]]]`, `{"a":-0}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		object, err := native(aggregate.JSON(s))
		if err != nil {
			expect.Fails(t, err, errUnfit)
			return
		}
		expect.Must(t, json.Valid([]byte(s)), "%q is no JSON", s)
		again := expect.Value(canonical(object))(t)
		var a, b any
		expect.That(t, json.Unmarshal([]byte(s), &a) == nil && json.Unmarshal([]byte(again), &b) == nil &&
			reflect.DeepEqual(a, b), "%s became %s", s, again)
	})
}

func TestAnItemWithObjectsStaysWithinTheLimit(t *testing.T) {
	var p task.Process
	for i := range task.MaxSteps { // 200,000 bytes of the values that DynamoDB counts highest
		list := strings.Repeat(strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", 80) + "1"
		p.Steps = append(p.Steps, task.Step{Order: i + 1, ToolInput: aggregate.JSON(`{"a":[` + list + `]}`)})
	}
	it := expect.Value(Pack("process", "PK", p.Key(), &p))(t)
	n := SizeOf(it)
	expect.That(t, n <= maxNative, "%d bytes", n)
	var back task.Process
	err := Unpack(it, &back)
	expect.That(t, err == nil && reflect.DeepEqual(p, back), "%v", err)
}

func TestARowIsAtMostWhatDynamoDBTakes(t *testing.T) {
	type row struct {
		Text string `json:"text"`
	}
	packed := func(n int) (Item, error) { return Pack("message", "MESSAGES#t#s", "m", row{strings.Repeat("a", n)}) }
	room := maxItem - SizeOf(expect.Value(packed(0))(t))
	it, err := packed(room)
	expect.That(t, err == nil && SizeOf(it) == 400*1024, "%d bytes: %v", SizeOf(it), err)
	_, err = packed(room + 1)
	large, ok := errors.AsType[aggregate.ErrTooLarge](err)
	expect.That(t, ok && large.Row == "message" && large.Bytes == 400*1024+1, "one byte more: %v", err)
}

// FuzzCursor checks that any text is either refused as a cursor or leads into its own list.
func FuzzCursor(f *testing.F) {
	lists := []List{
		{Name: "tasks", Tenant: "t", Prefixes: []string{"TASK#"}, Index: "GSI1", Partitions: []string{task.AllOf("t")}},
		{Name: "audit", Tenant: "t", Prefixes: []string{"AUDIT#"},
			Partitions: []string{"AUDIT#t#2026-04", "AUDIT#t#2026-03"}},
	}
	f.Add("")
	f.Add(lists[0].behind(Item{"PK": Text("TASK#t#1"), "SK": Text("TASK"), "GSI1PK": Text(task.AllOf("t")),
		"GSI1SK": Text("x")}).text())
	f.Add(lists[1].behind(Item{"PK": Text("AUDIT#t#2026-03"), "SK": Text("x")}).text())
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, l := range lists {
			p, err := l.readCursor(cursor)
			var bad aggregate.Problem
			if err != nil {
				expect.That(t, errors.As(err, &bad) && bad.Field == "cursor", "%v, want Problem of cursor", err)
				continue
			}
			at, start := l.resume(p)
			expect.That(t, at >= 0 && at < len(l.Partitions) && strings.HasPrefix(TextOf(start, "PK"), l.owners()[0]),
				"it leads to partition %d and key %v", at, start)
		}
	})
}

// TestACallIsMadeAgainHoweverLateItsFirstAnswerIs checks that one slow answer does not use up all tries.
func TestACallIsMadeAgainHoweverLateItsFirstAnswerIs(t *testing.T) {
	tries := 0
	for wait := NewBackoff(1, 1); wait.Until(t.Context(), time.Now()); {
		tries++
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	expect.That(t, tries == fewestTries && !NewBackoff(time.Minute, time.Minute).Until(ctx, time.Now()) &&
		ctx.Err() == nil, "%d tries, and none is to be made when its time comes after the caller's", tries)
}

// TestInputsAreFilledInOnePlace checks that nothing but Filled sets names and values: a literal may read them before
// its other fields have added theirs.
func TestInputsAreFilledInOnePlace(t *testing.T) {
	own, below := expect.Value(filepath.Glob("../*.go"))(t), expect.Value(filepath.Glob("../*/*.go"))(t)
	for _, path := range append(own, below...) {
		if path == "../table/expression.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for n, line := range strings.Split(string(expect.Value(os.ReadFile(path))(t)), "\n") {
			expect.That(t, !strings.Contains(line, "ExpressionAttribute"), "%s:%d fills an input by itself, not by Filled",
				path, n+1)
		}
	}
}

func TestAFilledInputHasWhatItsOwnLiteralAdds(t *testing.T) {
	e := NewExpression()
	in := Filled(e, &dynamodb.UpdateItemInput{UpdateExpression: e.Update(),
		ConditionExpression: All(e.Is("rev", "=", 7), e.Lacks("run"))})
	expect.Same(t, map[string]string{"#rev": "rev", "#run": "run"}, in.ExpressionAttributeNames)
	expect.That(t, len(in.ExpressionAttributeValues) == 1, "values %v", in.ExpressionAttributeValues)
}

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
	it := expect.Value(Pack("process", "TASK#t#1", p.Key(), p))(t)
	read := expect.Value(UnpackAs[*task.Process](it))(t)
	expect.Same(t, read.Gate, p.Gate)
	expect.That(t, read.Stands("sum"), "it does not stand as it was settled")

	acts := it["acts"].(*types.AttributeValueMemberL).Value
	acts[0].(*types.AttributeValueMemberM).Value["form"] = Number(circulation.Form + 1)
	expect.That(t, !expect.Value(UnpackAs[*task.Process](it))(t).Stands("sum"), "an act of a later form counts")
}
