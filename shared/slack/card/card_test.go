package card_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/slack-go/slack"

	"ringi/infra/local/ringitest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

func TestHashChangesWithWhatIsShownOnly(t *testing.T) {
	s := planned(t, fiveSteps(), tenancy.DefaultSettings())
	c := s.card(processCard)
	m := render(s.Aggregate, c, "ja", s.now)
	later := render(s.Aggregate, c, "ja", s.now.Add(time.Hour))
	expect.That(t, card.Hash(later) == card.Hash(m), "an hour that changes nothing changes the hash")
	expect.Is(t, card.Hash(m), aggregate.HashOf(expect.JSON(decoded(t, m))), "the hash of the JSON with sorted keys")
	seen := map[string]string{card.Hash(m): "as it was"}
	for name, other := range map[string]card.Message{
		"another language": render(s.Aggregate, c, "en", s.now),
		"another text":     {Text: "x", Attachments: m.Attachments},
		"another colour": {Text: m.Text, Attachments: []slack.Attachment{{Color: "#000000",
			Blocks: m.Attachments[0].Blocks}}},
		"decided": render(s.do(decide.Approve(s, s.Process().ID, approver, policy, s.now)).Aggregate, c, "ja", s.now),
	} {
		same, ok := seen[card.Hash(other)]
		expect.That(t, !ok, "%s has the hash of %s", name, same)
		seen[card.Hash(other)] = name
	}
}

// Effects relies on this: nothing is drawn for an acceptance.
func TestAnAcceptedRequestLooksAsBefore(t *testing.T) {
	for _, locale := range language.All {
		for _, kind := range []string{"channel", "group", "mpim", "im"} {
			s := received(t)
			s.Request.ChannelType = kind
			before := render(s.Aggregate, s.card(taskCard), locale, s.now)
			s.do(s.Accept(s.Head.Run, requester, tenancy.DefaultSettings(), s.now))
			after := render(s.Aggregate, s.card(taskCard), locale, s.now)
			expect.That(t, s.Head.AcceptedAt != nil && s.Head.Rev == 2 && card.Hash(before) == card.Hash(after),
				"%s, %s: revision %d shows %v, was %v", locale, kind, s.Head.Rev, after, before)
		}
	}
}

// TestTornRows: an aggregate may mix two commits. A card then offers nothing that the newer one has removed.
func TestTornRows(t *testing.T) {
	ended := &task.Ended{As: task.TaskCancelled, By: approver.ID, Reason: task.ReasonByPerson,
		At: time.Unix(1776522792, 0)}
	set := tenancy.DefaultSettings()
	for name, tc := range map[string]struct {
		s    *scenario
		card string
	}{
		"a prompt that waits":  {received(t).extracted().drafted(set), promptCard},
		"a process that waits": {planned(t, fiveSteps(), set), processCard},
		"a step that waits":    {gated(t, arguments), stepCard},
	} {
		tc.s.Head.Ended = ended
		m := render(tc.s.Aggregate, tc.s.card(tc.card), "ja", tc.s.now)
		expect.That(t, len(buttons(m)) == 0 && m.Attachments[0].Color == "#888888",
			"%s beside an ended head: %d buttons, colour %s", name, len(buttons(m)), m.Attachments[0].Color)
	}
	s := approved(t, fiveSteps())
	s.Executions = nil
	if m := render(s.Aggregate, s.card(executionCard), "ja", s.now); len(buttons(m)) > 0 || ringitest.CheckCard(m) != nil {
		t.Errorf("a card without its execution: %d buttons, %v", len(buttons(m)), ringitest.CheckCard(m))
	}
}

func TestAPauseThatIsOverIsNotShown(t *testing.T) {
	s := received(t)
	until := s.now.Add(time.Minute)
	s.do(s.WaitUntil(1, s.Generating(), until, s.now))
	for now, blocks := range map[time.Time]int{until.Add(-time.Second): 2, until: 1} {
		n := len(render(s.Aggregate, s.card(taskCard), "ja", now).Attachments[0].Blocks.BlockSet)
		expect.That(t, n == blocks, "at %s: %d blocks, want %d", now, n, blocks)
	}
}

func TestPriorities(t *testing.T) {
	for p, want := range map[task.Priority]string{
		task.Low: "🟢 Low", task.Medium: "🟡 Medium", task.High: "🔴 High", task.Urgent: "🚨 Urgent",
		"<odd>": "&lt;odd&gt;", "": "(なし)",
	} {
		s := received(t).extracted()
		s.Task.Priority = p
		_, blocks := s.shown(taskCard)
		got := blocks[3].(*slack.SectionBlock).Fields[0].Text
		expect.That(t, got == "*優先度*\n"+want, "%q shows %q", p, got)
	}
}

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
		{"task_complete", "task_complete", "#36a64f", "📋 タスク"},
		{"prompt_generating", "prompt_generating", "#f2c744", "実行方針を生成中..."},
		{"prompt_pending", "prompt_pending", "#2196f3", "実行方針の確認をお願いします: 「今月の勤怠集計」"},
		{"prompt_approved", "prompt_approved", "#36a64f", "📝 実行方針(承認済み)"},
		{"prompt_approved", "prompt_approved_execution_cancelled", "#36a64f", "📝 実行方針(承認済み)"},
		{"process_approved", "process_approved_execution_cancelled", "#36a64f", "⚙️ 実行ステップ(承認済み)"},
		{"prompt_rejected", "prompt_rejected_next_generated", "#e01e5a", "📝 実行方針(却下 → 再生成済み)"},
		{"prompt_cancelled", "prompt_rejected_last", "#e01e5a", "📝 実行方針(キャンセル)"},
		{"process_generating", "process_generating", "#f2c744", "⚙️ 実行ステップ"},
		{"process_pending", "process_pending", "#2196f3", "承認のお願い: シート「ringi-demo-sheet」のタブ「勤怠 2026-04」への書き込み ほか 1 件"},
		{"process_approved", "process_approved", "#36a64f", "⚙️ 実行ステップ(承認済み)"},
		{"process_rejected", "process_rejected_next_generated", "#e01e5a", "⚙️ 実行ステップ(却下 → 再生成済み)"},
		{"execution_running", "execution_running", "#1264a3", "🚀 実行中"},
		{"execution_completed", "execution_completed", "#36a64f", "✅ 実行完了"},
		{"execution_failed", "execution_failed", "#e01e5a", "❌ 実行失敗"},
		{"execution_cancelled", "execution_cancelled", "#888888", "⏹️ 実行中止"},
	} {
		t.Run(tc.state, func(t *testing.T) {
			scenario := stateOf[tc.state].scenario(t)
			m, _ := scenario.shown(stateOf[tc.state].card)
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
		expect.Has(t, expect.JSON(blocks[i]), says, "block %d", i)
		blocks = slices.Delete(blocks, i, i+1)
	}
	for _, b := range blocks { // the samples don't fold long texts
		delete(b.(map[string]any), "expand")
	}
	actions := slices.IndexFunc(blocks, func(b any) bool { return b.(map[string]any)["type"] == "actions" })
	if actions >= 0 {
		b := blocks[actions].(map[string]any)
		id, _, _, ok := card.Subject(b["block_id"].(string))
		expect.That(t, ok && id == taskID, "block_id of the actions is %v", b["block_id"])
		delete(b, "block_id")
	}
	if strings.HasSuffix(file, "_pending") { // whose turn it is, until when, and a note stand before the buttons
		without(actions-1, "本人も承認できます")
		without(actions-2, "👉 承認待ち")
	}
	if file == "prompt_pending" { // and before the divider what approving it does
		without(2, "次にステップを作ります")
	}
	if strings.HasPrefix(file, "process_") && file != "process_generating" { // what they would do stands above the steps
		without(2, "👀 ")
		without(1, "シート「ringi-demo-sheet」")
	}
	if file == "execution_failed" { // what it was about stands first
		without(1, "ステップ 3 に失敗しました: 残業時間計算")
	}
	if file == "execution_failed" || file == "execution_cancelled" {
		without(1, nothingWritten)
	}
	if file == "prompt_cancelled" { // who and why stand below what the sample has
		blocks = blocks[:len(blocks)-1]
	}
	return blocks
}

func TestRejectionModalIsTheSpecifications(t *testing.T) {
	for kind, of := range map[aggregate.CardType]*scenario{
		task.CardPrompt: received(t).extracted().drafted(defaults), task.CardProcess: planned(t, fiveSteps(), defaults)} {
		q, _ := of.Asks()
		v := of.formOf(kind, q.ID, 0, "ja")
		v.PrivateMetadata = strings.Replace(v.PrivateMetadata, q.ID, "01RESOURCE", 1)
		want := sample(t, "rejection_modal", of, "prompt|process", string(kind)).(map[string]any)
		diff := cmp.Diff(any(want), unlinked(decoded(t, v)))
		expect.That(t, diff == "", "%s: (-specification +rendered)\n%s", kind, diff)
	}
}

// unlinked removes "verbatim", which the samples don't have. Without it Slack would turn addresses in other people's
// words into links.
func unlinked(v any) any {
	visit(v, func(v any) {
		if x, is := v.(map[string]any); is && x["type"] == slack.MarkdownType && x["verbatim"] == true {
			delete(x, "verbatim")
		}
	})
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
		"error_message": card.Sentence("ja", task.ReasonToolFailed, "ステップ 3", explain.RetryRun),
		"steps_text": "1. *従業員一覧を取得* — `list_employees`\n2. *勤怠データ取得* — `list_attendance`\n3. *残業時間計算* — " +
			"`calculate_overtime`\n" +
			"4. *Sheet 書き込み* — `write_rows_to_google_sheet`\n5. *完了通知* — `send_slack_dm`",
	}
	if x := s.Task; x != nil {
		places["title"], places["description"], places["task_type"] = x.Title, x.Description, "通常"
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
		pairs = append(pairs, "{"+k+"}", strings.Trim(expect.JSON(v), `"`))
	}
	var v any
	expect.NoError(t, json.Unmarshal([]byte(strings.NewReplacer(append(pairs, more...)...).Replace(string(b))), &v))
	return v
}

// copyOf draws a direct message that has changed.
func copyOf(of aggregate.Aggregate, c *aggregate.Card, s tenancy.Settings, link string, now time.Time) card.Message {
	m, changed := card.Copy(of, c, s, card.Around{}, link, now)
	if !changed {
		panic("nothing is drawn of " + c.Subject)
	}
	return m
}

var update = flag.Bool("update", false, "write the golden files anew")

// looks draws each card and dialog in each of its states in a language, by name.
func looks(t *testing.T, locale string) map[string]any {
	t.Helper()
	ending := card.Cancellation{TaskID: "53336444-3f36-80ce-9171-c57cbb83b9a6"}
	all := map[string]any{"talk_end_dialog": card.DialogsOf(&conversation.Aggregate{}).Ending(ending, "",
		tenancy.Settings{Locale: locale})}
	add := func(prefix string, more map[string]any) {
		for name, v := range more {
			expect.Must(t, all[prefix+name] == nil, "two are called %s", prefix+name)
			all[prefix+name] = v
		}
	}
	for _, s := range slices.Concat(states, routeStates, stepRouteStates, doneStates, matterStates) {
		at := s.scenario(t)
		add("", map[string]any{s.name: render(at.Aggregate, at.card(s.card), locale, at.now)})
	}
	for _, s := range conversationStates {
		c := begunConversation(t)
		s.in(c)
		add("talk_", map[string]any{s.name: c.shown(s.card, locale)})
	}
	add("denied_", anyOf(deniedCards(t, locale)))
	add("route_form_", anyOf(rejectionForms(t, locale)))
	add("route_copy_", anyOf(copiesOnARoute(t, locale)))
	add("returned_", returnedViews(t, locale))
	add("call_", callViews(t, locale))
	ordered := reordered(received(t))
	all["does_order_copy"] = copied(ordered, ordered.copyOf(suzuki, 1), locale)
	all["does_home"] = homeOfEffects(t, locale)
	return all
}

// textOf writes what is sent of a message or dialog, a line a block. A line end within a text begins another line with
// two spaces, so no two messages have one text.
func textOf(name string, sent any) string {
	x := sent.(map[string]any)
	holder := x
	if list, _ := x["attachments"].([]any); len(list) == 1 {
		holder = list[0].(map[string]any)
	}
	blocks, _ := holder["blocks"].([]any)
	delete(holder, "blocks")
	for _, name := range []string{"blocks", "metadata", "replace_original", "delete_original"} { // no card sets them
		delete(x, name)
	}
	var b strings.Builder
	b.WriteString("== " + name + "\n")
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	for _, v := range slices.Concat([]any{x}, blocks) {
		if err := enc.Encode(v); err != nil {
			panic(err)
		}
	}
	return strings.NewReplacer(`\\`, `\\`, `\n`, "\n  ").Replace(b.String())
}

func anyOf[V any](m map[string]V) map[string]any {
	out := map[string]any{}
	for k, v := range m {
		out[k] = v
	}
	return out
}

// TestEveryStateLooksAsItDid holds each card and dialog in each language against Slack's limits and the Japanese ones
// against the golden file; of the English ones, which differ in words alone, those that are wired.
func TestEveryStateLooksAsItDid(t *testing.T) {
	for _, locale := range language.All {
		path := filepath.Join("testdata", "golden", locale+".txt")
		all := looks(t, locale)
		texts := map[string]string{}
		golden := func(name string) bool { return locale == language.All[0] || slices.Contains(wired, name) }
		for name, v := range all {
			texts[name] = textOf(name, decoded(t, v))
		}
		if *update {
			var b strings.Builder
			for _, name := range slices.Sorted(maps.Keys(texts)) {
				if golden(name) {
					b.WriteString(texts[name])
				}
			}
			expect.NoError(t, os.WriteFile(path, []byte(b.String()), 0o644))
		}
		want := map[string]string{}
		for _, s := range strings.Split("\n"+string(expect.Value(os.ReadFile(path))(t)), "\n== ")[1:] {
			name, _, _ := strings.Cut(s, " ")
			name, _, _ = strings.Cut(name, "\n")
			want[name] = "== " + strings.TrimSuffix(s, "\n") + "\n"
			expect.That(t, all[name] != nil && golden(name), "%s has %s, which isn't held: -update leaves it out", path, name)
		}
		for name, v := range all {
			t.Run(locale+"/"+name, func(t *testing.T) {
				expect.NoError(t, check(t, v))
				for _, call := range []string{"<!channel", "<!here", "<!everyone"} {
					expect.That(t, !strings.Contains(texts[name], call), "it has %s", call)
				}
				if !golden(name) {
					return
				}
				diff := cmp.Diff(strings.Split(want[name], "\n"), strings.Split(texts[name], "\n"))
				expect.That(t, diff == "", "run the test with -update if it should (-%s +rendered)\n%s", path, diff)
			})
		}
	}
}

func check(t *testing.T, v any) error {
	switch v := v.(type) {
	case card.Message:
		for _, b := range v.Attachments {
			for _, b := range b.Blocks.BlockSet {
				a, is := b.(*slack.ActionBlock)
				expect.That(t, !is || len(a.Elements.ElementSet) <= 3, "it has more than three buttons")
			}
		}
		return ringitest.CheckCard(v)
	case slack.ModalViewRequest:
		return ringitest.CheckView(v)
	}
	for _, p := range webapi.ViewProblems(decoded(t, v).(map[string]any)) {
		t.Error(p)
	}
	return nil
}

// stored are states whose rows have a sentence in Japanese, which was the workspace's language when it was written, or
// which a model answered to a request in Japanese.
var stored = []string{"execution_failed_constraint", "talk_said_of_task", "talk_said_of_typed", "task_answered_help",
	"task_answered_unsupported", "task_answered_and_changed"}

// A card is in one language: its headings, effects, summary and whatever else Ringi says. What people, models and
// vendors wrote in these states is in their files.
func TestACardIsInOneLanguage(t *testing.T) {
	ours := expect.SentencesBelow(t, "../..")
	var data []string
	for _, path := range []string{"scenario_test.go", "states_test.go", "furtherstates_test.go", "does_test.go"} {
		data = append(data, string(expect.Value(os.ReadFile(path))(t)))
	}
	for _, locale := range language.All {
		for name, v := range looks(t, locale) {
			found := ours.Foreign(locale, textOf(name, decoded(t, v)), data...)
			expect.Is(t, locale != "ja" && slices.Contains(stored, name), (len(found) > 0), "%s says %q", name, found)
		}
	}
	for locale, said := range map[string]string{"en": "承認・却下できる人: x", "ja": "Until: You can't approve your own request."} {
		expect.Is(t, len(ours.Foreign(locale, said)), 1, "of another language in %q", said)
	}
}

// wired are cards and dialogs that have, together, each kind of block and element in use: both languages hold these.
var wired = []string{"call_again", "call_dialog", "does_home", "execution_pending", "prompt_contested",
	"prompt_pending", "returned_dialog_form", "route_form_first", "route_form_more",
	"does_order", "talk_end_dialog", "talk_said", "task_complete"}

func decoded(t *testing.T, v any) (out any) {
	t.Helper()
	expect.NoError(t, json.Unmarshal([]byte(expect.JSON(v)), &out))
	return out
}
