package agents

import (
	"net/http"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/functions/serve-console/web"
	"ringi/shared/domain/call"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/explain"
	"ringi/shared/slack/people"
	"ringi/shared/store"
	"ringi/shared/words/legible"
)

const callsPath = "/console/calls"

type callsPage struct {
	web.List
	Rows []callRow
}

// callRow is a call in a list.
type callRow struct {
	Path, Status, Badge    string
	Says, Apart            []subject.Piece // what it does; nil: that can't be read
	Amount, Agent, Answers string
	Channel                string
	At                     time.Time
}

// calls lists the calls that the viewer may read, the newest first.
func (c *Pages) calls(w http.ResponseWriter, r *http.Request, v *web.Viewer) error {
	words, p := v.Texts("calls"), callsPage{}
	if p.Hints = []string{words.Say("empty_about")}; v.Admin {
		p.Hints = []string{words.Say("empty_admin")}
	}
	at := func(cursor string) string { return web.At(callsPath, map[string]string{"cursor": cursor}) }
	page, reach, err := web.ReadList(c.Site, r, v, &p.List, at,
		func(reach people.Reach, cursor string) (store.Page[call.Call], error) {
			return c.Calls.Listed(r.Context(), v.Tenant, cursor, rowsOfPage, web.MostLooked,
				func(x call.Call) bool {
					return v.Admin || x.AnsweredBy(v.User) || reach.Sees(x.Origin()) || x.Gate.OnRoute(v.User, nil)
				})
		})
	if err != nil {
		return err
	}
	channels := reach.Channels()
	c.Naming(r.Context(), v, func(called func(id string) string) {
		by := subject.Reader{Locale: v.Locale, Person: called, Settled: true}
		p.Rows = web.Each(page.Items, func(x call.Call) callRow { return inList(v, by, &x, channels) })
	})
	return c.Show(w, r, v, web.Document{Here: "calls", Data: p}, "calls")
}

func inList(v *web.Viewer, by subject.Reader, x *call.Call, channels map[string]string) callRow {
	sum := explain.SumUp(v.Locale, explain.StepsOf(x))
	row := callRow{Path: callsPath + "/" + x.CallID, Agent: legible.ForeignLine(x.KeyName), Answers: by.Person(x.Answers),
		Channel: web.Channel(v, x.Origin(), channels), At: x.CreatedAt}
	row.Status, row.Badge = callStatus(v.Locale, x)
	if lead := sum.First(); lead.Order > 0 {
		row.Says, row.Apart = by.Briefly(lead.Sentence), by.Apart(lead)
	}
	if sum.Amount != rules.Nothing() {
		row.Amount = explain.Money(v.Locale, sum.Amount)
	}
	return row
}

// callStatus says how a call stands, with its badge.
func callStatus(locale string, x *call.Call) (text, badge string) {
	key := string(x.Status)
	switch {
	case x.Unopened():
		key = "looking_up"
	case x.Outcome == conversation.OutcomeUnknown:
		key = "unknown"
	case x.Status == conversation.ActionApproved && x.Elsewhere:
		key = "untaken"
	case x.CancelReason == conversation.ReasonRejected || x.CancelReason == call.ReasonDenied:
		key = "rejected"
	case x.CancelReason == conversation.ReasonExpired || x.CancelReason == call.ReasonAged:
		key = "expired"
	}
	return actionStatus(locale, key), actionBadge(key)
}

// actionStatus says what an action or a call is at.
func actionStatus(locale string, status any) string {
	return web.TextsOf("calls", locale).In("statuses", status)
}

// actionBadge is the colour of what an action or a call is at.
func actionBadge[T ~string](status T) string {
	switch conversation.ActionStatus(status) {
	case conversation.ActionPending:
		return web.Badge("waiting")
	case conversation.ActionApproved, "looking_up", "untaken":
		return web.Badge("executing")
	}
	return web.Badge(string(status))
}
