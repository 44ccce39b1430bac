package task

import (
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/slack/people"
)

// ruled returns the gate that an item is about if it is under a rule, else nil.
func (x askedItem) ruled() *aggregate.Gate { return aggregate.RuledGate(x.Row) }

// decides reports whether an item waits for the viewer. What a message is meant to be its author may say, too.
func (x askedItem) decides(reach people.Reach, v *web.Viewer) bool {
	if g := aggregate.GateOf(x.Row); g != nil {
		return reach.Owes(g, x.origin)
	}
	return reach.Decides(x.origin) || x.Kind == task.CardTask && x.origin.User == v.User
}

// along reports whether somebody is on the item's route.
func (x askedItem) along(user string) bool {
	g := x.ruled()
	return g != nil && g.OnRoute(user)
}

// until returns until when the item waits.
func (x askedItem) until() time.Time {
	if g := x.ruled(); g != nil {
		return subject.RouteUntil(g)
	}
	return web.TimeOf(x.DecideBy)
}

// order puts what names the viewer before the rest, and each in the order in which it is due.
func (x askedItem) order(other askedItem) int {
	switch {
	case x.named && !other.named:
		return -1
	case other.named && !x.named:
		return 1
	}
	return due(x.until(), other.until())
}
