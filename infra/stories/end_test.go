package stories

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/google/go-cmp/cmp"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/large"
)

// end is what is there after a story, without values that differ between two plays of it.
type end struct {
	Rows  map[string]any
	Cards map[string]string // what each card shows
	Audit []string
	Sent  map[string]int    // calls that change something elsewhere
	Files map[string]string // of a conversation
	Extra []string          // further messages in the thread
}

// Values that differ between plays.
var (
	tookForm   = regexp.MustCompile(`"execution_time_(seconds|ms)":[0-9.e+-]+`)
	timeForm   = regexp.MustCompile(`\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:\d\d)?`)
	lastForm   = regexp.MustCompile(`\d+(\.\d+)?(分 ?\d+)?秒`) // how long the work took
	lastedForm = regexp.MustCompile(`⏱️ 実行時間: [^·\n]* · `)   // of a run that took long
	tookEnded  = regexp.MustCompile(`⏱️ Took [^·\n]* · ended`)
	blockForm  = regexp.MustCompile(`(?m)^b[0-9a-f]{4,}$`) // Slack's own name of a block that has none
	hashForm   = regexp.MustCompile(`\b([0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64})\b`)
	hostForm   = regexp.MustCompile(`127\.0\.0\.1:\d+`) // of a process
	fileForm   = regexp.MustCompile(`\bF0\d{7}\b`)
	numberForm = regexp.MustCompile(`\b20\d\d-\d{4,}\b`) // of a decision
	pullForm   = regexp.MustCompile(`(/pull/|shop#)\d+`)
	// earlierForm is what cards say of earlier plays, which asked for the same, or wrote more rows to the same sheet.
	earlierForm = regexp.MustCompile(`(?m)^🔁 30 日以内に、同じ件名の依頼がありました.*\nmrkdwn\ncontext\nBLOCK\n|` +
		`^mrkdwn\nsection\nBLOCK\n⚠️ ステップ \d+: 書き込んだ表の下に、以前の行が.*\n`)
	belowForm = regexp.MustCompile(`"rows_below":\d+`)
	stampForm = regexp.MustCompile(`\b\d{10}(\.\d{6})?\b`)
)

// ownAlone are attributes with counts, times or hashes of one play; of a contest's rows also what a leader was told of
// the others' scores and the time left.
var ownAlone = setOf("PK GSI1PK GSI1SK rev run restarts last_change newest shown_rev shown_redraws drawn redraws " +
	"given_back due_at entered settings_rev noted duration_ms waited_ms hash sweep_failures claimed_by rows_below " +
	"crashes event_id s3_key ms asked revision route_hash acts_hash owed_rev tries")

var (
	contestAlone = setOf("message_history execution_time_seconds total_execution_time_seconds bytes usage submission_hash")
	talkAlone    = setOf("usage tried_error not_begun claim number key_id bytes delete_after")
)

func setOf(names string) map[string]bool {
	out := map[string]bool{}
	for _, name := range strings.Fields(names) {
		out[name] = true
	}
	return out
}

func (p *play) plain(s string) string {
	s = tookForm.ReplaceAllString(s, "TOOK")
	s = strings.ReplaceAll(s, p.mark, "MARK")
	s = strings.ReplaceAll(s, strings.ToLower(p.Ref.ID), "task")
	s = hashForm.ReplaceAllString(s, "HASH") // before ids: 26 characters of a hash may all be digits
	s = idForm.ReplaceAllString(s, "ID")
	s = hostForm.ReplaceAllString(s, "HOST")
	s = fileForm.ReplaceAllString(s, "FILE")
	s = timeForm.ReplaceAllString(s, "TIME")
	s = numberForm.ReplaceAllString(s, "NUMBER")
	s = pullForm.ReplaceAllString(s, "${1}PULL")
	s = tookEnded.ReplaceAllString(lastedForm.ReplaceAllString(s, ""), "Ended")
	s = lastForm.ReplaceAllString(s, "DURATION")
	s = blockForm.ReplaceAllString(s, "BLOCK")
	s = belowForm.ReplaceAllString(earlierForm.ReplaceAllString(s, ""), `"rows_below":0`)
	return stampForm.ReplaceAllString(s, "STAMP")
}

// without returns a value of a row without what differs between plays.
func (p *play) without(v any, more map[string]bool) any {
	switch v := v.(type) {
	case string:
		return p.plain(v)
	case []any:
		out := make([]any, len(v))
		for i, e := range v {
			out[i] = p.without(e, more)
		}
		return out
	case map[string]any:
		out := map[string]any{}
		for name, e := range v {
			if !ownAlone[name] && !more[name] {
				out[name] = p.without(e, more)
			}
		}
		return out
	}
	return v
}

// effects are calls that change something elsewhere, and that nobody makes again without being asked.
var effects = regexp.MustCompile(`^(ExecuteProcess|CallTool|RunAction)Function (PUT /sheets|POST .*(` +
	`chat\.postMessage|/rooms)|.*response-streaming)`)

// end collects what is there after a play.
func (p *play) end() (end, error) {
	out := end{Rows: map[string]any{}, Cards: map[string]string{}, Sent: map[string]int{}}
	for key, n := range p.sent() {
		if effects.MatchString(key) {
			out.Sent[key] = n
		}
	}
	for _, ref := range append([]aggregate.Ref{p.Ref}, p.also...) {
		if err := p.rowsOf(ref, out.Rows); err != nil {
			return out, err
		}
	}
	err := driver.Try(context.Background(), func(t driver.T) {
		for _, x := range p.AuditRows() {
			out.Audit = append(out.Audit, p.plain(fmt.Sprintf("%s by %s %s", x.Action, x.ActorType, x.ActorID)))
		}
		if p.Ref.Kind == conversation.Kind.Name {
			out.Files = p.filesOf(t)
		}
	})
	known := map[string]bool{p.Root: true}
	all := p.AllCards()
	for _, key := range slices.Sorted(maps.Keys(all)) {
		messages := all[key]
		if len(messages) != 1 {
			return out, fmt.Errorf("%s is %d messages", key, len(messages))
		}
		known[messages[0].TS] = true
		out.Cards[nextOf(out.Cards, p.plain(key))] = p.plain(messages[0].Text + "\n" + driver.Face(messages[0]))
	}
	if p.Root == "" {
		return out, err
	}
	for _, m := range p.Sandbox.Messages(webapi.HR, p.Root) {
		if payload, _ := m.Metadata["event_payload"].(map[string]any); !known[m.TS] && payload["card"] == nil {
			out.Extra = append(out.Extra, p.plain(m.Text))
		}
	}
	return out, err
}

// rowsOf adds the rows of an aggregate that outlast the play.
func (p *play) rowsOf(ref aggregate.Ref, out map[string]any) error {
	rows, err := p.partition(ref)
	if err != nil {
		return err
	}
	name, alone := "", map[string]bool(nil)
	switch {
	case ref.Kind == conversation.Kind.Name || ref.Kind == "call":
		alone = talkAlone
	case ref == p.Ref && len(p.also) > 1: // with a contest, whose cost is checked against its teams'
		alone = contestAlone
	case ref.Kind != task.Kind.Name:
		name, alone = p.plain(ref.Kind)+" "+shortOf(ref.ID)+" ", contestAlone
	}
	for _, row := range rows {
		key := name + p.plain(fmt.Sprint(row["SK"]))
		switch {
		case row["type"] == "wait":
			continue // an answered token's row expires or was deleted; no run waits any more
		case row["type"] == "usage" && (row["made"] == nil || strings.Contains(fmt.Sprint(row["made"]), "/failed-")):
			continue // repeating a model's call after a crash costs again
		case row["type"] == "usage":
			if key = name + "USAGE of " + p.plain(fmt.Sprint(row["made"])); out[key] != nil && name == "" {
				return fmt.Errorf("two usages made %s", row["made"])
			}
			if name != "" || p.also != nil {
				out[key] = true // its cost is checked against the teams'
				continue
			}
		}
		out[nextOf(out, key)] = p.without(row, alone)
	}
	return nil
}

// nextOf numbers the rows and cards whose keys differ between plays alone, in order.
func nextOf[V any](in map[string]V, key string) string {
	next := key
	for n := 2; ; n++ {
		if _, taken := in[next]; !taken {
			return next
		}
		next = fmt.Sprint(key, " ", n)
	}
}

// shortOf is the name of a team within its contest.
func shortOf(id string) string {
	if i := strings.LastIndexAny(id, "./#"); i >= 0 {
		return id[i+1:]
	}
	return ""
}

// filesOf are a conversation's files, with those attached to it.
func (p *play) filesOf(t driver.T) map[string]string {
	out := map[string]string{}
	s, all := p.talk().Conversation, large.OpenVersions(p.AWS, p.BucketName)
	for at, from := range map[string]*large.Versions{s.WorkspaceVersion: all, s.AttachmentsVersion: all.Attached()} {
		if at == "" {
			continue
		}
		tree := expect.Value(from.Get(context.Background(), p.Ref, at))(t)
		for _, path := range tree.Paths() {
			content, _ := tree.Content(path)
			out[p.plain(path)] = p.plain(string(content))
		}
	}
	return out
}

// compare compares what is there after a play with what is there after the undisturbed one.
func (p *play) compare(want end) error {
	got, err := p.end()
	if err != nil {
		return err
	}
	if p.Ref.Kind == task.Kind.Name {
		if p.asked > 0 || got.found() > 0 {
			return p.askedAgain(want, got)
		}
		if row := got.interruptedRead(p.story); row != nil {
			want = want.interrupted(row)
		}
	}
	if len(p.dead()) > 0 {
		want.Rows = got.withoutOwed(want.Rows)
	}
	diff := cmp.Diff(want, got)
	died := slices.ContainsFunc(p.dead(), func(at point) bool { return slices.Contains(p.story.callers, at.function) })
	late := p.failing != nil && p.overdue // it lived, but took too long
	if diff != "" && !(p.story.honest != nil && (died || p.machine || late) && p.story.honest(p, want, got)) {
		return fmt.Errorf("%s differs from the undisturbed play: %s", p.Ref, diff)
	}
	return nil
}

// copyForm finds the row of a question's copy.
var copyForm = regexp.MustCompile(`^CARD#.+@.+/\d+$`)

// withoutOwed returns the rows of another play without the copies that this one has not sent, and takes out its own: a
// copy that is owed by a process that dies is sent later, or to nobody once the question is over.
func (e end) withoutOwed(of map[string]any) map[string]any {
	of = maps.Clone(of)
	for key := range of {
		row, _ := e.Rows[key].(map[string]any)
		if copyForm.MatchString(key) && (row == nil || row["state"] == string(aggregate.CardNone)) {
			delete(of, key)
			delete(e.Rows, key)
		}
	}
	return of
}

// readStep is the key of the row of a first step.
const readStep = "STEP#0001#001#01"

// interruptedRead returns the row of the read that a story stops if it has no result; nil in other stories.
func (e end) interruptedRead(s story) map[string]any {
	if row, _ := e.Rows[s.stops].(map[string]any); row["status"] == string(task.StepFailed) {
		return row
	}
	return nil
}

// interrupted returns the end as it is if the read has no result. It was in flight at the cancel, and its process died
// (call_interrupted) or saw the cancel and closed the connection (tool_failed, with the connection's error). Nobody
// repeats the read. Only the step's status, result and error, its entry in the execution's list, and its line on the
// card differ.
func (e end) interrupted(row map[string]any) end {
	changed := func(v any, more map[string]any) map[string]any {
		out := maps.Clone(v.(map[string]any))
		delete(out, "result")
		delete(out, "result_bytes")
		out["status"] = string(task.StepFailed)
		maps.Copy(out, more)
		return out
	}
	why := map[string]any{"error": string(task.ReasonInterruptedRead), "error_detail": "step-1"}
	if said, _ := row["error_detail"].(string); row["error"] == string(task.ReasonToolFailed) && said != "" {
		why = map[string]any{"error": row["error"], "error_detail": said}
	}
	e.Rows, e.Cards = maps.Clone(e.Rows), maps.Clone(e.Cards)
	e.Rows[readStep] = changed(e.Rows[readStep], why)
	execution := maps.Clone(e.Rows["EXECUTION#0001#001"].(map[string]any))
	results := slices.Clone(execution["results"].([]any))
	results[0], execution["results"] = changed(results[0], nil), results
	e.Rows["EXECUTION#0001#001"] = execution
	e.Cards[driver.ExecutionCard] = lineForm.ReplaceAllString(e.Cards[driver.ExecutionCard], "❌$1")
	return e
}

// lineForm matches the line of a read that was answered after the cancel.
var lineForm = regexp.MustCompile(`✅( 1\. .*) \(中止後に完了\)`)

// found counts the writes of unknown outcome that Ringi itself saw arrive.
func (e end) found() (n int) {
	for key, row := range e.Rows {
		if is, _ := row.(map[string]any); strings.HasPrefix(key, "STEP#") && is["found"] == true && is["reused"] == nil {
			n++
		}
	}
	return n
}

// askedAgain judges a task that a person tried again after it failed, or after nobody knew whether a write arrived:
// each write may have been called once more per try, and the log says who tried. Of one that Ringi saw arrive the log
// says that. Other cards are as they would be.
func (p *play) askedAgain(want, got end) error {
	executing := func(at point) bool { return at.function == execute }
	if p.failing == nil && !slices.ContainsFunc(p.dead(), executing) {
		return fmt.Errorf("it was tried again, but no call of a tool was disturbed")
	}
	for kind, n := range got.Sent {
		if n > want.Sent[kind]+p.asked {
			return fmt.Errorf("%s was called %d times, asked for %d times", kind, n, want.Sent[kind]+p.asked)
		}
	}
	cards := maps.Clone(got.Cards)
	if p.again != nil { // what another try asks anew has entries and a card of its own
		ofStep := func(entry string) bool { return strings.HasPrefix(entry, "step.") }
		got.Audit, want.Audit = slices.DeleteFunc(got.Audit, ofStep), slices.DeleteFunc(slices.Clone(want.Audit), ofStep)
		maps.DeleteFunc(cards, func(key, _ string) bool {
			return strings.HasPrefix(key, "CARD#step") && want.Cards[key] == ""
		})
	}
	last := len(want.Audit) - 1
	log := slices.Clone(want.Audit[:last])
	for range p.asked {
		log = append(log, "execution.failed by system ", "execution.retried by user "+webapi.Sato,
			"execution.started by system ")
	}
	log = append(log, want.Audit[last])
	late := func(s string) bool { return s == "execution.late by system " }
	seen := len(got.Audit)
	if got.Audit = slices.DeleteFunc(got.Audit, late); seen-len(got.Audit) != got.found() {
		return fmt.Errorf("%d writes were found, the log has %d", got.found(), seen-len(got.Audit))
	}
	if diff := cmp.Diff(log, got.Audit); diff != "" {
		return fmt.Errorf("audit log: %s", diff)
	}
	for key, shown := range want.Cards {
		if key != driver.ExecutionCard && got.Cards[key] != shown {
			return fmt.Errorf("%s: %s", key, cmp.Diff(shown, got.Cards[key]))
		}
	}
	if len(cards) != len(want.Cards) || len(got.Extra) > 0 {
		return fmt.Errorf("%d cards, and messages %v", len(got.Cards), got.Extra)
	}
	return nil
}

// reads reports whether calls of a kind change nothing.
func reads(kind string) bool {
	switch kind {
	case "DynamoDB.Query", "DynamoDB.GetItem", "TrentService.Decrypt", "secretsmanager.GetSecretValue",
		"POST /api/auth.test", "POST /api/conversations.replies", "POST /api/conversations.history", "POST /api/users.info",
		"POST /api/users.conversations":
		return true
	}
	return strings.HasPrefix(kind, http.MethodGet+" ")
}
