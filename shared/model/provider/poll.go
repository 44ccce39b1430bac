package provider

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/packages/param"

	"ringi/shared/domain/aggregate"
)

// SessionState is a session's state according to its events.
type SessionState struct {
	Told         bool          // the user's message has arrived
	Stop         Stop          // empty while the session works or waits for results
	ToolRequests []ToolRequest // requested calls without a result
	Said         string        // the session's last message
	Calls        int           // calls of the session's model
}

// Stop is the reason why a session has stopped.
type Stop string

const (
	StopDone      Stop = "end_turn"
	StopBudget    Stop = "budget_reached"
	StopRefused   Stop = "refusal"
	StopEnded     Stop = "terminated"
	requiresCalls      = "requires_action"
)

// ToolRequest is a call that a session asks for.
type ToolRequest struct {
	ID    string
	Name  string // as in Tool.Name
	Input json.RawMessage
}

// maxEvents is the most events of a session. A session of sixty steps has a few hundred.
const maxEvents = 5000

var errEndless = errors.New("the session has too many events")

// followed are the kinds of events that a State is made from. Poll reads no others.
var followed = []sdk.BetaManagedAgentsSessionEventType{
	sdk.BetaManagedAgentsSessionEventTypeUserMessage, sdk.BetaManagedAgentsSessionEventTypeUserInterrupt,
	sdk.BetaManagedAgentsSessionEventTypeUserCustomToolResult, sdk.BetaManagedAgentsSessionEventTypeAgentCustomToolUse,
	sdk.BetaManagedAgentsSessionEventTypeAgentMessage, sdk.BetaManagedAgentsSessionEventTypeSpanModelRequestEnd,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusRunning,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusRescheduled,
	sdk.BetaManagedAgentsSessionEventTypeSessionStatusIdle, sdk.BetaManagedAgentsSessionEventTypeSessionStatusTerminated,
}

// Poll reads all of a session's events from the first one. Their times can't serve as a cursor, since a queued event
// has none. An event that is listed twice counts once, and unknown kinds are ignored. The state of a session that no
// longer exists is StopEnded.
func (c *Managed) Poll(ctx context.Context, session string) (s SessionState, err error) {
	defer c.explain(&err)
	ctx, cancel := context.WithTimeout(ctx, callWithin)
	defer cancel()
	r := reading{seen: map[string]bool{}, answered: map[string]bool{}, queued: map[string]bool{}}
	pages := c.sessions.Events.ListAutoPaging(ctx, session, sdk.BetaSessionEventListParams{
		Types: followed, Limit: param.NewOpt[int64](500), Order: sdk.BetaSessionEventListParamsOrderAsc,
	})
	for pages.Next() {
		if len(r.seen) >= maxEvents {
			return s, errEndless
		}
		r.add(pages.Current())
	}
	err = pages.Err()
	if e := (*sdk.Error)(nil); errors.As(err, &e) && e.StatusCode == http.StatusNotFound {
		return SessionState{Told: true, Stop: StopEnded}, nil
	}
	return r.state(), err
}

type reading struct {
	SessionState
	seen, answered map[string]bool
	queued         map[string]bool // sent events that the session has not processed
}

func (r *reading) add(u sdk.BetaManagedAgentsSessionEventUnion) {
	if !u.ProcessedAt.IsZero() {
		delete(r.queued, u.ID) // it may have been listed as queued before
	}
	if u.ID == "" || r.seen[u.ID] {
		return
	}
	r.seen[u.ID] = true
	switch e := u.AsAny().(type) {
	case sdk.BetaManagedAgentsUserMessageEvent:
		r.Told, r.Stop = true, ""
		r.wait(e.ID, e.ProcessedAt)
	case sdk.BetaManagedAgentsUserCustomToolResultEvent:
		r.answered[e.CustomToolUseID], r.Stop = true, ""
		r.wait(e.ID, e.ProcessedAt)
	case sdk.BetaManagedAgentsAgentCustomToolUseEvent:
		input, err := json.Marshal(e.Input)
		if err != nil { // impossible: the input came as JSON
			input = []byte("null")
		}
		r.ToolRequests, r.Stop = append(r.ToolRequests, ToolRequest{ID: e.ID, Name: e.Name, Input: input}), ""
	case sdk.BetaManagedAgentsAgentMessageEvent:
		r.Said = ""
		for _, block := range e.Content {
			r.Said += block.Text
		}
		r.Said = strings.TrimSpace(r.Said)
	case sdk.BetaManagedAgentsSpanModelRequestEndEvent:
		r.Calls++
	case sdk.BetaManagedAgentsSessionStatusRunningEvent, sdk.BetaManagedAgentsSessionStatusRescheduledEvent:
		r.Stop = ""
	case sdk.BetaManagedAgentsSessionStatusIdleEvent:
		// A session is also idle before its first message.
		if r.Stop = ""; r.Told && e.StopReason.Type != requiresCalls {
			r.Stop = Stop(e.StopReason.Type)
		}
	case sdk.BetaManagedAgentsSessionStatusTerminatedEvent:
		r.Stop = StopEnded
	}
}

func (r *reading) wait(id string, processed time.Time) {
	if processed.IsZero() {
		r.queued[id] = true
	}
}

func (r *reading) state() SessionState {
	s := r.SessionState
	s.ToolRequests = nil
	for _, w := range r.ToolRequests {
		if !r.answered[w.ID] {
			s.ToolRequests = append(s.ToolRequests, w)
		}
	}
	if len(r.queued) > 0 && s.Stop != StopEnded {
		s.Stop = ""
	}
	return s
}

// Bill returns the cost of a session so far, and whether it is still running.
func (c *Managed) Bill(ctx context.Context, session string) (u aggregate.Usage, running bool, err error) {
	defer c.explain(&err)
	s, err := c.sessions.Get(ctx, session, sdk.BetaSessionGetParams{})
	if err != nil {
		return u, false, err
	}
	written := s.Usage.CacheCreation.Ephemeral5mInputTokens + s.Usage.CacheCreation.Ephemeral1hInputTokens
	u = aggregate.Usage{
		ID: s.ID, Provider: aggregate.Anthropic, Model: string(s.Agent.Model.ID), Calls: 1,
		Input: s.Usage.InputTokens + written, Output: s.Usage.OutputTokens, Cached: s.Usage.CacheReadInputTokens,
		Written: written, MS: int64(s.Usage.ActiveSeconds * 1000),
	}.Counted()
	u.Cost, u.Unpriced = cost(s.Usage.ListCost, u)
	return u, s.Status == sdk.BetaManagedAgentsSessionStatusRunning ||
		s.Status == sdk.BetaManagedAgentsSessionStatusRescheduling, nil
}
