package stories

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"math/rand/v2"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/oklog/ulid/v2"

	"ringi/infra/local/lambda"
)

// point is a moment of a play at which one process is killed.
type point struct {
	function string
	kind     string
	ordinal  int // counts the calls of its function and kind, from 1
	kill     lambda.Moment
}

func (p point) String() string {
	when := "before"
	if p.kill == lambda.After {
		when = "after"
	}
	return fmt.Sprintf("%s %s %s #%d", p.function, when, p.kind, p.ordinal)
}

func (p point) moment() string { return fmt.Sprintf("%s %s #%d", p.function, p.kind, p.ordinal) }

// starting reports whether the point comes before a process asks for its first event.
func (p point) starting() bool {
	return p.kind == lambda.KindInit || strings.HasPrefix(p.kind, "secretsmanager.")
}

// sort is the kind of call of which a sample needs one each: AWS's operations, and the others' methods.
func (p point) sort() string {
	kind, path, _ := strings.Cut(p.kind, " ")
	if from, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/"); from != "" {
		kind += " " + from
	}
	return fmt.Sprintf("%s %d", kind, p.kill)
}

// moment is a point without kill, and the invocation that reached it.
type moment struct {
	point
	invocation string // empty while a process starts
}

// trace records the calls of one play's processes, and has the faults for them.
type trace struct {
	mu         sync.Mutex
	counts     map[string]int // moments by function and kind
	order      []moment       // the same in order
	left       map[string]int // calls that were sent, by function and kind
	kills      []point        // still to come
	died       []point
	refuse     map[string]http.Handler  // answers calls of this kind
	hold       map[string]chan struct{} // calls of this kind, or at this moment, wait until it is closed
	held       map[string]chan struct{} // waiting calls, by event, and by invocation and body: later tries wait, too
	freeze     map[string]lambda.Fault  // processes hang at this moment; their timeout is that much later
	instead    map[string]http.Handler  // answers at this moment instead of the service
	dying      func(lambda.Call)        // may be nil
	recorded   bool                     // all points are to be known, so every function begins with a new process
	warm       map[string]bool          // functions that need no new process (any more)
	throttle   []string                 // functions that Lambda refuses to run
	throttled  map[string]int           // how often it did
	unattended bool                     // the relay gets no records: the sweeper has to do everything
	machine    bool                     // what dies is all that runs
	late       *rand.Rand               // draws what is delivered twice, late or shuffled; nil: nothing is
	disturbed  int                      // how often it drew
	failing    *failing                 // draws which calls of AWS and Slack fail; nil: none do
	lag        *lag                     // answers queries of an index; nil: the table does
}

func newTrace() *trace {
	return &trace{counts: map[string]int{}, left: map[string]int{}, refuse: map[string]http.Handler{},
		hold: map[string]chan struct{}{}, held: map[string]chan struct{}{}, freeze: map[string]lambda.Fault{},
		instead: map[string]http.Handler{}, warm: map[string]bool{}, throttled: map[string]int{}}
}

// killing has processes die at these points.
func killing(points ...point) func(*trace) {
	return func(t *trace) { t.kills = slices.Clone(points) }
}

// cold gives a function's first invocation a new process if one is to be killed, or if all points are recorded: a
// process doesn't ask Slack again what it knows.
func (t *trace) cold(function string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.warm[function] {
		return false
	}
	t.warm[function] = true
	return t.recorded || slices.ContainsFunc(t.kills, func(p point) bool { return p.function == function })
}

func (t *trace) meet(c lambda.Call) lambda.Fault {
	t.mu.Lock()
	key := c.Function + " " + c.Kind
	again := c.RequestID + key + string(c.Body)
	if held, ok := t.held[again]; ok {
		t.mu.Unlock()
		<-held
		return lambda.Fault{}
	}
	if held, ok := t.held[string(c.Event)+key]; ok { // what is done instead, once such a call was given up
		t.mu.Unlock()
		<-held
		t.mu.Lock()
	}
	t.counts[key]++
	here := point{function: c.Function, kind: c.Kind, ordinal: t.counts[key]}
	t.order = append(t.order, moment{here, c.RequestID})
	fault := t.freeze[here.moment()]
	fault.Instead = t.instead[here.moment()]
	for i, k := range t.kills {
		if k.function == here.function && k.kind == here.kind && k.ordinal == here.ordinal {
			fault.Kill = k.kill
			t.kills, t.died = slices.Delete(t.kills, i, i+1), append(t.died, k)
			break
		}
	}
	refused := t.refuse[c.Kind]
	answer, made := t.failing.answers(c)
	switch {
	case fault.Instead != nil:
	case answer != nil:
		fault.Instead = answer
	case t.lag != nil && c.Kind == "DynamoDB.Query":
		fault.Instead = t.lag
	}
	if fault.Kill != lambda.Before && refused == nil && made {
		t.left[key]++
	}
	if refused != nil {
		fault.Instead = refused
	}
	held := t.hold[c.Kind]
	if at, ok := t.hold[here.moment()]; ok {
		held = at
		t.held[again], t.held[string(c.Event)+key] = at, at
	}
	t.mu.Unlock()
	if held != nil && fault.Kill != lambda.Before {
		<-held
	}
	return fault
}

// holds makes calls of a kind, or at one moment, wait until release is called.
func (t *trace) holds(kind string) (release func()) {
	held := make(chan struct{})
	t.mu.Lock()
	t.hold[kind] = held
	t.mu.Unlock()
	return sync.OnceFunc(func() {
		t.mu.Lock()
		delete(t.hold, kind)
		t.mu.Unlock()
		close(held)
	})
}

// answers makes h answer the call at a moment.
func (t *trace) answers(at point, h http.Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.instead[at.moment()] = h
}

// freezes makes the process that reaches a moment hang until its timeout or until end is called.
func (t *trace) freezes(at point, left time.Duration) (end func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	over := make(chan struct{})
	t.freeze[at.moment()] = lambda.Fault{Freeze: left, Over: over}
	return sync.OnceFunc(func() { close(over) })
}

// answersAll makes h answer calls of a kind; nil sends them again.
func (t *trace) answersAll(kind string, h http.Handler) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.refuse[kind] = h; h == nil {
		delete(t.refuse, kind)
	}
}

// refuses answers calls of a kind with a status instead of sending them; 0 sends them again.
func (t *trace) refuses(kind string, status int) {
	if status == 0 {
		t.answersAll(kind, nil)
		return
	}
	t.answersAll(kind, http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		http.Error(w, `{"message":"refused"}`, status)
	}))
}

// met counts how often a moment was reached.
func (t *trace) met(function, kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.counts[function+" "+kind]
}

// made counts the calls of a kind that the function sent and that were not refused.
func (t *trace) made(function, kind string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.left[function+" "+kind]
}

// throttles makes Lambda refuse to run exactly these functions.
func (t *trace) throttles(functions ...string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.throttle = functions
}

func (t *trace) busy(function string) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !slices.Contains(t.throttle, function) {
		return false
	}
	t.throttled[function]++
	return true
}

// refusals counts how often Lambda refused to run a function.
func (t *trace) refusals(function string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.throttled[function]
}

// sent counts the calls that were sent, by function and kind.
func (t *trace) sent() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.left)
}

func (t *trace) dead() []point {
	t.mu.Lock()
	defer t.mu.Unlock()
	return slices.Clone(t.died)
}

// points returns the moments so far at which a kill could matter. A kill after a read equals one before the next call,
// since nobody saw the answer; so of consecutive reads only one is tried.
func (t *trace) points() []point {
	t.mu.Lock()
	defer t.mu.Unlock()
	var out []point
	read := map[string]bool{} // by invocation: the last call was a read
	for _, m := range t.order {
		p := m.point
		if p.function == sealer {
			continue
		}
		p.kill = lambda.Before
		if m.invocation == "" {
			if p.starting() && p.ordinal == 1 { // later starts happen by chance
				out = append(out, p)
			}
			continue
		}
		again := read[m.invocation]
		read[m.invocation] = reads(p.kind)
		switch {
		case read[m.invocation] && again:
		case read[m.invocation], p.kind == lambda.KindStart, p.kind == lambda.KindAnswer:
			out = append(out, p)
		default:
			out = append(out, p)
			p.kill = lambda.After
			out = append(out, p)
		}
	}
	return out
}

// injector sees every call of every function and finds its play: by the mark in the request's text, by the task's
// id, or by the invocation's earlier calls.
type injector struct {
	mu     sync.Mutex
	traces map[string]*trace // by mark
	marks  map[string]string // by task id, and by task token
	last   map[string]string // mark by request id
}

var (
	markForm = regexp.MustCompile(`C0FAULT[0-9]{5}`)
	taskForm = regexp.MustCompile(`TASK#[0-9A-Z]{26}#([0-9A-Z]{26})`)
	// A task token, as a function receives it with its task's id, and as it sends it back.
	tokenForm = regexp.MustCompile(`"task_token": ?"([^"]+)"`)
	sentForm  = regexp.MustCompile(`"taskToken": ?"([^"]+)"`)
	idForm    = regexp.MustCompile(`call-[a-z2-7]{32}|[0-9A-HJKMNP-TV-Z]{26}|` +
		`[0-9a-f]{8}-[0-9a-f]{4}-[48][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}`)
)

func newInjector() *injector {
	return &injector{traces: map[string]*trace{}, marks: map[string]string{}, last: map[string]string{}}
}

func (w *injector) expect(mark string, t *trace) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.traces[mark] = t
}

// belongs assigns an aggregate, whose calls have no mark, to a play.
func (w *injector) belongs(id, mark string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.marks[id] = mark
}

// Cold implements lambda.Faults.
func (w *injector) Cold(function string, event []byte) bool {
	t := w.whose(lambda.Call{Function: function, Event: event})
	return t != nil && t.cold(function)
}

// Meet implements lambda.Faults.
func (w *injector) Meet(c lambda.Call) (fault lambda.Fault) {
	if t := w.whose(c); t != nil {
		fault = t.meet(c)
	}
	return fault
}

// Busy implements lambda.Faults.
func (w *injector) Busy(function string, event []byte) bool {
	t := w.whose(lambda.Call{Function: function, Event: event})
	return t != nil && t.busy(function)
}

// Dying implements lambda.Faults.
func (w *injector) Dying(c lambda.Call) {
	if t := w.whose(c); t != nil && t.dying != nil {
		t.dying(c)
	}
}

func (w *injector) whose(c lambda.Call) *trace {
	w.mu.Lock()
	defer w.mu.Unlock()
	mark := w.markIn(c.Body)
	// A sweep handles many tasks: its query of what is due belongs to the test that started the sweep.
	if mark == "" && c.RequestID != "" && !bytes.Contains(c.Body, []byte("DUE#")) {
		mark = w.last[c.RequestID]
	}
	if mark == "" {
		mark = w.markIn(c.Event)
	}
	if mark == "" {
		mark = w.markIn(decoded(c.Event))
	}
	if c.RequestID != "" && mark != "" {
		w.last[c.RequestID] = mark
	}
	return w.traces[mark]
}

// ids yields all matches of idForm. It leaves short words out first: each body and event is searched, and the regular
// expression takes many times as long as looking for the words.
func ids(text []byte) iter.Seq[[]byte] {
	between := func(r rune) bool {
		return r != '-' && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
	}
	return func(yield func([]byte) bool) {
		for word := range bytes.FieldsFuncSeq(text, between) {
			if len(word) < ulid.EncodedSize {
				continue
			}
			for _, id := range idForm.FindAll(word, -1) {
				if !yield(id) {
					return
				}
			}
		}
	}
}

// markIn returns the play's mark for a text, and learns a task's id from the first text with both.
func (w *injector) markIn(text []byte) string {
	if len(text) == 0 {
		return ""
	}
	if mark := string(markForm.Find(text)); mark != "" {
		// In a batch with several plays' records the first mark may belong to another task than the first id.
		if m := taskForm.FindSubmatch(text); m != nil && w.marks[string(m[1])] == "" {
			w.marks[string(m[1])] = mark
		}
		return mark
	}
	for id := range ids(text) {
		if mark := w.marks[string(id)]; mark != "" {
			if m := tokenForm.FindSubmatch(text); m != nil {
				w.marks[string(m[1])] = mark
			}
			return mark
		}
	}
	if m := sentForm.FindSubmatch(text); m != nil {
		return w.marks[string(m[1])]
	}
	return ""
}

// decoded returns the body of a form, which the gateway passes in base64.
func decoded(event []byte) []byte {
	var e struct {
		Body   string `json:"body"`
		Base64 bool   `json:"isBase64Encoded"`
	}
	if json.Unmarshal(event, &e) != nil || !e.Base64 {
		return nil
	}
	body, err := base64.StdEncoding.DecodeString(e.Body)
	if err != nil {
		return nil
	}
	return []byte(strings.ReplaceAll(string(body), "%22", `"`))
}
