package store

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

func testCreate(t *testing.T, st *taskStore) {
	c, ref := received(t, 1)
	expect.NoError(t, st.Create(t.Context(), c))

	t.Run("makes the head, the request and the task's card", func(t *testing.T) {
		a := loaded(t, st, ref)
		want := (&task.Aggregate{}).Apply(c)
		due := c.Now.Add(time.Minute)
		want.Head.DueAt, want.Head.LastChange = &due, a.Head.LastChange
		expect.Same(t, want, a)
		expect.That(t, a.Head.LastChange != "", "the head does not say which change made it")
	})

	t.Run("the items are as documented", func(t *testing.T) {
		pk := "TASK#" + tenant + "#" + ref.ID
		type shape struct{ SK, Type, Rev, Schema, GSI1PK, GSI1SK, GSI2PK, GSI2SK string }
		var got []shape
		for _, it := range rows(t, st, pk) {
			got = append(got, shape{
				table.TextOf(it, "SK"), table.TextOf(it, "type"), fmt.Sprint(table.IntOf(it, "rev")), fmt.Sprint(table.IntOf(it, "schema_version")),
				table.TextOf(it, "GSI1PK"), table.TextOf(it, "GSI1SK"), table.TextOf(it, "GSI2PK"), table.TextOf(it, "GSI2SK"),
			})
		}
		want := []shape{
			{SK: "CARD#task", Type: "card", Rev: "1", Schema: "1"},
			{
				SK: "HEAD", Type: "head", Rev: "1", Schema: "1", GSI1PK: fmt.Sprintf("DUE#%d", shardOf(ref.ID)), GSI1SK: "2026-04-18T14:31:00.001Z",
			},
			{SK: "REQUEST", Type: "request", Rev: "1", Schema: "1"},
		}
		expect.Same(t, want, got)
	})

	t.Run("a repeated message is refused and changes nothing", func(t *testing.T) {
		before := rows(t, st, "TASK#"+tenant+"#"+ref.ID)
		later, _, err := task.Receive(tenant, request(1), at().Add(time.Hour))
		expect.NoError(t, err)
		wantError(t, st.Create(t.Context(), later), ErrExists)
		expect.Same(t, before, rows(t, st, "TASK#"+tenant+"#"+ref.ID), items())
	})

	t.Run("five deliveries at once make one task", func(t *testing.T) { testDeliveriesAtOnce(t, st) })
}

func testDeliveriesAtOnce(t *testing.T, st *taskStore) {
	c, _ := received(t, 2)
	errs := make([]error, 5)
	var all sync.WaitGroup
	for i := range errs {
		all.Go(func() { errs[i] = st.Create(t.Context(), c) })
	}
	all.Wait()
	made := 0
	for _, err := range errs {
		switch {
		case err == nil:
			made++
		case !errors.Is(err, ErrExists):
			t.Error(err)
		}
	}
	expect.That(t, made == 1, "%d made the task, want 1", made)
}
