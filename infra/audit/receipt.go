package main

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"ringi/shared/domain/chain"
	"ringi/shared/domain/circulation"
	"ringi/shared/store/seal"
)

// receiptForm names the format and its version.
const receiptForm = "ringi-receipt 1"

// Receipt has everything needed to check a log, or to prove one execution or action, without access to the stack: see
// README.md.
type Receipt struct {
	Form      string       `json:"form"`
	Tenant    string       `json:"tenant_id"`
	MadeAt    time.Time    `json:"made_at"`
	PublicKey string       `json:"public_key"`             // DER, in base64
	Earlier   []string     `json:"earlier_keys,omitempty"` // of keys that this one replaced, the oldest first
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
	public [][]byte  // replaced keys first, the present key last
	head   *chain.Head
	links  []chain.Link
	rows   []chain.Row
}

// receipt makes a receipt of the complete log.
func (l *log) receipt() Receipt {
	r := Receipt{Form: receiptForm, Tenant: l.tenant, MadeAt: l.at.UTC(), Head: l.head, Links: l.links}
	for _, public := range l.public {
		r.Earlier = append(r.Earlier, base64.StdEncoding.EncodeToString(public))
	}
	last := len(r.Earlier) - 1
	r.PublicKey, r.Earlier = r.Earlier[last], r.Earlier[:last]
	for _, x := range l.rows {
		r.Rows = append(r.Rows, sealedRow{x.Key, string(x.Content), x.At})
	}
	return r
}

// proves reports whether the receipt is of one execution or action rather than of the complete log.
func (r Receipt) proves() bool { return r.Execution != nil || r.Action != nil }

// needs reports whether the proof needs an entry: those of the task or conversation, and the entry with the
// conversation in which an agent made the task's request.
func (r Receipt) needs(e entry) bool {
	if r.Action != nil {
		return e.Task == r.Action.Session
	}
	h := r.Execution.Request
	return e.Task == r.Execution.Task ||
		h != nil && e.Task == h.Session && e.Action == handOverAction && e.details.Task == r.Execution.Task
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

// publicKeys returns the keys of a receipt in DER, the present one last.
func (r Receipt) publicKeys() (all [][]byte, err error) {
	for _, text := range append(slices.Clone(r.Earlier), r.PublicKey) {
		public, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			return nil, fmt.Errorf("read a public key: %w", err)
		}
		all = append(all, public)
	}
	return all, nil
}

// fingerprints returns those of publicKeys.
func (r Receipt) fingerprints() (all []string, err error) {
	keys, err := r.publicKeys()
	for _, public := range keys {
		all = append(all, fingerprint(public))
	}
	return all, err
}

func fingerprint(public []byte) string { return fmt.Sprintf("%x", sha256.Sum256(public)) }

// check compares a receipt's rows with its chain.
func (r Receipt) check() (chain.Report, error) {
	if r.Form != receiptForm {
		return chain.Report{}, fmt.Errorf("form %.40q is not %q", r.Form, receiptForm)
	}
	all, err := r.publicKeys()
	if err != nil {
		return chain.Report{}, err
	}
	var keys chain.Keys
	for _, public := range all {
		signed, err := seal.Check(public)
		if err != nil {
			return chain.Report{}, err
		}
		keys = append(keys, signed)
	}
	var rows []chain.Row
	for _, x := range r.Rows {
		rows = append(rows, chain.Row{Key: x.Key, Content: []byte(x.Content), At: x.At})
	}
	if r.proves() {
		return chain.VerifyPart(r.Tenant, r.Head, r.Links, rows, keys), nil
	}
	return chain.Verify(r.Tenant, r.Head, r.Links, rows, keys, r.MadeAt), nil
}

// entry has the members of an audit row that proofs need.
type entry struct {
	Key        string `json:"-"`
	Action     string `json:"action"`
	ActorType  string `json:"actor_type"`
	ActorID    string `json:"actor_id"`
	ResourceID string `json:"resource_id"`
	Task       string `json:"task_id"`
	Timestamp  string `json:"timestamp"`
	details    details
}

type details struct {
	Version       json.RawMessage     `json:"version"` // of a policy or of steps a number, of files a text
	Hash          string              `json:"hash"`
	Enclosed      string              `json:"enclosed"`
	Step          string              `json:"step"`
	ArgumentsHash string              `json:"arguments_hash"`
	Attempt       int                 `json:"attempt"`
	Number        string              `json:"number"`
	Document      string              `json:"document"`
	RequestNumber string              `json:"request_number"`
	Writes        map[string]string   `json:"writes"`
	Ends          map[string][]string `json:"ends"` // steps by status
	Reused        []string            `json:"reused"`
	HandedOver    struct {
		Session string `json:"session_id"`
	} `json:"handed_over"` // empty: no agent made the request
	PickedBy    string          `json:"picked_by"`
	Policy      string          `json:"policy"` // by which steps were made: its id
	PolicyHash  string          `json:"policy_hash"`
	EditedBy    string          `json:"edited_by"`
	Was         string          `json:"was"`
	Status      string          `json:"status"`
	Team        string          `json:"team"`
	Task        string          `json:"task"`
	AskedBy     string          `json:"asked_by"`
	Type        string          `json:"type"`
	Rule        json.RawMessage `json:"rule"` // a text: it let the action go unasked; an object: it chose the route
	Asked       string          `json:"asked"`
	RouteHash   string          `json:"route_hash"`
	ActsHash    string          `json:"acts_hash"`
	Stage       int             `json:"stage"`
	Stamps      int             `json:"stamps"`
	BaseVersion string          `json:"base_version"`
	Commands    string          `json:"commands"`
	// Gates, by key, are those at which people were asked about an execution; Gate is that of an action.
	Gates map[string]sealedGate `json:"gates"`
	Gate  sealedGate            `json:"gate"`
}

// sealedGate is what the entry of an end says of a gate. Without hashes it is under no rule.
type sealedGate struct {
	Step      string `json:"step"` // of a step's gate
	RouteHash string `json:"route_hash"`
	ActsHash  string `json:"acts_hash"`
}

// unasked returns the rule that let an action go without a person, or "".
func (d details) unasked() (rule string) {
	_ = json.Unmarshal(d.Rule, &rule) // the rule of a route is an object
	return rule
}

// rule returns the rule that chose a gate's route.
func (d details) rule() (rule circulation.Rule) {
	_ = json.Unmarshal(d.Rule, &rule)
	return rule
}

// number returns the version of a policy or of steps; 0 if there is none.
func (d details) number() (n int) {
	_ = json.Unmarshal(d.Version, &n) // a version of files is not a number
	return n
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
	e := row.entry
	e.Key = x.Key
	var text string
	if json.Unmarshal(row.Details, &text) == nil {
		row.Details = json.RawMessage(text)
	}
	if len(row.Details) > 0 {
		// Entries that no proof needs may have details of another form.
		_ = json.Unmarshal(row.Details, &e.details)
	}
	return e, nil
}

// numbered compares the numbers of the decision and of the document with the entries of the attempt's beginning and
// end. What a numbered rule settled has one once it began to run.
func (p *executed) numbered() {
	begun := p.all("execution.started", p.ID)
	p.numbersIn(append(begun, *p.end), p.Number, p.Document)
	p.wrongIf(p.Document == "" && len(begun) > 0 && p.documented(), "people stamped a request that has a number, and its "+
		"document has none")
	p.wrongIf(p.Number == "" && (len(begun) > 0 || len(p.Writes) > 0) && p.Steps.Gate.numbers(),
		"its rule gives numbers, and it has none")
}

// numbersIn compares the numbers of the decision and of the document with entries, and says them.
func (p *proving) numbersIn(entries []entry, decision, document string) {
	for _, e := range entries {
		p.wrongIf(e.details.Number != decision, "the number is said to be %q, the entry %s says %q", decision, e.Action,
			e.details.Number)
		p.wrongIf(e.details.Document != document, "the document's number is said to be %q, the entry %s says %q", document,
			e.Action, e.details.Document)
	}
	if document != "" {
		p.say("document number %s", document)
	}
	if decision != "" {
		p.say("decision number %s", decision)
	}
}

// numbered compares the numbers with the entries of the action's last start, or of its grant, and of the end that
// follows. What a numbered rule settled has one once it was started or granted.
func (p *acting) numbered() {
	begun := append(p.all("action.started", p.ID), p.all("action.granted", p.ID)...)
	entries := begun[max(0, len(begun)-1):]
	if len(begun) > 0 {
		entries = append(append(entries, p.all("action.completed", p.ID)...), p.all("action.failed", p.ID)...)
	}
	p.numbersIn(entries, p.Number, p.Document)
	p.wrongIf(p.Number == "" && len(begun) > 0 && p.Gate.numbers(), "its rule gives numbers, and it has none")
	p.wrongIf(p.Number+p.Document != "" && len(begun) == 0,
		"it is said to have a number, and no entry says that it was started")
}

// documented reports whether the execution's document has a number: the request has one, and people settled its steps
// or its policy.
func (p *executed) documented() bool {
	stamps := slices.Concat(p.all("process.approved", p.Steps.ID), p.all("prompt.approved", p.Policy.ID))
	return slices.ContainsFunc(stamps, func(e entry) bool { return e.ActorID != "" }) &&
		slices.ContainsFunc(p.entries, func(e entry) bool { return e.Task == p.about && e.details.RequestNumber != "" })
}

// numbers reports whether what the gate's rule has people settle gets a number.
func (w *walked) numbers() bool {
	var gate circulation.Gate
	return w != nil && json.Unmarshal([]byte(w.Opened), &gate) == nil && gate.Rule != nil && gate.Rule.Numbered
}
