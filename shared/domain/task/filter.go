package task

import (
	"slices"
	"strings"
	"time"

	"ringi/shared/domain/aggregate"
)

// Filter narrows a list of requests. Empty fields are ignored.
type Filter struct {
	Status    Status
	Requester string    // Slack user id
	From, To  time.Time // creation time: From inclusive, To exclusive
}

// Check returns aggregate.ErrField for an unknown status, or if From is after To.
func (f Filter) Check() error {
	if f.Status != "" && !slices.Contains(Statuses, f.Status) {
		names := make([]string, len(Statuses))
		for i, s := range Statuses {
			names[i] = string(s)
		}
		return aggregate.ErrField{Field: "status", Limit: "must be one of " + strings.Join(names, ", ")}
	}
	if !f.To.IsZero() && f.From.After(f.To) {
		return aggregate.ErrField{Field: "from", Limit: "must not be after to"}
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

// Between returns the range of sort keys for the filter's times, or empty strings without times.
func (f Filter) Between() (from, until string) {
	if f.From.IsZero() && f.To.IsZero() {
		return "", ""
	}
	if until = "9999"; !f.To.IsZero() {
		until = aggregate.TimeText(f.To)
	}
	return aggregate.TimeText(f.From), until
}

// MayKeep reports whether a row that lists a request may be one of a match: an open request's row doesn't say whether it
// waits.
func (f Filter) MayKeep(listedAs Status) bool {
	return f.Status == "" || f.Status == listedAs || f.Status.Open() && listedAs.Open()
}
