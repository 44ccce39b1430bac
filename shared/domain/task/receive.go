package task

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// offeredIn is the kind of conversations and a separator.
const offeredIn = "session:"

// OfferedIn returns the EventID of a request that an agent wrote in a conversation, and a person made.
func OfferedIn(session string) string { return offeredIn + session }

// OfferedIn reports whether an agent wrote the request, and returns the conversation's id.
func (a *Aggregate) OfferedIn() (session string, ok bool) {
	if a.Request == nil {
		return "", false
	}
	return strings.CutPrefix(a.Request.EventID, offeredIn)
}

// asksForPolicy reports whether people must approve the policy. They always must if an agent wrote the request, because
// nobody has read the agent's wording yet. A form's text is asked about with the one step that follows from it.
func (a *Aggregate) asksForPolicy(s tenancy.Settings) bool {
	return (s.PromptApprovalRequired || a.Spoken()) && a.Matter() == nil
}

// asksForSteps reports whether people must approve the steps. A decision is always people's.
func (a *Aggregate) asksForSteps(s tenancy.Settings) bool {
	return s.ProcessApprovalRequired || a.Matter() != nil
}

// Spoken reports whether an agent wrote the request.
func (a *Aggregate) Spoken() bool {
	_, offered := a.OfferedIn()
	return offered
}

// Tell creates a task that has already ended and whose only card is a message from Ringi that nobody requested. Its id
// is derived from why and about, a person or a place, so the message is posted only once. detail may be empty.
func Tell(tenant string, r Request, why aggregate.Reason, about, detail string,
	now time.Time) (aggregate.Change, aggregate.Ref) {
	c := receive(tenant, aggregate.Derive(time.Time{}, "notice", string(why), r.TeamID, about), r, now)
	a := c.of
	c.card(a, CardTask, "TASK")
	c.Head.Ended = &Ended{As: TaskAnswered, At: c.Now, Reason: why, Detail: detail}
	c.of = nil         // no list has it
	out, _ := c.done() // can't fail, because it changes no status
	return out, a.Ref()
}

// TellStandIn tells one person, in their direct messages, of a delegation that was set or, once it has EndedAt, ended.
// The same revision is told once.
func TellStandIn(d tenancy.Delegation, team, user, channel string, now time.Time) (aggregate.Change, aggregate.Ref) {
	why, by := ReasonStandIn, d.SetBy
	switch {
	case d.EndedAt != nil:
		why, by = ReasonStandInEnded, d.EndedBy
	case user == d.Principal:
		why = ReasonStoodFor
	}
	r := Request{TeamID: team, User: user, Channel: channel, ChannelType: "im", Source: SourceAgentContainer}
	about := strings.Join([]string{user, d.Key(), d.SetAt.Format(time.RFC3339Nano)}, " ")
	detail := strings.Join([]string{d.Hand, d.Principal, d.From.String(), d.Until.String(), by}, " ")
	return Tell(d.TenantID, r, why, about, detail, now)
}

// StandInTold is what the detail of a notice of a delegation says. By set or ended it.
type StandInTold struct{ Hand, Principal, From, Until, By string }

// StandInOf reads the detail of a notice of a delegation; false for other reasons and details.
func StandInOf(r aggregate.Reason, detail string) (StandInTold, bool) {
	f := strings.Split(detail, " ")
	if len(f) != 5 || r != ReasonStandIn && r != ReasonStoodFor && r != ReasonStandInEnded {
		return StandInTold{}, false
	}
	return StandInTold{Hand: f[0], Principal: f[1], From: f[2], Until: f[3], By: f[4]}, true
}

// MaxText limits the stored text of a message in characters. It is Slack's own limit.
const MaxText = 40000

// Receive creates the head, the request and the first card (受け付けました) for a message. The first layer creates the task's
// row later. It returns an error for an invalid message timestamp.
func Receive(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	c := receive(tenant, id, r, now)
	c.card(c.of, CardTask, "TASK")
	out, err := c.done()
	return out, c.of.Ref(), err
}

// receive begins the first change of a task, which puts the request.
func receive(tenant, id string, r Request, now time.Time) *change {
	r.CreatedAt = now.UTC().Truncate(time.Millisecond)
	a := &Aggregate{Request: &r, Head: Head{Head: aggregate.Head{TenantID: tenant, Run: 1, Requester: r.User,
		CreatedAt: r.CreatedAt}, TaskID: id, Noted: StatusDrafting}}
	c := a.begin(r.CreatedAt)
	c.Put(&r)
	return c
}

// Extract is the first layer's output.
type Extract struct {
	Kind        ExtractKind
	Sentence    string // a plain reply, when there is no task
	Title       string
	Description string
	Priority    Priority
	TaskType    Type
	Thread      *aggregate.Thread // what it was shown of the thread
	Last        bool              // the task has cost what it may, so no policy begins
}

// Extracted creates the task's row from the first layer's output and begins its first policy, or ends the task with a
// plain reply. If the row exists, nothing changes.
func (a *Aggregate) Extracted(run int, e Extract, now time.Time) (aggregate.Change, error) {
	if err := a.working(run); err != nil {
		return aggregate.Change{}, err
	}
	if a.Task != nil {
		return aggregate.Change{}, nil
	}
	if e.Kind.plain() {
		return a.answered(e, now)
	}
	c := a.begin(now)
	c.progress()
	c.readThread(a, e)
	t := &Task{
		ID: a.Head.TaskID, TenantID: a.Head.TenantID, Title: e.Title, Description: e.Description, Priority: e.Priority,
		TaskType: e.TaskType,
		Status:   TaskExtracted, Source: a.Request.Source, SlackChannel: a.Request.Channel, SlackThreadTS: a.Request.ThreadTS,
		CreatedAt: c.Now, UpdatedAt: c.Now,
	}
	if a.Listing != nil {
		t.Meta = a.Listing.Meta
	}
	c.Put(t)
	if !e.Last {
		c.beginPrompt()
	}
	c.Made = t
	about := map[string]any{"title": e.Title, "requester": a.Head.Requester}
	c.Record(&c.Head, aggregate.System(), AuditTaskCreated, "task", a.Head.TaskID, about)
	return c.done()
}

// readThread keeps with the request what was read of its thread.
func (c *change) readThread(a *Aggregate, e Extract) {
	if e.Thread == nil && a.Request.Thread == nil {
		return
	}
	r := *a.Request
	r.Thread = e.Thread
	c.Put(&r)
}

// working returns ErrSuperseded if the head names another run or the task has ended.
func (a *Aggregate) working(run int) error {
	if a.Head.Run != run || a.Head.Ended != nil {
		return aggregate.ErrSuperseded
	}
	return nil
}

// MaxMentioned limits how many people a model's text may mention. In Slack a mention notifies the person. A policy is
// shown before anybody has stamped it, so it must not notify dozens of people.
const MaxMentioned = 20

var mentionForm = language.Regexp{Text: `<@([UW][A-Z0-9]{2,40})>`}

// Mentioned returns the ids of the people whom a text mentions, without duplicates.
func Mentioned(text string) (ids []string) {
	for _, m := range mentionForm.Get().FindAllStringSubmatch(text, -1) {
		if !slices.Contains(ids, m[1]) {
			ids = append(ids, m[1])
		}
	}
	return ids
}

// Language returns the language of the task's cards and of whatever else several people read of it: that of the
// request's text, or otherwise if the text doesn't tell.
func (a *Aggregate) Language(otherwise string) string {
	if a.Request == nil {
		return otherwise
	}
	return language.Detect(a.Request.Text, otherwise)
}

// terms freezes the settings for a gate of the task.
func (a *Aggregate) terms(s tenancy.Settings, now time.Time) aggregate.Terms {
	s.Locale = a.Language(s.Locale)
	if a.Matter() != nil { // no model is asked
		s.Executor = tenancy.ExecutorSteps
	}
	return s.Terms(now)
}

// Reminded is of what somebody is reminded: N items that wait for them, of which Items are the first that are due. As
// says in how many of all they stand in for somebody. Shared says that they are the members of a channel.
type Reminded struct {
	N      int            `json:"n"`
	As     int            `json:"as,omitempty"`
	Shared bool           `json:"shared,omitempty"`
	Items  []RemindedItem `json:"items"`
}

// RemindedItem is one thing that waits for somebody, as it was when they were reminded.
type RemindedItem struct {
	Kind   string       `json:"kind"` // of aggregate
	ID     string       `json:"id"`
	Title  string       `json:"title"`
	Later  int          `json:"later,omitempty"` // the request's newest version, see Glance
	Asker  string       `json:"asker"`
	Amount rules.Amount `json:"amount,omitzero"` // the zero value: there are no steps yet
	Until  *time.Time   `json:"until,omitempty"`
	For    string       `json:"for,omitempty"` // whom they stand in for
	// Channel, TS and Thread are of the message that asks, the person's own if they have one; empty if they can't open it.
	// Link is its address, which is known when the reminder is posted.
	Channel string `json:"channel,omitempty"`
	TS      string `json:"ts,omitempty"`
	Thread  string `json:"thread,omitempty"`
	Link    string `json:"link,omitempty"`
}

// Remind tells somebody in their direct messages what waits for them, once a day; the members of a channel, there.
func Remind(tenant, team, user string, day tenancy.Date, told Reminded,
	now time.Time) (aggregate.Change, aggregate.Ref) {
	r := Request{TeamID: team, User: user, ChannelType: "im", Source: SourceAgentContainer}
	if told.Shared {
		r.User, r.Channel, r.ChannelType = "", user, "channel"
	}
	detail, _ := json.Marshal(told) // can't fail
	return Tell(tenant, r, ReasonReminded, user+" "+day.String(), string(detail), now)
}

// Reminded returns of what the task reminds somebody; false for other tasks.
func (a *Aggregate) Reminded() (told Reminded, ok bool) {
	e := a.Head.Ended
	ok = e != nil && e.Reason == ReasonReminded && json.Unmarshal([]byte(e.Detail), &told) == nil
	return told, ok
}

// Linked returns a task that reminds somebody with the addresses of the messages that ask; any other as it is.
func (a *Aggregate) Linked(link func(channel, ts, thread string) string) *Aggregate {
	told, ok := a.Reminded()
	if !ok {
		return a
	}
	for i := range told.Items {
		x := &told.Items[i]
		x.Link = link(x.Channel, x.TS, x.Thread)
	}
	detail, _ := json.Marshal(told) // can't fail
	linked, ended := *a, *a.Head.Ended
	ended.Detail = string(detail)
	linked.Head.Ended = &ended
	return &linked
}

// Saying returns a hash of what a request says: its text, what it forwards, and which files it has.
func (r *Request) Saying() string {
	all := []string{r.Text, strconv.Itoa(r.MoreFiles)}
	for _, q := range r.Forwarded {
		all = append(all, q.User, q.Name, q.Text)
	}
	for _, f := range r.Files {
		all = append(all, "file", f.ID)
	}
	return aggregate.HashOf(strings.Join(all, "\x00"))
}

// Threaded reports whether the message is a reply in a thread.
func (r *Request) Threaded() bool { return r.ThreadTS != "" && r.ThreadTS != r.MessageTS }

// Deleted cancels what waits, because the message of this person's request was deleted. Nothing changes once an
// execution has begun. Slack doesn't say who deleted a message: people may also delete those of others
// (https://docs.slack.dev/reference/events/message/message_deleted).
func (a *Aggregate) Deleted(author string, now time.Time) (aggregate.Change, error) {
	switch _, offered := a.OfferedIn(); {
	case a.Request == nil:
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	case offered, a.Head.Ended != nil, a.Execution() != nil, author != a.Head.Requester:
		return aggregate.Change{}, nil
	}
	by := aggregate.System()
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.Record(&c.Head, by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDeleted})
	return c.ended(a.Task, TaskCancelled, by, ReasonDeleted)
}

// Gone keeps that a message was deleted before it was received, so that a later delivery of it makes no request. Nobody
// is shown anything of it.
func Gone(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	c := receive(tenant, id, r.Unsaid(), now)
	a := c.of
	c.Head.Ended = &Ended{As: TaskCancelled, At: c.Now, Reason: ReasonDeleted}
	c.of = nil // no list has it
	out, err := c.done()
	return out, a.Ref(), err
}

// ID derives a task's id from the requesting Slack message, so that every delivery of the message gives the same id. It
// returns an error if ts is not a Slack timestamp such as "1713450000.000100".
func ID(team, channel, ts string) (string, error) {
	at, err := aggregate.ParseTS(ts)
	if err != nil {
		return "", err
	}
	return aggregate.Derive(at, "task", team, channel, ts), nil
}
