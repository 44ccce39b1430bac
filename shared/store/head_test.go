package store

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// beside are the head's members that no decision writes: those that identify the task, the bookkeeping, and Newest.
var beside = []string{"TenantID", "TaskID", "Requester", "CreatedAt", "Rev", "LastChange", "DueAt", "ShownRev", "Redraws", "DrawAt", "SweepFailures", "Newest"}

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
	if diff := cmp.Diff(full, a.Head, ignored()); diff != "" {
		t.Error("a member of the head was not stored:", diff)
	}

	bare := full
	for name, field := range members(&bare) {
		if !slices.Contains(beside, name) {
			field.SetZero()
		}
	}
	if diff := cmp.Diff(bare, committed(a, bare).Head, ignored()); diff != "" {
		t.Error("a member of the head was not taken away:", diff)
	}
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
