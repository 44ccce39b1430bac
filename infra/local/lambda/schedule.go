package lambda

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"time"

	"ringi/infra/local/template"
)

type Schedule struct {
	Function string
	Schedule template.Schedule
	Region   string
	Account  string
	Invoker  Invoker
	Log      *slog.Logger
	Now      func() time.Time
}

// Run invokes the function after each interval until ctx ends. It skips a tick if the function is still running.
func (s *Schedule) Run(ctx context.Context) {
	t := time.NewTicker(s.Schedule.Every)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.C:
		}
		result, err := s.Fire(ctx)
		switch {
		case ctx.Err() != nil:
		case err != nil:
			s.Log.Warn("scheduled invocation", "function", s.Function, "err", err)
		case result.Failed:
			s.Log.Warn("scheduled invocation failed", "function", s.Function, "request_id", result.RequestID, "error", errorType(result.Payload))
		}
	}
}

// Fire invokes the function now and waits for its result.
func (s *Schedule) Fire(ctx context.Context) (Result, error) {
	payload := []byte(s.Schedule.Input)
	if len(payload) == 0 {
		now := s.Now().UTC()
		event, err := json.Marshal(map[string]any{
			"version": "0", "id": fmt.Sprintf("%s-%d", s.Schedule.Event, now.UnixNano()), "detail-type": "Scheduled Event", "source": "aws.events",
			"account": s.Account, "region": s.Region, "time": now.Format(time.RFC3339), "detail": map[string]any{},
			"resources": []string{fmt.Sprintf("arn:aws:events:%s:%s:rule/%s-%s", s.Region, s.Account, s.Function, s.Schedule.Event)},
		})
		if err != nil {
			return Result{}, fmt.Errorf("encode the scheduled event: %w", err)
		}
		payload = event
	}
	return s.Invoker.Invoke(ctx, s.Function, payload)
}
