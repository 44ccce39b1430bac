package main

import (
	"context"
	"sync"
	"testing"
	"time"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/store/storetest"
)

func TestStandIns(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"stamp for whom they stand in, once":                     testStandInStamps,
		"are told when their days are over":                      testStandInPeriod,
		"don't stamp by what ended beside their click":           testStandInEnded,
		"stamp only what goes round by the rules that they have": testStandInByRule,
		"and their principals stamp once together":               testStandInBeside,
		"is read afterwards by whom it was stamped for":          testStandInRead,
		"read and reject what their principals owe":              testStandInRejects,
		"of several are asked for whom they act":                 testStandInOfSeveral,
		"of several reject for whom they say":                    testStandInRejectsAs,
		"who owe a stamp themselves act for nobody but that one": testStandInOwes,
	})
}

// standIn sets that hand stands in for principal for so many days from today.
func (w *world) standIn(hand, principal, by string, days int, rules ...string) tenancy.Delegation {
	w.T.Helper()
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	return expect.Value(w.Store.KindStore.SetDelegation(w.T.Context(), tenancy.Delegation{TenantID: w.Ref.Tenant,
		Hand: circulation.Person{User: hand}, Principal: circulation.Person{User: principal}, From: today,
		Until: today + organisation.Date(days) - 1, Rules: rules}, setter(by), w.Now(), nil))(w.T)
}

func setter(user string) tenancy.Setter {
	return tenancy.Setter{Actor: aggregate.Actor{Type: aggregate.ActorUser, ID: user},
		Person: circulation.Person{User: user}, Admin: true}
}

// stamp clicks on approving at the first stage.
func (w *world) stamp(user string, p *task.Process) map[string]any {
	return at(w.click(user, "approve_process", p.ID), w.Ref.ID+"/1")
}

func (w *world) acts() []circulation.Act { return w.Load().Process().Acts }

func testStandInStamps(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki, webapi.Alex)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka) // a double click
	acts := w.acts()
	if len(acts) != 1 {
		t.Fatalf("%d acts", len(acts))
	}
	act := acts[0]
	expect.That(t, act.Hand.User == webapi.Tanaka && act.Principal.User == webapi.Suzuki &&
		act.Found.Delegation.Key == d.Key() && act.Found.Delegation.Rev == 1, "%+v", act)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "番です")
	w.told(w.post(at(w.click(webapi.Tanaka, "approve_process", p.ID), w.Ref.ID+"/2")), webapi.Tanaka, "番です")
	expect.Is(t, w.Load().Process().Status, aggregate.PendingApproval, "a second stage is another's")
}

func testStandInPeriod(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "お願いしている承認はありません")
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 2)
	w.Later(d.Ends.Sub(w.Now())) // midnight in Japan
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka,
		"さんの代理の期間("+d.From.String()+"〜"+d.Until.String()+")外です")
	w.Later(-time.Millisecond)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	expect.Is(t, w.Load().Process().Status, aggregate.Approved, "in the last moment")
}

// between does something after delegations were read for a click and before it is committed.
type between struct {
	Rows
	reads int
	do    func(reads int)
}

func (b *between) StandIns(ctx context.Context, tenant, hand string) ([]circulation.StandIn, error) {
	out, err := b.Rows.StandIns(ctx, tenant, hand)
	b.reads++
	b.do(b.reads)
	return out, err
}

func testStandInEnded(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows, do: func(reads int) {
		if reads == 1 {
			_, err := w.Store.KindStore.EndDelegation(t.Context(), d, setter(webapi.Alex), w.Now(), nil)
			expect.NoError(t, err)
		}
	}}
	w.h.Rows = rows
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "外です")
	expect.That(t, len(w.acts()) == 0 && rows.reads == 2, "%d acts after %d reads", len(w.acts()), rows.reads)
}

func testStandInByRule(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	d := w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1, "another")
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "この回覧のルールは代理の対象ではない")
	expect.Value(w.Store.KindStore.EndDelegation(t.Context(), d, setter(webapi.Suzuki), w.Now(), nil))(t)
	d = w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1, "another", p.Terms.Rule.ID)
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	expect.Must(t, len(w.acts()) == 1, "%+v", w.acts())
	expect.Same(t, w.acts()[0].Found.Delegation, &circulation.Delegation{Key: d.Key(), Rev: 3, Rules: d.Rules})
}

func testStandInBeside(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	rows := &between{Rows: w.h.Rows}
	var once sync.Once
	rows.do = func(int) {
		once.Do(func() {
			w.h.Rows = rows.Rows
			w.quiet(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki)
		})
	}
	w.h.Rows = rows
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, webapi.Suzuki)
	acts := w.acts()
	expect.That(t, len(acts) == 1 && acts[0].Hand.User == webapi.Suzuki, "%+v", acts)
}

func testStandInRejects(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	review := func() { w.post(at(w.click(webapi.Tanaka, "review_process", p.ID), w.Ref.ID+"/1")) }
	review()
	v := w.view(webapi.Tanaka)
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	was := v.Hash
	w.Later(2 * time.Minute)
	w.post(page(webapi.Tanaka, v, 0))
	expect.That(t, w.view(webapi.Tanaka).Hash != was, "who stands in can't turn a page")
	w.quiet(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka)
	expect.Is(t, w.view(webapi.Tanaka).CallbackID, "rejection_reason_modal", "the form")
}

func testStandInRead(t *testing.T, w *world) {
	asks := pipelinetest.Desk("課長", 1, webapi.Suzuki)
	asks.ReadAfter = true
	p := w.along(1, asks)
	w.standIn(webapi.Tanaka, webapi.Suzuki, webapi.Suzuki, 1)
	read := func(user string) map[string]any { return at(w.click(user, card.ReadAfter, p.ID), w.Ref.ID) }
	w.told(w.post(read(webapi.Suzuki)), webapi.Suzuki, "見つかりません")
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	w.told(w.post(read(webapi.Tanaka)), webapi.Tanaka, "見つかりません")
	for range 2 { // Slack repeats it
		w.quiet(w.post(read(webapi.Suzuki)), webapi.Suzuki)
	}
	a := w.Load()
	expect.That(t, len(a.Reads) == 1 && a.Reads[0].By == webapi.Suzuki && len(w.acts()) == 1 &&
		a.Process().Status == aggregate.Approved, "%+v", a.Reads)
}

func testStandInOfSeveral(t *testing.T, w *world) {
	p := w.ofTwo()
	form := w.askedWhom(p)
	w.told(w.sendView(webapi.Tanaka, form, whom("")), webapi.Tanaka, "どなたの代理")
	w.told(w.sendView(webapi.Tanaka, form, whom(webapi.Sato)), webapi.Tanaka, "お願いしている承認はありません")
	expect.Is(t, len(w.acts()), 0, "acts")
	for range 2 { // Slack repeats it
		w.quiet(w.sendView(webapi.Tanaka, form, whom(webapi.Suzuki)), webapi.Tanaka)
	}
	acts := w.acts()
	expect.Must(t, len(acts) == 1, "%+v", acts)
	expect.That(t, acts[0].Principal.User == webapi.Suzuki && acts[0].Hand.User == webapi.Tanaka, "%+v", acts[0])
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	w.quiet(w.sendView(webapi.Tanaka, form, whom(webapi.Alex)), webapi.Tanaka)
	expect.Is(t, len(w.acts()), 1, "acts of one hand")
}

// ofTwo plans steps that ask Suzuki and Alex, for both of whom Tanaka stands in.
func (w *world) ofTwo() *task.Process {
	w.T.Helper()
	o := pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("desk", 2, webapi.Suzuki, webapi.Alex))
	p := w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
	for _, principal := range []string{webapi.Alex, webapi.Suzuki} {
		w.standIn(webapi.Tanaka, principal, principal, 1)
	}
	return p
}

// askedWhom presses Tanaka's button, and returns the form that asks for whom.
func (w *world) askedWhom(p *task.Process) webapi.View {
	w.T.Helper()
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	v := w.view(webapi.Tanaka)
	expect.Must(w.T, v.CallbackID == card.AsWhomCallback, "the view %s", v.CallbackID)
	w.slack.CloseView(webapi.Tanaka, v.ID, false)
	return v
}

// whom returns the values of that form.
func whom(user string) map[string]any {
	return map[string]any{card.AsWhomBlock: map[string]any{card.AsWhomInput: map[string]any{"type": "radio_buttons",
		"selected_option": map[string]any{"value": user}}}}
}

func testStandInRejectsAs(t *testing.T, w *world) {
	p := w.ofTwo()
	form := w.asksWhy(webapi.Tanaka, "reject_process", p.ID, "/1")
	values := then("宛先を直して", circulation.SendBack)
	w.told(w.sendView(webapi.Tanaka, form, values), webapi.Tanaka, "どなたの代理")
	values[card.AsWhomBlock] = whom(webapi.Suzuki)[card.AsWhomBlock]
	w.quiet(w.sendView(webapi.Tanaka, form, values), webapi.Tanaka)
	acts := w.acts()
	expect.That(t, len(acts) == 1 && acts[0].Kind == circulation.SendBack && acts[0].Principal.User == webapi.Suzuki,
		"%+v", acts)
}

func testStandInOwes(t *testing.T, w *world) {
	p := w.onRoute(webapi.Suzuki)
	w.standIn(webapi.Suzuki, webapi.Alex, webapi.Alex, 1)
	rows := &between{Rows: w.h.Rows, do: func(int) {}}
	w.h.Rows = rows
	w.quiet(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki)
	expect.That(t, rows.reads == 0 && w.acts()[0].Principal.User == webapi.Suzuki, "%d reads, %+v", rows.reads, w.acts())
}

func TestStandInsInAnOrganisation(t *testing.T) {
	inWorlds(t, map[string]func(*testing.T, *world){
		"stamp with any of their accounts":             testOrganisedStamps,
		"don't stamp what their superior asks for":     testOrganisedBelow,
		"nor what their superior wrote":                testOrganisedBelowWhoWrote,
		"don't stamp if they are no employees":         testOrganisedEmployee,
		"don't stamp for who has left":                 testOrganisedLeaver,
		"don't stamp what their setter asks for":       testOrganisedSetter,
		"don't stamp for who left by another account":  testOrganisedOtherAccount,
		"are decided about by the version that stands": testOrganisedMoved,
	})
}

// company is an organisation of which the requester heads the sales department.
const company = `employee_number,name,email,department_code,parent_department,position,rank,employment,valid_to,status
1,鈴木,suzuki@example.com,HQ,,社長,1,employee,
2,佐藤,sato@example.com,SALES,HQ,部長,2,employee,
3,田中,tanaka@example.com,SALES,HQ,主任,4,employee,
4,Alex,alex@example.com,ACC,HQ,主任,4,employee,
5,高田,takada@example.com,ACC,HQ,主任,4,contractor,
6,森,mori@example.com,ACC,HQ,主任,4,employee,2026-01-31
7,原,hara@example.com,ACC,HQ,課長,3,employee,2026-01-31
8,林,hayashi@example.com,ACC,HQ,係長,5,employee,
9,岸,kishi@example.com,ACC,HQ,係長,5,employee,
10,森田,morita@example.com,ACC,HQ,主任,4,employee,,leave
`

// organise has an organisation stand in which accounts are people's by their numbers.
func (w *world) organise(accounts map[string]string) {
	w.T.Helper()
	o := expect.Value(organisation.Read([]byte(company)))(w.T)
	m := o.Match(nil, organisation.DateOf(w.Now().In(tenancy.Zone())))
	for user, number := range accounts {
		m.Accounts[number] = append(m.Accounts[number], organisation.Matched{ID: user})
	}
	kept := m.Kept()
	w.h.Organised = func(_ context.Context, _, account string) (tenancy.Employed, error) {
		in := tenancy.Employed{Version: "v1", On: aggregate.Owned{Key: tenancy.OrganisationKey}, Organisation: o,
			Accounts: kept}
		in.Person, _ = kept.Number(account)
		return in, nil
	}
}

// organised plans steps that ask Alex, number 1, or whom else, along a route by the organisation. Sato asks for them.
func (w *world) organised(people ...circulation.Person) *task.Process {
	w.T.Helper()
	if len(people) == 0 {
		people = []circulation.Person{{User: webapi.Alex, Person: "1"}}
	}
	desk := pipelinetest.Desk("社長", 1)
	desk.People = people
	o := pipelinetest.Along([]string{webapi.Sato}, 1, desk)
	o.Route.Org, o.Askers[0].Person = "v0", "2"
	return w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
}

// standInBy sets that one person stands in for another today.
func (w *world) standInBy(hand, principal circulation.Person) tenancy.Delegation {
	w.T.Helper()
	today := organisation.DateOf(w.Now().In(tenancy.Zone()))
	return expect.Value(w.Store.KindStore.SetDelegation(w.T.Context(),
		tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: hand,
			Principal: principal, From: today, Until: today}, setter(principal.User), w.Now(), nil))(w.T)
}

func boss() circulation.Person { return circulation.Person{User: webapi.Alex, Person: "1"} }

func testOrganisedStamps(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Suzuki: "4", webapi.Tanaka: "4"})
	p := w.organised()
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "お願いしている承認はありません")
	d := w.standInBy(circulation.Person{User: webapi.Suzuki, Person: "4"}, boss())
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	acts := w.acts()
	expect.Must(t, len(acts) == 1, "%d acts", len(acts))
	expect.That(t, acts[0].Found.Org == "v1" && acts[0].Found.Delegation.Key == d.Key() &&
		acts[0].Hand == circulation.Person{User: webapi.Tanaka, Person: "4"} &&
		acts[0].Principal == boss(), "%+v", acts[0])
	expect.Is(t, w.Load().Process().Status, aggregate.Approved, "settled")
}

func testOrganisedBelow(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Tanaka: "3"})
	p := w.organised()
	w.standInBy(circulation.Person{User: webapi.Tanaka, Person: "3"}, boss())
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "さんの代理ですが、依頼した方の部下")
	w.told(w.post(at(w.click(webapi.Tanaka, "reject_process", p.ID), w.Ref.ID+"/1")), webapi.Tanaka, "依頼した方の部下")
	expect.Is(t, len(w.acts()), 0, "acts")
}

// Suzuki only says please to what Sato, who heads Tanaka, wrote in the thread.
func testOrganisedBelowWhoWrote(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Tanaka: "3", webapi.Suzuki: "4"})
	ts := w.slack.Say(t, webapi.Suzuki, webapi.HR, "お願いします")
	w.Receive(task.Request{User: webapi.Suzuki, Text: "お願いします", Channel: webapi.HR, ChannelType: "channel", MessageTS: ts,
		ThreadTS: w.root, RouteAskers: []string{webapi.Sato}})
	desk := pipelinetest.Desk("社長", 1)
	desk.People = []circulation.Person{boss()}
	o := pipelinetest.Along([]string{webapi.Suzuki, webapi.Sato}, 1, desk)
	o.Route.Org, o.Askers[0].Person, o.Askers[1].Person = "v0", "4", "2"
	p := w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
	w.standInBy(circulation.Person{User: webapi.Tanaka, Person: "3"}, boss())
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "さんの代理ですが、依頼した方の部下")
	expect.Is(t, len(w.acts()), 0, "acts")
}

func testOrganisedEmployee(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Suzuki: "5", webapi.Tanaka: "6"})
	p := w.organised()
	w.standInBy(circulation.Person{User: webapi.Suzuki, Person: "5"}, boss())
	w.standInBy(circulation.Person{User: webapi.Tanaka, Person: "6"}, boss())
	for _, user := range []string{webapi.Suzuki, webapi.Tanaka} { // a contractor, and one who has left
		w.told(w.post(w.stamp(user, p)), user, "社員として在籍していない")
	}
	expect.Is(t, len(w.acts()), 0, "acts")
}

func testOrganisedLeaver(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "6", webapi.Sato: "2", webapi.Suzuki: "4"})
	left := circulation.Person{User: webapi.Alex, Person: "6"}
	p := w.organised(left)
	w.standInBy(circulation.Person{User: webapi.Suzuki, Person: "4"}, left)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "お願いしている承認はありません")
}

// Between what was read for a click and its commit another version of the organisation begins to stand.
func testOrganisedMoved(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Suzuki: "4"})
	p := w.organised()
	w.standInBy(circulation.Person{User: webapi.Suzuki, Person: "4"}, boss())
	was, asked := w.h.Organised, 0
	w.h.Organised = func(ctx context.Context, tenant, account string) (tenancy.Employed, error) {
		in, err := was(ctx, tenant, account)
		if asked++; asked == 1 {
			in.On.Rev = 7 // which isn't the row's any more
		} else {
			in.Person = ""
		}
		return in, err
	}
	w.Later(time.Millisecond)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "組織表に登録がない")
	expect.That(t, asked == 2 && len(w.acts()) == 0, "asked %d times", asked)
}

func testOrganisedSetter(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Sato: "2", webapi.Tanaka: "2", webapi.Suzuki: "4"})
	p := w.organised()
	d := tenancy.Delegation{TenantID: w.Ref.Tenant, Hand: circulation.Person{User: webapi.Suzuki, Person: "4"},
		Principal: boss(), From: organisation.DateOf(w.Now().In(tenancy.Zone()))}
	d.Until = d.From
	expect.Value(w.Store.KindStore.SetDelegation(t.Context(), d, setter(webapi.Tanaka), w.Now(), nil))(t)
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "方が決めたもの")
	expect.Is(t, len(w.acts()), 0, "acts")
}

func testOrganisedOtherAccount(t *testing.T, w *world) {
	w.organise(map[string]string{webapi.Alex: "1", webapi.Guest: "1", webapi.Sato: "2", webapi.Suzuki: "4"})
	p := w.organised(circulation.Person{User: webapi.Guest, Person: "1"})
	w.standInBy(circulation.Person{User: webapi.Suzuki, Person: "4"}, boss())
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "お願いしている承認はありません")
	expect.Is(t, len(w.acts()), 0, "acts")
}

// Whom the organisation no longer has stamps nothing, though Slack still knows them; nor does who is no employee stamp
// in a channel's name.
func TestWhoIsNoEmployeeToday(t *testing.T) {
	db := storetest.Start(t)
	w := newWorld(t, db)
	w.organise(map[string]string{webapi.Sato: "2", webapi.Tanaka: "6"})
	p := w.organised(circulation.Person{User: webapi.Tanaka, Person: "6"})
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "組織表に登録がない")
	w.told(w.post(w.stamp(webapi.Guest, p)), webapi.Guest, "ゲスト") // whom nobody can add there
	expect.Is(t, len(w.acts()), 0, "acts of who has left")

	w = newWorld(t, db)
	w.organise(map[string]string{webapi.Sato: "2", webapi.Tanaka: "10"})
	p = w.organised(circulation.Person{User: webapi.Tanaka, Person: "10"})
	w.told(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka, "休職・出向中のため")
	expect.Is(t, len(w.acts()), 0, "acts of who is on leave")

	w = newWorld(t, db)
	w.organise(map[string]string{webapi.Sato: "2", webapi.Suzuki: "5", webapi.Tanaka: "3"})
	channel := circulation.Stage{Name: "みんな", Mode: circulation.ModeChannel, Need: 1}
	o := pipelinetest.Along([]string{webapi.Sato}, 1, channel, pipelinetest.Desk("部長", 1, webapi.Alex))
	o.Route.Org, o.Askers[0].Person, o.Route.Stages[1].People[0].Person = "v1", "2", "1"
	p = w.PlannedOnRoute(tenancy.DefaultSettings(), o,
		pipelinetest.Step(1, "send_slack_dm", aggregate.Write, `{"text":"x"}`)).Process()
	w.told(w.post(w.stamp(webapi.Suzuki, p)), webapi.Suzuki, "社員として在籍している方だけ")
	expect.Is(t, len(w.acts()), 0, "acts of a contractor")
	w.quiet(w.post(w.stamp(webapi.Tanaka, p)), webapi.Tanaka)
	expect.Is(t, len(w.acts()), 1, "acts of an employee")
}
