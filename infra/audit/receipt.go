package main

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
)

// madeAction is the action of the entry by which a person made a request that an agent offered.
const madeAction = "session.request_made"

// receiptForm names the format and its version.
const receiptForm = "ringi-receipt 1"

// Receipt has everything needed to check a log, or to prove one execution or action, without access to the stack: see
// README.md.
type Receipt struct {
	Form      string       `json:"form"`
	Tenant    string       `json:"tenant_id"`
	MadeAt    time.Time    `json:"made_at"`
	PublicKey string       `json:"public_key"` // DER, in base64
	Head      *chain.Head  `json:"head"`
	Links     []chain.Link `json:"links"`
	Rows      []sealedRow  `json:"rows"`
	// Execution or Action, if set, is what the receipt proves; Links and Rows are then only those that the proof needs.
	Execution *Proof       `json:"execution,omitempty"`
	Action    *actionProof `json:"action,omitempty"`
}

type sealedRow struct {
	Key     string    `json:"key"`
	Content string    `json:"content"`
	At      time.Time `json:"at"`
}

// log is a tenant's complete audit log with its chain.
type log struct {
	tenant string
	at     time.Time // just before it was read
	public []byte    // key
	head   *chain.Head
	links  []chain.Link
	rows   []chain.Row
}

// receipt makes a receipt of the complete log.
func (l *log) receipt() Receipt {
	r := Receipt{Form: receiptForm, Tenant: l.tenant, MadeAt: l.at.UTC(),
		PublicKey: base64.StdEncoding.EncodeToString(l.public), Head: l.head, Links: l.links}
	for _, x := range l.rows {
		r.Rows = append(r.Rows, sealedRow{x.Key, string(x.Content), x.At})
	}
	return r
}

// needs reports whether the proof needs an entry: those of the task or conversation, and the entry with the
// conversation in which an agent offered the task's request.
func (r Receipt) needs(e entry) bool {
	if r.Action != nil {
		return e.Task == r.Action.Session
	}
	h := r.Execution.Request
	return e.Task == r.Execution.Task ||
		h != nil && e.Task == h.Session && e.Action == madeAction && e.madeTask == r.Execution.Task
}

// part returns the receipt with only the rows that the proof needs, and the links from the first that seals one of them
// up to the head. Rows that are not sealed yet prove nothing and are left out.
func (r Receipt) part() Receipt {
	r.Links = slices.DeleteFunc(slices.Clone(r.Links),
		func(l chain.Link) bool { return r.Head != nil && l.Seq > r.Head.Seq })
	by := map[string]int{} // index of the first link that seals a row
	for i, l := range slices.Backward(r.Links) {
		for _, e := range l.Entries {
			by[e.Key] = i
		}
	}
	first := len(r.Links)
	r.Rows = slices.DeleteFunc(slices.Clone(r.Rows), func(x sealedRow) bool {
		e, err := entryOf(x)
		link, sealed := by[x.Key]
		if err != nil || !r.needs(e) ||
			!sealed && !x.At.Before(r.MadeAt.Add(-chain.Unkept)) && !x.At.After(r.MadeAt.Add(chain.Drift)) {
			return true
		}
		if sealed {
			first = min(first, link)
		}
		return false
	})
	r.Links = r.Links[min(first, max(len(r.Links)-1, 0)):]
	return r
}

// Proof is what a receipt claims about an execution. It has the complete texts that people stamped; the stamps are in
// the receipt's audit rows.
type Proof struct {
	ID      string      `json:"id"`
	Task    string      `json:"task_id"`
	Attempt int         `json:"attempt"`
	Status  string      `json:"status"`
	Policy  stamped     `json:"policy"`
	Steps   stamped     `json:"steps"` // Text is a JSON list, byte for byte as it was stamped
	Writes  []writeCall `json:"writes"`
	// steps whose writes an earlier attempt made; the proof of that attempt has them
	Reused  []string   `json:"reused,omitempty"`
	Request *offered   `json:"offered,omitempty"`
	Gates   []stepGate `json:"gates,omitempty"` // under a rule, of steps that are none of Writes

	// Enclosed is what a request with files has beside its words, byte for byte as it was stamped: JSON.
	Enclosed string `json:"enclosed,omitempty"`
}

// offered is a request that an agent offered in a conversation, and a person made.
type offered struct {
	Session string `json:"session_id"`
	Text    string `json:"text"`
	User    string `json:"user"` // who made it
}

// stamped is a version of a policy or of steps.
type stamped struct {
	ID      string  `json:"id"`
	Version int     `json:"version"`
	Text    string  `json:"text"`
	Gate    *walked `json:"gate,omitempty"` // of steps under a rule
}

// writeCall is a call of a tool that writes.
type writeCall struct {
	Step      string `json:"step"`
	Tool      string `json:"tool"`
	Status    string `json:"status"`
	Arguments string `json:"arguments"`
	// Gated says that a person stamped these arguments. If false, they are resolved from the steps and Results, by
	// step.
	Gated   bool              `json:"gated"`
	Gate    *walked           `json:"gate,omitempty"` // of a gate under a rule
	Results map[string]string `json:"results,omitempty"`
	Expired []string          `json:"expired,omitempty"` // steps whose results are past their retention
}

// actionProof is what a receipt claims about an agent's action, with the complete payload that people stamped. A call
// that an outside agent asked for is one, whose session is the call itself. One that was granted ran elsewhere, if it
// ran: that isn't proved.
type actionProof struct {
	ID          string  `json:"id"`
	Session     string  `json:"session_id"`
	Type        string  `json:"type"`
	Status      string  `json:"status"`
	Payload     string  `json:"payload"`
	ApprovedBy  string  `json:"approved_by,omitempty"` // user or auto
	BaseVersion string  `json:"base_version,omitempty"`
	Version     string  `json:"version,omitempty"` // of the files that it left
	Gate        *walked `json:"gate,omitempty"`    // of a call under a rule
}

// stepGate is a gate under a rule of a step that made no write in the attempt: it was denied, say, or reads.
type stepGate struct {
	Step string  `json:"step"`
	Gate *walked `json:"gate"`
}

// uncalled returns the gates under a rule of those steps of an execution that are none of the writes.
func uncalled(a *task.Aggregate, e *task.Execution, steps []task.Step, writes []writeCall) (out []stepGate) {
	for _, s := range steps {
		called := slices.ContainsFunc(writes, func(w writeCall) bool { return w.Step == s.StepID })
		g := a.GateOf(e, s.Order)
		if g == nil || called {
			continue
		}
		if w := walkOf(&g.Gate, a.AskedText(g)); w != nil {
			out = append(out, stepGate{s.StepID, w})
		}
	}
	return out
}

// walked is what a receipt claims of a gate under a rule: each text byte for byte as its hash is sealed.
type walked struct {
	Asked  string   `json:"asked"`  // JSON: what is asked, the rule and the route
	Opened string   `json:"opened"` // JSON: the gate as it opened, without acts
	Acts   []string `json:"acts"`   // JSON each, the oldest first
}

// walkOf returns the claim of a gate, nil if it is under no rule or never opened. asked is the text whose hash is
// stamped.
func walkOf(g *aggregate.Gate, asked string) *walked {
	if g.Sealed() == nil {
		return nil
	}
	c := g.Circulating()
	w := &walked{Asked: asked, Opened: circulation.OpenedText(c), Acts: []string{}}
	for _, act := range c.Acts {
		w.Acts = append(w.Acts, circulation.ActText(act))
	}
	return w
}

// entry has the members of an audit row by which a receipt selects it.
type entry struct {
	Action     string `json:"action"`
	ResourceID string `json:"resource_id"`
	Task       string `json:"task_id"`
	madeTask   string // of what an agent offered
}

// entryOf reads a row's content. Its details are an object, or an object as a string.
func entryOf(x sealedRow) (entry, error) {
	var row struct {
		entry
		Details json.RawMessage `json:"details"`
	}
	if err := json.Unmarshal([]byte(x.Content), &row); err != nil {
		return entry{}, fmt.Errorf("read %s: %w", x.Key, err)
	}
	var text string
	if json.Unmarshal(row.Details, &text) == nil {
		row.Details = json.RawMessage(text)
	}
	var details struct {
		Task string `json:"task"`
	}
	_ = json.Unmarshal(row.Details, &details) // other entries may have details of another form
	row.madeTask = details.Task
	return row.entry, nil
}
