package main

import (
	"context"
	"testing"
	"time"

	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// settingsReads counts how often the settings are read.
type settingsReads struct {
	Store
	n int
}

func (s *settingsReads) Settings(ctx context.Context, tenant string) (tenancy.Settings, error) {
	s.n++
	return s.Store.Settings(ctx, tenant)
}

// Settings are read for each drawing that asks for a decision, and otherwise once a minute.
func TestSettingsOfAMinute(t *testing.T) {
	w := newWorld(t, storetest.Start(t))
	s := &settingsReads{Store: w.h.Store}
	w.h.Store = s
	w.Approved(tenancy.DefaultSettings(), pipelinetest.Step(1, "list_employees", aggregate.Read, "{}"))
	w.done() // its cards were never drawn
	for _, tt := range []struct {
		passes time.Duration
		reads  int
	}{{time.Second, 1}, {settingsLast, 2}, {time.Second, 2}} {
		w.Later(tt.passes)
		w.done()
		expect.Is(t, s.n, tt.reads, "reads after", tt.passes)
	}
}
