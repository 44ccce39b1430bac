package task

import (
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
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
				_, err := a.ApproveRead(id, hash, person(suzuki), tt.story.policy, time.Now())
				return err
			}
			expect.Must(t, a.IsOpen(id) && a.AskedHash(id) != "", "undecided %v, hash %q", a.IsOpen(id), a.AskedHash(id))
			for _, hash := range []string{"", "x", a.AskedHash(id)[1:]} {
				expect.Fails(t, approve(id, hash), aggregate.ErrMoved, "hash %q", hash)
			}
			expect.Fails(t, approve("01OTHER", ""), aggregate.ErrNotFound, "no such gate")
			if err := approve(id, a.AskedHash(id)); err != nil {
				t.Error(err)
			}
		})
	}
}
