package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
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
				act := a.GateWith(tt.id(a)).Acting(circulation.Stamp, person(suzuki), "")
				act.Hash = hash
				_, err := a.Act(id, act, person(suzuki), tt.story.policy, time.Now())
				return err
			}
			expect.Must(t, a.IsOpen(id) && a.AskedHash(id) != "", "undecided %v, hash %q", a.IsOpen(id), a.AskedHash(id))
			for _, hash := range []string{"", "x", a.AskedHash(id)[1:]} {
				refused, _ := errors.AsType[*circulation.Refusal](approve(id, hash))
				expect.That(t, refused != nil && refused.Why == circulation.WhyHash, "hash %q: %v", hash, refused)
			}
			expect.Fails(t, approve("01OTHER", ""), aggregate.ErrNotFound, "no such gate")
			if err := approve(id, a.AskedHash(id)); err != nil {
				t.Error(err)
			}
		})
	}
}
