package conversation

import (
	"context"
	"log/slog"
)

// Event is the event that a log line reports.
type Event string

const (
	EventMessage   Event = "message"
	EventStarted   Event = "action_started"
	EventCompleted Event = "action_completed"
	EventChunk     Event = "chunk_received"
)

// Events lists all events.
var Events = []Event{EventMessage, EventStarted, EventCompleted, EventChunk}

// Log writes one line with the fields that every log line of a conversation has. Without an action, actionId is null.
// Log lines never contain message text.
func Log(ctx context.Context, event Event, session, agent, action string, more ...any) {
	slog.InfoContext(ctx, string(event), fields(event, session, agent, action, more)...)
}

// LogError logs an error with its code and a text for operators. People get a friendlier text.
func LogError(ctx context.Context, event Event, session, agent, action, code, message string, more ...any) {
	slog.ErrorContext(ctx, string(event), append(fields(event, session, agent, action, more), "errorCode", code, "errorMessage", message)...)
}

func fields(event Event, session, agent, action string, more []any) []any {
	var of any
	if action != "" {
		of = action
	}
	return append([]any{"sessionId", session, "agentId", agent, "actionId", of, "event", string(event)}, more...)
}
