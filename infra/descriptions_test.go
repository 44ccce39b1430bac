package infra_test

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/contest"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/tenancy"
	"ringi/shared/model/teamconfig"
	"ringi/shared/model/turn"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
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
		"AgentDefinition": {reflect.TypeFor[tenancy.Agent](),
			[]string{"id", "provider", "model", "endpoint", "capabilities", "is_default", "auth_ref", "metadata"}},
		"AgentSession": {reflect.TypeFor[conversation.Conversation](),
			[]string{"session_id", "agent_id", "created_at", "status", "pending_action_id", "last_activity_at",
				"workspace_path", "is_cached"}},
		"SessionMessage": {reflect.TypeFor[conversation.Message](),
			[]string{"message_id", "session_id", "sender", "content", "raw_tokens", "created_at", "attachments", "collapsed"}},
		// Every item has an attribute called type, so an action's type has another name.
		"ActionRequest": {reflect.TypeFor[conversation.Action](),
			[]string{"action_id", "session_id", "action_type", "payload_json", "status", "requested_by", "approved_by",
				"started_at", "completed_at", "result_summary", "error_detail"}},
		"ExecutionLogEntry": {reflect.TypeFor[conversation.LogEntry](),
			[]string{"log_id", "action_id", "order_index", "text", "created_at"}},
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
	sameNames(t, "provider", []string{"openai", "anthropic", "http", "local"}, all(tenancy.AgentProviders...))
	sameNames(t, "capabilities", append([]string{"code", "shell", "test"}, oursToo[0]), all(tenancy.Capabilities...))
	sameNames(t, "session status", []string{"open", "executing", "closed", "error"},
		all(conversation.Open, conversation.Executing, conversation.Closed, conversation.Failing))
	sameNames(t, "sender", []string{"user", "agent", "system"},
		all(conversation.FromUser, conversation.FromAgent, conversation.FromSystem))
	sameNames(t, "action type", append([]string{"code_generate", "test_run", "shell_command"}, oursToo[1]),
		all(tenancy.ActionTypes...))
	sameNames(t, "action status", []string{"pending", "approved", "executing", "succeeded", "failed", "cancelled"},
		all(conversation.ActionPending, conversation.ActionApproved, conversation.ActionExecuting,
			conversation.ActionSucceeded, conversation.ActionFailed, conversation.ActionCancelled))
	sameNames(t, "requested by", []string{"agent", "user"},
		all(conversation.RequestedByAgent, conversation.RequestedByUser))
	sameNames(t, "approved by", []string{"user", "auto"}, all(conversation.ApprovedByUser, conversation.ApprovedByAuto))
	sameNames(t, "log events", []string{"message", "action_started", "action_completed", "chunk_received"},
		all(conversation.Events...))
	sameNames(t, "error codes", []string{"AGENT_NOT_FOUND", "SESSION_NOT_FOUND", "VALIDATION_ERROR",
		"ACTION_TYPE_NOT_SUPPORTED", "MISSING_COMMAND"},
		all(conversation.CodeAgentNotFound, conversation.CodeSessionNotFound, conversation.CodeValidation,
			turn.NotSupported, conversation.CodeMissingCommand))

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
		d, ok := tenancy.AgentByID(tenancy.BuiltInAgents(), id)
		expect.That(t, ok && len(d.Capabilities) != 0 && d.Provider != "" && d.Model != "", "%s is not built in", id)
	}
	expect.That(t, !tenancy.DefaultSettings().AISessions.Cache.Enabled, "sessions are kept though nobody asked for it")
	expect.Is(t, len((tenancy.Agent{}).Problems()), 3,
		"asked for of an empty definition: id, provider and capabilities")
	expect.That(t, slices.Contains(columns(reflect.TypeFor[tenancy.Settings]()), "agents"),
		"the settings have no agents of their own")
}

// sameNames compares names in any order.
func sameNames(t *testing.T, what string, want, got []string) {
	t.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	expect.That(t, slices.Equal(want, got), "%s: wanted %v, here %v", what, want, got)
}

// TestNothingOfTheDescriptionsOfContestsIsMissing has every table, column, record, field, enumeration, default, bound
// and error text of the two original descriptions of contests.
func TestNothingOfTheDescriptionsOfContestsIsMissing(t *testing.T) {
	for table, of := range map[string]struct {
		row    reflect.Type
		typ    string
		fields string
	}{
		"round_history": {reflect.TypeFor[contest.Round](), (&contest.Round{}).Type(),
			"id execution_id team_id team_name round_number message_history member_submissions_record created_at"},
		"leader_board": {reflect.TypeFor[contest.Board](), (&contest.Board{}).Type(),
			"id execution_id team_id team_name round_number evaluation_score evaluation_feedback submission_content " +
				"submission_format usage_info created_at"},
		"execution_summary": {reflect.TypeFor[contest.Summary](), (&contest.Summary{}).Type(),
			"execution_id user_prompt status team_results total_teams best_team_id best_score total_execution_time_seconds " +
				"completed_at created_at"},
		"RunUsage": {reflect.TypeFor[contest.RunUsage](), "",
			"input_tokens cache_write_tokens cache_read_tokens output_tokens input_audio_tokens cache_audio_read_tokens " +
				"output_audio_tokens details requests tool_calls"},
		"usage_info": {reflect.TypeFor[contest.UsageInfo](), "", "input_tokens output_tokens requests"},
		"RoundResult": {reflect.TypeFor[contest.RoundResult](), "",
			"execution_id team_id team_name round_number submission_content evaluation_score evaluation_feedback usage " +
				"execution_time_seconds completed_at"},
		"MemberSubmission": {reflect.TypeFor[contest.MemberSubmission](), "",
			"agent_name agent_type content status error_message usage timestamp execution_time_ms all_messages"},
		"MemberSubmissionsRecord": {reflect.TypeFor[contest.MemberSubmissionsRecord](), "",
			"execution_id team_id team_name round_number submissions"},
		"team statistics": {reflect.TypeFor[store.Statistics](), "",
			"total_rounds avg_score best_score total_input_tokens total_output_tokens"},
		"part":       {reflect.TypeFor[contest.Part](), "", "part_kind content timestamp tool_name args"},
		"message":    {reflect.TypeFor[contest.ModelMessage](), "", "kind parts"},
		"TeamConfig": {reflect.TypeFor[teamconfig.Team](), "", "team_id team_name max_concurrent_members leader members"},
		"LeaderAgentConfig": {reflect.TypeFor[teamconfig.Leader](), "",
			"system_prompt model temperature max_tokens timeout_seconds max_retries stop_sequences top_p seed"},
		"MemberAgentConfig": {reflect.TypeFor[teamconfig.Member](), "",
			"agent_name agent_type tool_name tool_description model system_instruction system_prompt temperature " +
				"max_tokens timeout_seconds max_retries stop_sequences top_p seed config"},
	} {
		has := columns(of.row)
		for _, field := range strings.Fields(of.fields) {
			expect.That(t, slices.Contains(has, field), "%s has no %s", table, field)
		}
		expect.That(t, of.typ == "" || of.typ == table, "rows of %s are of the type %s", table, of.typ)
	}
	sameWords(t)
	sameNumbers(t)
	sameTexts(t)
	rowsOfTheirKeys(t)
}

// sameWords compares enumerations with the described ones.
func sameWords(t *testing.T) {
	t.Helper()
	same := func(what string, want string, got []string) {
		t.Helper()
		sameNames(t, what, strings.Fields(want), got)
	}
	same("status of a summary", "completed partial_failure failed", all(contest.SummaryStatuses...))
	same("status of a member", "SUCCESS ERROR", all(contest.Success, contest.Error))
	same("agent_type", "plain web-search code-exec", all(contest.AgentTypes...))
	same("exit reason", "max_rounds_reached no_improvement_expected team_timeout budget_exhausted partial_failure",
		all(contest.ExitReasons...))
	same("kind of a message", "request response", all(contest.KindRequest, contest.KindResponse))
	same("part_kind", "user-prompt text tool-call tool-return system-prompt retry-prompt",
		all(contest.UserPrompt, contest.Text, contest.ToolCall, contest.ToolReturn, contest.SystemPrompt,
			contest.RetryPrompt))
}

// sameNumbers compares defaults and bounds with the described ones.
func sameNumbers(t *testing.T) {
	t.Helper()
	for what, of := range map[string][2]any{
		"submission_format": {"structured_json", contest.Format}, "rows of a board": {10, store.DefaultLimit},
		"most rounds":             {10, contest.MaxRounds},
		"least seconds of a team": {10, contest.MinTeamSeconds}, "most seconds of a team": {3600, contest.MaxTeamSeconds},
		"rounds": {5, teamconfig.DefaultMaxRounds}, "seconds of a team": {300, teamconfig.DefaultTeamTimeout},
		"members at once": {15, teamconfig.DefaultConcurrentMembers}, "most members at once": {50,
			teamconfig.MaxConcurrentMembers},
		"a leader's model": {"openai:gpt-4o", teamconfig.DefaultLeaderModel}, "a leader's seconds": {300,
			teamconfig.DefaultTimeout},
		"max_retries": {3, teamconfig.DefaultMaxRetries}, "what is kept in a row": {64 << 10, store.MaxInline},
	} {
		expect.That(t, of[0] == of[1], "%s: described %v, here %v", what, of[0], of[1])
	}
}

// sameTexts compares errors with the described texts.
func sameTexts(t *testing.T) {
	t.Helper()
	one := 0.5
	at := time.Unix(1, 0)
	member := contest.MemberSubmission{AgentName: "a", AgentType: contest.Plain, Status: contest.Success, Timestamp: at}
	noName, noType, noStatus := member, member, member
	noName.AgentName, noType.AgentType, noStatus.Status = "", "other", "OK"
	_, notSet := teamconfig.Open("", nil)
	team := func(lines string) error {
		w := teamconfig.Workspace{FS: fstest.MapFS{"a.toml": {Data: []byte(lines)}}}
		var out []error
		for _, f := range teamconfig.Check(w, "a.toml").Errors {
			out = append(out, errors.New(f.Message))
		}
		return errors.Join(out...)
	}
	begins := "[team]\nteam_id='a'\nteam_name='A'\n"
	x := "[[team.members]]\nagent_name='x'\nagent_type='plain'\ntool_description='d'\nmodel='openai:gpt-4o'\n"
	for want, err := range map[string]error{
		"evaluation_score must be between 0.0 and 1.0, got 1.5. This violates the contract " +
			"specification.": (&contest.Board{EvaluationScore: 1.5}).Check(),
		"evaluation_score must be between 0.0 and 1.0, got -0.5. This violates the contract " +
			"specification.": contest.CheckScore(-one),
		"evaluation_score must be between 0.0 and 1.0, got nan. This violates the contract " +
			"specification.": (&contest.Round{EvaluationScore: math.NaN()}).Check(),
		"round_number must be 1 or more, got 0": contest.MemberSubmissionsRecord{ExecutionID: "e",
			TeamID: "t", TeamName: "T"}.Check(),
		"agent_name must not be empty":                                     noName.Check(),
		"agent_type must be plain, web-search or code-exec, got \"other\"": noType.Check(),
		"status must be SUCCESS or ERROR, got \"OK\"":                      noStatus.Check(),
		"MIXSEEK_WORKSPACE environment variable is not set.\nPlease set it: export " +
			"MIXSEEK_WORKSPACE=/path/to/workspace": notSet,
		"DatabaseWriteError": &contest.DatabaseWriteError{What: "x", Attempts: 4, Err: errors.New("y")},
		"system_prompt cannot be empty string. Use None for default prompt or provide valid text.": team(begins +
			"[team.leader]\nsystem_prompt=''\n"),
		"tool_description cannot be empty": team(begins +
			strings.Replace(x, "'d'", "' '", 1)),
		"Duplicate agent_name detected: ['x', 'x']":                        team(begins + x + x),
		"Duplicate tool_name detected: ['delegate_to_x', 'delegate_to_x']": team(begins + x + x),
		"Too many members: 2 > 1. Adjust max_concurrent_members or reduce member count.": team(begins +
			"max_concurrent_members=1\n" + x + strings.Replace(x, "'x'", "'y'", 1)),
	} {
		expect.That(t, err != nil && strings.Contains(err.Error(), want), "described as %q, here %v", want, err)
	}
}

// rowsOfTheirKeys checks that no two executions, teams or rounds share a row's key.
func rowsOfTheirKeys(t *testing.T) {
	t.Helper()
	seen := map[string]bool{}
	tenant := aggregate.TenantID("T1")
	for _, execution := range []string{"550e8400-e29b-41d4-a716-446655440000", "550e8400-e29b-41d4-a716-446655440001"} {
		for _, team := range []string{"team-001", "team#001", "チーム"} {
			ref := contest.TeamRef(tenant, execution, team)
			expect.That(t, !strings.Contains(ref.ID, "#"), "%s is no part of a key", ref.ID)
			for round := 1; round <= contest.MaxRounds; round++ {
				for _, r := range []aggregate.Row{&contest.Round{RoundNumber: round}, &contest.Board{RoundNumber: round}} {
					key := ref.ID + " " + r.Key()
					expect.That(t, !seen[key], "%s is there twice", key)
					seen[key] = true
				}
			}
		}
	}
}
