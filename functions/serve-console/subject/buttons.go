package subject

import (
	"net/http"
	"slices"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
)

// Typed puts what the viewer typed for an act that was refused into its form alone.
func Typed(all []Button, x Tried, typed string) []Button {
	tried := x.Act
	for i := range all {
		b := &all[i]
		is := func(way Button) bool { return way.Act == tried }
		if is(*b) && b.Ways == nil || slices.ContainsFunc(b.Ways, is) {
			b.Typed = typed
		}
	}
	return all
}

// Apart parts from the buttons those by which a viewer ends the subject, or withdraws what asks for a decision: they
// don't stand beside the decision. Those that the viewer can't use are left out.
func Apart(all []Button, asks bool) (here, others []Button) {
	for _, b := range all {
		ends := b.Act == task.ActCancelTask || b.Act == conversation.ActClose
		if !ends && !(asks && b.Act == conversation.ActCancel) {
			here = append(here, b)
		} else if b.Class = ""; b.No == "" {
			others = append(others, b)
		}
	}
	return here, others
}

// Still reports whether what was tried may be tried again: it, or the gate for which it was meant, is offered.
func Still(offers []aggregate.Offer, tried aggregate.Offer) bool {
	if circulation.Doing(string(tried.Act)).Does().Ends {
		tried.Act = aggregate.ActReject
	}
	return slices.Contains(offers, tried)
}

// Since tells an open page what has changed since it was loaded.
type Since struct {
	Now        string // what waits now, or the current status
	Path, Open string // where that is read
	Shown      bool   // show it in place of what waits now
}

// SinceThen returns the news for the page at a path: its current status.
func SinceThen(path, stands, locale string) Since {
	words := web.TextsOf("layout", locale)
	return Since{Path: path, Open: words.Say("open_now"), Now: words.Say("stands") + ": " + stands}
}

// Instead reports whether a page should only link to what waits now instead of showing it: the viewer has not read it,
// and their next click must not decide on it. refused: nothing was done; offered: the viewer may try again; waits:
// something waits.
func Instead(r *http.Request, refused, offered, waits bool) bool {
	return refused && !offered || waits && r.URL.Query().Has("done")
}
