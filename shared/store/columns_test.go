package store

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/table"
)

// tables are the columns of the data model by item type. A column that may be missing ends in ?; a JSON column has its
// DynamoDB type instead.
var tables = map[string]string{
	"tenant": "id text, name text, slug text, agent_id text?, vault_id text?, created_at text, updated_at text",
	"task": "id text, tenant_id text, title text, description text, priority text, task_type text, status text, source " +
		"text, slack_channel text, slack_thread_ts text, created_at text, updated_at text",
	"prompt": "id text, task_id text, version integer, content text, status text, approved_by text?, approved_at text?, " +
		"rejection_reason text?, rejected_by text?, created_at text",
	"process": "id text, task_id text, prompt_id text, version integer, steps list, status text, approved_by text?, " +
		"approved_at text?, rejection_reason text?, rejected_by text?, created_at text",
	"execution": "id text, task_id text, process_id text, session_id text?, status text, current_step integer, results " +
		"list, error text?, cancelled_by text?, cancelled_at text?, started_at text?, completed_at text?",
	"card": "id text, task_id text, card_type text, channel text, message_ts text, created_at text",
	"audit": "id text, tenant_id text, timestamp text, actor_type text, actor_id text?, action text, " +
		"resource_type text, resource_id text?, details text",
	// Each of these types has one row per tenant.
	"settings": "id text, tenant_id text, config object, updated_at text, updated_by text?",
	"integration": "id text, tenant_id text, provider text, status text, credentials text, metadata text, connected_at " +
		"text?, updated_at text",
	"tool": "id text, tenant_id text, tool_name text, allowed flag, constraints text, created_at text, " +
		"updated_at text",
	// These are the members of JSON columns.
	"steps[]": "stepId text, order integer, tool text, toolInput object, description text, expectedOutput text",
	"results[]": "stepId text, tool text, status text, result object?, duration_ms integer, started_at text, " +
		"completed_at text?",
}

func columns(t *testing.T, table string, it table.Item) {
	t.Helper()
	for _, column := range strings.Split(tables[table], ", ") {
		name, kind, _ := strings.Cut(column, " ")
		kind, optional := strings.CutSuffix(kind, "?")
		v, got := it[name], ""
		switch v := v.(type) {
		case nil:
			expect.That(t, optional, "%s.%s is not there", table, name)
			continue
		case *types.AttributeValueMemberS:
			got = "text"
		case *types.AttributeValueMemberN:
			got = "integer"
		case *types.AttributeValueMemberBOOL:
			got = "flag"
		case *types.AttributeValueMemberM:
			got = "object"
		case *types.AttributeValueMemberL:
			got = "list"
			for _, e := range v.Value {
				columns(t, name+"[]", e.(*types.AttributeValueMemberM).Value)
			}
		}
		expect.That(t, got == kind, "%s.%s is %T, the data model has %s", table, name, v, kind)
	}
}

// columnTasks has a task in each state.
type columnTasks struct{ finished, failed, cancelled, running aggregate.Ref }

// writeColumns writes rows of every type.
func writeColumns(t *testing.T, st *taskStore) columnTasks {
	t.Helper()
	tasks := columnTasks{running(t, st, 1, 1), running(t, st, 2, 2), running(t, st, 3, 2), running(t, st, 4, 1)}
	owner := workspace("T0COLUMNS")
	owner.ID = tenant
	expect.Value(st.Bootstrap(t.Context(), owner, at()))(t)
	settings := tenancy.DefaultSettings()
	settings.Locale = "en"
	expect.Value(st.SaveSettings(t.Context(), owner.ID, settings, approver(), at()))(t)
	decided(t, st, tasks.finished, claim(1), finishStep(1), func(a *task.Aggregate) (aggregate.Change, error) {
		return a.CompleteExecution(a.Head.Run, "終わりました。", at())
	})
	decided(t, st, tasks.failed, claim(1), finishStep(1), failing)
	decided(t, st, tasks.cancelled, claim(1), finishStep(1), cancel)
	for _, provider := range []string{"freee", "google"} {
		x := tenancy.Integration{TenantID: tenant, Provider: provider, Status: tenancy.Disconnected}
		if provider == "freee" {
			x.Status, x.Credentials = tenancy.Connected, "sealed"
		}
		expect.Value(st.SaveIntegration(t.Context(), x, approver(), at()))(t)
	}
	expect.Value(st.SaveToolPermission(t.Context(), tenancy.ToolPermission{TenantID: tenant, ToolName: "send_slack_dm"},
		approver(), at()))(t)
	for _, ref := range []aggregate.Ref{tasks.finished, tasks.failed, tasks.cancelled} {
		expect.Value(st.ClaimCard(t.Context(), ref, "CARD#task", "me", at(), at().Add(-time.Minute)))(t)
		expect.NoError(t, st.PostedCard(t.Context(), ref, "CARD#task", "me", "1.000001", "C1", "hash", nil))
	}
	return tasks
}

func testColumns(t *testing.T, st *taskStore) {
	tasks := writeColumns(t, st)
	seen := map[string]int{}
	partitions := []string{"TENANT#" + tenant, "INTEGRATIONS#" + tenant, "AUDIT#" + tenant + "#2026-04"}
	for _, ref := range []aggregate.Ref{tasks.finished, tasks.failed, tasks.cancelled} {
		partitions = append(partitions, "TASK#"+tenant+"#"+ref.ID)
	}
	for _, pk := range partitions {
		for _, it := range rows(t, st, pk) {
			kind := table.TextOf(it, "type")
			if kind == "card" && table.TextOf(it, "state") != string(aggregate.CardPosted) {
				continue // message_ts is only set when the message is posted
			}
			if tables[kind] != "" {
				seen[kind]++
				columns(t, kind, it)
			}
		}
	}
	for kind := range tables {
		expect.That(t, seen[kind] != 0 || strings.HasSuffix(kind, "[]"), "no %s was written", kind)
	}
	t.Run("an execution's error is a sentence, its code beside it", func(t *testing.T) { testErrorColumns(t, st, tasks) })
	t.Run("a result is itself, and comes back", func(t *testing.T) {
		expect.Same(t, &aggregate.Blob{JSON: `{"count":42}`, Bytes: 12},
			loaded(t, st, tasks.failed).Execution().Results[0].Result)
	})
}

func testErrorColumns(t *testing.T, st *taskStore, tasks columnTasks) {
	sk := task.ExecutionKey(1, 1)
	it := raw(t, st, "TASK#"+tenant+"#"+tasks.failed.ID, sk)
	if got := table.TextOf(it, "error"); !strings.HasPrefix(got, "ツールの呼び出しに失敗しました (calculate_overtime)。") ||
		table.TextOf(it, "error_code") != string(task.ReasonToolFailed) {
		t.Errorf("error %q, error_code %q", got, table.TextOf(it, "error_code"))
	}
	decided(t, st, tasks.running, func(a *task.Aggregate) (aggregate.Change, error) {
		a.Execution().Terms.Locale = "en"
		return failing(a)
	})
	got := table.TextOf(raw(t, st, "TASK#"+tenant+"#"+tasks.running.ID, sk), "error")
	expect.That(t, strings.HasPrefix(got, "A tool call failed (calculate_overtime)."), "in English: %q", got)
	for _, ref := range []aggregate.Ref{tasks.finished, tasks.cancelled} {
		if it := raw(t, st, "TASK#"+tenant+"#"+ref.ID, sk); it["error"] != nil || it["error_code"] != nil {
			t.Errorf("one that did not fail has %q", table.TextOf(it, "error"))
		}
	}
}

func failing(a *task.Aggregate) (aggregate.Change, error) {
	return a.FailExecution(a.Head.Run, task.ReasonToolFailed, "calculate_overtime", at())
}

func TestAResultThatIsElsewhereStaysAReference(t *testing.T) {
	for name, c := range map[string]struct {
		result aggregate.Blob
		object bool
	}{
		"an object":            {aggregate.Blob{JSON: `{"s3_key":"its own","bytes":1}`, Bytes: 30}, true},
		"a reference":          {aggregate.Blob{Bytes: 5000, S3Key: "results/t/x.json"}, false},
		"too large to be kept": {aggregate.Blob{Bytes: 5000}, false},
		"a list":               {aggregate.Blob{JSON: `[1,2]`, Bytes: 5}, false},
		"what would be lossy":  {aggregate.Blob{JSON: `{"a":1e400}`, Bytes: 11}, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := task.Execution{ProcessVersion: 1, Attempt: 1, Results: []task.ResultEntry{{StepID: "step-1",
				Result: &c.result}, {StepID: "step-2"}}}
			it := expect.Value(table.Pack("execution", "PK", e.Key(), &e))(t)
			entry := it["results"].(*types.AttributeValueMemberL).Value[0].(*types.AttributeValueMemberM).Value
			expect.That(t, (entry["result_bytes"] != nil) == c.object, "stored as %v", entry)
			var back task.Execution
			expect.NoError(t, table.Unpack(it, &back))
			got := *back.Results[0].Result
			if name == "an object" { // members are sorted then
				c.result.JSON = `{"bytes":1,"s3_key":"its own"}`
			}
			expect.That(t, reflect.DeepEqual(c.result, got) && back.Results[1].Result == nil, "it comes back as %+v",
				back.Results)
		})
	}
}
