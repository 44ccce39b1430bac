package subject

import (
	"cmp"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// Reader is the person for whom a history is formatted.
type Reader struct {
	web.Reader // its Person names "" the system
	Now        time.Time
}

// Value is an opened value, unless its retention is over.
type Value struct {
	JSON    []byte
	Expired bool
}

// Source is what a history is made from.
type Source struct {
	Task   *task.Aggregate  // including the complete arguments of the waiting gate
	Opened map[string]Value // results and arguments stored in the bucket, by their keys there
}

// History is a task from its message to its end.
type History struct {
	Title, Description string
	Status             task.Status
	Held               bool // it could not be drafted, since nobody may approve it
	Moves              bool // it may change without anybody acting
	Priority           string
	Created, Ended     time.Time
	Message            Message
	Answer             string   // a plain reply instead of a task
	Ending, EndedBy    string   // how it ended, in a sentence, and by whom
	Rejected           *Verdict // the rejection that ended it
	Parked             string   // why a generation failed, in a sentence
	Waits              time.Time
	Policies, Plans    []Version // the newest first
	Attempts           []Attempt // the newest first
	Total              aggregate.Usage
	Gate               *Gate          // what waits for a decision
	Along              *web.GateRoute // of what waits, or else of the newest steps
}

// News reports whether something came of the request.
func (t History) News() bool {
	return t.Outcome() != nil || !t.Waits.IsZero() ||
		t.Answer+t.Ending+t.Parked != ""
}

// Called is what a version is called: steps made of a form are its decision, whose first version has no number.
func (t History) Called(words web.Texts, kind aggregate.CardType, version int) string {
	if !t.Message.Kept || kind != task.CardProcess {
		return fmt.Sprintf("%s v%d", words.In("kind", kind), version)
	}
	return strings.TrimSuffix(fmt.Sprintf("%s v%d", words.Say("decision"), version), " v1")
}

// arrange says where on the page what waits stands, or else the newest steps.
func (t *History) arrange() {
	all, of := t.Plans, task.CardProcess
	if t.Gate != nil {
		t.Along = t.Gate.Route
		if of = t.Gate.Kind; of == task.CardPrompt {
			all = t.Policies
		}
	}
	if len(all) == 0 || of != all[0].Of {
		return
	}
	newest := &all[0]
	if newest.Top, newest.Beside = t.Gate != nil || len(t.Attempts) == 0, true; t.Gate == nil {
		t.Along = newest.Route
	}
}

// Recorded reports whether the request is a form that was decided: recording it was all that ran.
func (t History) Recorded() bool { return t.Message.Kept && t.Status == task.StatusDone }

// Outcome is the latest execution once something came of it: the page begins with that. It is nil while it goes on.
func (t History) Outcome() *Attempt {
	if len(t.Attempts) == 0 || t.Attempts[0].Summary+t.Attempts[0].Error == "" && len(t.Attempts[0].Made()) == 0 {
		return nil
	}
	return &t.Attempts[0]
}

// Message is the original request.
type Message struct {
	Text, By string
	At       time.Time
	Private  bool // a direct message
	// Forwarded are the messages that it forwards, and Files its files.
	Forwarded []web.Quoted
	Thread    string // what was read of the thread before it
	Files     []File
	MoreFiles int  // that are not read
	Kept      bool // no model reads them
}

// History builds a task's history from its rows.
func (r Reader) History(s Source) History {
	a := s.Task
	t := History{Status: a.Head.Noted, Held: a.Head.Undecidable()}
	if used := a.Used(); used != nil {
		t.Total = *used
	}
	t.Moves = a.Head.Ended == nil || a.OpenSession() != nil
	r.begin(&t, a)
	t.Policies = r.policies(a)
	t.Plans = r.plans(a)
	for i := len(a.Executions) - 1; i >= 0; i-- {
		t.Attempts = append(t.Attempts, r.attempt(s, a.Executions[i]))
	}
	r.end(&t, a)
	if t.Gate = r.waiting(a); t.Gate == nil && t.Status == task.StatusWaits {
		t.Status = task.StatusDrafting // the next version has not begun
	}
	t.arrange()
	return t
}

func (r Reader) begin(t *History, a *task.Aggregate) {
	if m := a.Request; m != nil {
		t.Message = Message{Text: r.prose(m.Text), By: r.Person(m.User), At: m.CreatedAt, Private: m.ChannelType == "im"}
		r.enclosed(&t.Message, a)
		line, _, _ := strings.Cut(strings.TrimSpace(m.Words(r.Locale)), "\n")
		t.Title, t.Created = r.Named(language.ForeignLine(language.Beginning(line, mostText)), r.Person), m.CreatedAt
	}
	if x := a.Task; x != nil {
		t.Title, t.Description, t.Created = language.ForeignLine(x.Title), r.prose(x.Description), x.CreatedAt
		if said := t.Message.Text; a.Matter() != nil || said != "" && strings.Contains(t.Description, said) {
			t.Description = "" // it says no more than the message, or stands in what is decided
		}
		t.Priority = card.Priority(r.Locale, x.Priority)
	}
	if a.Answer != nil {
		t.Answer = r.prose(a.Answer.Sentence)
	}
}

func (r Reader) end(t *History, a *task.Aggregate) {
	if e := a.Head.Ended; e != nil {
		t.Ended, t.EndedBy, t.Status = e.At, r.Person(e.By), t.Status.Called(e.Reason)
		if n := len(a.Executions); n > 0 && a.Executions[n-1].Error == e.Reason {
			t.Ending = t.Attempts[0].Error // which knows the step
		} else {
			detail := explain.FitDetail(e.Reason, e.Detail, language.ForeignLine, r.Person)
			t.Ending = explain.Ended(r.Locale, e.Reason, detail, explain.RetryOf(a))
		}
		if last := a.RejectedLast(); last != nil {
			t.Rejected = &Verdict{By: r.Person(last.RejectedBy), Reason: r.prose(last.RejectionReason), At: *last.RejectedAt}
		}
	}
	if p := a.Head.Parked; p != nil {
		t.Parked = explain.Ended(r.Locale, p.Sentence, language.ForeignLine(p.Detail), explain.RetryOf(a))
	}
	if until := a.Head.PausedUntil; until != nil && r.Now.Before(*until) && a.Head.Ended == nil {
		t.Waits = *until
	}
}

// File is a file of the request, and what was read of it.
type File struct {
	Name, Size, SHA256 string
	Shown, All         int    // characters that models are shown
	Why                string // why it was not read, or what its text doesn't show
	Read, Waits        bool
	Path               string // where it can be opened; empty: it is not attached
	View               bool   // browsers show it by themselves
	Left               string // why it is not attached
}

// enclosed adds what the request forwards and attaches.
func (r Reader) enclosed(m *Message, a *task.Aggregate) {
	m.Kept, m.Thread = a.Matter() != nil, card.Thread(a.Request.Thread, r.Locale)
	m.Forwarded = web.Each(a.Request.Forwarded, r.Quoted)
	if m.MoreFiles = a.Request.MoreFiles; a.Read() == nil {
		for _, f := range a.Listed() {
			m.Files = append(m.Files, File{Name: language.ForeignLine(cmp.Or(f.Name, f.ID)), Size: explain.Size(f.Bytes),
				Waits: true})
		}
		return
	}
	m.Files = r.files(a, a.Read().Files)
}

// files draws what was read of a version's files.
func (r Reader) files(a *task.Aggregate, read []task.ReadFile) (out []File) {
	for _, f := range read {
		row := File{Name: language.ForeignLine(cmp.Or(f.Name, f.ID)), Size: explain.Size(f.Bytes), SHA256: f.SHA256,
			Shown: f.Shown, All: f.Characters, Read: f.Why == ""}
		if row.Left = explain.NotAttached(r.Locale, f); row.Left == "" && a.Task != nil {
			row.Path, row.View = "/console/tasks/"+a.Head.TaskID+"/files/"+f.SHA256, f.Kind.Previewed()
		}
		if !row.Read {
			row.Why = explain.UnreadFile(r.Locale, f.Why)
		}
		for _, remark := range f.Remarks {
			row.Why = strings.TrimSpace(row.Why + " " + explain.FileRemark(r.Locale, remark))
		}
		out = append(out, row)
	}
	return out
}

// prose is card.Prose with the names of people and channels.
func (r Reader) prose(s string) string { return r.Named(card.Prose(s), r.Person) }

// along returns where one of the task's gates stands along its route, nil for one without a rule. Each version of the
// steps that was sent back makes the next one another round.
func (r Reader) along(a *task.Aggregate, g *aggregate.Gate) *web.GateRoute {
	by := r.Reader
	out := by.Route(g, a.Head.Ended != nil)
	if out == nil {
		return nil
	}
	for i, p := range a.Processes {
		if &p.Gate == g {
			out.Number = a.NumberOf(p.Version)
			by.After(out, g, explain.RoundsOf(a.Processes[:i+1]))
		}
	}
	return out
}

// Key names a step's row in an address.
func Key(process, attempt, order int) string { return fmt.Sprintf("%d-%d-%d", process, attempt, order) }

// A page shows at most mostSteps steps, of executions and then of plans, and mostShown bytes of arguments and results.
// The newest come first, and the newest of all is always shown. The rest is a link away: its address names what to show
// besides. What waits for a decision is drawn whole.
const (
	mostSteps = 60
	mostShown = 24 << 10
)

// Names of a page's parts: of elements, and in the address that asks for one.
func (a Attempt) Name() string { return fmt.Sprintf("run-%d-%d", a.Version, a.Number) }
func (s Run) name() string     { return "step-" + s.Key }

// lighten leaves out what the page has no room for, but for the part that the address asks for.
func (t *History) lighten(show string) {
	steps, left := mostSteps, mostShown
	for i := range t.Attempts {
		a := &t.Attempts[i]
		within := false // the part is a step of this attempt
		for j := range a.Steps {
			s := &a.Steps[j]
			within = within || s.name() == show
			weight := s.weight()
			if left -= weight; left < 0 && weight > 0 && s.name() != show {
				s.Call = Call{Effect: web.Effect{Sentence: s.Effect.Sentence}}
				s.Result, s.Folded = nil, true
			}
		}
		if steps -= len(a.Steps); steps < 0 && i > 0 && a.Name() != show && !within {
			a.Steps, a.Folded = nil, true
		}
	}
	for i := range t.Plans {
		p := &t.Plans[i]
		waits := t.Gate != nil && t.Gate.Kind == task.CardProcess // so it does after attempts if it is asked again
		newest := i == 0 && (waits || len(t.Attempts) == 0)
		if steps -= len(p.Steps); steps < 0 && !newest && p.Key != show {
			p.Steps, p.Sum, p.Changes, p.Folded = nil, nil, nil, true
		}
	}
}

// weight estimates the bytes of a step's arguments and result on the page, by those of their JSON.
func (s Run) weight() int {
	const markup, nothing = 3, len(`[null,null,"",null,""]`) // a page has so many times more
	all := []any{s.Effect.Rest, s.Effect.Text, s.Preview}
	if s.Result != nil {
		all = append(all, s.Result.Values, s.Result.Preview)
	}
	b, err := json.Marshal(all)
	if err != nil { // such values can be written
		return mostShown
	}
	return markup * max(0, len(b)-nothing)
}
