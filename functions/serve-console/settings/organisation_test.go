package settings_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"golang.org/x/text/encoding/japanese"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/table"
	"ringi/shared/words/language"
)

const staffPage = "/console/organisation"

var staffWords = web.TextsOf("organisation", "ja")

// staff is the sandbox's workspace as a company.
const staff = `メール,氏名,部署,役職,部署の長,上長,主務
suzuki@example.com,鈴木 一郎,本社,社長,はい,,
tanaka@example.com,田中 恵,本社/営業部,課長,,,
SATO@example.com,佐藤 花子,本社/営業部/二課,,,,
alex.kim@example.com,Alex Kim,本社/営業部,部長,はい,,
`

// sent uploads a file in place of what stands.
func sent(t *testing.T, b *consoletest.Browser, file string) consoletest.Answer {
	t.Helper()
	return b.Upload(staffPage, b.Get(staffPage).Hidden(), []byte(file))
}

// organised has an organisation stand.
func organised(w *consoletest.World, file string) {
	w.T.Helper()
	o, wrong := rules.ReadOrganisation([]byte(file))
	expect.NoError(w.T, wrong.Err())
	expect.NoError(w.T, w.Store.SaveOrganisation(w.T.Context(), w.Tenant.ID, stands(w).Rev, o, w.By, w.Now()))
}

func stands(w *consoletest.World) store.StandingOrganisation {
	w.T.Helper()
	return expect.Value(w.Store.Organisation(w.T.Context(), w.Tenant.ID))(w.T)
}

// unreadable spoils the file that stands.
func unreadable(w *consoletest.World) {
	w.T.Helper()
	pk, sk, _ := tenancy.OrganisationFile{TenantID: w.Tenant.ID}.Place()
	e := table.NewExpression()
	e.Set("file", []byte{0x1f})
	expect.Value(w.DB.UpdateItem(w.T.Context(), table.Filled(e, &dynamodb.UpdateItemInput{TableName: &w.Table,
		Key: table.Key(pk, sk), UpdateExpression: e.Update()})))(w.T)
}

func TestOrganisation(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"a file is saved and shown":                       testAFileIsSavedAndShown,
		"the second of two administrators sees the first": testTheSecondOfTwoAdministratorsSeesTheFirst,
		"mistakes are named by line and column":           testMistakesAreNamedByLineAndColumn,
		"a hostile file becomes no markup and no formula": testAHostileFileBecomesNoMarkupAndNoFormula,
		"files are read in UTF-8 and Shift_JIS":           testFilesAreReadInTwoEncodings,
		"an organisation is removed":                      testAnOrganisationIsRemoved,
		"files have their bounds":                         testFilesHaveTheirBounds,
		"five thousand people":                            testFiveThousandPeople,
	})
}

func testAFileIsSavedAndShown(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	file := staff + "makoto@example.com,髙橋 誠,本社/営業部/二課,,,tanaka@example.com,\n"
	sent(t, b, file).Says(t, http.StatusSeeOther).Leads(t, staffPage+"?done=saved")
	is := stands(w)
	expect.That(t, is.Organisation.People() == 5 && is.SavedBy == webapi.Suzuki, "%+v", is.OrganisationRow)
	b.Get(staffPage).Says(t, http.StatusOK, "5 人。鈴木 一郎 が", "佐藤 花子 sato@example.com 本社/営業部/二課 Alex Kim",
		"Alex Kim alex.kim@example.com 本社/営業部 部長 (長) 鈴木 一郎", "髙橋 誠 makoto@example.com 本社/営業部/二課 田中 恵").
		Holds(t, staffPage+".csv", staffPage+"/remove")
	b.Get("/console/audit").Says(t, http.StatusOK, "組織を保存した")
	sent(t, b, file).Leads(t, staffPage+"?done=saved")
	expect.Is(t, stands(w).Rev, is.Rev, "the same again is saved")
}

func testTheSecondOfTwoAdministratorsSeesTheFirst(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	second := b.Get(staffPage).Hidden()
	sent(t, b, staff).Says(t, http.StatusSeeOther)
	a := b.Upload(staffPage, second, []byte(strings.Replace(staff, "部長", "課長", 1)))
	a.Says(t, http.StatusConflict, staffWords.Say("conflict"), "部長 (長)")
	expect.Is(t, stands(w).Rev, 1)
	b.Upload(staffPage, a.Hidden(), []byte(strings.Replace(staff, "部長", "課長", 1))).Says(t, http.StatusSeeOther)
	expect.Is(t, stands(w).Rev, 2)
}

func testMistakesAreNamedByLineAndColumn(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	wrong := staff + "yamamoto,山本 明,本社,,,,\nsato@example.com,佐藤 花,本社,,maybe,,\ntanaka@example.com,,本社,,はい,,\n"
	sent(t, b, wrong).Says(t, http.StatusUnprocessableEntity, staffWords.Say("problems"),
		"6 行目: メールか Slack ID: 「yamamoto」は", "7 行目: 部署の長: 「maybe」は", "8 行目: 部署の長: この部署の長は 2 行目にもいます。").Lacks(t, "{")
	many := "email,department\n" + strings.Repeat("x,A\n", 1000)
	sent(t, b, many).Says(t, http.StatusUnprocessableEntity, staffWords.Say("more_problems", "n", "900"))
	sent(t, b, "").Says(t, http.StatusUnprocessableEntity)
	expect.That(t, !stands(w).Stands(), "a wrong file is saved")
}

func testAHostileFileBecomesNoMarkupAndNoFormula(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	const evil = `<td><script>alert(1)<script>`
	file := `email,name,department,position` + "\n" + `a@example.com,"` + evil + `","=HYPERLINK(1)","@SUM(1)"` + "\n"
	sent(t, b, file+evil+","+evil+","+evil+"\n").Says(t, http.StatusUnprocessableEntity).Lacks(t, "<script>alert")
	sent(t, b, file).Says(t, http.StatusSeeOther)
	b.Get(staffPage).Says(t, http.StatusOK, "=HYPERLINK(1)").Lacks(t, "<script>alert")
	csv := b.Get(staffPage+".csv").Says(t, http.StatusOK).Holds(t, `"'=HYPERLINK(1)"`, `"'@SUM(1)"`)
	sent(t, b, csv.Body).Says(t, http.StatusSeeOther)
	expect.Is(t, stands(w).Rev, 1, "the same is saved again")
}

func testFilesAreReadInTwoEncodings(t *testing.T, w *consoletest.World) {
	b, file := w.As(webapi.Suzuki), strings.ReplaceAll(staff, "田中", "髙橋")
	for _, same := range []string{"\ufeff" + file,
		expect.Value(japanese.ShiftJIS.NewEncoder().String(strings.ReplaceAll(file, "\n", "\r\n")))(t)} {
		sent(t, b, same).Says(t, http.StatusSeeOther)
		expect.That(t, stands(w).Rev == 1 && stands(w).Organisation.Name("tanaka@example.com") == "髙橋 恵", "%+v", stands(w))
	}
	sent(t, b, staff+"\xff\xfe\x00").Says(t, http.StatusUnprocessableEntity, "6 行目: ", "Shift_JIS でもありません。")
}

// testAnOrganisationIsRemoved: also one that can't be read, which doesn't stand in the way of what takes its place.
func testAnOrganisationIsRemoved(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	remove := func(rev string) consoletest.Answer { return b.Post(staffPage+"/remove", url.Values{"rev": {rev}}) }
	b.Get(staffPage).Says(t, http.StatusOK, staffWords.Say("about"), staffWords.Say("template")).
		Lacks(t, staffPage+"/remove")
	remove("0").Says(t, http.StatusConflict) // nothing stands
	for _, b.Locale = range language.All {
		example, wrong := rules.ReadOrganisation([]byte(b.Get(staffPage+".csv").Says(t, http.StatusOK).Body))
		expect.That(t, len(wrong) == 0 && example.People() == 2, "%s: %v", b.Locale, wrong)
	}
	b.Locale = "ja"
	organised(w, staff)
	unreadable(w)
	b.Get(staffPage).Says(t, http.StatusOK, staffWords.Say("unread")).Holds(t, staffPage+"/remove")
	remove("0").Says(t, http.StatusConflict)
	remove("1").Leads(t, staffPage+"?done=organisation-removed")
	expect.That(t, !stands(w).Stands() && stands(w).Rev == 2, "%+v", stands(w).OrganisationRow)
	b.Get(staffPage+"?done=organisation-removed").Says(t, http.StatusOK, staffWords.Say("about"))
	sent(t, b, staff).Leads(t, staffPage+"?done=saved")
	b.Get(staffPage).Says(t, http.StatusOK, "4 人")
}

func testFilesHaveTheirBounds(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	file := staff + strings.Repeat(",\n", web.MaxBody/2)
	sent(t, b, file).Says(t, http.StatusSeeOther)
	for _, at := range []string{staffPage + "/remove", "/console/settings"} {
		b.Upload(at, nil, []byte(file)).Says(t, http.StatusRequestEntityTooLarge)
	}
	sent(t, b, strings.Repeat("\n", web.MaxFile+1)).Says(t, http.StatusRequestEntityTooLarge)
}

// The most that an answer about 5,000 people may compute here. API Gateway waits for 29 s, in which Slack is asked,
// too.
const slowestPage = 8 * time.Second

func testFiveThousandPeople(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	var file strings.Builder
	file.WriteString("email,name,department,position\n")
	for i := range 5000 {
		fmt.Fprintf(&file, "first-name.last-name-%d@subsidiary.a-large-company.example,社員 番号%d,本社/第%d営業部東日本法人課,課長\n", i, i,
			i/10)
	}
	took := expect.Computed(t, func() {
		sent(t, b, file.String()).Says(t, http.StatusSeeOther)
		b.Get(staffPage).Says(t, http.StatusOK, "5,000 人", "ほかに 4,800 件")
	})
	expect.That(t, took < slowestPage, "%v", took)
}

func testAFormOfAnOrganisation(t *testing.T, w *consoletest.World) {
	b := w.As(webapi.Suzuki)
	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add"))
	form.Says(t, http.StatusOK, "グループ 人事部承認者").Lacks(t, `value="superior:1"`, `value="post:`)
	organised(w, staff)
	form = b.Post(rulePage, b.Get(rulePage).Hidden("act", "add")).Holds(t, `value="superior:2"`, "本社/営業部の部長",
		"依頼した人の上で最も近い課長", "本社/営業部/二課の長", "本社/営業部とその下")
	list := b.Post(rulePage+"/rule", form.Hidden("act", "keep", "name", "営業部の外部書き込み", "use", "writing", "by",
		"department:本社/営業部", "asks", "steps|step|call", "stages.0.name", "上長", "stages.0.who", "superior:1",
		"stages.0.need", "1", "stages.1.name", "人事", "stages.1.who", "group:"+webapi.Approvers, "stages.1.need", "1",
		"stages.2.name", "社長", "stages.2.who", "post:本社\t社長", "stages.2.need", ""))
	b.Post(rulePage, list.Says(t, http.StatusOK, "まだ保存していません").Hidden("act", "save")).Leads(t, rulePage+"?done=saved")
	r := stored(w).Rules[0]
	expect.Same(t, []string{"本社/営業部"}, r.Departments)
	expect.Same(t, []rules.Stage{
		{Name: "上長", Who: rules.Who{Superior: 1}, Need: 1}, {Name: "人事", Who: rules.Who{Group: webapi.Approvers}, Need: 1},
		{Name: "社長", Who: rules.Who{Department: "本社", Position: "社長"}},
	}, r.Stages)
	tries(b, "佐藤").Says(t, http.StatusOK, "Alex Kim 上長", "鈴木 一郎・田中 恵 のうち 1 人 人事", "Alex Kim: 佐藤 花子さんの上長")
	// Suzuki is of the head office: the rule for sales isn't theirs.
	tries(b, "鈴木").Says(t, http.StatusOK, "どのルールにも当てはまらないもの : 断る")
	tries(b, "高橋").Says(t, http.StatusOK, "高橋 ゲスト さんが組織表にありません")
	x := stored(w)
	x.Rules[0].Departments, x.Rules[0].Groups = []string{"GONE"}, []string{webapi.Approvers}
	saved(w, x)
	b.Get(rulePage).Says(t, http.StatusOK, "条件にある GONE は、組織表にありません")
	tries(b, "佐藤").Says(t, http.StatusOK, "部署の GONE が組織表にありません")
	tries(b, "田中").Says(t, http.StatusOK, "ルール 1「営業部の外部書き込み」") // by the group
}

// Where there are many posts and departments, the form shows those that somebody looks for, and what is chosen.
func testALargeOrganisation(t *testing.T, w *consoletest.World) {
	file := staff
	for i := range 400 {
		file += fmt.Sprintf("p%d@example.com,人 %d,本社/部署%03d,担当,,,\n", i, i, i)
	}
	organised(w, file)
	b := w.As(webapi.Suzuki)
	form := b.Post(rulePage, b.Get(rulePage).Hidden("act", "add")).Says(t, http.StatusOK).Lacks(t, "部署007")
	found := b.Post(rulePage+"/rule", form.Hidden("act", "find", "find", "部署007", "by", "department:本社/部署002",
		"stages.0.name", "担当", "stages.0.who", "post:本社/部署001\t担当"))
	found.Says(t, http.StatusOK, "本社/部署002", "本社/部署007", "本社/部署001の担当", "本社/部署007の担当").Lacks(t, "部署008")
}

func testAnOrganisationThatCantBeRead(t *testing.T, w *consoletest.World) {
	organised(w, staff)
	written(t, w)
	b := w.As(webapi.Suzuki)
	list := b.Get(rulePage)
	unreadable(w)
	b.Get(rulePage).Leads(t, staffPage)
	b.Post(rulePage, list.Hidden("act", "try", "try.tool", "send_slack_dm")).Leads(t, staffPage)
}

const awayPage = "/console/stand-ins"

func TestStandIns(t *testing.T) {
	consoletest.Each(t, consoletest.Cases{
		"are set by people for themselves, and ended by who was named": testOwn,
		"are set and ended by administrators for others":               testForOthers,
		"are refused with a sentence at its field":                     testRefused,
		"are not set while Slack does not answer, but end":             testSilent,
	})
}

// day returns a day so many days from now.
func day(w *consoletest.World, n int) string {
	return (tenancy.DateOf(w.Now().In(tenancy.Zone())) + tenancy.Date(n)).String()
}

func form(w *consoletest.World, principal, hand string, change ...string) url.Values {
	f := url.Values{"act": {"set"}, "principal": {principal}, "hand": {hand}, "from": {day(w, 0)}, "until": {day(w, 9)}}
	for i := 0; i+1 < len(change); i += 2 {
		f.Set(change[i], change[i+1])
	}
	return f
}

type silent struct{}

func (silent) OpenDM(context.Context, string) (string, error) { return "", errors.New("no answer") }

func testSilent(t *testing.T, w *consoletest.World) {
	member, answers := w.As(webapi.Tanaka), w.Console.Messages
	member.Post(awayPage, form(w, "", webapi.Alex)).Leads(t, awayPage+"?done=stand_in_set")
	w.Console.Messages = silent{}
	member.Post(awayPage, form(w, "", webapi.Sato)).Says(t, http.StatusServiceUnavailable)
	member.Post(awayPage, ending(standing(w)[0].Key())).Leads(t, awayPage+"?done=stand_in_ended")
	w.Console.Messages = answers
	expect.Is(t, len(standing(w)), 1, "rows")
}

// standing are all delegations, also those that ended.
func standing(w *consoletest.World) []tenancy.Delegation {
	w.T.Helper()
	return expect.Value(w.Store.KindStore.Delegations(w.T.Context(), w.Tenant.ID))(w.T)
}

// told checks that these people are told of a delegation as it is now.
func told(w *consoletest.World, d tenancy.Delegation, users ...string) {
	w.T.Helper()
	for _, user := range users {
		_, ref := task.TellStandIn(d, w.Tenant.TeamID, user, "", w.Now())
		expect.Value(w.Store.Head(w.T.Context(), ref))(w.T)
	}
}

func ending(key string) url.Values { return url.Values{"act": {"end"}, "key": {key}} }

func testOwn(t *testing.T, w *consoletest.World) {
	tanaka, alex, sato := w.As(webapi.Tanaka), w.As(webapi.Alex), w.As(webapi.Sato)
	tanaka.Get(awayPage).Says(t, http.StatusOK, "設定されている代理はありません").
		Holds(t, `name="from"`, `name="until"`, `name="hand"`, `value="`+webapi.Alex+`"`).
		Lacks(t, `name="principal"`, `value="`+webapi.Guest+`"`, `value="`+webapi.Bot+`"`)
	for range 2 { // pressed twice
		tanaka.Post(awayPage, form(w, "", webapi.Alex)).Leads(t, awayPage+"?done=stand_in_set")
	}
	tanaka.Get(awayPage).Says(t, http.StatusOK, "Alex Kim", day(w, 0)+" – "+day(w, 9), "代理中", "終える")
	d := standing(w)
	expect.That(t, len(d) == 1 && d[0].SetBy == webapi.Tanaka && d[0].Rev == 1, "%+v", d)
	told(w, d[0], webapi.Alex, webapi.Tanaka)

	sato.Get(awayPage).Says(t, http.StatusOK, "設定されている代理はありません") // others' are none of theirs
	sato.Post(awayPage, ending(d[0].Key())).Says(t, http.StatusNotFound)
	sato.Post(awayPage, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusForbidden)
	sato.Post(awayPage, url.Values{"act": {"other"}}).Says(t, http.StatusBadRequest)
	expect.That(t, standing(w)[0].EndedAt == nil, "somebody else ended it")

	alex.Get(awayPage).Says(t, http.StatusOK, "田中 恵", "終える")
	alex.Post(awayPage, ending(d[0].Key())).Leads(t, awayPage+"?done=stand_in_ended")
	tanaka.Get(awayPage).Says(t, http.StatusOK, "設定されている代理はありません")
	d = standing(w)
	expect.That(t, d[0].EndedBy == webapi.Alex && d[0].Over(w.Now()), "%+v", d)
	told(w, d[0], webapi.Alex, webapi.Tanaka)
}

// testForOthers: an administrator sets none for whoever is asked about their own request: here Tanaka.
func testForOthers(t *testing.T, w *consoletest.World) {
	admin, tanaka := w.As(webapi.Suzuki), w.As(webapi.Tanaka)
	admin.Get(awayPage).Holds(t, `name="principal"`, `value="`+webapi.Tanaka+`"`)
	admin.Post(awayPage, form(w, webapi.Tanaka, webapi.Alex, "from", day(w, 3))).Leads(t, awayPage+"?done=stand_in_set")
	admin.Get(awayPage).Says(t, http.StatusOK, "田中 恵", "Alex Kim", "これから")
	tanaka.Get(awayPage).Says(t, http.StatusOK, "鈴木 一郎", "終える")
	admin.Post(awayPage, ending(standing(w)[0].Key())).Leads(t, awayPage+"?done=stand_in_ended")
	expect.Is(t, standing(w)[0].EndedBy, webapi.Suzuki)
	w.Ask()
	o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Tanaka))
	o.Askers = append(o.Askers, circulation.Person{User: webapi.Suzuki})
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, consoletest.Message(1, "x"))
	admin.Post(awayPage, form(w, webapi.Tanaka, webapi.Alex)).Says(t, http.StatusUnprocessableEntity, "あなた自身の依頼")
	tanaka.Post(awayPage, form(w, "", webapi.Alex)).Leads(t, awayPage+"?done=stand_in_set")
	w.Administered(webapi.Sato)
	w.Later(time.Second)
	admin.Post(awayPage, form(w, webapi.Sato, webapi.Alex)).Says(t, http.StatusForbidden) // who was an administrator
	expect.Is(t, len(standing(w)), 2, "rows")
}

func testRefused(t *testing.T, w *consoletest.World) {
	member, admin := w.As(webapi.Tanaka), w.As(webapi.Suzuki)
	problem := func(code string) string {
		return web.TextsOf("stand-ins", "ja").Problem(aggregate.Problem{Code: code}, nil)
	}
	for code, f := range map[string]url.Values{
		"own_hand": form(w, "", webapi.Tanaka), "unfit": form(w, "", webapi.Guest),
		"no_hand": form(w, "", ""), "no_day": form(w, "", webapi.Alex, "from", "tomorrow"),
	} {
		member.Post(awayPage, f).Says(t, http.StatusUnprocessableEntity, problem(code))
	}
	admin.Post(awayPage, form(w, webapi.Tanaka, webapi.Suzuki)).Says(t, http.StatusUnprocessableEntity, problem("setter"))
	member.Post(awayPage, form(w, "", webapi.Alex)).Leads(t, awayPage+"?done=stand_in_set")
	member.Post(awayPage, form(w, "", webapi.Alex, "until", day(w, 2))).Says(t, http.StatusUnprocessableEntity, "同じ二人")
	expect.Is(t, len(standing(w)), 1, "rows")
}
