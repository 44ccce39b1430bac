package conversation

import (
	"context"
	"log/slog"
)

// Event is what a line of the structured log tells of a session.
type Event string

// The events.
const (
	EventMessage   Event = "message"
	EventStarted   Event = "action_started"
	EventCompleted Event = "action_completed"
	EventChunk     Event = "chunk_received"
)

// Events are all of them.
var Events = []Event{EventMessage, EventStarted, EventCompleted, EventChunk}

// Log writes one line with the four fields that every line of a conversation has; without an action, actionId is null.
// The line has no text of any message.
func Log(ctx context.Context, event Event, session, agent, action string, more ...any) {
	slog.InfoContext(ctx, string(event), fields(event, session, agent, action, more)...)
}

// LogError is Log of an error: its code, and a sentence for whoever reads logs. People are told something friendlier.
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
