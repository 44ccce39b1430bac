package task

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
)

// Prefixes of the lists of a tenant's numbers, one for each fiscal year: of decisions and of requests.
const (
	NumbersList  = "NUMBER#"
	RequestsList = "REQUESTS#"
)

// MostNumbers is how many numbers a fiscal year has.
const MostNumbers = 999_999

// Series is the numbers of a fiscal year as they were read.
type Series struct {
	Name string // of documents, such as what a department is called; empty: of decisions or of requests
	Year int    // when it began; 0: nothing was read
	Last int    // the highest number given so far, 0 for none
	// Documents are those of the request's series in the same year, where a request needs a document's number beside
	// that of its decision, or instead.
	Documents *Series
}

// Of names the list of the series. A name may have more characters, and others, than a part of a key.
func (s Series) Of() string {
	if s.Name != "" {
		return fmt.Sprintf("%04d-%s", s.Year, aggregate.HashOf(s.Name))
	}
	return fmt.Sprintf("%04d", s.Year)
}

// Lacks returns why the series, as it was read, has no next number: ErrNumber or ErrNumbersGone; nil: it has.
func (s Series) Lacks() error {
	switch {
	case s.Year == 0:
		return ErrNumber
	case s.Last >= MostNumbers:
		return ErrNumbersGone
	}
	return nil
}

// Give returns the rows of the numbers that something lacks, the next of their series, and the numbers. as says what
// has them. It returns what a series lacks.
func (s Series) Give(lack Lack, as Numbered) (rows []aggregate.Listed, decision, document string, err error) {
	give := func(of Series) string {
		if err = cmp.Or(err, of.Lacks()); err != nil {
			return ""
		}
		x := as
		x.Series, x.Year, x.N, x.SettledAt = of.Name, of.Year, of.Last+1, lack.Settled
		rows = append(rows, aggregate.Listed{List: NumbersList, Of: of.Of(), Row: &x, Err: ErrNumber})
		return x.String()
	}
	if lack.Decision {
		decision = give(s)
	}
	switch {
	case lack.Document == "":
	case s.Documents == nil || s.Documents.Name != lack.Document:
		err = cmp.Or(err, ErrNumber)
	default:
		document = give(*s.Documents)
	}
	return rows, decision, document, err
}

// Numbered is a number and what has it: what a rule with numbered had people settle, steps that record a decision, and
// where the tenant keeps a register each agent's action and call that people stamped. It is put in the Change that
// begins the steps' first attempt, claims the action or call, or grants the call, only if it is absent, and never
// changed. The number of a document (文書番号) is one of its channel's or department's series: steps have it that people
// stamped, of a request that has a number, and actions and calls where the tenant keeps a register.
type Numbered struct {
	aggregate.Meta
	Series         string           `json:"series,omitempty"` // of a document: the name of its series
	Year           int              `json:"year"`             // the fiscal year of the settlement
	N              int              `json:"n"`                // from 1
	TaskID         string           `json:"task_id,omitempty"`
	ProcessID      string           `json:"process_id,omitempty"`
	ProcessVersion int              `json:"process_version,omitempty"`
	SessionID      string           `json:"session_id,omitempty"` // of an action's conversation
	ActionID       string           `json:"action_id,omitempty"`
	GateKey        string           `json:"gate_key"` // of the row that people settled
	Rule           circulation.Rule `json:"rule"`     // empty: a decision without one
	Round          int              `json:"round"`    // 1, or one more for each version that was sent back
	SettledAt      time.Time        `json:"settled_at"`
	BegunAt        time.Time        `json:"begun_at"`
}

// NumberKey returns the key of a number in its series.
func NumberKey(n int) string { return fmt.Sprintf("%06d", n) }

func (x *Numbered) Key() string { return NumberKey(x.N) }

func (*Numbered) Type() string { return "number" }

func (x Numbered) At(rev int) aggregate.Row { x.Rev = rev; return &x }

// String returns the number as people write it, such as 2026-000123, that of a document such as 総務部-2026-0012.
func (x *Numbered) String() string {
	if x.Series != "" {
		return fmt.Sprintf("%s-%04d-%04d", x.Series, x.Year, x.N)
	}
	return fmt.Sprintf("%04d-%06d", x.Year, x.N)
}

// ParseNumber returns the row of a number as people write it, such as 2026-000123 or 総務部-2026-0012, its digits also in
// full width as Japanese input methods leave them; ok is false for any other text.
func ParseNumber(text string) (x Numbered, ok bool) {
	text = strings.TrimSpace(text)
	number := []rune(strings.Map(halfWidth, text)) // as many as in text
	if parts := strings.Split(string(number), "-"); len(parts) > 2 {
		digits := len([]rune(strings.Join(parts[len(parts)-2:], "-")))
		x.Series, number = string([]rune(text)[:len(number)-digits-1]), number[len(number)-digits:]
		text = x.Series + "-" + string(number)
	} else {
		text = string(number)
	}
	if _, err := fmt.Sscanf(string(number), "%4d-%6d", &x.Year, &x.N); err != nil || x.N < 1 || x.String() != text {
		return Numbered{}, false
	}
	return x, true
}

// halfWidth returns an ASCII digit for a full-width one, and a hyphen for what input methods make of it.
func halfWidth(r rune) rune {
	switch {
	case '０' <= r && r <= '９':
		return r - '０' + '0'
	case strings.ContainsRune("－ー−‐–", r):
		return '-'
	}
	return r
}

// Lack is which numbers something gets when it begins.
type Lack struct {
	Settled  time.Time // when what it carries out was settled: the day says of which fiscal year they are
	Decision bool      // one of decisions
	Document string    // one of the documents of this series; empty: none
}

// LackOf returns which numbers an action or a call gets when it begins, by the gate at which people settled it, beside
// those that it has.
func LackOf(g *aggregate.Gate, decision, document string) (lack Lack, lacks bool) {
	if g.ApprovedAt == nil || g.ApprovedBy == "" {
		return lack, false
	}
	numbered := g.Terms.Registered || g.Terms.Rule != nil && g.Terms.Rule.Numbered // a request has a number of its own
	lack.Settled, lack.Decision = *g.ApprovedAt, decision == "" && numbered
	if document == "" && g.Terms.Registered {
		if lack.Document = g.Terms.Series; lack.Document == "" && g.Seen != nil {
			lack.Document = g.Seen.Department
		}
		lack.Document = cmp.Or(lack.Document, wholeCompany.In(g.Terms.Locale))
	}
	return lack, lack.Decision || lack.Document != ""
}

// WithNumbers returns what an audit entry says of something with its numbers.
func WithNumbers(details map[string]any, decision, document string) map[string]any {
	details = maps.Clone(details)
	for key, number := range map[string]string{"number": decision, "document": document} {
		if number != "" {
			details[key] = number
		}
	}
	return details
}

// Unnumbered reports whether the pending execution gets numbers when it begins, and which.
func (a *Aggregate) Unnumbered() (Lack, bool) {
	row, lack := a.unnumbered()
	if row == nil {
		return Lack{}, false
	}
	lack.Settled = *row.gate().ApprovedAt
	return lack, true
}

// unnumbered returns the gate that says of which year the numbers of the pending execution are, or nil if it gets none.
func (a *Aggregate) unnumbered() (by Gated, lack Lack) {
	e := a.Execution()
	if e == nil || e.Status != ExecutionPending {
		return nil, Lack{}
	}
	if row := a.stampedBy(e); row != nil && e.Document == "" && a.Head.Series != "" {
		by, lack.Document = row, a.Head.Series
	}
	if row := a.numberedBy(e); row != nil && e.Number == "" {
		by, lack.Decision = row, true
	}
	return by, lack
}

// numberedBy returns the settled gate by which an attempt's steps get a number, or nil if they get none.
func (a *Aggregate) numberedBy(e *Execution) Gated {
	p := a.ProcessOf(e)
	if (p.Terms.Rule != nil && p.Terms.Rule.Numbered || records(p.Steps)) && p.ApprovedAt != nil {
		return p
	}
	return nil
}

// stampedBy returns the gate at which a person settled an attempt's steps, or else their policy; nil: nobody was asked.
func (a *Aggregate) stampedBy(e *Execution) Gated {
	rows := []Gated{a.ProcessOf(e)}
	if p := a.Prompt(); p != nil {
		rows = append(rows, p)
	}
	for _, row := range rows {
		if g := row.gate(); g.ApprovedAt != nil && g.ApprovedBy != "" {
			return row
		}
	}
	return nil
}

// number gives an execution that begins the numbers that it lacks, the next of their series; without them c fails with
// what a series lacks.
func (c *change) number(e *Execution, of Series) {
	row, lack := c.of.unnumbered()
	if row == nil {
		return
	}
	lack.Settled = *row.gate().ApprovedAt
	x := Numbered{TaskID: c.Head.TaskID, ProcessID: e.ProcessID, ProcessVersion: e.ProcessVersion, GateKey: row.Key(),
		Round: c.of.round(e.ProcessVersion), BegunAt: c.Now}
	if rule := row.gate().Terms.Rule; rule != nil {
		x.Rule = *rule
	}
	rows, decision, document, err := of.Give(lack, x)
	if err != nil {
		c.Fail(err)
		return
	}
	c.Beside = append(c.Beside, rows...)
	c.RelyOn(row)
	e.Number, e.Document = cmp.Or(e.Number, decision), cmp.Or(e.Document, document)
	c.Head.Number, c.Head.Document = cmp.Or(decision, c.Head.Number), cmp.Or(document, c.Head.Document)
}

// roundOf returns which round of the steps a gate is about, 0 of a policy's.
func (a *Aggregate) roundOf(row Gated) int {
	switch row := row.(type) {
	case *Process:
		return a.round(row.Version)
	case *StepGate:
		return a.round(row.ProcessVersion)
	}
	return 0
}

// round returns which round of the steps a version is: 1, or one more for each version before that was sent or given
// back.
func (a *Aggregate) round(version int) int {
	n := 1
	for _, p := range a.Processes {
		if p.Version >= version || !p.Gate.Ruled() {
			continue
		}
		if st := circulation.Walk(p.Gate.Circulating()); st.Ended().Returns() {
			n++
		}
	}
	return n
}

// NumberOf returns the number that the steps of a version have, or "".
func (a *Aggregate) NumberOf(process int) (number string) {
	for _, e := range a.Executions {
		if e.ProcessVersion == process && e.Number != "" {
			number = e.Number
		}
	}
	return number
}

// Decided returns the keys of the gates of steps that began to run, and have the number of their decision if they get
// one, and of those on which people settled a step of them.
func (a *Aggregate) Decided() (keys []string) {
	for _, e := range a.Executions {
		if e.StartedAt != nil {
			keys = append(keys, ProcessKey(e.ProcessVersion))
		}
	}
	for _, g := range a.Gates {
		keys = append(keys, g.Key())
	}
	return keys
}

// about returns what an audit entry says of an attempt, with the numbers that it has.
func (e *Execution) about() map[string]any {
	return WithNumbers(map[string]any{"attempt": e.Attempt}, e.Number, e.Document)
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

var (
	// ErrMaxAttempts: the process was already tried MaxAttempts times.
	ErrMaxAttempts = errors.New("no more attempts")
	// ErrMaxRetries: the generation was already retried MaxRetries times.
	ErrMaxRetries = errors.New("no more retries")
	// ErrNumber: the execution can't begin without the next number of its year, which must be read; then decide again.
	ErrNumber = errors.New("its number isn't known, or is taken by now")
	// ErrNumbersGone: all MostNumbers of the fiscal year are given, so that no other try helps.
	ErrNumbersGone = errors.New("all numbers of the fiscal year are given")
	// ErrNothingToRetry: there is neither a failed execution nor a parked generation.
	ErrNothingToRetry = errors.New("nothing to try again")
)
