package conversation

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/runtime/expect"
)

const (
	sato   = "U_SATO"
	suzuki = "U_SUZUKI"
	team   = "T1"
)

var (
	start  = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	policy = aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel, AllowSelf: true}
	usage  = aggregate.Usage{Provider: "demo", Calls: 1, Input: 10, Output: 5, Cost: 3}
)

func person(id string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: team, Member: true}
}

func terms(now time.Time) aggregate.Terms {
	by := now.Add(24 * time.Hour)
	return aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: 3, ApprovalHours: 24}
}

func proposal(t ActionType, now time.Time, rule string) *Proposal {
	text := aggregate.JSON(fmt.Sprintf(`{"script":"make %d"}`, now.UnixNano()))
	return &Proposal{Type: t, Payload: aggregate.Blob{JSON: text, Bytes: len(text)}, Seconds: 60, Terms: terms(now),
		Rule: rule}
}

func inbound(text, ts string) Inbound {
	return Inbound{Team: team, Channel: "D1", ChannelType: "im", Thread: "1775034000.000100", TS: ts, User: sato,
		Text: text}
}

// table commits Changes like the store, and keeps every state of the rows.
type table struct {
	t      expect.T
	head   Head
	rows   map[string]aggregate.Row
	lists  map[string]aggregate.Row // by list and key
	images []map[string]aggregate.Row
	now    time.Time
	told   int
	usages int
}

// opened returns a conversation with its first message.
func opened(t expect.T) *table {
	t.Helper()
	c, err := Begin(inbound("hello", "1775034000.000100"), Opening{AgentID: "codex", Locale: "en"}, start)
	expect.Must(t, err == nil, "begin: %v", err)
	tb := &table{t: t, rows: map[string]aggregate.Row{}, lists: map[string]aggregate.Row{}, now: start}
	tb.head = *c.Head.(*Head)
	tb.apply(c, Head{})
	return tb
}

// apply writes a change without checking its conditions.
func (tb *table) apply(c aggregate.Change, read Head) {
	if c.Head != nil {
		head := *c.Head.(*Head)
		head.Head = head.Committed(read.Head, c)
		tb.head = head
	} else {
		tb.head.Rev++
	}
	tb.rows = maps.Clone(tb.rows)
	for _, r := range c.Rows {
		tb.rows[r.Key()] = r.At(max(1, tb.head.Rev))
	}
	for _, r := range c.Drop {
		delete(tb.rows, r.Key())
	}
	for _, l := range c.Beside {
		tb.lists[l.List+l.Of+"/"+l.Row.Key()] = l.Row
	}
	tb.images = append(tb.images, tb.rows)
}

// commit writes c, which was decided on the head read.
func (tb *table) commit(read Head, c aggregate.Change) error {
	tb.t.Helper()
	if c.Empty() {
		return nil
	}
	seen := map[string]bool{}
	for _, r := range slices.Concat(c.Rows, c.Rely, c.Drop) {
		expect.Must(tb.t, !seen[r.Key()], "%s has two places in one change", r.Key())
		seen[r.Key()] = true
	}
	n := len(seen) + len(c.Audit) + len(c.Beside) + len(c.Counts) + 2
	expect.Must(tb.t, n <= 100, "%d actions in one change", n)
	if tb.head.Rev != read.Rev || tb.head.Run != read.Run {
		return aggregate.ErrConflict
	}
	for _, r := range slices.Concat(c.Rows, c.Rely, c.Drop) {
		is := 0
		if x, ok := tb.rows[r.Key()]; ok {
			is = x.Revision()
		}
		if is != r.Revision() {
			return fmt.Errorf("%s is of %d, not %d: %w", r.Key(), is, r.Revision(), aggregate.ErrConflict)
		}
	}
	for _, l := range c.Beside {
		expect.Must(tb.t, tb.lists[l.List+l.Of+"/"+l.Row.Key()] == nil, "%s%s %s is there already", l.List, l.Of, l.Row.Key())
	}
	tb.apply(c, read)
	return nil
}

func (tb *table) load() *Aggregate { return tb.mixed(tb.rows, tb.rows) }

// mixed returns rows from two states, split in the middle by key, as a Query may that runs during a commit.
func (tb *table) mixed(first, then map[string]aggregate.Row) *Aggregate {
	a := &Aggregate{Head: tb.head}
	for _, half := range []struct {
		rows  map[string]aggregate.Row
		takes func(key string) bool
	}{{first, func(k string) bool { return k < "I" }}, {then, func(k string) bool { return k >= "I" }}} {
		for key, r := range half.rows {
			if half.takes(key) {
				a.Add(r)
			}
		}
	}
	return a
}

// do commits what was decided on the newest rows.
func (tb *table) do(c aggregate.Change, err error) error {
	tb.t.Helper()
	if err != nil {
		return err
	}
	return tb.commit(tb.load().Head, c)
}

// must is do for decisions that must not fail.
func (tb *table) must(c aggregate.Change, err error) {
	tb.t.Helper()
	expect.NoError(tb.t, tb.do(c, err))
}

// tell delivers a message as from Slack.
func (tb *table) tell(text string) { tb.toldBy(sato, text) }

func (tb *table) toldBy(who, text string) {
	tb.t.Helper()
	tb.told++
	in := inbound(text, fmt.Sprintf("%d.%06d", tb.now.Unix(), tb.told))
	in.User = who
	c, err := Tell(in, Opening{}, tb.now)
	expect.Must(tb.t, err == nil, "tell: %v", err)
	tb.apply(c, tb.head)
}

// used returns the usage of one answer.
func (tb *table) used() aggregate.Usage {
	tb.usages++
	u := usage
	u.ID = fmt.Sprint("use-", tb.usages)
	return u
}

// answer lets the agent answer all waiting messages.
func (tb *table) answer(p *Proposal) error {
	return tb.do(tb.load().Answered(tb.load().Head.Run, tb.load().Waiting(), Answer{Text: "ok", Usage: tb.used(),
		Proposal: p}, tb.now))
}

// pending returns a conversation with an action that waits.
func pending(t expect.T, typ ActionType) (*table, *Action) {
	t.Helper()
	tb := opened(t)
	expect.NoError(t, tb.answer(proposal(typ, tb.now, "")))
	return tb, tb.load().Current()
}

// Approve and Reject are Act at the stage that is asked, in one's own name.
func (a *Aggregate) Approve(id string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error) {
	return a.Act(id, cmp.Or(a.Asked(id).Gate, &aggregate.Gate{}).Acting(circulation.Stamp, by, ""), by, p, now)
}

func (a *Aggregate) Reject(id, reason string, by aggregate.Actor, p aggregate.Policy, now time.Time) (
	aggregate.Change, error) {
	return a.Act(id, cmp.Or(a.Asked(id).Gate, &aggregate.Gate{}).Acting(circulation.SendBack, by, reason), by, p, now)
}

func (tb *table) approve(x *Action, by string) error {
	return tb.do(tb.load().Approve(x.ActionID, person(by), policy, tb.now))
}

// begin opens the next run, like the relay.
func (tb *table) begin() error { return tb.do(tb.load().StartRun(tb.now)) }

func (tb *table) claim(invocation string) error {
	return tb.do(tb.load().Claim(tb.load().Head.Run, invocation, tb.now.Add(2*time.Minute), tb.now))
}

// executing returns a conversation with an action that executes under the claim of "i1".
func executing(t testing.TB, typ ActionType) (*table, *Action) {
	t.Helper()
	tb, x := pending(t, typ)
	expect.NoError(t, errors.Join(tb.approve(x, suzuki), tb.begin(), tb.claim("i1")))
	return tb, tb.load().Action(x.ActionID)
}
