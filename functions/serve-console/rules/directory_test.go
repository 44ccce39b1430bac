package rules_test

import (
	"context"
	"fmt"
	"iter"
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
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
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

func testAFormOfAnOrganisation(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(path, b.Get(path).Hidden("act", "add"))
	form.Says(t, http.StatusOK, "グループ 人事部承認者").Lacks(t, `value="superior:1"`, `value="post:`)
	organised(w, staff)
	form = b.Post(path, b.Get(path).Hidden("act", "add")).Holds(t, `value="superior:2"`, "営業部の部長", "依頼した人の上で最も近い課長",
		"営業二課の長", "営業部とその下")
	list := b.Post(path+"/rule", form.Hidden("act", "keep", "name", "営業部の外部書き込み", "use", "writing", "by",
		"department:SALES", "asks", "steps|step|call", "stages.0.name", "上長", "stages.0.who", "superior:1", "stages.0.need",
		"1", "stages.1.name", "人事", "stages.1.who", "group:"+webapi.Approvers, "stages.1.need", "1",
		"stages.2.name", "社長", "stages.2.who", "post:HQ\t社長", "stages.2.need", ""))
	b.Post(path, list.Says(t, http.StatusOK, "まだ保存していません").Hidden("act", "save")).Leads(t, path+"?done=saved")
	r := stored(w).Rules[0]
	expect.Same(t, []string{"SALES"}, r.Departments)
	expect.Same(t, []rules.Stage{
		{Name: "上長", Who: rules.Who{Superior: 1}, Need: 1}, {Name: "人事", Who: rules.Who{Group: webapi.Approvers}, Need: 1},
		{Name: "社長", Who: rules.Who{Department: "HQ", Position: "社長"}},
	}, r.Stages)
	try := func(who string) consoletest.Answer {
		return b.Post(path, b.Get(path).Hidden("act", "try", "try.tool", "send_slack_dm", "try.who", who))
	}
	try("佐藤").Says(t, http.StatusOK, "Alex Kim 上長", "鈴木 一郎・田中 恵 のうち 1 人 人事", "Alex Kim: 佐藤 花子さんの上長")
	// Suzuki is of the head office: the rule for sales isn't theirs.
	try("鈴木").Says(t, http.StatusOK, "どのルールにも当てはまらないもの : 断る")
	try("高橋").Says(t, http.StatusOK, "高橋 ゲスト さんが組織表にありません")
	x := stored(w)
	x.Rules[0].Departments, x.Rules[0].Groups = []string{"GONE"}, []string{webapi.Approvers}
	saved(w, x)
	b.Get(path).Says(t, http.StatusOK, "条件にある GONE は、組織表にありません")
	try("佐藤").Says(t, http.StatusOK, "部署の GONE が組織表にありません")
	try("田中").Says(t, http.StatusOK, "ルール 1「営業部の外部書き込み」") // by the group
}

func testAnOrganisationThatCantBeRead(t *testing.T, w *consoletest.World) {
	organised(w, staff)
	written(t, w)
	b := w.As(webapi.Suzuki)
	list := b.Get(path)
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
	b.Get(path).Leads(t, page)
	b.Post(path, list.Hidden("act", "try", "try.tool", "send_slack_dm")).Leads(t, page)
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
	savedOrganisation(t, b, staffFile)
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

// listing is a workspace in which somebody is missing, everybody has the same address, or nobody has one.
type listing struct {
	people.Listing
	without, mail string
	noMail        bool
}

func (l listing) Users(ctx context.Context) iter.Seq2[slackapi.User, error] {
	return func(yield func(slackapi.User, error) bool) {
		for u, err := range l.Listing.Users(ctx) {
			if l.mail != "" {
				u.Mail = l.mail
			}
			if l.noMail {
				u.Mail = ""
			}
			if u.ID != l.without && !yield(u, err) {
				return
			}
		}
	}
}
