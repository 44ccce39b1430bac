package rules_test

import (
	"fmt"
	"net/http"
	"net/url"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/organisation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/table"
)

// staff is the sandbox's workspace as a company.
const staff = `社員番号,氏名,メール,部署コード,部署名,親部署,役職,順位,区分
1,鈴木 一郎,suzuki@example.com,HQ,本社,,社長,1,社員
2,田中 恵,tanaka@example.com,SALES,営業部,HQ,課長,3,社員
3,佐藤 花子,sato@example.com,SALES2,営業二課,SALES,,,社員
4,Alex Kim,alex.kim@example.com,SALES,営業部,HQ,部長,2,社員
`

// organised has an organisation stand, whose people have the workspace's accounts of the same address.
func organised(w *consoletest.World, file string) {
	w.T.Helper()
	o, err := organisation.Read([]byte(file))
	expect.Must(w.T, err == nil, "%v", err)
	var accounts []organisation.Account
	for id, mail := range map[string]string{webapi.Suzuki: "suzuki", webapi.Tanaka: "tanaka", webapi.Sato: "sato",
		webapi.Alex: "alex.kim"} {
		accounts = append(accounts, organisation.Account{ID: id, Mail: mail + "@example.com"})
	}
	kept := o.Match(accounts).Kept()
	was := expect.Value(w.Console.Organisations.OrganisationRow(w.T.Context(), w.Tenant.ID))(w.T)
	err = w.Console.Organisations.Save(w.T.Context(), w.Tenant.ID, was.Rev, o, kept, w.By, w.Now())
	expect.NoError(w.T, err)
}

// threeStages are the fields of a rule that asks the manager, both of a group, and a position.
var threeStages = []string{"kinds", "steps",
	"name", "営業部の外部書き込み", "use", "writes_outside", "outcome", "route", "departments", "|SALES",
	"stages.0.name", "上長", "stages.0.kind", "manager", "stages.0.level", "1", "stages.0.need", "", "stages.0.vacant",
	"up", "stages.0.own", "up", "stages.0.twice", "up",
	"stages.1.was", "new", "stages.1.name", "人事", "stages.1.kind", "group", "stages.1.group", webapi.Approvers,
	"stages.1.need", "1", "stages.1.vacant", "refuse", "stages.1.own", "refuse", "stages.1.twice", "again",
	"stages.2.was", "new", "stages.2.name", "社長", "stages.2.kind", "position", "stages.2.position", "|HQ\t社長",
	"stages.2.need", "", "stages.2.vacant", "skip", "stages.2.own", "skip", "stages.2.twice", "skip", "stages.2.others",
	"|1",
}

// ofThree saves a rule of these stages, as an administrator does.
func ofThree(t *testing.T, w *consoletest.World) *consoletest.Browser {
	t.Helper()
	organised(w, staff)
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes")).Says(t, http.StatusOK, "依頼した人の部署", "営業部",
		"営業二課 本社 › 営業部",
		"営業部の部長 (Alex Kim)", "人事部承認者 (@hr-approvers・2 人)", "依頼した人の 2 段上の上長")
	form.Lacks(t, "組織表を登録すると")
	list := b.Post(path+"/rule", form.Hidden(append(threeStages, "act", "keep")...)).Says(t, http.StatusOK, "まだ保存していません")
	b.Post(path, b.Post(path, list.Hidden("act", "check")).Hidden("act", "save")).Leads(t, path+"?done=saved")
	return b
}

func testAFormOfAnOrganisation(t *testing.T, w *consoletest.World) {
	b := ofThree(t, w)
	r := stored(w).Rules[0]
	expect.Same(t, &rules.Requester{Departments: []string{"SALES"}}, r.When.Requester)
	expect.Same(t, []rules.Stage{
		{Name: "上長", Who: rules.Who{Kind: rules.WhoManager, Level: 1}, Need: 1},
		{Name: "人事", Who: rules.Who{Kind: rules.WhoGroup, Group: webapi.Approvers}, Need: 1},
		{Name: "社長", Who: rules.Who{Kind: rules.WhoPosition, Department: "HQ", Position: "社長"}},
	}, r.Route.Stages)
	b.Get(path).Says(t, http.StatusOK, "営業部とその下の部署の人が、外部への書き込みを依頼したら、①上長 (依頼した人の上長) → "+
		"②人事 (グループ 人事部承認者・今 2 人) のうち 1 人 → ③社長 (本社の社長) の全員 の順に承認します。")
	b.In("en").Get(path).Says(t, http.StatusOK,
		"When somebody in 営業部 and below asks for a write outside, ① 上長 (the requester’s manager) → "+
			"② 人事: 1 of the 2 people in the Slack group 人事部承認者 → ③ 社長: all of 社長 of 本社 must approve, in this order.")

	// The form shows what is saved, and sends it again.
	form := b.In("ja").Post(path, b.Get(path).Hidden("act", "edit.0"))
	form.Holds(t, `name="departments" value="SALES" checked`, `value="`+webapi.Approvers+`" selected`,
		`id="position-2" name="stages.2.position"`, `value="HQ`+"\t"+`社長" selected`)
	none := b.Post(path+"/rule", form.Hidden(append(threeStages, "departments", "", "stages.1.group", "",
		"stages.2.position", "", "act", "keep")...))
	none.Says(t, http.StatusUnprocessableEntity, "段階 ② グループ: Slack のユーザーグループの ID (S…)", "段階 ③ 部署と役職: 1 〜 200 文字")
	list := b.Post(path+"/rule", form.Hidden(append(threeStages, "departments", "", "stages.0.level", "2",
		"numbered", "|1", "act", "keep")...))
	list.Says(t, http.StatusOK, "決裁番号が付きます。", "だれかが、外部への書き込みを依頼したら、①上長 (依頼した人の 2 段上の上長)")
}

func testGroupsNeedNoOrganisation(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes")).Says(t, http.StatusOK, "Slack のユーザーグループ", "組織表を登録すると")
	form.Lacks(t, `value="manager"`, `value="position"`, `value="up"`, "社員以外も", `name="departments"`)
	list := b.Post(path+"/rule", form.Hidden("act", "keep", "name", "人事", "use", "writes_outside", "outcome", "route",
		"stages.0.name", "人事", "stages.0.kind", "group",
		"stages.0.group", webapi.Approvers, "stages.0.need", "2", "stages.0.vacant", "refuse", "stages.0.own", "refuse"+
			"", "stages.0.twice", "again"))
	b.Post(path, list.Hidden("act", "try", "try.tool", " send_slack_dm", "try.place", webapi.HR, "try.who", "佐藤")).
		Says(t, http.StatusOK, "今日 佐藤 花子 さんが依頼すると: 鈴木 一郎・田中 恵 の全員 人事",
			"鈴木 一郎 グループ @hr-approvers").Lacks(t, `name="try.on"`)
	// Of the two, the requester can't stamp.
	b.Post(path, list.Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "鈴木")).Says(t, http.StatusOK,
		"断られます (人事: 依頼した人のほかに")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusOK).Lacks(t, "気を付けること").Holds(t, `value="save"`)
	// While Slack doesn't say who is in the group, nothing is saved, and nobody is named.
	for range 6 {
		w.Slack.Faults.Add(webapi.Fault{Method: "usergroups.users.list", Kind: webapi.Unavailable})
	}
	check := b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusServiceUnavailable, "Slack の応答がない").Lacks(t,
		`value="save"`)
	b.Post(path, check.Hidden("act", "save")).Says(t, http.StatusServiceUnavailable, "Slack の応答がない")
	b.Post(path, list.Hidden("act", "try", "try.tool", " send_slack_dm")).Says(t, http.StatusOK, "Slack の応答がない")
	expect.That(t, stored(w) == nil, "rules whose people nobody could check are saved")
}

func testTheOrganisationAnswers(t *testing.T, w *consoletest.World) {
	b := ofThree(t, w)
	b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.place", webapi.HR, "try.who", "佐藤")).
		Says(t, http.StatusOK, "今日 佐藤 花子 さんが依頼すると: Alex Kim 上長", "Alex Kim 佐藤 花子さんの上長", "鈴木 一郎 本社 の 社長")
	// Suzuki is of the head office: the rule for sales isn't theirs.
	b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "鈴木")).Says(t, http.StatusOK,
		"どのルールにも当てはまらない依頼: 依頼を断ります。")
	// Alex's manager is the president, who then can't be the different third person either.
	b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "Alex")).Says(t, http.StatusOK,
		"Alex Kim さんが依頼すると: 鈴木 一郎 上長")
	b.In("en").Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", "佐藤")).
		Says(t, http.StatusOK, "佐藤 花子", "Alex Kim 上長")
}

func testAnUnknownDepartmentRefuses(t *testing.T, w *consoletest.World) {
	b := ofThree(t, w)
	x := stored(w)
	x.Rules[0].When.Requester.Departments = []string{"GONE"}
	x.Rules[0].When.Requester.Groups = []string{webapi.Approvers}
	saved(w, x)
	b.Post(path, b.Get(path).Hidden("act", "edit.0")).Says(t, http.StatusOK, "GONE 今の組織表にありません",
		"Slack のユーザーグループ 人事部承認者")
	try := func(who string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", " send_slack_dm", "try.who", who))
	}
	try("佐藤").Says(t, http.StatusOK, "ルール 1「営業部の外部書き込み」: 部署の GONE が組織表にないため、依頼を断ります。")
	try("田中").Says(t, http.StatusOK, "ルール 1「営業部の外部書き込み」: 今日") // by the group
	try("高橋").Says(t, http.StatusOK, "高橋 ゲスト さんが組織表にないため、依頼を断ります。")
}

func testAnOrganisationThatCantBeRead(t *testing.T, w *consoletest.World) {
	b := ofThree(t, w)
	list := b.Post(path, b.Get(path).Hidden("act", "look", "floor.stamps", "2"))
	row := expect.Value(w.Console.Organisations.OrganisationRow(t.Context(), w.Tenant.ID))(t)
	e := table.NewExpression()
	pk := tenancy.OrganisationPartition(w.Tenant.ID, row.Version)
	all := expect.Value(w.DB.Query(t.Context(), table.Filled(e,
		&dynamodb.QueryInput{TableName: &w.Table, KeyConditionExpression: table.All(e.Is("PK", "=", pk))})))(t)
	for _, it := range all.Items {
		expect.Value(w.DB.DeleteItem(t.Context(), &dynamodb.DeleteItemInput{TableName: &w.Table,
			Key: map[string]types.AttributeValue{"PK": it["PK"], "SK": it["SK"]}}))(t)
	}
	w.Console.Organisations = store.OrganisationsOf(w.Console.Organisations.Store) // another process
	b = w.As(webapi.Suzuki)
	b.Get(path).Says(t, http.StatusOK, "組織表を読み取れない")
	b.Post(path, list.Hidden("act", "check")).Says(t, http.StatusServiceUnavailable, "組織表を読み取れない").Lacks(t, `value="save"`)
	b.Post(path, list.Hidden("act", "try", "try.tool", " send_slack_dm")).Says(t, http.StatusOK, "組織表を読み取れない")
	b.Post(path, list.Hidden("act", "edit.0")).Says(t, http.StatusOK).Holds(t, `name="departments" value="SALES" checked`)
}

// Where there are many departments, the form shows those that are searched for.
func testALargeOrganisation(t *testing.T, w *consoletest.World) {
	var file strings.Builder
	file.WriteString(staff)
	for i := range 3000 {
		fmt.Fprintf(&file, "%d,人 %d,p%d@example.com,D%03d,部署%03d,HQ,担当,9,社員\n", 100+i, i, i, i%300, i%300)
	}
	organised(w, file.String())
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "begin.writes")).Lacks(t, "部署007")
	fields := append([]string{"act", "search", "outcome", "route", "stages.0.kind", "position", "stages.0.position",
		"|D001\t担当",
		"departments", "|D002", "find.departments", "部署 007", "find.stages.0.position", "社長"}, "use", "writes_outside")
	var found consoletest.Answer
	took := expect.Computed(t, func() { found = b.Post(path+"/rule", form.Hidden(fields...)) })
	found.Says(t, http.StatusOK, "部署002", "部署007 本社", "部署001の担当", "本社の社長 鈴木 一郎").Lacks(t, "部署008")
	t.Logf("%d KB, %v", len(found.Body)>>10, took)
	expect.That(t, len(found.Body) <= heaviest && took <= slowest, "%d bytes, %v", len(found.Body), took)
	b.Post(path+"/rule", form.Hidden("act", "search", "find.departments", "部署")).Says(t, http.StatusOK, "ほかにも候補があります")
}

func testAnOrganisationIsRemovedOnceItWasAsked(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	a := b.Get(page + "/remove")
	for _, text := range ja.List("about_lists", "removal") {
		a.Says(t, http.StatusOK, text)
	}
	b.Post(page+"/remove", url.Values{"rev": {"0"}}).Says(t, http.StatusConflict)
	expect.That(t, stands(w).Stands(), "what was not shown is removed")
	rev := hidden.FindStringSubmatch(a.Body)[2]
	b.Post(page+"/remove", url.Values{"rev": {rev}}).Says(t, http.StatusSeeOther).Leads(t,
		page+"?done=organisation-removed")
	expect.That(t, !stands(w).Stands() && stands(w).Rev == 2, "%+v", stands(w).OrganisationRow)
	b.Get(page+"?done=organisation-removed").Says(t, http.StatusOK, ja.Say("about"), "組織を削除しました。")
	b.Get("/console/audit").Says(t, http.StatusOK, "組織を削除した")
	savedOrganisation(t, b, staffFile)
}

// What can't be read doesn't stand in the way of what takes its place.
func testAnOrganisationThatCantBeReadMayBeChanged(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	savedOrganisation(t, b, staffFile)
	expect.Value(w.Store.Table().Erase(t.Context(), tenancy.OrganisationPartition(w.Tenant.ID, stands(w).Version), nil))(t)
	w.Console.Organisations = store.OrganisationsOf(w.Store.Store)
	b.Get(page).Says(t, http.StatusOK, ja.Say("unread")).Holds(t, page+"/remove")
	b.Post(page, shown(t, b.Upload(page, url.Values{"act": {"show"}}, []byte(staffFile)).Says(t, http.StatusOK,
		ja.Say("unread")))).
		Says(t, http.StatusSeeOther)
	b.Get(page).Says(t, http.StatusOK, "4 人")
}

// A process that died while it saved left a version behind.
func testWhatNeverStoodIsCleanedUp(t *testing.T, w *consoletest.World) {
	left := expect.Value(w.Store.BeginOrganisation(t.Context(), w.Tenant.ID, tenancy.OrganisationVersion{SHA256: "x"},
		w.Now().Add(-2*time.Hour)))(t)
	expect.Value(w.DB.PutItem(t.Context(), &dynamodb.PutItemInput{TableName: &w.Table,
		Item: table.Key(tenancy.OrganisationPartition(w.Tenant.ID, left.Version), "BATCH#0001")}))(t)
	savedOrganisation(t, w.As(webapi.Suzuki), staffFile)
	all := expect.Value(w.Store.OrganisationVersions(t.Context(), w.Tenant.ID))(t)
	expect.That(t, len(all) == 1 && all[0].Version == stands(w).Version, "%+v", all)
	deleted := expect.Value(w.Store.Table().Erase(t.Context(), tenancy.OrganisationPartition(w.Tenant.ID,
		left.Version), nil))(t)
	expect.Is(t, deleted, 0)
}

// threeHeads is a file of so many people, in departments of ten that stand four above each other. Its addresses are as
// long as those of large companies.
func threeHeads(people int, title string) string {
	var b strings.Builder
	b.WriteString(organisationHeader)
	for i := range people {
		department, parent, position := i/10, "", ","
		if department > 0 {
			parent = fmt.Sprintf("D%d", (department-1)/6)
		}
		if i%10 == 0 {
			position = title + ",3"
		}
		fmt.Fprintf(&b,
			"%05d,社員 番号%d,first-name.last-name-%d@subsidiary.a-large-company.example,D%d,第%d営業部東日本法人課,%s,"+
				"%s,主務,,社員\n",
			i, i, i, department, department, parent, position)
	}
	return b.String()
}

// The most that showing a file of 5,000 people may compute here. API Gateway waits for 29 s, in which Slack is asked,
// too.
const slowestPage = 8 * time.Second

// Bounds of an answer of Lambda's, and of what the file may take of the function's 512 MB.
const (
	heaviestPage = 5 << 20
	memory       = 200 << 20
)

func TestAFileOf5000PeopleIsShownAndSavedInTime(t *testing.T) {
	expect.Patience(t)
	w := consoletest.Start(t)
	b := w.As(webapi.Suzuki)
	for n, title := range []string{"課長", "室長"} {
		file := threeHeads(5000, title)
		peak := watched(t)
		var a consoletest.Answer
		took := expect.Computed(t, func() {
			a = b.Upload(page, url.Values{"act": {"show"}}, []byte(file)).Says(t, http.StatusOK)
		})
		expect.That(t, len(a.Body) < heaviestPage, "the answer has %d bytes", len(a.Body))
		form := shown(t, a)
		saving := expect.Computed(t, func() { b.Post(page, form).Says(t, http.StatusSeeOther) })
		t.Logf("a file of %d bytes: shown in %v as %d bytes, of which %d are the file, saved in %v, %d MB", len(file),
			took, len(a.Body), len(form.Get("packed")), saving, peak()>>20)
		expect.That(t, took < slowestPage && saving < slowestPage, "%v to show, %v to save", took, saving)
		expect.That(t, peak() < memory, "it takes %d bytes", peak())
		expect.Is(t, stands(w).Rev, n+1)
	}
	var sent consoletest.Answer
	took := expect.Computed(t, func() {
		b.Get(page).Says(t, http.StatusOK, "5,000 人")
		b.Get(page+"?q=04999").Says(t, http.StatusOK, "第499営業部東日本法人課")
		sent = b.Get(page+".csv").Says(t, http.StatusOK)
	})
	t.Logf("what stands in %v, as a file of %d bytes", took, len(sent.Body))
	expect.That(t, len(sent.Body) < heaviestPage && took < slowestPage, "%d bytes in %v", len(sent.Body), took)
}

// watched returns the most bytes that the heap has had since, beyond what it had.
func watched(t *testing.T) (peak func() uint64) {
	t.Helper()
	runtime.GC()
	heap := func() uint64 {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		return m.HeapAlloc
	}
	was := heap()
	stop, done := make(chan bool), make(chan uint64)
	go func() {
		ticks, most := time.NewTicker(5*time.Millisecond), was
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				most = max(most, heap())
			case <-stop:
				done <- most - was
				return
			}
		}
	}()
	return sync.OnceValue(func() uint64 { close(stop); return <-done })
}
