package infra_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"ringi/shared/domain/agent"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
)

// columns returns the attributes of a row's type, including those of embedded structs.
func columns(row reflect.Type) (out []string) {
	for i := range row.NumField() {
		f := row.Field(i)
		if f.Anonymous {
			out = append(out, columns(f.Type)...)
			continue
		}
		name, _, _ := strings.Cut(f.Tag.Get("json"), ",")
		out = append(out, name)
	}
	return out
}

func all[S ~string](values ...S) (out []string) {
	for _, v := range values {
		out = append(out, string(v))
	}
	return out
}

// arrows formats the moves between states as a -> b.
func arrows[S ~string](moves map[S][]S) (out []string) {
	for from, to := range moves {
		for _, t := range to {
			out = append(out, fmt.Sprint(from, " -> ", t))
		}
	}
	return out
}

// TestNothingOfTheDescriptionOfAgentsIsMissing has every entity and field of the original description of conversations
// with agents, by the name of its column.
func TestNothingOfTheDescriptionOfAgentsIsMissing(t *testing.T) {
	for entity, of := range map[string]struct {
		row    reflect.Type
		fields []string
	}{
		"AgentDefinition": {reflect.TypeFor[agent.Definition](), []string{"id", "provider", "model", "endpoint", "capabilities", "is_default", "auth_ref", "metadata"}},
		"AgentSession":    {reflect.TypeFor[conversation.Conversation](), []string{"session_id", "agent_id", "created_at", "status", "pending_action_id", "last_activity_at", "workspace_path", "is_cached"}},
		"SessionMessage":  {reflect.TypeFor[conversation.Message](), []string{"message_id", "session_id", "sender", "content", "raw_tokens", "created_at", "attachments", "collapsed"}},
		// Every item has an attribute called type, so an action's type has another name.
		"ActionRequest":     {reflect.TypeFor[conversation.Action](), []string{"action_id", "session_id", "action_type", "payload_json", "status", "requested_by", "approved_by", "started_at", "completed_at", "result_summary", "error_detail"}},
		"ExecutionLogEntry": {reflect.TypeFor[conversation.LogEntry](), []string{"log_id", "action_id", "order_index", "text", "created_at"}},
	} {
		has := columns(of.row)
		for _, field := range of.fields {
			expect.That(t, slices.Contains(has, field), "%s has no %s", entity, field)
		}
	}
}

// oursToo are what the description doesn't have: agents call vendors' tools.
var oursToo = []string{"tools", "tool_call"}

// TestNothingOfTheEnumerationsOfAgentsIsMissing compares the enumerations of agents, and the moves between an action's
// statuses, with their original description.
func TestNothingOfTheEnumerationsOfAgentsIsMissing(t *testing.T) {
	sameNames(t, "provider", []string{"openai", "anthropic", "http", "local"}, all(agent.Providers...))
	sameNames(t, "capabilities", append([]string{"code", "shell", "test"}, oursToo[0]), all(agent.Capabilities...))
	sameNames(t, "session status", []string{"open", "executing", "closed", "error"}, all(conversation.Open, conversation.Executing, conversation.Closed, conversation.Failing))
	sameNames(t, "sender", []string{"user", "agent", "system"}, all(conversation.FromUser, conversation.FromAgent, conversation.FromSystem))
	sameNames(t, "action type", append([]string{"code_generate", "test_run", "shell_command"}, oursToo[1]),
		all(agent.ActionTypes...))
	sameNames(t, "action status", []string{"pending", "approved", "executing", "succeeded", "failed", "cancelled"},
		all(conversation.ActionPending, conversation.ActionApproved, conversation.ActionExecuting, conversation.ActionSucceeded, conversation.ActionFailed, conversation.ActionCancelled))
	sameNames(t, "requested by", []string{"agent", "user"}, all(conversation.RequestedByAgent, conversation.RequestedByUser))
	sameNames(t, "approved by", []string{"user", "auto"}, all(conversation.ApprovedByUser, conversation.ApprovedByAuto))
	sameNames(t, "log events", []string{"message", "action_started", "action_completed", "chunk_received"}, all(conversation.Events...))
	sameNames(t, "error codes", []string{"AGENT_NOT_FOUND", "SESSION_NOT_FOUND", "VALIDATION_ERROR", "ACTION_TYPE_NOT_SUPPORTED", "MISSING_COMMAND"},
		all(conversation.CodeAgentNotFound, conversation.CodeSessionNotFound, conversation.CodeValidation, conversation.CodeNotSupported, conversation.CodeMissingCommand))

	described := []string{
		"pending -> approved", "approved -> executing", "executing -> succeeded", "executing -> failed",
		"pending -> cancelled", "executing -> cancelled",
	}
	// An action that could not be started, one that a person withdrew, and an unknown outcome that became known.
	ours := []string{"approved -> failed", "approved -> cancelled", "failed -> succeeded", "failed -> failed"}
	sameNames(t, "moves of an action", append(described, ours...), arrows(conversation.ActionMoves))
	expect.That(t, !slices.Contains(conversation.ActionMoves[conversation.ActionPending], conversation.ActionExecuting),
		"an action executes without approval")
}

func TestTheLimitsAndDefaultsOfAgentsAreTheDescribed(t *testing.T) {
	for limit, of := range map[string][2]int{
		"messages shown":     {1000, turn.MaxMessages},
		"bytes shown":        {200 << 10, turn.MaxBytes},
		"lines of an action": {500, conversation.MostLines},
	} {
		expect.That(t, of[0] == of[1], "%s: described %d, here %d", limit, of[0], of[1])
	}
	for _, id := range []string{"codex", "claude"} {
		d, ok := agent.Find(agent.BuiltIn(), id)
		expect.That(t, ok && len(d.Capabilities) != 0 && d.Provider != "" && d.Model != "", "%s is not built in", id)
	}
	expect.That(t, !tenancy.DefaultSettings().AISessions.Cache.Enabled, "sessions are kept though nobody asked for it")
	expect.Is(t, len((agent.Definition{}).Faults()), 3, "asked for of an empty definition: id, provider and capabilities")
	expect.That(t, slices.Contains(columns(reflect.TypeFor[tenancy.Settings]()), "agents"),
		"the settings have no agents of their own")
}

// sameNames compares names in any order.
func sameNames(t *testing.T, what string, want, got []string) {
	t.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	expect.That(t, slices.Equal(want, got), "%s: wanted %v, here %v", what, want, got)
}
