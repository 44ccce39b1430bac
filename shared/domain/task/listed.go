package task

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
)

// Status is how a request stands, for people: the list, its filter and the request's page say the same.
// The data model's statuses say less: a task is "extracted" from its first draft to its last stamp.
type Status string

const (
	StatusDrafting   Status = "drafting"    // or waits for a vendor or for free capacity
	StatusWaits      Status = "waits"       // for a person's decision
	StatusReturned   Status = "returned"    // to whoever asked, who fills it in again or withdraws it
	StatusNotDrafted Status = "not_drafted" // a generation failed; see Parked
	StatusRunning    Status = "running"
	StatusToRetry    Status = "to_retry" // the execution failed, and people may try again
	StatusFailed     Status = "failed"   // another attempt can't succeed, or wouldn't help
	StatusDone       Status = "done"
	StatusCancelled  Status = "cancelled"
	StatusExpired    Status = "expired"  // nobody decided in time
	StatusRefused    Status = "refused"  // Ringi replied that it can't or may not be done
	StatusAnswered   Status = "answered" // a plain reply was all that it needed
)

// AskAnew are reasons after which another attempt, which people may ask for all the same, would end alike: only another
// request helps.
var AskAnew = []aggregate.Reason{
	ReasonStepsChanged, ReasonToolChanged, ReasonBadArguments, ReasonResultExpired,
	ReasonModelRefused, ReasonModelCutOff, ReasonTooManyPeople, ReasonPolicyTooLong, ReasonApprovalAged,
}

// StatusDenied is what cancelled requests are called that nobody withdrew: they were rejected for good. Lists have them
// among the others.
const StatusDenied Status = "denied"

// Called returns what people call the status of a request that ended for this reason, if it has.
func (s Status) Called(why aggregate.Reason) Status {
	if s == StatusCancelled && (why == ReasonDenied || why == ReasonMaxVersions) {
		return StatusDenied
	}
	return s
}

// Statuses lists all statuses in the order in which a request may have them.
var Statuses = []Status{
	StatusDrafting, StatusWaits, StatusReturned, StatusNotDrafted, StatusRunning, StatusToRetry, StatusFailed, StatusDone,
	StatusCancelled, StatusExpired, StatusRefused, StatusAnswered,
}

// Open reports whether the request moves on without anybody trying again.
func (s Status) Open() bool {
	return slices.Contains([]Status{StatusDrafting, StatusWaits, StatusReturned, StatusRunning}, s)
}

// Stopped reports whether it goes on once somebody tries again.
func (s Status) Stopped() bool { return s == StatusNotDrafted || s == StatusToRetry }

// status returns the status of an ended task, not regarding that a failed one may be tried again.
func (e *Ended) status() Status {
	switch {
	case e.As == TaskCompleted:
		return StatusDone
	case e.As == TaskFailed:
		return StatusFailed
	case e.Reason == ReasonStepRefused, e.Reason == ReasonStepNoRoute: // steps before it ran
		return StatusCancelled
	case e.As == TaskRefused, e.Reason == ReasonUnsupported:
		return StatusRefused
	case e.As == TaskAnswered:
		return StatusAnswered
	case e.Reason == ReasonExpired:
		return StatusExpired
	}
	return StatusCancelled
}

// MaxListed is how much of a message lists keep, in bytes.
const MaxListed = 300

// note records the request's new status in the head that c writes, and in the row by which lists find the request.
// What is only just received, or waits for free capacity, has none: it soon becomes a task.
func (c *change) note(out *aggregate.Change) {
	head := out.Head.(*Head)
	head.Noted, head.WaitsFor, head.Routed = c.became(out)
	head.Glance = c.glanceAfter(out)
	if c.of == nil {
		return
	}
	was := cmp.Or(c.of.Task, c.of.Listing)
	delayed := head.PausedUntil != nil && head.PausedFor == ""
	t, written := out.Written(TaskKey).(*Task)
	switch {
	case written:
		t.ListedAs, t.Glance = t.listedAs(head.Noted), head.listed()
	case was == nil && !c.was.Noted.Open(): // it was not read
		out.RelyOn(&Task{})
	case was == nil:
		if r := c.of.Request; r != nil && (head.Noted != StatusDrafting || delayed) {
			n := Task{ID: head.TaskID, TenantID: head.TenantID, Text: language.FirstBytes(r.Words(""), MaxListed),
				Source: r.Source, SlackChannel: r.Channel, Glance: head.listed(), CreatedAt: r.CreatedAt, UpdatedAt: c.Now}
			n.ListedAs = n.listedAs(head.Noted)
			out.Put(&n)
		}
	case head.Noted.Open() && c.was.Noted.Open(): // the row stays as it is
	case was.ListedAs == was.listedAs(head.Noted):
		out.RelyOn(was)
	default:
		n := *was
		n.ListedAs, n.Glance, n.UpdatedAt = was.listedAs(head.Noted), head.listed(), c.Now
		out.Put(&n)
	}
}

// became returns the request's status after c. It looks at what c writes and at the head alone, since the other rows
// may be older than the head.
func (c *change) became(out *aggregate.Change) (s Status, waitsFor aggregate.CardType, ruled bool) {
	head := out.Head.(*Head)
	s, waitsFor, ruled = c.was.Noted, c.was.WaitsFor, c.was.Routed
	if c.was.Ended != nil && head.Ended != nil && c.was.Ended.As == head.Ended.As {
		return s, "", false
	}
	if s == StatusNotDrafted {
		s = StatusDrafting
	}
	retriable := false
	for _, r := range out.Rows {
		switch r := r.(type) {
		case *Execution:
			retriable = r.Status == ExecutionFailed && r.retriable() && !slices.Contains(AskAnew, r.Error)
			if !r.over() && waitsFor == "" {
				s = StatusRunning
			}
		case Gated:
			if s, waitsFor, ruled = StatusDrafting, "", false; r.Asks().Kind == CardStep {
				s = StatusRunning
			}
			if r.gate().Status == aggregate.PendingApproval && r.gate().Terms.ApprovalRequired {
				s, waitsFor, ruled = StatusWaits, r.Asks().Kind, r.gate().Ruled()
			}
			if r.gate().SentBack() && c.of.Follows(r.Asks().ID) == FollowsAsker {
				s = StatusReturned
			}
		}
	}
	switch {
	case head.Ended != nil && head.Ended.As == TaskFailed && retriable:
		return StatusToRetry, "", false
	case head.Ended != nil:
		return head.Ended.status(), "", false
	case head.Parked != nil:
		return StatusNotDrafted, "", false
	}
	return s, waitsFor, ruled
}

// listedAs returns the status by which lists find the task. While it is open its row is not written whenever it begins
// or ceases to wait: the head says that.
func (t *Task) listedAs(s Status) Status {
	switch {
	case !s.Open():
		return s
	case t.Status == "" || t.Status == TaskExtracted:
		return StatusDrafting
	}
	return StatusRunning
}

// Filter narrows a list of requests. Empty fields are ignored.
type Filter struct {
	Status    Status
	Requester string // Slack user id
}

// Check returns an aggregate.Problem for an unknown status.
func (f Filter) Check() error {
	if f.Status != "" && !slices.Contains(Statuses, f.Status) {
		return aggregate.Problem{Field: "status", Code: "must be one of " +
			strings.ReplaceAll(strings.Trim(fmt.Sprint(Statuses), "[]"), " ", ", ")}
	}
	return nil
}

// In returns the index and its partitions to read. sparse says that many requests there may not match.
func (f Filter) In(tenant string) (index string, partitions []string, sparse bool) {
	switch {
	case f.Requester != "" && (f.Status == "" || f.Status == StatusDone): // most of a person's requests are done
		return "GSI3", []string{By(tenant, f.Requester)}, f.Status != ""
	case f.Status != "":
		partitions = []string{WithStatus(tenant, f.Status)}
		if f.Status == StatusWaits { // a task that waits is listed as drafting or running
			partitions = append(partitions, WithStatus(tenant, StatusRunning))
		}
		return "GSI2", partitions, f.Status.Open() || f.Requester != ""
	}
	return "GSI1", []string{AllOf(tenant)}, false
}

// MayKeep reports whether a row that lists a request may be one of a match: an open request's row doesn't say whether
// it waits.
func (f Filter) MayKeep(listedAs Status) bool {
	return f.Status == "" || f.Status == listedAs || f.Status.Open() && listedAs.Open()
}
