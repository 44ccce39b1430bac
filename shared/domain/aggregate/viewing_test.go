package aggregate

import (
	"fmt"
	"testing"
	"time"

	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

// A view is recorded once for a person and a version, of what goes along a route, for so many people.
func TestAViewIsRecordedOnce(t *testing.T) {
	now := time.Date(2026, 4, 1, 0, 0, 0, 0, time.UTC)
	ruled := &Gate{Terms: Terms{Rule: &circulation.Rule{ID: "r1"}}}
	var s Shared
	expect.That(t, s.View("PROCESS#0001", &Gate{}, "U1", now) == nil, "without a rule")
	expect.That(t, s.View("PROCESS#0001", ruled, "", now) == nil, "of nobody")
	first := s.View("PROCESS#0001", ruled, "U1", now)
	expect.Is(t, first.Key(), "VIEW#PROCESS#0001#U1")
	s.Add(first)
	expect.That(t, s.View("PROCESS#0001", ruled, "U1", now) == nil, "a second view")
	expect.That(t, s.View("PROCESS#0002", ruled, "U1", now) != nil, "of another version")
	for i := range MostViewers {
		expect.That(t, (s.View("PROCESS#0001", ruled, fmt.Sprint("V", i), now) != nil) == (i < MostViewers-1), "%d", i)
		s.Add(&Viewing{Gate: "PROCESS#0001", User: fmt.Sprint("V", i)})
	}
	expect.Is(t, len(s.ViewsOf("PROCESS#0002")), 0)
}
