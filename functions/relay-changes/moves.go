package main

import (
	"github.com/aws/aws-lambda-go/events"

	"ringi/shared/decide/effect"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/store/records"
)

// move says what changed of one aggregate in a batch.
type move struct {
	ref   aggregate.Ref
	run   bool   // the head names a new run
	cards bool   // the head's revision changed, or the head asks for a redraw
	again bool   // the head asks for a redraw
	event string // id of the last record, the same in a repeated delivery
	alike bool   // in each record the head notes before and after that its execution runs, and the run is the same
	first string // sequence number of the first record, to return it
}

// moves returns a move for each changed aggregate of a batch, in the order of their first records. Changes of the
// head's internal fields don't count.
func moves(kinds aggregate.Kinds, changes []events.DynamoDBEventRecord) []move {
	var out []move
	at := map[aggregate.Ref]int{}
	for _, r := range changes {
		is, moved := changed(r)
		ref, ok := kinds.Ref(text(r.Change.Keys, "PK"))
		if tenant, user, home := records.HomeOf(text(r.Change.Keys, "PK"), text(r.Change.Keys, "SK")); home {
			ref, ok = aggregate.Ref{Tenant: tenant, Kind: effect.Home, ID: user}, len(r.Change.NewImage) > 0
			is.cards, moved = true, true
		}
		kind, _ := kinds.Of(ref.Kind)
		if !ok || kind.Still || !moved {
			continue
		}
		i, seen := at[ref]
		if !seen {
			i = len(out)
			at[ref] = i
			out = append(out, move{ref: ref, first: r.Change.SequenceNumber, alike: true})
		}
		out[i].run = out[i].run || is.run
		out[i].cards = out[i].cards || is.cards
		out[i].again = out[i].again || is.again
		out[i].alike = out[i].alike && is.alike
		out[i].event = r.EventID
	}
	return out
}

// changed returns what a record changed, and reports whether that can have effects.
func changed(r events.DynamoDBEventRecord) (is move, moved bool) {
	now, before := r.Change.NewImage, r.Change.OldImage
	if len(now) == 0 || text(r.Change.Keys, "SK") != aggregate.HeadKey {
		return move{}, false
	}
	is.run = number(now, "run") != number(before, "run")
	is.again = number(now, "redraws") != number(before, "redraws") ||
		number(now, "shown_rev") == "" && number(before, "shown_rev") != ""
	is.cards = is.again || number(now, "rev") != number(before, "rev")
	is.alike = !is.run && !is.again && runs(now) && runs(before)
	return is, is.run || is.cards
}

// runs reports whether a head notes that its execution runs.
func runs(head map[string]events.DynamoDBAttributeValue) bool {
	return text(head, "status") == string(task.StatusRunning)
}

func text(image map[string]events.DynamoDBAttributeValue, name string) string {
	if v, ok := image[name]; ok && v.DataType() == events.DataTypeString {
		return v.String()
	}
	return ""
}

func number(image map[string]events.DynamoDBAttributeValue, name string) string {
	if v, ok := image[name]; ok && v.DataType() == events.DataTypeNumber {
		return v.Number()
	}
	return ""
}
