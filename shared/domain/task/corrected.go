package task

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Correction is the latest change of the request's message by its author, in Slack. While nothing is drafted the new
// text becomes the request's; later it waits until the requester has it drafted anew, and counts for nothing before.
type Correction struct {
	aggregate.Meta
	Text      string                 `json:"text"`
	Forwarded []aggregate.Quoted     `json:"forwarded,omitempty"`
	Files     []aggregate.SharedFile `json:"files,omitempty"`
	MoreFiles int                    `json:"more_files,omitempty"`
	// Edited is Slack's time of the change, by which late deliveries are known. Slack counts it in seconds: Earlier are
	// the hashes of what the message said before in the same second.
	Edited  string   `json:"edited"`
	Earlier []string `json:"earlier,omitempty"`
	Author  string   `json:"author,omitempty"` // of the message, if somebody else made it a request: it is theirs
	Deleted bool     `json:"deleted,omitempty"`
	Late    bool     `json:"late,omitempty"` // after the decision: it doesn't count
	Anew    bool     `json:"anew,omitempty"` // drafting anew has begun; the first layer is next
	Taken   bool     `json:"taken,omitempty"`
	Was     *Request `json:"was,omitempty"` // the request before it was last drafted anew; see EditedFrom
	// Declined is what the first layer answered to it in place of a task, and As of which kind: it is drafted no more.
	Declined string      `json:"declined,omitempty"`
	As       ExtractKind `json:"declined_as,omitempty"`
	SeenAt   time.Time   `json:"seen_at"`
}

// CorrectionKey is the key of a task's correction; a task has at most one.
const CorrectionKey = "CORRECTION"

func (r *Correction) Key() string             { return CorrectionKey }
func (r Correction) At(rev int) aggregate.Row { r.Rev = rev; return &r }

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

// of returns a request as the correction has it. Whoever wrote the message, or one that it forwards, asks along a
// route.
func (r *Correction) of(q Request) *Request {
	q.Text, q.Forwarded, q.Files, q.MoreFiles = r.Text, r.Forwarded, r.Files, r.MoreFiles
	q.Authors = Others(q.User, append(q.Authors, r.Author)...)
	known := len(q.RouteAskers)
	q.AddRouteAskers()
	q.NewAskers = q.NewAskers || len(q.RouteAskers) > known
	return &q
}

// Saying is a hash of what the message says now. Who has it drafted anew names what they read by it.
func (r *Correction) Saying() string { return r.of(Request{}).Saying() }

// Blank reports whether nothing is left in the message that could be drafted.
func (r *Correction) Blank() bool {
	return strings.TrimSpace(r.Text) == "" && len(r.Forwarded)+len(r.Files) == 0
}

// Corrected returns the change of the message that the drafts don't have, or nil.
func (a *Aggregate) Corrected() *Correction {
	r := a.Correction
	if r == nil || a.Request == nil || r.Taken || !r.Deleted && r.Saying() == a.Request.Saying() {
		return nil
	}
	return r
}

// EditedFrom returns the request before the edit that led to a version; nil if another reason did, or none.
func (a *Aggregate) EditedFrom(version Gated) *Request {
	if steps, is := version.(*Process); is {
		i := slices.Index(a.Processes, steps)
		of := slices.IndexFunc(a.Prompts, func(p *Prompt) bool { return p.ID == steps.PromptID })
		if i < 1 || of < 0 || a.Processes[i-1].PromptID == steps.PromptID {
			return nil
		}
		version = a.Prompts[of]
	}
	i := slices.IndexFunc(a.Prompts, func(p *Prompt) bool { return p == version })
	if i < 1 || a.Prompts[i-1].Status == aggregate.Rejected || a.Prompts[i].Status == aggregate.Cancelled ||
		a.Correction == nil {
		return nil
	}
	for _, p := range a.Prompts[i : len(a.Prompts)-1] {
		if p.Status != aggregate.Rejected { // another edit came after it
			return nil
		}
	}
	return a.Correction.Was
}

// anew reports whether the first layer reads a corrected request.
func (a *Aggregate) anew() bool {
	return a.Correction != nil && a.Correction.Anew && a.Head.Ended == nil
}

// unread reports whether the first layer has the present request still to read.
func (a *Aggregate) unread() bool { return a.Task == nil || a.anew() }

// drafting reports whether the newest policy is drafted or waits again though steps were planned by an earlier one.
func (a *Aggregate) drafting() bool {
	p := a.Prompt()
	return p != nil && p.Status != aggregate.Approved && a.Process() != nil && a.Execution() == nil
}

// redrafted reports whether a closed gate closed because its request is drafted anew.
func (a *Aggregate) redrafted(row Gated) bool {
	_, policy := row.(*Prompt)
	_, steps := row.(*Process)
	c := a.Correction
	return c != nil && (c.Taken || c.As != "") && a.Head.Ended == nil && (policy || steps)
}

// Redraftable reports whether the requester may have the corrected request drafted anew now: a policy or steps wait,
// and further versions are left.
func (a *Aggregate) Redraftable() bool {
	_, waits := a.OpenGate()
	return waits && a.RedraftableOnceItWaits()
}

// RedraftableOnceItWaits reports the same for the time at which a policy or steps wait.
func (a *Aggregate) RedraftableOnceItWaits() bool {
	c := a.Corrected()
	if c == nil || c.Late || c.Deleted || c.Blank() || c.As != "" || a.Execution() != nil || a.Head.Ended != nil {
		return false
	}
	open, waits := a.OpenGate()
	most := open.Terms.MaxVersions
	return !waits || a.Prompt().Version < most && (a.Process() == nil || a.Process().Version < most)
}

// Correct records that the author of the request's message edited it, or that it was deleted: is has what it says
// now, and edited is Slack's time of that. What was edited before anything was drafted is drafted; a deletion ends
// what no execution has begun, and an edit that leaves nothing to draft ends what nothing was drafted of. If
// somebody else made the message a request, its author's change only waits for them. An older change, and one that
// leaves what the message says, changes nothing. What an agent handed over is the agent's wording, not what the message
// says: the change is the conversation's, and Correct returns aggregate.ErrNotFound.
func (a *Aggregate) Correct(is Request, edited string, deleted bool, by aggregate.Actor,
	now time.Time) (aggregate.Change, error) {
	if a.Request == nil {
		return aggregate.Change{}, aggregate.ErrConflict // a torn read
	}
	if _, handed := a.HandedOver(); handed {
		return aggregate.Change{}, aggregate.ErrNotFound
	}
	was, before, says := a.Correction, a.Request.Saying(), is.Saying()
	row := &Correction{Text: is.Text, Forwarded: is.Forwarded, Files: is.Files, MoreFiles: is.MoreFiles, Edited: edited,
		Deleted: deleted}
	if was != nil {
		row.Meta, row.Anew, row.Was, before = was.Meta, was.Anew, was.Was, was.Saying()
		if was.Edited == edited {
			row.Earlier = append(slices.Clone(was.Earlier), before)
		}
	}
	old := was != nil && was.Edited > edited || slices.Contains(row.Earlier, says)
	if was != nil && was.Deleted || !deleted && (old || says == before) {
		return aggregate.Change{}, nil
	}
	if by.ID != a.Head.Requester {
		row.Author = by.ID
	}
	row.Late = a.Head.Ended != nil || a.Execution() != nil
	counts := !row.Late && row.Author == ""
	if counts && (deleted || row.Blank() && a.unread()) {
		return a.takeBack(row, by, now)
	}
	c := a.begin(now)
	row.SeenAt = c.Now
	if counts && a.unread() {
		c.Put(row.of(*a.Request))
		row.Taken = true
		c.progress()
		if a.Choosing() == nil {
			c.startRun() // what the earlier text is read for now comes too late
		}
	}
	c.Put(row)
	a.relyOnStage(c)
	if deleted {
		by = aggregate.System()
	}
	c.audit(by, AuditRequestEdited, "task", a.Head.TaskID, map[string]any{"counts": row.Taken, "deleted": deleted,
		"text_hash": aggregate.HashOf(is.Text)})
	return c.done()
}

// takeBack ends a task whose message was deleted, or in which its author left nothing. Slack doesn't say who deleted a
// message: people may also delete those of others (https://docs.slack.dev/reference/events/message/message_deleted).
func (a *Aggregate) takeBack(row *Correction, by aggregate.Actor, now time.Time) (aggregate.Change, error) {
	if row.Deleted {
		by = aggregate.System()
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	row.SeenAt = c.Now
	c.Put(row)
	c.audit(by, AuditTaskCancelled, "task", a.Head.TaskID, map[string]any{"reason": ReasonDeleted})
	return c.ended(a.Task, TaskCancelled, by, ReasonDeleted)
}

// Gone keeps that a message was deleted before it was received, so that a later delivery of it makes no request. Nobody
// is shown anything of it.
func Gone(tenant string, r Request, now time.Time) (aggregate.Change, aggregate.Ref, error) {
	id, err := ID(r.TeamID, r.Channel, r.MessageTS)
	if err != nil {
		return aggregate.Change{}, aggregate.Ref{}, err
	}
	now = now.UTC().Truncate(time.Millisecond)
	r = r.Unsaid()
	r.CreatedAt = now
	a := &Aggregate{Request: &r, Head: first(tenant, id, r.User, now)}
	c := a.begin(now)
	c.Put(&r)
	c.Head.Ended = &Ended{As: TaskCancelled, At: c.Now, Reason: ReasonDeleted}
	c.of = nil // no list has it
	out, err := c.done()
	return out, a.Ref(), err
}

// Redraft has a corrected request drafted anew: the text is the request's from now on, and the gate that waits closes
// with its stamps. Only the requester may, and only what they read: shown is what the message said then, see
// Correction.Saying. It returns ErrEdited if the message says something else by now, and ErrNothingToRetry if there is
// nothing to draft anew; a second click changes nothing.
func (a *Aggregate) Redraft(shown string, by aggregate.Actor, now time.Time) (aggregate.Change, error) {
	switch {
	case by.ID != a.Head.Requester:
		return aggregate.Change{}, aggregate.ErrNotAllowed{Rule: aggregate.RuleNotRequester}
	case a.Head.Ended != nil:
		return aggregate.Change{}, a.ended()
	case a.Correction != nil && a.Correction.Saying() != shown:
		return aggregate.Change{}, ErrEdited
	case a.Correction != nil && a.Correction.Taken:
		return aggregate.Change{}, nil
	case !a.Redraftable():
		return aggregate.Change{}, ErrNothingToRetry
	}
	c := a.withdraw(by, aggregate.Cancelled, now)
	c.progress()
	c.startRun()
	row := *a.Correction
	row.Taken, row.Anew, row.Was = true, true, a.Request
	c.Put(row.of(*a.Request))
	c.Put(&row)
	open, _ := a.OpenGate()
	c.audit(by, AuditRequestRedrafted, "task", a.Head.TaskID, map[string]any{"gate": open.ID, "version": open.Version,
		"text_hash": aggregate.HashOf(row.Text)})
	return c.done()
}

// extractedAnew replaces what the first layer read of a request by what it reads of the corrected one, and begins the
// next version of the policy; see Extracted. If it declines the new text, the request is again what it was, and so is
// what waited, as the next version: its stamps are gone.
func (a *Aggregate) extractedAnew(e Extract, now time.Time) (aggregate.Change, error) {
	c := a.begin(now)
	c.progress()
	row := *a.Correction
	was := *row.Was
	was.Meta = a.Request.Meta
	row.Anew = false
	if e.Kind.plain() {
		row.Was, row.Taken, row.Declined, row.As = nil, false, e.Sentence, e.Kind
		c.Put(&was)
	} else {
		c.readThread(a, e)
		t := *a.Task
		t.Title, t.Description, t.Priority, t.TaskType, t.UpdatedAt = e.Title, e.Description, e.Priority, e.TaskType, c.Now
		c.Put(&t)
		c.Made = &t
	}
	c.Put(&row)
	switch {
	case e.Last:
	case row.As != "":
		c.audit(aggregate.System(), AuditRequestAnswered, "task", a.Head.TaskID,
			map[string]any{"kind": e.Kind, "requester": a.Head.Requester, "text_hash": aggregate.HashOf(row.Text)})
		c.repeat(a)
	default:
		c.beginPrompt(a.Prompt().Version+1, 0)
	}
	return c.done()
}

// repeat begins the next version of what was closed for a corrected request, with the same content.
func (c *change) repeat(a *Aggregate) {
	if p := a.Prompt(); p.Status != aggregate.Approved {
		c.beginPrompt(p.Version+1, p.Version)
		return
	}
	c.beginProcess(a.Prompt(), a.Process().Version+1, a.Process().Version)
}

// RepeatedPolicy returns the version whose content the newest policy has again, or that itself if one of its askers
// wrote it; nil if that is drafted.
func (a *Aggregate) RepeatedPolicy() *Prompt {
	if p := a.Prompt(); p != nil && p.EditedBy != "" {
		return p
	} else if p != nil && p.Repeats > 0 {
		return aggregate.Find(a.Prompts, PromptKey(p.Repeats))
	}
	return nil
}

// PolicyBeforeEdit returns the text of which the newest policy's askers made what it says; "" if none edited it.
func (a *Aggregate) PolicyBeforeEdit() string {
	is := a.Prompt()
	was := is
	for p := is; p != nil; p = a.before(p) {
		was = p
	}
	if was == nil || was.Content == is.Content {
		return ""
	}
	return was.Content
}

// RepeatedSteps returns the version whose steps the newest one has again; nil if they are planned or written. See
// Unchecked.
func (a *Aggregate) RepeatedSteps() *Process {
	if p := a.Process(); p != nil && p.Repeats > 0 {
		return aggregate.Find(a.Processes, ProcessKey(p.Repeats))
	}
	return nil
}
