package aggregate_test

import (
	"errors"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/runtime/expect"
)

func TestADraftThatFailedMakesNothing(t *testing.T) {
	var d aggregate.Draft
	d.Fail(nil)
	d.Put(&aggregate.Use{})
	whole, err := d.Done(nil, &aggregate.Lease{Of: "X"})
	expect.That(t, err == nil && len(whole.Rows) == 2, "%+v, %v", whole, err)
	d.Fail(aggregate.ErrMoved)
	d.Fail(errors.New("what follows from the first"))
	none, err := d.Done(nil)
	expect.Fails(t, err, aggregate.ErrMoved)
	expect.That(t, none.Empty(), "%+v", none)
}
