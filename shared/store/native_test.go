package store

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
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
		"deep":                           {aggregate.JSON(nested(27)), true},
		"too deep":                       {aggregate.JSON(nested(28)), false},
		"a list":                         {`[1]`, false},
		"a text":                         {`"{}"`, false},
		"nothing":                        {``, false},
		"no JSON":                        {`{"a":1}x`, false},
	} {
		t.Run(name, func(t *testing.T) {
			p := task.Process{Version: 1, Steps: []task.Step{{StepID: "step-1", Order: 1, Tool: "x", ToolInput: c.input,
				Access: aggregate.Read}}}
			it := expect.Value(table.Pack("process", "PK", p.Key(), &p))(t)
			input := it["steps"].(*types.AttributeValueMemberL).Value[0].(*types.AttributeValueMemberM).Value["toolInput"]
			_, object := input.(*types.AttributeValueMemberM)
			expect.Is(t, object, c.object, "stored as %T", input)
			var back task.Process
			err := table.Unpack(it, &back)
			expect.That(t, err == nil && reflect.DeepEqual(p, back), "it comes back as %+v, %v", back, err)
			expect.That(t, !json.Valid([]byte(c.input)) || task.Hash(p.Steps) == task.Hash(back.Steps),
				"what people stamped has another hash")
		})
	}
}

// FuzzNative checks that arguments come back as they were written, and a result as the same JSON.
func FuzzNative(f *testing.F) {
	for _, s := range []string{`{"a":[1,-2,0.5,true,null,"",{},[]]}`, `{"a":1e400,"b":1.0,"b":2}`, `{"a":"\ud800"}`,
		`{"a":{"":0}}`, `[[[{}]]]`, `{"a":-0}`, `{ "b":1, "a":2}`} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		p := task.Process{Version: 1, Steps: []task.Step{{StepID: "step-1", Order: 1, ToolInput: aggregate.JSON(s)}}}
		e := task.Execution{Results: []task.ResultEntry{{Result: &aggregate.Blob{JSON: aggregate.JSON(s)}}}}
		arguments := expect.Value(table.Pack("process", "PK", "SK", &p))(t)
		results := expect.Value(table.Pack("execution", "PK", "SK", &e))(t)
		expect.Is(t, expect.Value(table.UnpackAs[task.Process](arguments))(t).Steps[0].ToolInput, aggregate.JSON(s))
		result := expect.Value(table.UnpackAs[task.Execution](results))(t).Results[0].Result.JSON
		a, err := decodedJSON(s)
		b, other := decodedJSON(string(result))
		expect.That(t, string(result) == s || err == nil && other == nil && reflect.DeepEqual(a, b), "%s became %s", s,
			result)
	})
}

// decodedJSON decodes a text that is one value of JSON, with its numbers as they are written.
func decodedJSON(s string) (v any, err error) {
	d := json.NewDecoder(strings.NewReader(s))
	d.UseNumber()
	if err = d.Decode(&v); err == nil && !json.Valid([]byte(s)) {
		err = errors.New("more follows")
	}
	return v, err
}

func TestAnItemWithObjectsStaysWithinTheLimit(t *testing.T) {
	var p task.Process
	for i := range task.MaxSteps { // 200,000 bytes of the values that DynamoDB counts highest
		list := strings.Repeat(strings.Repeat("[", 20)+strings.Repeat("]", 20)+",", 80) + "1"
		p.Steps = append(p.Steps, task.Step{Order: i + 1, ToolInput: aggregate.JSON(`{"a":[` + list + `]}`)})
	}
	it := expect.Value(table.Pack("process", "PK", p.Key(), &p))(t)
	n := table.SizeOf(it)
	expect.That(t, n <= 350_000, "%d bytes", n)
	var back task.Process
	err := table.Unpack(it, &back)
	expect.That(t, err == nil && reflect.DeepEqual(p, back), "%v", err)
}

func TestARowIsAtMostWhatDynamoDBTakes(t *testing.T) {
	type row struct {
		Text string `json:"text"`
	}
	packed := func(n int) (table.Item, error) {
		return table.Pack("message", "MESSAGES#t#s", "m", row{strings.Repeat("a", n)})
	}
	room := 400<<10 - table.SizeOf(expect.Value(packed(0))(t))
	it, err := packed(room)
	expect.That(t, err == nil && table.SizeOf(it) == 400*1024, "%d bytes: %v", table.SizeOf(it), err)
	_, err = packed(room + 1)
	large, ok := errors.AsType[aggregate.ErrTooLarge](err)
	expect.That(t, ok && large.Row == "message" && large.Bytes == 400*1024+1, "one byte more: %v", err)
}

// FuzzCursor checks that any text is either refused as a cursor or leads into its own list.
func FuzzCursor(f *testing.F) {
	lists := []table.List{
		{Name: "tasks", Tenant: "t", Prefixes: []string{"TASK#"}, Index: "GSI1", Partitions: []string{task.AllOf("t")}},
		{Name: "audit", Tenant: "t", Prefixes: []string{"AUDIT#"},
			Partitions: []string{"AUDIT#t#2026-04", "AUDIT#t#2026-03"}},
	}
	type texts map[string]struct{ S string }
	var asked struct{ ExclusiveStartKey, ExpressionAttributeValues texts }
	found := `[]`
	db := (&suite{endpoint: "http://table.example"}).client(faulty("Query", always,
		func(r *http.Request) (*http.Response, error) {
			err := json.NewDecoder(r.Body).Decode(&asked)
			return answer(r, http.StatusOK, []byte(`{"Items":`+found+`}`)), err
		}))
	read := func(l table.List, cursor string) (table.Page[table.Item], error) {
		asked.ExclusiveStartKey, asked.ExpressionAttributeValues = nil, nil
		return table.ReadPage(context.Background(), table.New(db, "rows"), l, cursor, 1,
			func(it table.Item) (*table.Item, error) { return &it, nil })
	}
	f.Add("")
	for i, row := range []string{
		`{"PK":{"S":"TASK#t#1"},"SK":{"S":"TASK"},"GSI1PK":{"S":"` + task.AllOf("t") + `"},"GSI1SK":{"S":"x"}}`,
		`{"PK":{"S":"AUDIT#t#2026-03"},"SK":{"S":"x"}}`,
	} {
		found = "[" + row + "," + row + "]"
		page, err := read(lists[i], "")
		expect.Must(f, err == nil && page.Next != "", "no cursor: %v", err)
		f.Add(page.Next)
	}
	found = `[]`
	f.Fuzz(func(t *testing.T, cursor string) {
		for _, l := range lists {
			_, err := read(l, cursor)
			if err != nil {
				wantField(t, err, "cursor")
				continue
			}
			if cursor == "" {
				continue
			}
			start, partition := asked.ExclusiveStartKey, asked.ExpressionAttributeValues[":v0"].S
			expect.That(t, slices.Contains(l.Partitions, partition) && start[l.Index+"PK"].S == partition &&
				strings.HasPrefix(start["PK"].S, l.Prefixes[0]+l.Tenant+"#"), "it leads to partition %q and key %v", partition,
				start)
		}
	})
}

// TestACallIsMadeAgainHoweverLateItsFirstAnswerIs checks that one slow answer does not use up all tries.
func TestACallIsMadeAgainHoweverLateItsFirstAnswerIs(t *testing.T) {
	tries := 0
	for wait := table.NewBackoff(1, 1); wait.Until(t.Context(), time.Now()); {
		tries++
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	expect.That(t, tries == 3 && !table.NewBackoff(time.Minute, time.Minute).Until(ctx, time.Now()) &&
		ctx.Err() == nil, "%d tries, and none is to be made when its time comes after the caller's", tries)
}

// TestInputsAreFilledInOnePlace checks that nothing but Filled sets names and values: a literal may read them before
// its other fields have added theirs.
func TestInputsAreFilledInOnePlace(t *testing.T) {
	own, below := expect.Value(filepath.Glob("*.go"))(t), expect.Value(filepath.Glob("*/*.go"))(t)
	for _, path := range append(own, below...) {
		if path == "table/expression.go" || strings.HasSuffix(path, "_test.go") {
			continue
		}
		for n, line := range strings.Split(string(expect.Value(os.ReadFile(path))(t)), "\n") {
			expect.That(t, !strings.Contains(line, "ExpressionAttribute"), "%s:%d fills an input by itself, not by Filled",
				path, n+1)
		}
	}
}

func TestAFilledInputHasWhatItsOwnLiteralAdds(t *testing.T) {
	e := table.NewExpression()
	in := table.Filled(e, &dynamodb.UpdateItemInput{UpdateExpression: e.Update(),
		ConditionExpression: table.All(e.Is("rev", "=", 7), e.Lacks("run"))})
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
	it := expect.Value(table.Pack("process", "TASK#t#1", p.Key(), p))(t)
	read := expect.Value(table.UnpackAs[*task.Process](it))(t)
	expect.Same(t, read.Gate, p.Gate)
	expect.That(t, read.Stands("sum"), "it does not stand as it was settled")

	acts := it["acts"].(*types.AttributeValueMemberL).Value
	acts[0].(*types.AttributeValueMemberM).Value["form"] = table.Number(circulation.Form + 1)
	expect.That(t, !expect.Value(table.UnpackAs[*task.Process](it))(t).Stands("sum"), "an act of a later form counts")
}
