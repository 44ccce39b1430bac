package store

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// items compares items by content.
func items() cmp.Option {
	return cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{},
		types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberM{}, types.AttributeValueMemberL{}, types.AttributeValueMemberNULL{})
}

// change sets an attribute of a task's row.
func change(t *testing.T, st *taskStore, ref aggregate.Ref, sk, attribute string, v any) {
	t.Helper()
	e := table.NewExpression()
	e.Set(attribute, v)
	expect.Value(st.t.DB.UpdateItem(t.Context(), table.Filled(e, &dynamodb.UpdateItemInput{TableName: &st.t.Name,
		Key: table.Key("TASK#"+ref.Tenant+"#"+ref.ID, sk), UpdateExpression: e.Update()})))(t)
}

func testLoad(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	for name, other := range map[string]aggregate.Ref{
		"another tenant's task":               task.RefOf("01OTHER", ref.ID),
		"a task that never was":               task.RefOf(tenant, aggregate.NewID()),
		"an id that reaches into another key": task.RefOf("01TENANT#"+ref.ID, "x"),
		"no id":                               task.RefOf(tenant, ""),
		"an id longer than a key may be":      task.RefOf(tenant, strings.Repeat("x", 3000)),
	} {
		expect.Fails(t, expect.Err(st.Load(t.Context(), other)), aggregate.ErrNotFound, "load %s", name)
		expect.Fails(t, expect.Err(st.Head(t.Context(), other)), aggregate.ErrNotFound, "the head of %s", name)
		expect.Fails(t, expect.Err(st.Decide(t.Context(), other, func(*task.Aggregate) (aggregate.Change, error) {
			t.Error("a decision was asked for")
			return aggregate.Change{}, nil
		})), aggregate.ErrNotFound, "decide %s", name)
	}
	expect.Same(t, loaded(t, st, ref).Head, headOf(t, st, ref))

	t.Run("a row of a later release is refused by name, and a type of row that it has is skipped", func(t *testing.T) {
		change(t, st, ref, "REQUEST", "schema_version", 2)
		_, err := st.Load(t.Context(), ref)
		newer, is := errors.AsType[table.ErrNewerSchema](err)
		expect.That(t, is && newer.Version == 2 && strings.HasSuffix(newer.Item, "REQUEST"), "%v", err)
		change(t, st, ref, "REQUEST", "schema_version", 1)
		change(t, st, ref, "CARD#task", "schema_version", 3)
		change(t, st, ref, "CARD#task", "type", "stamp")
		a := loaded(t, st, ref)
		expect.That(t, a.Request != nil && len(a.Cards) == 0, "%+v; want all but the row that nobody knows", a)
		change(t, st, ref, "CARD#task", "schema_version", 1)
		change(t, st, ref, "CARD#task", "type", "card")
	})
	t.Run("what is past its time is gone", func(t *testing.T) {
		for n := range 2 {
			change(t, st, ref, "CARD#task", "delete_after", at().Add(time.Duration(n)*time.Second).Unix())
			expect.Is(t, len(loaded(t, st, ref).Cards), n, "cards")
		}
	})
	t.Run("a task of more than a megabyte is loaded whole", func(t *testing.T) { testMoreThanAMegabyte(t, st) })
}

func testMoreThanAMegabyte(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 2)
	text := strings.Repeat("方針", 60<<10/6)
	want := []string{"PROMPT#0001"}
	for v := 2; v <= 20; v++ {
		p := &task.Prompt{ID: aggregate.NewID(), TaskID: ref.ID, Version: v, Content: text, CreatedAt: at(),
			Gate: aggregate.Gate{Status: aggregate.Rejected}}
		want = append(want, p.Key())
		write(t, st, expect.Value(packRow(TaskKind(), &task.Head{Head: aggregate.Head{TenantID: ref.Tenant}, TaskID: ref.ID},
			"TASK#"+ref.Tenant+"#"+ref.ID, p, 3))(t))
	}
	counted := counting()
	var got []string
	for _, p := range expect.Value(st.over(counted).Load(t.Context(), ref))(t).Prompts {
		got = append(got, p.Key())
	}
	expect.Same(t, want, got)
	expect.That(t, counted.met.Load() >= 2, "the rows came in one page: the test proves nothing")
}

const (
	throttled = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",
		"CancellationReasons":[{"Code":"None"},
		{"Code":"ThrottlingError","Message":"too fast"},{"Code":"None"},{"Code":"None"}]}`
	inTheWay = `{"__type":"com.amazonaws.dynamodb.v20120810#TransactionCanceledException","Message":"cancelled",
		"CancellationReasons":[{"Code":"None"},
		{"Code":"TransactionConflict","Message":"another transaction"},{"Code":"None"},{"Code":"None"}]}`
	tooMuch = `{"__type":"com.amazonaws.dynamodb.v20120810#ProvisionedThroughputExceededException","message":"slow down"}`
	refused = `{"__type":"com.amazon.coral.service#ValidationException","message":"no such thing"}`
)

// busyTable returns the store on a table that answers the given number of transactions with body.
func busyTable(st *taskStore, body string, times int32) (*taskStore, *fault) {
	r := refusing("TransactWriteItems", body, times)
	return st.over(r, oneTry), r
}

func testBusyTable(t *testing.T, st *taskStore) {
	for i, body := range []string{throttled, tooMuch, inTheWay} { // a delay
		busy, r := busyTable(st, body, 3)
		change, ref := received(t, 10*i)
		expect.NoError(t, busy.Create(t.Context(), change))
		_, err := st.Load(t.Context(), ref)
		expect.That(t, err == nil && r.met.Load() == 3, "%v after %d refusals by %s", err, r.met.Load(), body)
		busy, _ = busyTable(st, body, 3)
		a := expect.Value(busy.Decide(t.Context(), waitingPrompt(t, st, 10*i+1), approvePrompt))(t)
		expect.Is(t, a.Prompt().Status, aggregate.Approved, "prompt")
		busy, _ = busyTable(st, body, 3)
		s := tenancy.DefaultSettings()
		s.MaxVersions++
		s, err = busy.SaveSettings(t.Context(), fmt.Sprint("01BUSY", i), s, approver(), at())
		expect.That(t, err == nil && s.Rev == 1, "settings: %v after refusals by %s", err, body)
	}
	busy, _ := busyTable(st, throttled, always) // one that lasts ends a call in time
	change, _ := received(t, 100)
	expect.Within(t, 2500*time.Millisecond, func() {
		err := busy.Create(t.Context(), change)
		expect.That(t, err != nil && !errors.Is(err, aggregate.ErrExists), "%v, want that the table is busy", err)
	})
	ref := waitingPrompt(t, st, 101)
	expect.Within(t, time.Second, func() {
		ctx, done := context.WithTimeout(t.Context(), time.Second)
		defer done()
		expect.That(t, expect.Err(busy.Decide(ctx, ref, approvePrompt)) != nil, "no error")
	})
	busy, r := busyTable(st, refused, always) // what is refused for good is not tried again
	expect.That(t, busy.Create(t.Context(), change) != nil, "no error")
	expect.Is(t, r.met.Load(), 1, "tries")
}

// hanging holds back the answers of one operation until the caller gives up. If reaches is set, the call itself is
// made.
func hanging(operation string, reaches bool) *fault {
	return faulty(operation, always, func(r *http.Request) (*http.Response, error) {
		if reaches {
			res, err := http.DefaultTransport.RoundTrip(r)
			if err != nil {
				return nil, err
			}
			res.Body.Close()
		}
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
}

// When a decision's deadline ends during its commit, the store looks once more for the commit. It must not report an
// unseen commit as unsaved, unless the deadline ended before the commit.
func testCutOff(t *testing.T, st *taskStore) {
	for i, tt := range []struct {
		name        string
		transport   *fault
		saved       bool
		unconfirmed bool
	}{
		{"an answer that never comes", hanging("TransactWriteItems", true), true, false},
		{"a call that never arrives", hanging("TransactWriteItems", false), false, true},
		{"rows that never come", hanging("Query", false), false, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			for n := range 5 { // a single miss may be due to a busy machine
				ref := waitingPrompt(t, st, 10*i+n)
				ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
				_, err := st.over(tt.transport).Decide(ctx, ref, approvePrompt)
				late := ctx.Err() != nil
				cancel()
				if (err == nil) == tt.saved && errors.Is(err, aggregate.ErrUnconfirmed) == tt.unconfirmed && !late {
					return
				}
				t.Log(err)
			}
			t.Error("it is never done in time")
		})
	}
}

// beside are the head's members that no decision writes: those that identify the task, the bookkeeping, and Newest.
var beside = []string{"TenantID", "TaskID", "Requester", "CreatedAt", "Rev", "LastChange", "DueAt", "ShownRev",
	"Redraws", "SweepFailures", "Newest"}

func testHead(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	before := loaded(t, st, ref)
	committed := func(a *task.Aggregate, h task.Head) *task.Aggregate {
		t.Helper()
		expect.Value(st.Commit(t.Context(), a, aggregate.Change{Head: &h, Now: at()}))(t)
		return loaded(t, st, ref)
	}

	full := before.Head
	for name, field := range members(&full) {
		if !slices.Contains(beside, name) {
			fill(t, field)
		}
	}
	a := committed(before, full)
	diff := cmp.Diff(full, a.Head, ignored())
	expect.That(t, diff == "", "a member of the head was not stored: %v", diff)

	bare := full
	for name, field := range members(&bare) {
		if !slices.Contains(beside, name) {
			field.SetZero()
		}
	}
	diff = cmp.Diff(bare, committed(a, bare).Head, ignored())
	expect.That(t, diff == "", "a member of the head was not taken away: %v", diff)
}

// members returns a head's fields by name, including those of the embedded root.
func members(h *task.Head) map[string]reflect.Value {
	out := map[string]reflect.Value{}
	for _, v := range []reflect.Value{reflect.ValueOf(h).Elem(), reflect.ValueOf(&h.Head).Elem()} {
		for i := range v.NumField() {
			if f := v.Type().Field(i); !f.Anonymous {
				out[f.Name] = v.Field(i)
			}
		}
	}
	return out
}

func ignored() cmp.Option {
	return cmp.FilterPath(func(p cmp.Path) bool {
		f, ok := p.Last().(cmp.StructField)
		return ok && slices.Contains(beside, f.Name())
	}, cmp.Ignore())
}

// fill sets v to a value that is not its type's zero.
func fill(t *testing.T, v reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		v.Set(reflect.ValueOf(at()))
	case v.Kind() == reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(t, v.Elem())
	case v.Kind() == reflect.Struct:
		for i := range v.NumField() {
			fill(t, v.Field(i))
		}
	case v.Kind() == reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 1, 1))
		fill(t, v.Index(0))
	case v.Kind() == reflect.String:
		v.SetString("x")
	case v.Kind() == reflect.Bool:
		v.SetBool(true)
	case v.CanInt():
		v.SetInt(3)
	default:
		t.Fatalf("how is a %s filled?", v.Type())
	}
}
