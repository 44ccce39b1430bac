package webapi

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

type Kind string

// The kinds of faults.
const (
	RateLimited Kind = "rate_limited" // HTTP 429 with Retry-After; the call is not made
	Lost        Kind = "lost"         // the call is made, but the connection closes before the answer
	Unavailable Kind = "unavailable"  // HTTP 503, or Status; the call is not made
	Refused     Kind = "refused"      // "ok": false with Code; the call is not made
)

// Fault makes calls of one method fail. An empty Method means every method that writes; an empty Channel means every
// call. Times is the number of calls that fail: 0 means one, and a negative number all calls until Clear.
type Fault struct {
	Method     string
	Channel    string
	Kind       Kind
	RetryAfter time.Duration // for RateLimited
	Status     int           // for Unavailable; 0 means 503
	Code       string        // for Refused
	Times      int
}

// Faults decides which calls fail. The zero value lets all calls succeed. It is safe for concurrent use.
type Faults struct {
	mu   sync.Mutex
	list []Fault
	pace float64
	used map[string][]time.Time
}

// Add makes future calls fail. Faults apply in the order in which they were added.
func (f *Faults) Add(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = cmp.Or(fault.Times, 1)
	f.list = append(f.list, fault)
}

// Clear removes the faults of a kind, or all faults if kind is empty.
func (f *Faults) Clear(kind Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(x Fault) bool { return kind == "" || x.Kind == kind })
}

// Limit enforces Slack's rate limits times pace: 2 allows twice as many calls, and 0 any number.
func (f *Faults) Limit(pace float64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.pace, f.used = pace, map[string][]time.Time{}
}

// writes are the methods that write.
var writes = []string{"chat.postMessage", "chat.update", "chat.delete", "chat.postEphemeral", "views.open"}

// next returns the fault for a call that begins now; Kind is empty if the call is to succeed.
func (f *Faults) next(method, channel string, now time.Time) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		fault := f.list[i]
		if fault.Method != method && !(fault.Method == "" && slices.Contains(writes, method)) ||
			fault.Channel != "" && fault.Channel != channel {
			continue
		}
		if fault.Times > 0 {
			f.list[i].Times--
		}
		if fault.Times == 1 {
			f.list = slices.Delete(f.list, i, i+1)
		}
		return fault
	}
	return f.paced(method, channel, now)
}

// paced enforces the rate limits: about one chat.postMessage per second and channel, and a number of calls per minute
// for the other methods.
func (f *Faults) paced(method, channel string, now time.Time) Fault {
	limit, window, key := pace(method, channel)
	if f.pace == 0 || limit == 0 {
		return Fault{}
	}
	window = time.Duration(float64(window) / f.pace)
	recent := slices.DeleteFunc(f.used[key], func(t time.Time) bool { return now.Sub(t) >= window })
	f.used[key] = recent
	if len(recent) >= limit {
		return Fault{Kind: RateLimited, RetryAfter: window - now.Sub(recent[0])}
	}
	f.used[key] = append(recent, now)
	return Fault{}
}

// pace returns how many calls Slack accepts in which time, and the key by which they are counted; 0 means no limit. A
// channel accepts short bursts, so postMessage is counted over three seconds.
func pace(method, channel string) (int, time.Duration, string) {
	switch method {
	case "chat.postMessage":
		return 3, 3 * time.Second, method + channel
	case "chat.update", "chat.delete", "conversations.history", "conversations.replies", "users.conversations":
		return 50, time.Minute, method
	case "chat.postEphemeral", "views.open", "users.info", "conversations.members":
		return 100, time.Minute, method
	}
	return 0, 0, ""
}
