package store

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// items compares items by content.
func items() cmp.Option {
	return cmpopts.IgnoreUnexported(types.AttributeValueMemberS{}, types.AttributeValueMemberN{}, types.AttributeValueMemberBOOL{},
		types.AttributeValueMemberM{}, types.AttributeValueMemberL{}, types.AttributeValueMemberNULL{})
}

// change sets an attribute of a task's row.
func change(t *testing.T, st *taskStore, ref aggregate.Ref, sk, attribute string, v any) {
	t.Helper()
	e := table.NewExpression()
	e.Set(attribute, v)
	expect.Value(st.t.DB.UpdateItem(t.Context(), table.Filled(e, &dynamodb.UpdateItemInput{
		TableName: &st.t.Name, Key: table.Key("TASK#"+ref.Tenant+"#"+ref.ID, sk), UpdateExpression: e.Update(),
	})))(t)
}

func testLoad(t *testing.T, st *taskStore) {
	ref := created(t, st, 1)
	for _, c := range []struct {
		name string
		ref  aggregate.Ref
	}{
		{"another tenant's task", task.RefOf("01OTHER", ref.ID)},
		{"a task that never was", task.RefOf(tenant, aggregate.NewID())},
		{"an id that reaches into another key", task.RefOf("01TENANT#"+ref.ID, "x")},
		{"no id", task.RefOf(tenant, "")},
		{"an id longer than a key may be", task.RefOf(tenant, strings.Repeat("x", 3000))},
	} {
		t.Run(c.name+" is not found", func(t *testing.T) {
			if _, err := st.Load(t.Context(), c.ref); !errors.Is(err, aggregate.ErrNotFound) {
				t.Errorf("Load: %v", err)
			}
			if _, err := st.Head(t.Context(), c.ref); !errors.Is(err, aggregate.ErrNotFound) {
				t.Errorf("Head: %v", err)
			}
			_, err := st.Decide(t.Context(), c.ref, func(*task.Aggregate) (aggregate.Change, error) {
				t.Error("a decision was asked for")
				return aggregate.Change{}, nil
			})
			expect.Fails(t, err, aggregate.ErrNotFound, "Decide")
		})
	}

	t.Run("the head alone is the aggregate's", func(t *testing.T) {
		a := loaded(t, st, ref)
		expect.Same(t, a.Head, headOf(t, st, ref))
	})

	t.Run("a row of a later release is refused by name", func(t *testing.T) { testLaterSchema(t, st, ref) })
	t.Run("a type of row that a later release has is skipped", func(t *testing.T) { testLaterType(t, st, ref) })
	t.Run("what is past its time is gone", func(t *testing.T) { testPastItsTime(t, st, ref) })
	t.Run("a task of more than a megabyte is loaded whole", func(t *testing.T) { testMoreThanAMegabyte(t, st) })
}

func testMoreThanAMegabyte(t *testing.T, st *taskStore) {
	ref := waitingPrompt(t, st, 2)
	text := strings.Repeat("方針", 60<<10/6)
	pk := "TASK#" + ref.Tenant + "#" + ref.ID
	const versions = 20
	for v := 2; v <= versions; v++ {
		p := &task.Prompt{ID: aggregate.NewID(), TaskID: ref.ID, Version: v, Content: text, CreatedAt: at(), Gate: aggregate.Gate{Status: aggregate.Rejected}}
		write(t, st, expect.Value(packRow(taskKind(), &task.Head{Head: aggregate.Head{TenantID: ref.Tenant}, TaskID: ref.ID}, pk, p, 3))(t))
	}
	counted := &counter{}
	a := expect.Value(st.over(counted).Load(t.Context(), ref))(t)
	var got []string
	for _, p := range a.Prompts {
		got = append(got, p.Key())
	}
	var want []string
	for v := 1; v <= versions; v++ {
		want = append(want, fmt.Sprintf("PROMPT#%04d", v))
	}
	expect.Same(t, want, got)
	expect.That(t, counted.calls.Load() >= 2, "the rows came in one page: the test proves nothing")
}

func testLaterSchema(t *testing.T, st *taskStore, ref aggregate.Ref) {
	change(t, st, ref, "REQUEST", "schema_version", 2)
	defer change(t, st, ref, "REQUEST", "schema_version", 1)
	_, err := st.Load(t.Context(), ref)
	var newer table.ErrNewerSchema
	if !errors.As(err, &newer) || newer.Version != 2 || !strings.HasSuffix(newer.Item, "REQUEST") {
		t.Errorf("%v, want ErrNewerSchema of version 2 naming REQUEST", err)
	}
}

func testLaterType(t *testing.T, st *taskStore, ref aggregate.Ref) {
	change(t, st, ref, "CARD#task", "schema_version", 3)
	change(t, st, ref, "CARD#task", "type", "stamp")
	defer change(t, st, ref, "CARD#task", "schema_version", 1)
	defer change(t, st, ref, "CARD#task", "type", "card")
	if a, err := st.Load(t.Context(), ref); err != nil || a.Request == nil || len(a.Cards) != 0 {
		t.Errorf("%+v, %v; want all but the row that nobody knows", a, err)
	}
}

func testPastItsTime(t *testing.T, st *taskStore, ref aggregate.Ref) {
	change(t, st, ref, "CARD#task", "delete_after", at().Unix())
	if a := loaded(t, st, ref); len(a.Cards) != 0 {
		t.Errorf("%d cards, want none", len(a.Cards))
	}
	change(t, st, ref, "CARD#task", "delete_after", at().Add(time.Second).Unix())
	if a := loaded(t, st, ref); len(a.Cards) != 1 {
		t.Errorf("%d cards, want the one that is not past its time", len(a.Cards))
	}
}
