package card_test

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"
	"pgregory.net/rapid"

	"ringi/infra/local/ringitest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

var hostile = map[string]string{
	"long":            strings.Repeat("勤怠の集計 ", 2000),
	"long_escapes":    strings.Repeat("<&>", 4000),
	"long_emoji":      strings.Repeat("👩‍👩‍👧", 2000),
	"long_word":       strings.Repeat("x", 10000),
	"channel":         "<!channel> <!here> @channel <@U1>",
	"amp":             "a & b < c > d &amp; &lt;",
	"rtl":             "\u202eשלום עולם\u2066 مرحبا",
	"emoji":           "🎉👩‍👩‍👧👍🏽🇯🇵",
	"zwj":             "\u200d\u200d\u200b",
	"empty":           "",
	"spaces":          " \t\n ",
	"invalid_utf8":    "a\xff\xfe\x00b",
	"lines":           "one\n✅ 2. *done* — `x`\r\n*承認済み*\n\n\n```",
	"formatting":      "*a* _b_ ~c~ `d` ```e``` > f",
	"link":            "<https://evil.example|承認> https://evil.example",
	"places":          "{when} {who} {version} %s %d",
	"combining":       strings.Repeat("e\u0301\u0302", 3000),
	"replacement_cut": strings.Repeat("&", 149),
}

// tried reports whether the nth state gets a text: by day one in three of those that are short, and one in twelve of
// the long ones, which take most of the time.
func tried(nth int, name string) bool {
	one := 3
	if len(hostile[name]) >= 1000 {
		one = 12
	}
	return expect.Long() || (nth+slices.Index(slices.Sorted(maps.Keys(hostile)), name))%one == 0
}

// poison puts a text into every field that a person, a model or a vendor can write.
func poison(a *task.Aggregate, x string) {
	if a.Task != nil {
		a.Task.Title, a.Task.Description, a.Task.TaskType, a.Task.Priority = x, x, task.Type(x), task.Priority(x)
	}
	if a.Answer != nil {
		a.Answer.Sentence = x
	}
	verdict := func(v *aggregate.Verdict) {
		if v.ApprovedBy != "" {
			v.ApprovedBy = x
		}
		if v.RejectedBy != "" {
			v.RejectedBy, v.RejectionReason = x, x
		}
	}
	for _, p := range a.Prompts {
		p.Content = x
		verdict(&p.Verdict)
		poisonContest(p, x)
	}
	for _, p := range a.Processes {
		for i := range p.Steps {
			p.Steps[i].Title, p.Steps[i].Description, p.Steps[i].Tool = x, x, x
		}
		verdict(&p.Verdict)
	}
	for _, g := range a.Gates {
		g.Arguments = aggregate.Blob{JSON: aggregate.JSON(expect.JSON(map[string]any{"text": x, "list": []string{x, x}})),
			Bytes: len(x)}
		verdict(&g.Verdict)
	}
	for _, e := range a.Executions {
		e.Summary, e.ErrorDetail, e.CancelledBy = x, x, x
	}
	if a.Head.Ended != nil {
		a.Head.Ended.By = x
	}
}

// poisonContest does so with what files of contests, teams and their models can write.
func poisonContest(p *task.Prompt, x string) {
	if p.Entry != nil {
		p.Entry.TeamName = x
	}
	if p.Contest == nil {
		return
	}
	p.Contest.Detail, p.Contest.File = x, x
	for i := range p.Contest.Failures {
		p.Contest.Failures[i].TeamName, p.Contest.Failures[i].Detail = x, x
	}
}

func TestHostileTextsOnEveryCard(t *testing.T) {
	t.Parallel()
	expect.Patience(t)
	for nth, st := range states {
		for name, x := range hostile {
			if !tried(nth, name) {
				continue
			}
			t.Run(st.name+"/"+name, func(t *testing.T) {
				s := st.scenario(t)
				poison(s.Aggregate, x)
				c := s.card(st.card)
				for i, locale := range language.All {
					if !expect.Long() && (nth+i)%2 == 0 {
						continue
					}
					m := render(s.Aggregate, c, locale, s.now)
					err := ringitest.CheckCard(m)
					expect.Must(t, err == nil, "%s: %v", c.Key(), err)
					harmless(t, s.Aggregate, c, m)
				}
			})
		}
	}
}

// harmless checks that a text did nothing on a card that it must not: notify people, link, reverse the reading
// direction, or add lines to a list of steps.
func harmless(t *testing.T, a *task.Aggregate, c *aggregate.Card, m card.Message) {
	t.Helper()
	all := strings.NewReplacer(`\u003chttps://acme.slack.com/archives/D1/p12|`, "", // a reminder's own links
		`\u003chttps://acme.slack.com/archives/C0HR/p12|`, "").Replace(expect.JSON(m))
	for _, bad := range []string{`\u003c!channel`, `\u003c!here`, `\u003chttps:`, "\u202e", "\u2066", "\u0000"} {
		expect.That(t, !strings.Contains(all, bad), "%s shows %q", c.Key(), bad)
	}
	if strings.Contains(all, "@channel") && c.CardType != task.CardStep { // in a step's arguments it stands as code
		t.Errorf("%s calls the channel", c.Key())
	}
	if c.CardType != task.CardProcess && c.CardType != task.CardExecution {
		return
	}
	lines, steps := 0, 0
	for _, bl := range m.Attachments[0].Blocks.BlockSet {
		if sec, ok := bl.(*slack.SectionBlock); ok && sec.Text != nil && strings.Contains(sec.Text.Text, " — `") &&
			!strings.HasPrefix(sec.Text.Text, "*") {
			lines += len(strings.Split(sec.Text.Text, "\n"))
		}
	}
	for _, p := range a.Processes {
		steps = max(steps, len(p.Steps))
	}
	expect.That(t, lines <= steps, "%s has %d lines for %d steps", c.Key(), lines, steps)
}

// TestAnyAggregateMakesAValidCard draws rows that need not be consistent.
func TestAnyAggregateMakesAValidCard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, now := anyAggregate(t), time.Unix(1776522792, 0)
		cards := []*aggregate.Card{
			{CardType: task.CardTask, Subject: "TASK"}, {CardType: task.CardExecution, Subject: "EXECUTION"},
			{CardType: "brand_new"},
			{CardType: task.CardPrompt, Subject: task.PromptKey(9)}, {CardType: task.CardProcess, Subject: "x"},
			{CardType: task.CardStep},
		}
		for _, p := range a.Prompts {
			cards = append(cards, &aggregate.Card{CardType: task.CardPrompt, Subject: p.Key()})
		}
		for _, p := range a.Processes {
			cards = append(cards, &aggregate.Card{CardType: task.CardProcess, Subject: p.Key()})
		}
		for _, g := range a.Gates {
			cards = append(cards, &aggregate.Card{CardType: task.CardStep, Subject: g.Key()})
		}
		locale := rapid.SampledFrom([]string{"ja", "en", "", "fr"}).Draw(t, "locale")
		if !expect.Long() { // by day some of them
			cards = rapid.SliceOfN(rapid.SampledFrom(cards), 3, 3).Draw(t, "cards")
		}
		twice := rapid.SampledFrom(cards).Draw(t, "twice")
		for _, c := range cards {
			m := render(a, c, locale, now)
			err := ringitest.CheckCard(m)
			expect.Must(t, err == nil, "%s %s: %v", c.CardType, c.Subject, err)
			expect.Must(t, c != twice || card.Hash(render(a, c, locale, now)) == card.Hash(m),
				"%s %s: the same rows render differently", c.CardType, c.Subject)
		}
		for _, kind := range []aggregate.CardType{task.CardPrompt, task.CardProcess, task.CardStep} {
			r := card.Review{Type: kind, ID: a.Head.LastChange, TaskID: a.Head.TaskID}
			expect.NoError(t, ringitest.CheckView(card.DialogsOf(a).Rejection(r, locale)))
			expect.NoError(t, ringitest.CheckView(card.DialogsOf(a).More(r, true, true, locale)))
		}
	})
}

// draw makes rows in any states, with any texts. They need not be consistent.
type draw struct{ *rapid.T }

var (
	anyText = rapid.OneOf(rapid.String(), rapid.SampledFrom(slices.Sorted(maps.Values(hostile))))
	anyTime = rapid.Map(rapid.Int64Range(-1e11, 1e12), func(s int64) time.Time { return time.Unix(s, 0) })
	anyGate = rapid.SampledFrom([]aggregate.GateStatus{aggregate.Generating, aggregate.PendingApproval, aggregate.Approved,
		aggregate.Rejected, aggregate.Expired, aggregate.Cancelled, "", "brand_new"})
	why = rapid.OneOf(rapid.SampledFrom(task.Reasons),
		rapid.Map(anyText, func(s string) aggregate.Reason { return aggregate.Reason(s) }))
	number = rapid.IntRange(0, 3)
)

func (t draw) text(name string) string { return anyText.Draw(t.T, name) }
func (t draw) yes(name string) bool    { return rapid.Bool().Draw(t.T, name) }
func (t draw) n(name string) int       { return number.Draw(t.T, name) }

func (t draw) at() *time.Time { return rapid.Ptr(anyTime, true).Draw(t.T, "at") }

func (t draw) verdict() aggregate.Verdict {
	return aggregate.Verdict{ApprovedBy: t.text("by"), ApprovedAt: t.at(), RejectedBy: t.text("by"), RejectedAt: t.at(),
		RejectionReason: t.text("reason")}
}

func (t draw) terms() aggregate.Terms {
	return aggregate.Terms{ApprovalRequired: t.yes("required"), MaxVersions: rapid.Int().Draw(t.T, "max"),
		ApprovalHours: rapid.Int().Draw(t.T, "hours")}
}

func anyAggregate(rt *rapid.T) *task.Aggregate {
	t := draw{rt}
	a := &task.Aggregate{Head: t.head()}
	if t.yes("extracted") {
		a.Task = &task.Task{ID: t.text("id"), Title: t.text("title"), Description: t.text("description"),
			Priority: task.Priority(t.text("priority")), TaskType: task.Type(t.text("type"))}
	}
	for v := range t.n("prompts") {
		a.Prompts = append(a.Prompts, &task.Prompt{ID: t.text("id"), Version: v + 1, Content: t.text("content"),
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()}})
	}
	for v := range t.n("processes") {
		p := &task.Process{ID: t.text("id"), Version: v + 1,
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()}}
		same := t.text("name")
		for i := range rapid.SampledFrom([]int{0, 1, 5, 60, 120}).Draw(rt, "steps") {
			p.Steps = append(p.Steps, task.Step{StepID: strings.Repeat("s", i%7), Order: i + 1, Title: same, Description: same,
				Tool: same, RequiresHumanCheck: i%2 == 0})
		}
		a.Processes = append(a.Processes, p)
	}
	for n := range t.n("executions") {
		a.Executions = append(a.Executions, t.execution(n+1))
		for i := range t.n("rows") {
			a.Steps = append(a.Steps, &task.StepResult{
				ProcessVersion: t.n("of"), Attempt: n + 1, Order: i + 1, StepID: strings.Repeat("s", i), CompletedAt: t.at(),
				Reused: t.yes("reused"),
				Status: rapid.SampledFrom([]task.StepStatus{task.StepRunning, task.StepCompleted, task.StepFailed, task.StepUnknown,
					""}).Draw(rt, "status"),
			})
		}
	}
	for i := range t.n("gates") {
		a.Gates = append(a.Gates, &task.StepGate{
			ID: t.text("id"), ProcessVersion: t.n("of"), Attempt: 1, Order: i + 1, StepID: strings.Repeat("s", i),
			Arguments: aggregate.Blob{JSON: aggregate.JSON(t.text("json")), S3Key: t.text("key"),
				Bytes: rapid.Int().Draw(rt, "bytes")},
			Gate: aggregate.Gate{Status: anyGate.Draw(rt, "status"), Terms: t.terms(), Verdict: t.verdict()},
		})
	}
	return a
}

func (t draw) head() task.Head {
	h := task.Head{Head: aggregate.Head{LastChange: t.text("change")}, TaskID: t.text("task id"), PausedUntil: t.at()}
	if t.yes("parked") {
		h.Parked = &task.Parked{Layer: rapid.SampledFrom([]task.Layer{task.L1, task.L2, task.L3, task.L4, ""}).Draw(t.T,
			"layer"), Sentence: why.Draw(t.T, "why")}
	}
	if t.yes("ended") {
		as := rapid.SampledFrom([]task.TaskStatus{task.TaskCompleted, task.TaskFailed, task.TaskCancelled, ""}).Draw(t.T,
			"as")
		h.Ended = &task.Ended{As: as, By: t.text("by"), At: anyTime.Draw(t.T, "ended at"), Reason: why.Draw(t.T, "why")}
	}
	return h
}

func (t draw) execution(attempt int) *task.Execution {
	return &task.Execution{
		ID: t.text("id"), ProcessVersion: t.n("of"), Attempt: attempt,
		Status: rapid.SampledFrom([]task.ExecutionStatus{task.ExecutionPending, task.ExecutionRunning,
			task.ExecutionCompleted, task.ExecutionFailed, task.ExecutionCancelled, ""}).Draw(t.T, "status"),
		Error: why.Draw(t.T, "why"), ErrorDetail: t.text("detail"), Summary: t.text("summary"),
		CancelledBy: t.text("by"), CancelledAt: t.at(), StartedAt: t.at(), CompletedAt: t.at(),
	}
}
