package subject_test

import (
	"context"
	"errors"
	"html"
	"iter"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/decide"
	"ringi/shared/decide/pipeline/pipelinetest"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store"
)

// gone is the account of somebody who has left.
const gone = "U0TAKADA"

func TestSuccessors(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"one is chosen":                                  testOneIsChosen,
		"only administrators may":                        testOnlyAdministrators,
		"only the administrator could be chosen":         testOnlyTheAdministrator,
		"each refusal is said":                           testRefusals,
		"the same twice changes nothing":                 testSuccessorTwice,
		"who stamped meanwhile is not replaced":          testStampedMeanwhile,
		"an administrator who is none any more":          testNoAdministrator,
		"rules that change meanwhile are read anew":      testRulesMove,
		"a guest, or who has left, is no successor":      testNoMember,
		"what moves between reading and saving":          testMovesBetween,
		"without slack nothing is saved":                 testSilence,
		"nobody can be chosen before the rule is edited": testRuleFirst,
		"what is stuck is listed":                        testStuck,
		"nothing is stuck":                               testNothingStuck,
		"one is chosen for an agent's action":            testOfAnAction,
	})
}

// ruled saves rules whose one stage names these people.
func ruled(w *consoletest.World, users ...string) {
	w.T.Helper()
	_, rev, err := w.Store.Rules(w.T.Context(), w.Tenant.ID)
	expect.NoError(w.T, err)
	x := &rules.Rules{Form: rules.Form, Floor: rules.Floor{Stamps: 1}, Rules: []rules.Rule{{
		ID: pipelinetest.Along(nil, 1).Rule.ID, Name: "すべて",
		Outcome: rules.Outcome{Route: &rules.Policy{Stages: []rules.Stage{
			stage("課長", webapi.Tanaka), stage("部長", users...)}, Hands: 1}},
	}}}
	_, _, err = w.Store.SaveRules(w.T.Context(), w.Tenant.ID, x, rev, nil, w.By, w.Now())
	expect.NoError(w.T, err)
}

func stage(name string, users ...string) rules.Stage {
	return rules.Stage{Name: name, Who: rules.Who{Kind: rules.WhoPeople, People: users}, Need: 1,
		Empty: rules.EmptyRefuse}
}

// waits has a request of these people wait for Tanaka, then for somebody who has left.
func waits(w *consoletest.World, askers ...string) {
	w.T.Helper()
	w.Ask()
	if askers == nil {
		askers = []string{webapi.Sato}
	}
	w.PlannedOnRoute(w.SettingsNow(), pipelinetest.Along(askers, 1, pipelinetest.Desk("課長", 1, webapi.Tanaka),
		pipelinetest.Desk("部長", 1, gone)), consoletest.Message(1, "勤怠です"))
}

func gate(w *consoletest.World) *aggregate.Gate { return &w.Load().Process().Gate }

// page returns the page on which the successor of somebody at a stage is named.
func page(w *consoletest.World, stage, user string) string {
	q := url.Values{"gate": {w.Load().Process().ID}, "stage": {stage}, "for": {user}}
	return w.TaskPage() + "/successor?" + q.Encode()
}

var hidden = regexp.MustCompile(`name="(gate|stage|for|asked)" value="([^"]*)"`)

// form returns the page's form with a choice.
func form(t *testing.T, a consoletest.Answer, to, reason string) url.Values {
	t.Helper()
	out := url.Values{"to": {to}, "reason": {reason}}
	for _, m := range hidden.FindAllStringSubmatch(a.Body, -1) {
		out.Set(m[1], html.UnescapeString(m[2]))
	}
	expect.Must(t, len(out) == 6, "no form: %v", a)
	return out
}

func testOneIsChosen(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex, webapi.Suzuki)
	waits(w)
	b := w.As(webapi.Suzuki)
	request := b.Get(w.TaskPage()).Says(t, 200, "このあと止まります。 部長 : U0TAKADA ワークスペースの外", "後任を決める",
		"部長 これから U0TAKADA ワークスペースの外")
	to := page(w, "2", gone)
	request.Holds(t, html.EscapeString(to))
	b.Get(to).Holds(t, `<a href="`+w.TaskPage()+`"><bdi>`).Says(t, 200, "依頼 勤怠集計 佐藤 花子 ルール すべて")
	p := b.Get(to).Says(t, 200, "部長", "すべて", "Alex Kim ルールで指定", "承認は引き継がれません",
		"先にルールのこの段階に後任の名前を入れて保存し")
	p.Lacks(t, webapi.Tanaka, webapi.Sato)
	p.Lacks(t, `value="`+webapi.Suzuki)
	b.Post(w.TaskPage()+"/successor", form(t, p, webapi.Alex, "退職のため\r\n代わりに")).
		Says(t, http.StatusSeeOther).
		Leads(t, w.TaskPage()+"?done=act_stand")
	act := gate(w).Acts[0]
	tenant := expect.Value(w.Store.Tenant(t.Context(), w.Tenant.ID))(t)
	expect.Same(t, []any{act.Kind, act.Hand.User, act.For.User, act.To.User, act.Stage, act.Text, act.Surface,
		*act.Found.Admin, act.Found.Resolved},
		[]any{circulation.Stand, webapi.Suzuki, gone, webapi.Alex, 2, "退職のため\n代わりに", "console",
			circulation.Admin{Key: "TENANT", Rev: tenant.Rev}, "named by the rule"})
	b.Get(w.TaskPage()+"?done=act_stand").Says(t, 200, "後任を登録しました。", "退職のため", "Alex Kim")
	log := w.Audited(store.AuditFilter{Resource: w.Ref.ID})
	expect.Is(t, string(log[0].Action), "process.reassigned", "the newest entry")
	b.In("en").Get(page(w, "2", webapi.Alex)).Says(t, 200, "Name a successor", "They inherit no approval",
		"you can’t name yourself")
}

// Where nobody but the administrator could be chosen, the page says so, and what to do.
func testOnlyTheAdministrator(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Suzuki)
	waits(w)
	b := w.As(webapi.Suzuki)
	b.Get(page(w, "2", gone)).Says(t, 200, "後任に選べるのはあなただけで").Lacks(t, "自分の担当の変更")
	b.In("en").Get(page(w, "2", gone)).Says(t, 200, "you are the only one who may be chosen")
}

func testOnlyAdministrators(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	w.As(webapi.Tanaka).Get(w.TaskPage()).Lacks(t, "後任を決める").Lacks(t, "ワークスペースの外")
	w.As(webapi.Suzuki).Get(w.TaskPage()+"/successor?gate=x&stage=9&for=U1").Says(t, http.StatusNotFound)
	w.As(webapi.Suzuki).Get(page(w, "2", webapi.Sato)).Says(t, http.StatusNotFound)
	w.As(webapi.Suzuki).Get("/console/tasks/x/successor").Says(t, http.StatusNotFound)
	expect.Is(t, len(gate(w).Acts), 0, "acts")
}

// refuses sends a form that the administrator may not send, and expects this sentence.
func refuses(t *testing.T, w *consoletest.World, change func(f url.Values), says string) {
	t.Helper()
	b, before := w.As(webapi.Suzuki), len(gate(w).Acts)
	p := w.Load().Process()
	f := url.Values{"gate": {p.ID}, "stage": {"2"}, "for": {gone}, "asked": {p.AskedSum},
		"to": {webapi.Alex}, "reason": {"退職のため"}}
	change(f)
	a := b.Post(w.TaskPage()+"/successor", f)
	expect.That(t, a.Status >= 400 && a.Status < 500 && strings.Contains(a.Text(), says), "want %q: %v", says, a)
	expect.Is(t, len(gate(w).Acts), before, "acts")
	reason, asks := f.Get("reason"), strings.Contains(a.Body, "<textarea")
	if asks && a.Status == http.StatusForbidden && reason != "" {
		a.Holds(t, html.EscapeString(reason))
	}
}

func testRefusals(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex, webapi.Suzuki)
	set := func(name, value string) func(url.Values) { return func(f url.Values) { f.Set(name, value) } }
	waits(w)
	refuses(t, w, set("to", webapi.Suzuki), "自分を後任にすることはできません")
	refuses(t, w, set("to", webapi.Sato), "後任に選べるのは、ルールで今日選ばれる方か")
	refuses(t, w, set("to", webapi.Tanaka), "後任に選べるのは、ルールで今日選ばれる方か")
	refuses(t, w, set("reason", " \n"), "理由を 1〜1000 文字で入力してください。")
	refuses(t, w, set("reason", "\u2800\u00ad"), "理由を 1〜1000 文字で入力してください。")
	refuses(t, w, set("reason", strings.Repeat("あ", 1001)), "理由を 1〜1000 文字で入力してください。")
	refuses(t, w, set("asked", "other"), "内容が変わりました")
	waits(w, webapi.Sato, webapi.Suzuki)
	w.As(webapi.Suzuki).Get(page(w, "2", gone)).
		Says(t, 200, "あなたの依頼(またはあなたの指示で作られた版)なので").
		Lacks(t, "<textarea")
	refuses(t, w, func(url.Values) {}, "あなたの依頼(またはあなたの指示で作られた版)なので")
	w.Ask()
	w.PlannedOnRoute(w.SettingsNow(), pipelinetest.Along([]string{webapi.Sato}, 1,
		pipelinetest.Desk("課長", 1, webapi.Tanaka),
		pipelinetest.Desk("部長", 1, gone, webapi.Suzuki, webapi.Alex)), consoletest.Message(1, "勤怠です"))
	refuses(t, w, set("for", webapi.Suzuki), "自分の担当は変更できません")
	refuses(t, w, func(url.Values) {}, "この段階の担当に入っています")
}

func testSuccessorTwice(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	b := w.As(webapi.Suzuki)
	f := form(t, b.Get(page(w, "2", gone)), webapi.Alex, "退職のため")
	for range 2 {
		b.Post(w.TaskPage()+"/successor", f).Says(t, http.StatusSeeOther)
	}
	expect.Is(t, len(gate(w).Acts), 1, "acts")
	ruled(w, "U0OTHER", webapi.Alex)
	f.Set("to", "U0OTHER")
	b.Post(w.TaskPage()+"/successor", f).Says(t, http.StatusForbidden)
	expect.Is(t, len(gate(w).Acts), 1, "acts")
}

// stamped has the task's steps stamped by somebody.
func stamped(w *consoletest.World, stage int, user string) {
	w.T.Helper()
	p := w.Load().Process()
	who := circulation.Person{User: user}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		return a.Act(p.ID, circulation.Act{Kind: circulation.Stamp, Hand: who, Principal: who, Stage: stage,
			Hash: p.AskedSum},
			aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: w.By.Team, Member: true}, w.AnyMember(), w.Now())
	})
}

func testStampedMeanwhile(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	b := w.As(webapi.Suzuki)
	b.Get(page(w, "1", webapi.Tanaka)).Lacks(t, `name="to"`).Lacks(t, `role="alert"`)
	f := form(t, b.Get(page(w, "2", gone)), webapi.Alex, "異動のため")
	stamped(w, 1, webapi.Tanaka)
	b.Get(w.TaskPage()).Says(t, 200, "止まっています。 部長 : U0TAKADA ワークスペースの外 後任を決める")
	f.Set("stage", "1")
	f.Set("for", webapi.Tanaka)
	a := b.Post(w.TaskPage()+"/successor", f)
	expect.That(t, a.Status >= 400 && len(gate(w).Acts) == 1, "%v", a)
	b.Get(w.TaskPage()).Lacks(t, html.EscapeString(page(w, "1", webapi.Tanaka)))
}

func testNoAdministrator(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	b := w.As(webapi.Suzuki)
	f := form(t, b.Get(page(w, "2", gone)), webapi.Alex, "退職のため")
	w.Administered(webapi.Tanaka)
	a := b.Post(w.TaskPage()+"/successor", f)
	expect.That(t, a.Status == http.StatusForbidden && len(gate(w).Acts) == 0, "%v", a)
}

func testRulesMove(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	b := w.As(webapi.Suzuki)
	f := form(t, b.Get(page(w, "2", gone)), webapi.Alex, "退職のため")
	ruled(w, gone)
	b.Post(w.TaskPage()+"/successor", f).Says(t, http.StatusForbidden, "後任に選べるのは")
	expect.Is(t, len(gate(w).Acts), 0, "acts")
}

func testNoMember(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex, webapi.Guest)
	waits(w)
	b := w.As(webapi.Suzuki)
	p := b.Get(page(w, "2", gone)).Says(t, 200)
	p.Lacks(t, webapi.Guest)
	w.People.Become(webapi.Alex, func(u *slackapi.User) error { u.Gone = true; return nil })
	b.Post(w.TaskPage()+"/successor", form(t, p, webapi.Alex, "退職のため")).Says(t, http.StatusForbidden,
		"後任に選べるのは")
	expect.Is(t, len(gate(w).Acts), 0, "acts")
}

func testSilence(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	b := w.As(webapi.Suzuki)
	p := b.Get(page(w, "2", gone))
	w.People.Become(webapi.Alex, func(*slackapi.User) error { return slackapi.Unknown{Cause: "timeout"} })
	b.Post(w.TaskPage()+"/successor", form(t, p, webapi.Alex, "退職のため")).Says(t, http.StatusServiceUnavailable,
		"退職のため", "Alex Kim") // what was typed stays
	expect.Is(t, len(gate(w).Acts), 0, "acts")
}

func testRuleFirst(t *testing.T, w *consoletest.World) {
	waits(w)
	b := w.As(webapi.Suzuki)
	b.Get(page(w, "2", gone)).Says(t, 200, "いまのルールにはありません")
	ruled(w, gone)
	b.Get(page(w, "2", gone)).Says(t, 200, "後任に選べる人がいません",
		"先にルールのこの段階に後任の名前を入れて保存し")
	ruled(w, gone, webapi.Alex)
	b.Get(page(w, "2", gone)).Says(t, 200, "Alex Kim")
}

// moving are rows that change once after they were read.
type moving struct {
	decide.Administrators
	once func()
}

func (m *moving) Tenant(ctx context.Context, id string) (tenancy.Tenant, error) {
	t, err := m.Administrators.Tenant(ctx, id)
	if m.once != nil {
		m.once()
		m.once = nil
	}
	return t, err
}

func testMovesBetween(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	admins := func(users ...string) func() {
		return func() { w.Administered(users...) }
	}
	maker := decide.Maker{Store: w.Store.KindStore.Store, People: w.Console.People, Results: w.Results, Now: w.Now}
	for name, c := range map[string]struct {
		once  func()
		stage int
		of    string
		want  circulation.Why
		acts  int
	}{
		"another administrator is added":         {admins(webapi.Suzuki, webapi.Tanaka), 2, gone, "", 1},
		"the administrator is none any more":     {admins(webapi.Tanaka), 2, gone, circulation.WhyFound, 0},
		"the rule names the successor no longer": {func() { ruled(w, gone) }, 2, gone, circulation.WhyFound, 0},
		"the rule's other people change":         {func() { ruled(w, gone, webapi.Alex) }, 2, gone, "", 1},
		"whom to replace stamps": {func() { stamped(w, 1, webapi.Tanaka) }, 1, webapi.Tanaka,
			circulation.WhyStage, 1},
	} {
		admins(webapi.Suzuki)()
		ruled(w, webapi.Alex)
		waits(w)
		is := w.Load()
		x := &decide.Succession{Rows: &moving{w.Store.KindStore.Store, c.once}, Slack: slack{w.People, w.Console.Listing},
			Known: &people.Requesters{}, Now: w.Now,
			Standing: func(context.Context, string) (decide.StandingOrganisation, error) {
				return decide.StandingOrganisation{}, nil
			}}
		v := decide.Replaced{Gate: is.Process().ID, Stage: c.stage, For: c.of}
		verdict := maker.Stand(t.Context(), x, is, decide.Click{Ref: is.Ref(), ID: v.Gate, Want: people.Want{
			User: webapi.Suzuki, Surface: aggregate.SurfaceConsole}},
			decide.Successor{Replaced: v, To: webapi.Alex, Reason: "退職のため", Hash: is.Process().AskedSum})
		var why circulation.Why
		if r, is := errors.AsType[*circulation.Refusal](verdict.Err); is {
			why = r.Why
		}
		expect.That(t, why == c.want && (verdict.Err == nil) == (c.want == "") && len(gate(w).Acts) == c.acts,
			"%s: %v, %d acts", name, verdict.Err, len(gate(w).Acts))
	}
}

// slack is what a workspace says of its people and groups.
type slack struct {
	people.Groups
	listing people.Listing
}

func (s slack) Usergroups(ctx context.Context) ([]slackapi.Group, error) {
	return s.listing.Usergroups(ctx)
}

func testStuck(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	waits(w)
	w.Later(time.Minute)
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	k.ChangeAction(func(g *aggregate.Gate) { g.Terms.ApprovalHours = 72 },
		w.Routed(consoletest.Desk("経理", 1, webapi.Guest), consoletest.Desk("部長", 1, webapi.Alex, gone)))
	b := w.As(webapi.Suzuki)
	asks := func(path string) int {
		before := w.People.Asked
		b.Get(path).Holds(t, `href="/console/approvals?for=stuck"`)
		return w.People.Asked - before
	}
	asks("/console/approvals") // whose names Slack says is kept
	names := asks("/console/approvals")
	expect.Is(t, asks("/console/approvals?for=stuck"), names+1, "people whom Slack is asked about one by one")
	list := b.Get("/console/approvals?for=stuck").Says(t, 200, "経理 : ", "ゲスト", "部長",
		"ワークスペースの外", "課長(あと1人): 田中 恵")
	list.Lacks(t, "経理(あと") // who is waited for in vain stands there once
	list.Holds(t, html.EscapeString(page(w, "2", gone)), html.EscapeString(k.Page()+"/successor?"))
	expect.Same(t, []int{2, 2}, []int{strings.Count(list.Body, "<tr data-row>"), strings.Count(list.Body, "vacant")})
	w.As(webapi.Tanaka).Get("/console/approvals?for=stuck").Says(t, 200).Lacks(t, "vacant")
	b.Post(w.TaskPage()+"/successor", form(t, b.Get(page(w, "2", gone)), webapi.Alex, "退職のため")).Says(t, 303)
	b.Get("/console/approvals?for=stuck").Lacks(t, w.TaskPage())
	b.In("en").Get("/console/approvals?for=stuck").Says(t, 200, "guest", "Stopped routes")
	b.Get("/console/approvals?for=stuck&cursor=x").Says(t, 400)
}

func testNothingStuck(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	b.Get("/console/approvals?for=stuck").Says(t, 200, "止まった回覧はありません")
	waits(w)
	w.Later(2 * time.Minute) // what Slack said is known for one
	w.Console.Listing = silent{w.Console.Listing}
	b.Get("/console/approvals?for=stuck").Says(t, 200, "Slack に確認できない")
}

// The list and the conversation's page lead to where an action's successor is named.
func testOfAnAction(t *testing.T, w *consoletest.World) {
	ruled(w, webapi.Alex)
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "テストを走らせて")
	k.ProposesBy(pipelinetest.Along([]string{webapi.Sato}, 1, pipelinetest.Desk("課長", 1, webapi.Tanaka),
		pipelinetest.Desk("部長", 1, gone)))
	b, link := w.As(webapi.Suzuki), regexp.MustCompile(`href="(`+k.Page()+`/successor\?for=`+gone+`[^"]*)"`)
	p := b.Get(k.Page())
	for _, path := range []string{"/console/approvals?for=stuck", k.Page()} {
		to := link.FindStringSubmatch(b.Get(path).Body)
		expect.Must(t, to != nil, "%s doesn't lead to where a successor is named", path)
		p = b.Get(html.UnescapeString(to[1])).Says(t, 200, "部長", "Alex Kim ルールで指定")
	}
	b.Post(k.Page()+"/successor", form(t, p, webapi.Alex, "退職のため")).Leads(t, k.Page()+"?done=act_stand")
	acts := k.Load().Current().Gate.Acts
	expect.That(t, len(acts) == 1 && acts[0].Kind == circulation.Stand && acts[0].To.User == webapi.Alex, "acts: %v", acts)
}

// silent is a workspace whose people Slack doesn't list.
type silent struct{ people.Listing }

func (silent) Users(context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		yield(slackapi.User{}, slackapi.Unknown{Cause: "timeout"})
	}
}
