package sandbox

import (
	"fmt"
	"time"

	"ringi/infra/local/sandbox/webapi"
)

// maxLate is the longest delay of events, in seconds.
const maxLate = 60

// Toggles are the faults of Slack that a person can switch on.
type Toggles struct {
	Twice        bool `json:"twice"`         // each event is delivered twice at once
	LateSeconds  int  `json:"late_seconds"`  // delay before an event's first delivery, 0 to 60
	LoseEvents   bool `json:"lose_events"`   // events are never delivered
	DropAnswers  bool `json:"drop_answers"`  // the app's answers count as timeouts
	RateLimited  bool `json:"rate_limited"`  // the app's writes are answered 429
	LoseAnswers  bool `json:"lose_answers"`  // the app's writes are done, but their answers are lost
	EnforceRates bool `json:"enforce_rates"` // Slack's rate limits apply
}

// FieldErrors maps invalid settings to error messages.
type FieldErrors map[string]string

// Error returns the message of one field.
func (f FieldErrors) Error() string {
	for field, message := range f {
		return fmt.Sprintf("%s: %s", field, message)
	}
	return "no field is wrong"
}

func (s *Sandbox) Toggles() Toggles {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.toggles
}

// SetToggles sets Slack's faults from the next delivery or call on. It returns FieldErrors if LateSeconds is out of
// range.
func (s *Sandbox) SetToggles(t Toggles) error {
	if t.LateSeconds < 0 || t.LateSeconds > maxLate {
		return FieldErrors{"late_seconds": fmt.Sprintf("0 to %d, not %d", maxLate, t.LateSeconds)}
	}
	s.mu.Lock()
	before := s.toggles
	s.toggles = t
	s.mu.Unlock()
	s.switchFault(before.RateLimited, t.RateLimited,
		webapi.Fault{Kind: webapi.RateLimited, RetryAfter: time.Second, Times: -1})
	s.switchFault(before.LoseAnswers, t.LoseAnswers, webapi.Fault{Kind: webapi.Lost, Times: -1})
	if before.EnforceRates != t.EnforceRates {
		s.faults.SetRates(webapi.Rates{Enforce: t.EnforceRates, Scale: s.opts.Rates.Scale})
	}
	s.hub.publish(webapi.Change{Kind: "toggles", Data: t})
	return nil
}

func (s *Sandbox) switchFault(before, now bool, f webapi.Fault) {
	switch {
	case before && !now:
		s.faults.Clear(f.Kind)
	case now && !before:
		s.faults.Add(f)
	}
}

func (s *Sandbox) deliveryFaults() Faults {
	t := s.Toggles()
	return Faults{Twice: t.Twice, Late: time.Duration(t.LateSeconds) * time.Second, Drop: t.DropAnswers,
		Lose: t.LoseEvents}
}
