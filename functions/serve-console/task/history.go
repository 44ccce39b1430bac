package task

import (
	"fmt"
	"time"

	"ringi/functions/serve-console/subject"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
)

// Reader is the person for whom a history is formatted.
type Reader struct {
	Locale string
	Person func(id string) string // by name; empty: the system
	Now    time.Time
	// Channel is the name of the channel of the request.
	Channel string
	// ChannelOf returns the name of a home's channel by its id; nil: it is shown as it is.
	ChannelOf   func(id string) string
	Departments func(code string) string // names departments; nil: they are shown by their codes
	Admin       bool                     // the reader is an administrator
}

// Value is an opened value, or the reason why it could not be opened.
type Value struct {
	JSON []byte
	Err  error
}

// Source is the rows that a history is made from.
type Source struct {
	Task   *task.Aggregate  // including the complete arguments of the waiting gate
	Opened map[string]Value // results and arguments stored in the bucket, by their keys there
	Audit  []aggregate.AuditEntry
	More   bool // there are more audit entries
}

// History is a task from its message to its end.
type History struct {
	ID, Title, Description string
	Rev                    int
	Status                 task.Status
	Held                   bool // it could not be drafted, since nobody may approve it
	Moves                  bool // it may change without anybody acting
	Priority               string
	Created, Ended         time.Time
	Message                Message
	Answer                 string // a plain reply instead of a task
	Changed                string // that the author changed the message afterwards, and whether that counts
	RequestNumber          string // "" if the tenant numbers no requests, or it was not taken on yet
	Outcome                *Outcome
	Ending, EndedBy        string // how it ended, in a sentence, and by whom
	Parked                 string // why a generation failed, in a sentence
	Waits                  time.Time
	Choice                 *Choice
	Policies, Plans        []Version // the newest first
	Attempts               []Attempt // the newest first
	Uses                   []Use
	Total                  aggregate.Usage
	Log                    []subject.Entry
	LogGoesOn              bool
	Actions                []aggregate.Offer
	Gate                   *Gate // what waits for a decision
	Run                    int
}

// Outcome is what came of the latest execution: the page begins with it.
type Outcome struct {
	Text, Error string
	Made        []Made
	Run         string // names the execution on the page
}

// Made is something that a step made, and its address.
type Made struct{ Name, Address string }

// outcome returns what came of the latest execution; nil while it goes on.
func outcome(attempts []Attempt) *Outcome {
	if len(attempts) == 0 {
		return nil
	}
	t := attempts[0]
	out := &Outcome{Text: t.Summary, Error: t.Error, Run: fmt.Sprintf("run-%d-%d", t.Version, t.Number)}
	for _, s := range t.Steps {
		if s.Address != "" {
			out.Made = append(out.Made, Made{s.Step.Name, s.Address})
		}
	}
	if out.Text == "" && out.Error == "" && len(out.Made) == 0 {
		return nil
	}
	return out
}

// Message is the original request.
type Message struct {
	Text, By string
	At       time.Time
	Private  bool // a direct message
	// Forwarded are the messages that it forwards, and Files its files.
	Forwarded []Forwarded
	Thread    string // what was read of the thread before it
	Files     []File
	MoreFiles int // that are not read
}

// Choice is what a message beside a gate was meant to be.
type Choice struct {
	Task, Title string // of the gate
	As          task.ChoiceAs
	By          string
	At          time.Time
	Over        bool
}

// History builds a task's history from its rows.
func (r Reader) History(s Source) History {
	a := s.Task
	t := History{
		ID: a.Head.TaskID, Rev: a.Head.Rev, Run: a.Head.Run, Status: a.Status(), Held: a.Head.Undecidable(), Actions: a.Offers(), LogGoesOn: s.More,
	}
	if used := a.Used(); used != nil {
		t.Total = *used
	}
	t.Moves = a.Head.Ended == nil || a.OpenSession() != nil
	r.begin(&t, a)
	r.end(&t, a)
	t.Policies = r.policies(a, s.Audit)
	t.Plans = r.plans(a, s.Audit)
	for i := len(a.Executions) - 1; i >= 0; i-- {
		t.Attempts = append(t.Attempts, r.attempt(s, a.Executions[i]))
	}
	t.Outcome = outcome(t.Attempts)
	t.Gate = r.waiting(a, t)
	t.Uses = uses(a)
	t.Log = subject.EntriesOf(s.Audit, r.Locale, r.Person, func(string) string { return "" })
	return t
}

func (r Reader) begin(t *History, a *task.Aggregate) {
	if m := a.Request; m != nil {
		t.Message = Message{Text: r.prose(m.Text), By: r.Person(m.User), At: m.CreatedAt, Private: m.ChannelType == "im"}
		r.enclosed(&t.Message, a)
		t.Title, t.Created = r.Named(card.OneLine(firstLine(m.Words(r.Locale)))), m.CreatedAt
	}
	if x := a.Task; x != nil {
		t.Title, t.Description, t.Created = card.OneLine(x.Title), r.prose(x.Description), x.CreatedAt
		t.Priority = card.Priority(r.Locale, x.Priority)
	}
	if a.Answer != nil {
		t.Answer = r.prose(a.Answer.Sentence)
	}
	if c := a.Choice; c != nil {
		t.Choice = &Choice{Task: c.Beside.TaskID, Title: card.OneLine(c.Beside.Title), As: c.As, Over: c.Over || c.GateOver}
		if c.DecidedAt != nil {
			t.Choice.By, t.Choice.At = r.Person(c.DecidedBy), *c.DecidedAt
		}
	}
}

func (r Reader) end(t *History, a *task.Aggregate) {
	t.RequestNumber = a.Head.RequestNumber
	t.Changed = card.Changed(a, r.Locale, r.Person, r.prose)
	if e := a.Head.Ended; e != nil {
		t.Ended, t.EndedBy = e.At, r.Person(e.By)
		t.Ending = explain.Ended(r.Locale, e.Reason, explain.FitDetail(e.Reason, e.Detail, card.OneLine, r.Person))
	}
	if p := a.Head.Parked; p != nil {
		t.Parked = explain.Ended(r.Locale, p.Sentence, card.OneLine(p.Detail))
	}
	if until := a.Head.PausedUntil; until != nil && r.Now.Before(*until) && a.Head.Ended == nil {
		t.Waits = *until
	}
}

func firstLine(s string) string {
	const most = 120
	for i, line := 0, []rune(s); i < len(line); i++ {
		if line[i] == '\n' && i > 0 || i == most {
			return string(line[:i])
		}
	}
	return s
}
