package call

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

const (
	sato   = "U_SATO" // answers for the key
	suzuki = "U_SUZUKI"
	team   = "T1"
)

var (
	start  = time.Date(2026, 4, 1, 9, 0, 0, 0, time.UTC)
	policy = aggregate.Policy{Team: team, Mode: aggregate.ApproversChannel}
)

func person(id string) aggregate.Actor {
	return aggregate.Actor{Type: aggregate.ActorUser, ID: id, Team: team, Member: true, Stage: 1}
}

// asking asks for a call of a tool with these arguments.
func asking(t expect.T, tool, arguments string, change ...func(*Proposal)) *Proposal {
	members, err := Members([]byte(arguments))
	expect.Must(t, err == nil, "%v", err)
	x := &Proposal{Reason: "四半期の締めのため", Key: tenancy.Key{ID: "k1", TenantID: "01T", Team: team,
		Name: "経理のエージェント", Answers: sato, Channel: "C1", Tools: []string{"write_rows", "Bash"}, QuotaDay: 100,
		ExpiresAt: start.AddDate(1, 0, 0)}}
	x.Content = Content{Key: "k1", Answers: sato, Tool: tool, Elsewhere: tool == "Bash",
		Called: conversation.Called{ToolVersion: strings.Repeat("a", 64), Access: aggregate.Write}}
	x.Content.Arguments, x.Effect, err = Digest(members, Idle(tool, x.Content.Elsewhere))
	expect.Must(t, err == nil, "%v", err)
	by := start.Add(24 * time.Hour)
	x.Terms = aggregate.Terms{ApprovalRequired: true, DecideBy: &by, SettingsRev: 3, ApprovalHours: 24}
	for _, c := range change {
		c(x)
	}
	return x
}

// world is one call to which Changes are committed.
type world struct {
	t    expect.T
	a    *Aggregate
	key  tenancy.Key
	open int // the key's counter
	did  []string
	now  time.Time
}

func asked(t expect.T, x *Proposal) *world {
	w := &world{t: t, now: start, key: x.Key}
	c, err := x.Ask(start)
	expect.Must(t, err == nil, "ask: %v", err)
	w.a = (&Aggregate{}).After(c).(*Aggregate)
	w.counted(c)
	return w
}

// routed asks for a call about which people are asked along a route.
func routed(t expect.T, x *Proposal, o aggregate.Opening) *world {
	x.LooksUp = true
	w := asked(t, x)
	w.must(w.a.Route(w.a.Head.Run, Routed{Opening: &o, Terms: x.Terms}, w.now))
	return w
}

func (w *world) counted(c aggregate.Change) {
	for _, n := range c.Counts {
		if strings.HasPrefix(n.Key, "CALLS#") {
			w.open += n.By
		}
	}
	for _, e := range c.Audit {
		w.did = append(w.did, strings.TrimPrefix(string(e.Action), "action."))
	}
}

func (w *world) do(c aggregate.Change, err error) error {
	if err != nil || c.Empty() {
		return err
	}
	w.a = w.a.After(c).(*Aggregate)
	w.counted(c)
	return nil
}

func (w *world) must(c aggregate.Change, err error) { expect.NoError(w.t, w.do(c, err)) }

func (w *world) act(kind circulation.Kind, user, text string) error {
	return w.do(w.a.Act(w.a.Head.CallID, w.a.Call.Gate.Acting(kind, person(user), text), person(user), policy, w.now))
}

func (w *world) claim(invocation string) error {
	return w.do(w.a.Claim(w.a.Head.Run, invocation, task.Series{}, w.now.Add(time.Minute), w.now))
}

func (w *world) finish(invocation string, r Result) error {
	return w.do(w.a.Finish(invocation, r, w.now))
}

func (w *world) take(use string) error { return w.do(w.a.Take(w.key, use, task.Series{}, w.now)) }

// The same call is the same row: whatever the order of members and the spelling of numbers and, where a list says so,
// words without effect.
func TestTheSameCallIsTheSameRow(t *testing.T) {
	id := func(tool, arguments string, change ...func(*Proposal)) string {
		return asking(t, tool, arguments, change...).Ref().ID
	}
	is := id("write_rows", `{"rows":[1, 2],"sheet":"a"}`)
	expect.That(t, ValidID(is) && !ValidID("call-"+aggregate.NewID()) && !ValidID(aggregate.NewID()), "%s", is)
	expect.Is(t, id("write_rows", ` { "sheet" : "a" , "rows":[1.0,20e-1]}`), is)
	expect.Is(t, id("write_rows", `{"rows":[1, 2],"sheet":"a"}`, func(x *Proposal) { x.Reason = "other words" }), is)
	run := id("Bash", `{"command":"rm x","description":"Delete x"}`)
	expect.Is(t, id("Bash", `{"command":"rm x","description":"Remove the file"}`), run)
	expect.Is(t, id("Bash", `{"command":"rm x"}`), run)
	seen := map[string]string{is: "first", run: "run"}
	for name, other := range map[string]string{
		"rows":      id("write_rows", `{"rows":[2,1],"sheet":"a"}`),
		"number":    id("write_rows", `{"rows":[1,2.1],"sheet":"a"}`),
		"more":      id("write_rows", `{"rows":[1,2],"sheet":"a","description":"x"}`),
		"tool":      id("Bash", `{"rows":[1,2],"sheet":"a"}`),
		"command":   id("Bash", `{"command":"rm y","description":"Delete x"}`),
		"again":     id("write_rows", `{"rows":[1,2],"sheet":"a"}`, func(x *Proposal) { x.Content.Again = is }),
		"key":       id("write_rows", `{"rows":[1,2],"sheet":"a"}`, func(x *Proposal) { x.Key.ID = "k2" }),
		"workspace": id("write_rows", `{"rows":[1,2],"sheet":"a"}`, func(x *Proposal) { x.Key.TenantID = "01U" }),
	} {
		expect.That(t, seen[other] == "", "%s is the same as %s", name, seen[other])
		seen[other] = name
	}
}

func TestWhatCanNotBeAskedFor(t *testing.T) {
	for arguments, ok := range map[string]bool{`{}`: true, `[]`: false, `null`: false, `{} {}`: false, `{"a":`: false,
		``: false,
		`{"a":"` + strings.Repeat("a", MaxArguments) + `"}`: false, "{\"a\":\"\xff\"}": false} {
		_, err := Members([]byte(arguments))
		field, is := errors.AsType[aggregate.Problem](err)
		expect.That(t, ok == (err == nil) && (ok || is && field.Field == "arguments"), "%.40q: %v", arguments, err)
	}
	for name, tt := range map[string]struct {
		change func(*Proposal)
		is     error
	}{
		"other tool": {func(x *Proposal) { x.Content.Tool = "other" }, tenancy.ErrKey{Why: tenancy.KeyTool}},
		"reason": {func(x *Proposal) { x.Reason = strings.Repeat("あ", MaxReason+1) },
			aggregate.Problem{Field: "reason", Code: "must have at most 600 characters, not 601"}},
	} {
		c, err := asking(t, "write_rows", `{}`, tt.change).Ask(start)
		expect.That(t, errors.Is(err, tt.is) && c.Empty(), "%s: %v", name, err)
	}
}

func TestACallIsMadeOnceAndOnlyWithItsStamp(t *testing.T) {
	w := asked(t, asking(t, "write_rows", `{"a":1}`))
	expect.Fails(t, w.claim("early"), aggregate.ErrMoved)
	expect.That(t, w.act(circulation.Stamp, sato, "") != nil, "who answers for the key stamped")
	expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
	expect.NoError(t, w.act(circulation.Stamp, suzuki, "")) // the same again
	run := w.a.Effects(w.now).Run                           // which the relay starts only if it is new
	expect.That(t, run != nil && run.Run == 2 && w.a.Head.Run == 2, "%+v", run)
	for name, forge := range map[string]func(x *Call){
		"other content": func(x *Call) { x.Payload.JSON += " " },
		"no stages": func(x *Call) {
			x.Gate.Route, x.Gate.Acts = &circulation.Route{Form: circulation.Form}, nil
			x.Gate.AskedSum = x.Action().Sum()
			expect.That(t, x.Gate.Stands(x.Gate.AskedSum), "nobody is asked, so all have stamped")
		},
	} {
		a, x := *w.a, *w.a.Call
		forge(&x)
		a.Call = &x
		err := expect.Err(a.Claim(a.Head.Run, "forged", task.Series{}, w.now, w.now))
		expect.That(t, errors.Is(err, aggregate.ErrConflict), "%s: %v", name, err)
	}
	before := w.a.Head.Run - 1
	expect.Fails(t, w.do(w.a.Refuse(before, Result{}, w.now)), aggregate.ErrSuperseded)
	expect.Fails(t, w.do(w.a.Claim(before, "old", task.Series{}, w.now, w.now)), aggregate.ErrSuperseded)
	expect.NoError(t, w.claim("one"))
	expect.Fails(t, w.claim("two"), aggregate.ErrInFlight)
	expect.Fails(t, w.do(w.a.Cancel("k1", w.now)),
		aggregate.ErrInFlight)
	expect.Fails(t, w.finish("two", Result{Status: conversation.ActionSucceeded}), aggregate.ErrMoved)
	expect.Fails(t, w.do(w.a.Lost("two", w.now)), aggregate.ErrMoved)
	for range 2 {
		expect.NoError(t, w.finish("one", Result{Status: conversation.ActionSucceeded, Call: &aggregate.Blob{JSON: "{}"}}))
	}
	expect.That(t, w.claim("three") != nil && w.open == 0, "%d open", w.open)
	expect.Same(t, []string{"proposed", "approved", "started", "completed"}, w.did)
}

// What was looked up is a condition of the commit: the settings, and rows such as a delegation, the key or the tool's
// permission.
func TestACallReliesOnWhatWasLookedUp(t *testing.T) {
	on, settings := aggregate.Owned{Key: "DELEGATE", Rev: 4}, tenancy.SettingsAt(3)
	x := asking(t, "write_rows", `{"a":1}`, func(x *Proposal) { x.LooksUp, x.On = true, []aggregate.Owned{on} })
	w := &world{t: t, a: &Aggregate{}, now: start}
	for _, tt := range []struct {
		is     string
		decide func(a *Aggregate) (aggregate.Change, error)
		want   []aggregate.Owned
	}{
		{"asked for", func(*Aggregate) (aggregate.Change, error) { return x.Ask(w.now) },
			[]aggregate.Owned{on, settings}},
		{"opened", func(a *Aggregate) (aggregate.Change, error) {
			return a.Route(a.Head.Run, Routed{Terms: x.Terms}, w.now, on)
		}, []aggregate.Owned{settings, on}},
		{"stamped", func(a *Aggregate) (aggregate.Change, error) {
			by := person(suzuki)
			return a.Act(a.Head.CallID, a.Call.Gate.Acting(circulation.Stamp, by, ""), by, policy, w.now, on)
		}, []aggregate.Owned{on}},
		{"claimed", func(a *Aggregate) (aggregate.Change, error) {
			return a.Claim(a.Head.Run, "one", task.Series{}, w.now.Add(time.Minute), w.now, on)
		}, []aggregate.Owned{on}},
	} {
		c := expect.Value(tt.decide(w.a))(t)
		expect.That(t, slices.Equal(c.Owned, tt.want), "%s, it relies on %+v", tt.is, c.Owned)
		w.must(c, nil)
	}
}

func TestALateResultIsTheTruth(t *testing.T) {
	w := asked(t, asking(t, "write_rows", `{"a":1}`))
	expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
	expect.NoError(t, w.claim("one"))
	expect.Fails(t, w.do(w.a.Crashed(w.now)), aggregate.ErrInFlight)
	w.now = w.now.Add(time.Minute)
	w.must(w.a.Crashed(w.now))
	expect.That(t, w.a.Call.Outcome == conversation.OutcomeUnknown && w.open == 0, "%+v", w.a.Call)
	expect.That(t, w.claim("two") != nil && !w.a.work(w.now), "a write whose outcome is unknown is made again")
	for range 2 {
		expect.NoError(t, w.finish("one", Result{Status: conversation.ActionSucceeded}))
	}
	expect.That(t, w.a.Call.Outcome == "" && w.a.Call.Status == conversation.ActionSucceeded && w.open == 0, "%+v",
		w.a.Call)
	expect.Same(t, []string{"proposed", "approved", "started", "failed", "late"}, w.did)
}

// A person who saw that a call of unknown outcome arrived completes it without a result; what is answered later changes
// nothing. The log names them.
func TestAPersonConfirmsACallOfUnknownOutcome(t *testing.T) {
	w := asked(t, asking(t, "write_rows", `{"a":1}`))
	confirm := func(by aggregate.Actor) error { return w.do(w.a.Confirm(w.a.Call.CallID, by, policy, w.now)) }
	expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
	expect.NoError(t, w.claim("one"))
	expect.Fails(t, confirm(person(suzuki)), aggregate.ErrMoved)
	w.now = w.now.Add(time.Minute)
	w.must(w.a.Crashed(w.now))
	stranger := person("U0OTHER")
	stranger.Member = false
	expect.Fails(t, confirm(stranger), aggregate.ErrNotAllowed{Rule: aggregate.RuleNotParty})
	for range 2 {
		expect.NoError(t, confirm(person(suzuki)))
	}
	expect.Fails(t, confirm(person(sato)), aggregate.ErrDecided{Status: "succeeded", By: suzuki, At: w.a.Head.ChangedAt})
	expect.NoError(t, w.finish("one", Result{Status: conversation.ActionFailed}))
	expect.That(t, w.a.Call.Outcome == "" && w.a.Call.Status == conversation.ActionSucceeded && w.a.Call.Result == nil,
		"%+v", w.a.Call)
	expect.Same(t, []string{"proposed", "approved", "started", "failed", "late"}, w.did)
}

func TestAGrantIsTakenOnce(t *testing.T) {
	w := asked(t, asking(t, "Bash", `{"command":"rm x"}`))
	expect.Fails(t, w.take("one"), aggregate.ErrMoved)
	expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
	expect.Fails(t, w.claim("ringi"), aggregate.ErrMoved)
	other := w.key
	other.ID = "k2"
	expect.That(t, !w.a.work(w.now) && w.a.DueAt(w.now) != nil, "a run makes it, or nobody ends it")
	expect.Fails(t, w.do(w.a.Take(other, "one", task.Series{}, w.now)), aggregate.ErrNotFound)
	_, bad := errors.AsType[aggregate.Problem](w.take(""))
	expect.That(t, bad, "an attempt without an id")
	c := expect.Value(w.a.Take(w.key, "one", task.Series{}, w.now))(t)
	expect.That(t, slices.Contains(c.Owned, w.key.AsRead()), "it is taken although the key was revoked meanwhile")
	for range 2 {
		expect.NoError(t, w.take("one"))
	}
	expect.Fails(t, w.take("two"), ErrTaken)
	w.now = w.now.Add(2 * time.Minute) // an id that some client counts anew
	expect.Fails(t, w.take("one"), ErrTaken)
	expect.Same(t, []string{"proposed", "approved", "granted"}, w.did)
	expect.Is(t, w.open, 0)
}

// What a numbered rule had people stamp has a number once it begins, also what runs elsewhere.
func TestANumberedRuleNumbersCalls(t *testing.T) {
	for tool, begins := range map[string]func(w *world, of task.Series) (aggregate.Change, error){
		"Bash": func(w *world, of task.Series) (aggregate.Change, error) {
			return w.a.Take(w.key, "one", of, w.now)
		},
		"write_rows": func(w *world, of task.Series) (aggregate.Change, error) {
			return w.a.Claim(w.a.Head.Run, "one", of, w.now.Add(time.Minute), w.now)
		},
	} {
		w := routed(t, asking(t, tool, `{"command":"rm x"}`),
			aggregate.Opening{Rule: circulation.Rule{ID: "r", Name: "r", Revision: 1, Numbered: true},
				Askers: []circulation.Person{{User: sato}}, Route: circulation.Route{Form: circulation.Form,
					Stages: []circulation.Stage{{Mode: circulation.ModePeople, Need: 1,
						People: []circulation.Person{{User: suzuki}}}}}})
		expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
		settled, lacks := w.a.Unnumbered()
		expect.That(t, lacks && settled.Equal(*w.a.Call.Gate.ApprovedAt), "%s: %v", tool, settled)
		expect.Fails(t, expect.Err(begins(w, task.Series{})), task.ErrNumber)
		c := expect.Value(begins(w, task.Series{Year: 2026, Last: 7}))(t)
		expect.That(t, len(c.Beside) == 1 && strings.Contains(string(c.Audit[0].Details), "2026-000008"), "%+v", c)
		w.must(c, nil)
		expect.Is(t, w.a.Call.DecisionNumber, "2026-000008")
	}
}

// A grant that nobody takes isn't good for ever, nor is a call made long after its stamp.
func TestStampsGrowOld(t *testing.T) {
	for _, tool := range []string{"Bash", "write_rows"} {
		w := asked(t, asking(t, tool, `{"command":"rm x"}`))
		expect.NoError(t, w.act(circulation.Stamp, suzuki, ""))
		w.now = w.now.AddDate(0, 0, aggregate.ApprovalDays+1)
		expect.Fails(t, map[string]error{"Bash": w.take("one"), "write_rows": w.claim("one")}[tool], ErrAged)
		w.must(w.a.Expire(w.now))
		expect.That(t, w.a.Call.CancelReason == ReasonAged && w.open == 0, "%+v", w.a.Call)
	}
}

func TestHowACallEnds(t *testing.T) {
	for name, tt := range map[string]struct {
		end    func(w *world) error
		why    aggregate.Reason
		by     string
		did    string
		claims bool
	}{
		"sent back": {func(w *world) error { return w.act(circulation.SendBack, suzuki, "予算がない") },
			conversation.ReasonRejected, suzuki, "rejected", false},
		"cancelled by who answers": {func(w *world) error {
			return w.do(w.a.End(person(sato), policy, w.now))
		}, conversation.ReasonWithdrawn, sato, "cancelled", false},
		"cancelled by the agent": {func(w *world) error {
			return w.do(w.a.Cancel("k1", w.now))
		}, conversation.ReasonWithdrawn, "", "cancelled", false},
		"nobody decided": {func(w *world) error {
			w.now = w.now.Add(24 * time.Hour)
			return w.do(w.a.Expire(w.now))
		}, conversation.ReasonExpired, "", "expired", false},
	} {
		w := asked(t, asking(t, "write_rows", `{"a":1}`))
		for range 2 {
			err := tt.end(w)
			expect.That(t, err == nil || errors.Is(err, aggregate.ErrNotDue), "%s: %v", name, err)
		}
		x := w.a.Call
		expect.That(t, x.Status == conversation.ActionCancelled && x.CancelReason == tt.why && x.CancelledBy == tt.by &&
			w.open == 0, "%s: %+v", name, x)
		expect.Same(t, []string{"proposed", tt.did}, w.did)
		_, decided := errors.AsType[aggregate.ErrDecided](w.act(circulation.Stamp, "U_TAKADA", ""))
		_, over := errors.AsType[aggregate.ErrDecided](w.claim("one"))
		expect.That(t, decided && over, "%s: it goes on", name)
	}
	w := asked(t, asking(t, "write_rows", `{"a":1}`))
	expect.Fails(t, expect.Err(w.a.Cancel("k2", w.now)), aggregate.ErrNotFound)
	_, err := w.a.End(aggregate.Actor{Type: aggregate.ActorUser, ID: "U_GUEST", Team: team, Guest: true}, policy, w.now)
	_, refused := errors.AsType[aggregate.ErrNotAllowed](err)
	expect.That(t, refused, "a guest cancels it: %v", err)
}

// Under a rule the route's people stamp, and a numbered rule gives a number with the claim.
func TestARuleSaysWhoStamps(t *testing.T) {
	takada := circulation.Person{User: "U_TAKADA"}
	o := aggregate.Opening{Rule: circulation.Rule{ID: "r1", Name: "writes", Revision: 1, Numbered: true},
		Askers: []circulation.Person{{User: sato}}, Route: circulation.Route{Form: circulation.Form,
			Stages: []circulation.Stage{{Name: "経理", Mode: circulation.ModePeople, Need: 1,
				People: []circulation.Person{takada}}}}}
	x := asking(t, "write_rows", `{"a":1}`, func(x *Proposal) { x.LooksUp = true })
	w := asked(t, x)
	expect.That(t, w.a.LooksUp(w.now) && !w.a.Asked(w.a.Head.CallID).Open, "nobody is looked up")
	expect.That(t, w.act(circulation.Stamp, suzuki, "") != nil, "stamped before anybody was asked")
	run := w.a.Head.Run
	again := Routed{Again: w.now.Add(time.Minute)}
	expect.Fails(t, expect.Err(w.a.Route(run-1, again, w.now)), aggregate.ErrSuperseded)
	w.must(w.a.Route(run, again, w.now))
	expect.That(t, !w.a.work(w.now) && w.a.work(w.now.Add(time.Minute)) && w.a.Head.Run > run, "it isn't put off")
	w.must(w.a.Route(w.a.Head.Run, Routed{Opening: &o, Terms: x.Terms}, w.now))
	expect.That(t, w.act(circulation.Stamp, suzuki, "") != nil, "stamped by somebody who isn't asked")
	expect.NoError(t, w.act(circulation.Stamp, takada.User, ""))
	expect.Fails(t, w.claim("one"), task.ErrNumber)
	_, lacks := w.a.Unnumbered()
	expect.That(t, lacks, "no number")
	w.must(w.a.Claim(w.a.Head.Run, "one", task.Series{Year: 2026}, w.now.Add(time.Minute), w.now))
	expect.Is(t, w.a.Call.DecisionNumber, "2026-000001")
	expect.Same(t, []string{"proposed", "routed", "approved", "started"}, w.did)

	w = asked(t, x)
	no := aggregate.Refusal{Why: task.ReasonNoRoute, Rule: o.Rule, Detail: "経理"}
	w.must(w.a.Route(w.a.Head.Run, Routed{Refused: &no}, w.now))
	expect.That(t, w.a.Call.CancelReason == task.ReasonNoRoute && w.open == 0, "%+v", w.a.Call)
	w = asked(t, x)
	_, err := w.a.Route(w.a.Head.Run, Routed{Opening: new(aggregate.BySettings(true, suzuki)), Terms: x.Terms}, w.now)
	expect.Fails(t, err, aggregate.ErrOnRoute) // who answers is missing
	w.now = w.now.Add(mostLookingUp)
	w.must(w.a.Route(w.a.Head.Run, Routed{Again: w.now.Add(time.Minute)}, w.now))
	expect.That(t, w.a.Call.CancelReason == ReasonSilent && w.open == 0, "%+v", w.a.Call)
	w = asked(t, x)
	for range conversation.MaxRestarts + 1 {
		w.must(w.a.RestartRun(w.a.Head.Run, w.now))
	}
	expect.That(t, w.a.Call.CancelReason == ReasonUnrouted, "%+v", w.a.Call)
}

// A key's calls of a day stand in the thread of the first.
func TestTheThreadOfAKeysDay(t *testing.T) {
	x := asking(t, "write_rows", `{"a":2}`)
	x.Thread = "1.000100"
	a := asked(t, x).a
	a.Cards[0].MessageTS = "2.000100"
	message, thread := a.Beginning()
	expect.That(t, message == "2.000100" && thread == "1.000100", "%s %s", message, thread)
}
