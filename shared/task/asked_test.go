package task

import (
	"errors"
	"testing"
	"time"

	"ringi/shared/aggregate"
)

func TestAnApprovalOfWhatWasReadHoldsTheHash(t *testing.T) {
	for name, tt := range map[string]struct {
		story *story
		kind  aggregate.CardType
		id    func(a *Aggregate) string
	}{
		"a prompt":  {waitingPrompt(t), CardPrompt, func(a *Aggregate) string { return a.Prompt().ID }},
		"a process": {waitingProcess(t), CardProcess, func(a *Aggregate) string { return a.Process().ID }},
		"a step":    {waitingStep(t), CardStep, func(a *Aggregate) string { return a.Gates[0].ID }},
	} {
		t.Run(name, func(t *testing.T) {
			a := tt.story.load()
			id := tt.id(a)
			approve := func(kind aggregate.CardType, id, hash string) error {
				_, err := a.ApproveRead(kind, id, hash, person(suzuki), tt.story.policy, time.Now())
				return err
			}
			if !a.Undecided(id) || a.AskedHash(id) == "" {
				t.Fatalf("undecided %v, hash %q", a.Undecided(id), a.AskedHash(id))
			}
			for _, hash := range []string{"", "x", a.AskedHash(id)[1:]} {
				if err := approve(tt.kind, id, hash); !errors.Is(err, aggregate.ErrMoved) {
					t.Errorf("hash %q: %v", hash, err)
				}
			}
			if err := approve("task", id, a.AskedHash(id)); !errors.Is(err, aggregate.ErrNotFound) {
				t.Errorf("a kind that is none: %v", err)
			}
			if err := approve(tt.kind, "01OTHER", ""); !errors.Is(err, aggregate.ErrNotFound) {
				t.Errorf("no such gate: %v", err)
			}
			if err := approve(tt.kind, id, a.AskedHash(id)); err != nil {
				t.Error(err)
			}
		})
	}
}
