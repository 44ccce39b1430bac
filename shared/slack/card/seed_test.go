package card_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
)

// TestCardsAreTheSpecifications compares cards with the samples of the card specification in testdata/seed.
func TestCardsAreTheSpecifications(t *testing.T) {
	stateOf := map[string]state{}
	for _, s := range states {
		stateOf[s.name] = s
	}
	for _, tc := range []struct {
		file, state, colour, text string
	}{
		{"task_generating", "task_generating", "#f2c744", "受け付けました。タスクを分析中..."},
		{"task_complete", "task_complete", "#36a64f", "今月の勤怠集計"},
		{"prompt_generating", "prompt_generating", "#f2c744", "実行方針を生成中..."},
		{"prompt_pending", "prompt_pending", "#2196f3", "実行方針の確認をお願いします"},
		{"prompt_approved", "prompt_approved", "#36a64f", "📝 実行方針(承認済み)"},
		{"prompt_approved", "prompt_approved_execution_cancelled", "#36a64f", "📝 実行方針(承認済み)"},
		{"process_approved", "process_approved_execution_cancelled", "#36a64f", "⚙️ 実行ステップ(承認済み)"},
		{"prompt_rejected", "prompt_rejected_next_generated", "#e01e5a", "📝 実行方針(却下 → 再生成済み)"},
		{"prompt_cancelled", "prompt_rejected_last", "#e01e5a", "📝 実行方針(キャンセル)"},
		{"process_generating", "process_generating", "#f2c744", "⚙️ 実行ステップ"},
		{"process_pending", "process_pending", "#2196f3", "⚙️ 実行ステップ"},
		{"process_approved", "process_approved", "#36a64f", "⚙️ 実行ステップ(承認済み)"},
		{"process_rejected", "process_rejected_next_generated", "#e01e5a", "⚙️ 実行ステップ(却下 → 再生成済み)"},
		{"execution_running", "execution_running", "#1264a3", "🚀 実行中"},
		{"execution_completed", "execution_completed", "#36a64f", "✅ 実行完了"},
		{"execution_failed", "execution_failed", "#e01e5a", "❌ 実行失敗"},
		{"execution_cancelled", "execution_cancelled", "#888888", "⏹️ 実行中止"},
	} {
		t.Run(tc.state, func(t *testing.T) {
			scenario := stateOf[tc.state].scenario(t)
			m := render(scenario.Aggregate, scenario.card(stateOf[tc.state].card), "ja", scenario.now)
			expect.That(t, m.Text == tc.text, "text is %q, want %q", m.Text, tc.text)
			got := unlinked(decoded(t, m.Attachments)).([]any)
			attachment := got[0].(map[string]any)
			attachment["blocks"] = specified(t, tc.file, attachment["blocks"].([]any), scenario.Head.TaskID)
			want := sample(t, tc.file, scenario)
			if blocks, ok := want.([]any); ok {
				want = map[string]any{"attachments": []any{map[string]any{"color": tc.colour, "blocks": blocks}}}
			}
			expect.Same(t, want.(map[string]any)["attachments"], any(got))
		})
	}
}

// specified checks the blocks of a card that the sample doesn't have, and removes them.
func specified(t *testing.T, file string, blocks []any, taskID string) []any {
	t.Helper()
	without := func(i int, says string) {
		line, _ := json.Marshal(blocks[i])
		expect.That(t, strings.Contains(string(line), says), "block %d is %s, want %s", i, line, says)
		blocks = slices.Delete(blocks, i, i+1)
	}
	for _, b := range blocks { // the samples don't fold long texts
		delete(b.(map[string]any), "expand")
	}
	actions := slices.IndexFunc(blocks, func(b any) bool { return b.(map[string]any)["type"] == "actions" })
	if actions >= 0 {
		b := blocks[actions].(map[string]any)
		if b["block_id"] != taskID {
			t.Errorf("block_id of the actions is %v, want the task's id", b["block_id"])
		}
		delete(b, "block_id")
	}
	if strings.HasSuffix(file, "_pending") { // who may decide and until when stands before the buttons
		without(actions-1, "承認・却下できる人")
	}
	if strings.HasPrefix(file, "process_") && file != "process_generating" { // what they would do stands below the steps
		without(2, "*書き込み・送信*")
	}
	if file == "prompt_cancelled" { // who and why stand below what the sample has
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

func TestRejectionModalIsTheSpecifications(t *testing.T) {
	scenario := received(t)
	for _, kind := range []aggregate.CardType{task.CardPrompt, task.CardProcess} {
		v := card.RejectionModal(card.Rejection{Type: kind, ID: "01RESOURCE", TaskID: scenario.Head.TaskID}, "ja")
		want := sample(t, "rejection_modal", scenario, "prompt|process", string(kind)).(map[string]any)
		diff := cmp.Diff(any(want), unlinked(decoded(t, v)))
		expect.That(t, diff == "", "%s: (-specification +rendered)\n%s", kind, diff)
	}
}

// unlinked removes "verbatim", which the samples don't have. Without it Slack would turn addresses in other people's
// words into links.
func unlinked(v any) any {
	switch v := v.(type) {
	case []any:
		for _, x := range v {
			unlinked(x)
		}
	case map[string]any:
		if v["type"] == slack.MarkdownType && v["verbatim"] == true {
			delete(v, "verbatim")
		}
		for _, x := range v {
			unlinked(x)
		}
	}
	return v
}

// sample reads a sample and fills its placeholders with the scenario's values.
func sample(t *testing.T, name string, s *scenario, more ...string) any {
	t.Helper()
	b := expect.Value(os.ReadFile(filepath.Join("testdata", "seed", name+".json")))(t)
	at := func(at *time.Time) string {
		if at == nil {
			return ""
		}
		return "<!date^" + strconv.FormatInt(at.Unix(), 10) + "^{date_short_pretty} {time}|" +
			at.Format("2006-01-02 15:04 UTC") + ">"
	}
	places := map[string]string{
		"task_id": s.Head.TaskID, "version": "1", "next_version": "2", "resource_id": "01RESOURCE",
		"priority_emoji": "🟡", "priority_label": "Medium", "prompt_content (truncated)": content,
		"error_message": card.Sentence("ja", task.ReasonToolFailed, "calculate_overtime"),
		"steps_text": "1. *従業員一覧を取得* — `list_employees`\n2. *勤怠データ取得* — `list_attendance`\n3. *残業時間計算* — `calculate_overtime`\n" +
			"4. *Sheet 書き込み* — `write_rows_to_google_sheet`\n5. *完了通知* — `send_slack_dm`",
	}
	if x := s.Task; x != nil {
		places["title"], places["description"], places["task_type"] = x.Title, x.Description, string(x.TaskType)
	}
	verdict := func(v aggregate.Verdict) {
		places["approved_by"], places["approved_at"] = v.ApprovedBy, at(v.ApprovedAt)
		places["rejected_by"], places["rejection_reason"] = v.RejectedBy, v.RejectionReason
	}
	if len(s.Prompts) > 0 {
		verdict(s.Prompts[0].Verdict)
		places["prompt_id"] = s.Prompt().ID
	}
	if len(s.Processes) > 0 {
		if !strings.HasPrefix(name, "prompt") {
			verdict(s.Processes[0].Verdict)
		}
		places["process_id"] = s.Process().ID
	}
	if e := s.Execution(); e != nil {
		places["execution_id"], places["summary"] = e.ID, e.Summary
		places["cancelled_by"], places["cancelled_at"] = e.CancelledBy, at(e.CancelledAt)
		places["completed_at"], places["failed_at"] = at(e.CompletedAt), at(e.CompletedAt)
		if e.CompletedAt != nil {
			places["elapsed"] = strconv.Itoa(int(e.CompletedAt.Sub(*e.StartedAt).Seconds()))
		}
	}
	var pairs []string
	for k, v := range places {
		q := expect.Value(json.Marshal(v))(t)
		pairs = append(pairs, "{"+k+"}", strings.Trim(string(q), `"`))
	}
	var v any
	expect.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(append(pairs, more...)...).Replace(string(b))), &v))
	return v
}
