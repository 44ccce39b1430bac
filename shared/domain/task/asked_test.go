package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
)

func TestAnApprovalOfWhatWasReadHoldsTheHash(t *testing.T) {
	for name, tt := range map[string]struct {
		story *story
		id    func(a *Aggregate) string
	}{
		"a prompt":  {waitingPrompt(t), func(a *Aggregate) string { return a.Prompt().ID }},
		"a process": {waitingProcess(t), func(a *Aggregate) string { return a.Process().ID }},
		"a step":    {waitingStep(t), func(a *Aggregate) string { return a.Gates[0].ID }},
	} {
		t.Run(name, func(t *testing.T) {
			a := tt.story.load()
			id := tt.id(a)
			approve := func(id, hash string) error {
				_, err := a.ApproveRead(id, hash, person(suzuki), tt.story.policy, time.Now())
				return err
			}
			if !a.IsOpen(id) || a.AskedHash(id) == "" {
				t.Fatalf("undecided %v, hash %q", a.IsOpen(id), a.AskedHash(id))
			}
			for _, hash := range []string{"", "x", a.AskedHash(id)[1:]} {
				if err := approve(id, hash); !errors.Is(err, aggregate.ErrMoved) {
					t.Errorf("hash %q: %v", hash, err)
				}
			}
			if err := approve("01OTHER", ""); !errors.Is(err, aggregate.ErrNotFound) {
				t.Errorf("no such gate: %v", err)
			}
			if err := approve(id, a.AskedHash(id)); err != nil {
				t.Error(err)
			}
		})
	}
}
