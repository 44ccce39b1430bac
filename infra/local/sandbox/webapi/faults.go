package webapi

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// Kind is what goes wrong with a call.
type Kind string

// The ways in which a call goes wrong.
const (
	RateLimited Kind = "rate_limited" // HTTP 429 with Retry-After, nothing done
	Lost        Kind = "lost"         // done, but the connection drops before the answer
	Unavailable Kind = "unavailable"  // HTTP 503, or Status, nothing done
	Late        Kind = "late"         // done, and answered after Delay
	Refused     Kind = "refused"      // "ok": false with Code, nothing done
)

// Fault makes calls of one method go wrong. Method "" is every method that
// writes, Channel "" is any channel or none. Times is how many calls, 0 being one;
// below zero it lasts until Clear.
type Fault struct {
	Method     string
	Channel    string
	Kind       Kind
	RetryAfter time.Duration // of RateLimited
	Delay      time.Duration // of Late
	Status     int           // of Unavailable, 0 is 503
	Code       string        // of Refused
	Times      int
}

// Rates is how fast Slack lets an app write. Scale stretches the pace: 2 allows
// twice as much. It is off while Enforce is false.
type Rates struct {
	Enforce bool
	Scale   float64
}

// Faults decides for each call whether it goes wrong. The zero value lets all
// calls pass. It is safe for concurrent use.
type Faults struct {
	mu    sync.Mutex
	list  []Fault
	rates Rates
	used  map[string][]time.Time
}

// Add makes coming calls go wrong, in the order in which faults were added.
func (f *Faults) Add(fault Fault) {
	f.mu.Lock()
	defer f.mu.Unlock()
	fault.Times = cmp.Or(fault.Times, 1)
	f.list = append(f.list, fault)
}

// Clear forgets all faults of a kind, or of every kind when it is empty.
func (f *Faults) Clear(kind Kind) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(f.list, func(x Fault) bool { return kind == "" || x.Kind == kind })
}

// SetRates turns Slack's rate limits on or off.
func (f *Faults) SetRates(r Rates) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.rates, f.used = r, nil
}

// writes are the methods that "every method that writes" means.
func writes(method string) bool {
	return slices.Contains([]string{"chat.postMessage", "chat.update", "chat.delete", "chat.postEphemeral", "views.open",
		"views.update", "views.push", "chat.startStream", "chat.appendStream", "chat.stopStream"}, method)
}

// next is the fault of a call that begins now; its Kind is empty when there is
// none.
func (f *Faults) next(method, channel string, now time.Time) Fault {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := range f.list {
		fault := f.list[i]
		if fault.Method != method && !(fault.Method == "" && writes(method)) ||
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

// paced holds chat.postMessage to about one a second and channel, and the
// tiers of the other methods to their calls a minute.
func (f *Faults) paced(method, channel string, now time.Time) Fault {
	if !f.rates.Enforce {
		return Fault{}
	}
	limit, window, key := pace(method, channel)
	if limit == 0 {
		return Fault{}
	}
	if f.rates.Scale > 0 {
		window = time.Duration(float64(window) / f.rates.Scale)
	}
	if f.used == nil {
		f.used = map[string][]time.Time{}
	}
	recent := slices.DeleteFunc(f.used[key], func(t time.Time) bool { return now.Sub(t) >= window })
	f.used[key] = recent
	if len(recent) >= limit {
		return Fault{Kind: RateLimited, RetryAfter: window - now.Sub(recent[0])}
	}
	f.used[key] = append(recent, now)
	return Fault{}
}

// pace is how many calls Slack takes in which time; 0 is no limit. A channel
// takes short bursts, so postMessage is counted over three seconds.
func pace(method, channel string) (int, time.Duration, string) {
	switch method {
	case "chat.postMessage":
		return 3, 3 * time.Second, method + channel
	case "chat.startStream", "chat.stopStream":
		return 20, time.Minute, method
	case "chat.update", "chat.delete", "conversations.history", "conversations.replies", "users.conversations":
		return 50, time.Minute, method
	case "chat.postEphemeral", "views.open", "views.update", "views.push", "users.info", "conversations.members", "chat.appendStream":
		return 100, time.Minute, method
	}
	return 0, 0, ""
}
