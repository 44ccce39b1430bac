package console_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

var (
	pageOfPDF = regexp.MustCompile(`/Type\s*/Page\b[^s]`)
	boxOfPDF  = regexp.MustCompile(`/MediaBox\s*\[0 0 (\d+)[.\d]* (\d+)[.\d]*\]`)
)

// textOfA4 is how many pixels a text has between margins of 15 mm on A4.
const textOfA4 = 680

// A sheet is printed on A4: a decision alone and an ordinary request on one page, and what is long on as many as it needs, no wider than the
// paper, however long a word is.
func TestTheSheetOfADecisionFitsA4(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	w := consoletest.New(t, db)
	user := w.As(webapi.Suzuki)
	w.MatterAsked()
	user.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	short := fmt.Sprintf("%d-000001", w.MatterRecorded())
	ordinary, long, order := ordinaryDecision(w), longDecision(w), orderDecision(w)
	address := served(t, func(r *http.Request) consoletest.Answer { return user.Get(r.URL.RequestURI()) })
	tab := b.Open(t, address+"/console/assets/console.css", browser.Window{Width: 1440, Height: 900, Calm: true})
	for number, pages := range map[string][2]int{short: {1, 1}, ordinary: {1, 1}, order: {1, 1}, long: {2, 5}} {
		tab.Visit(address + "/console/register/" + number)
		tab.Until(`document.querySelector(".sheet .proof")`)
		pdf := tab.For(t).OnPaper(textOfA4)
		if to := os.Getenv("RINGI_SCREENSHOTS"); to != "" {
			expect.NoError(t, os.WriteFile(filepath.Join(to, "sheet-"+number+".pdf"), pdf, 0o644))
		}
		n := len(pageOfPDF.FindAll(pdf, -1))
		expect.That(t, pages[0] <= n && n <= pages[1], "%s: %d pages, not %v", number, n, pages)
		boxes := boxOfPDF.FindAllSubmatch(pdf, -1)
		expect.That(t, len(boxes) > 0, "%s: no page has a size", number)
		for _, box := range boxes {
			size := string(box[1]) + "x" + string(box[2])
			expect.That(t, size == "594x841" || size == "595x842" || size == "595x841", "%s: a page of %s", number, size)
		}
	}
	for _, width := range []int64{1440, 390} {
		tab.Resize(browser.Window{Width: width, Height: 900, Phone: width == 390, Calm: true})
		tab.Visit(address + "/console/register")
		tab.Until(`document.querySelector(".register .along")`)
		if to := os.Getenv("RINGI_SCREENSHOTS"); to != "" {
			tab.Whole(filepath.Join(to, fmt.Sprintf("register-%d.png", width)))
		}
		tab.For(t).Fits()
		if width == 1440 { // a row is read at a glance
			of := func(what string) float64 {
				return browser.Read[float64](tab, `Math.max(...[...document.querySelectorAll(".register `+what+`")].map(x => x.clientHeight))`)
			}
			expect.That(t, of("tbody tr:first-child") < 90, "a row is %.0f px high", of("tbody tr:first-child"))
			expect.That(t, of("tbody") < 260, "a line is %.0f px high", of("tbody"))
		}
	}
}

// ordinaryDecision has a decision taken about a request with a file, five steps and two stages, and returns its number,
// the second of its fiscal year.
func ordinaryDecision(w *consoletest.World) (number string) {
	o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Tanaka))
	o.Rule.Name = "経費の承認"
	steps := []task.Step{consoletest.Message(1, "10 月の経費の集計を始めます。")}
	for n := 2; n <= 5; n++ {
		steps = append(steps, consoletest.Message(n, fmt.Sprintf("%d 月の経費をご確認ください。期限は今週の金曜日です。", n+5)))
	}
	content := []byte("日付,金額\n2026-10-01,1200\n")
	text := "10 月の経費を月ごとにまとめて、担当の方に確認をお願いしてください。集計は添付のとおりです。"
	return decided(w, 1, text, map[string][]byte{"経費.csv": content}, o, []string{webapi.Suzuki, webapi.Tanaka}, steps...)
}

// orderDecision has an order decided on whose request has a quotation, and returns its number, the fourth.
func orderDecision(w *consoletest.World) (number string) {
	manager, accounts := consoletest.Desk("上長の確認", 1, webapi.Suzuki), consoletest.Desk("経理", 1, webapi.Tanaka)
	o := consoletest.Along(manager, accounts, consoletest.Desk("部長決裁", 1, webapi.Alex))
	o.Rule.Name, o.Seen = "10万円以上の発注", &aggregate.Seen{Amount: "312000", Currency: "JPY", Department: "営業部"}
	order := consoletest.Message(1, "")
	order.Tool, order.ToolVersion, order.ToolTitle = "rooms.place_order", "v1", "取引先への発注"
	order.ToolInput = `{"supplier":"オフィスコム","items":[{"name":"モニター","quantity":4,"unit_price":78000}],"reference":"R-5dd6384e"}`
	order.Mark = &rules.Mark{Version: "v1", How: rules.HowProduct, Pointers: []string{"/items/*/quantity", "/items/*/unit_price"},
		Currency: "JPY", Act: rules.ActOrder, Party: "/supplier", Item: "/items/*/name"}
	text := "オフィスコムに 1 台 78,000 円のモニターを 4 台発注して。見積書を付けます。\n\n品目: モニター\n数量: 4\n単価: ¥78,000\n" +
		"合計: ¥312,000\n通貨: JPY\n\n進め方:\n1. 取引先に発注します。\n2. 完了したら、依頼者に知らせます。" +
		strings.Repeat("\n納品の日時は、総務課の担当の方と相談して決めます。", 12)
	return decided(w, 3, text, map[string][]byte{"見積書_モニター4台.pdf": []byte("%PDF-1.7")}, o,
		[]string{webapi.Suzuki, webapi.Tanaka, webapi.Alex}, order, consoletest.Message(2, "発注が完了しました。"))
}

// longDecision has a decision taken about a long request, and returns its number, the third of its fiscal year.
func longDecision(w *consoletest.World) (number string) {
	word := strings.Repeat("https://example.com/a-very-long-address/", 12)
	text := strings.Repeat("棚卸しの結果を支店ごとに確認し、差異の理由を報告してください。", 60) + word
	o := consoletest.Along(consoletest.Desk("営業本部長"+strings.Repeat("代理", 20), 1, webapi.Suzuki))
	o.Rule.Name = strings.Repeat("支店の棚卸し", 10)
	return decided(w, 2, text, nil, o, []string{webapi.Suzuki}, consoletest.Message(1, strings.Repeat("確認しました。", 200)+word))
}

// decided has a request with files, by their names, go round along a route whose stages one hand each stamps. It returns
// its number, the next one after last.
func decided(w *consoletest.World, last int, text string, files map[string][]byte, o aggregate.Opening, hands []string,
	steps ...task.Step) (number string) {
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	r := task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts, Text: text}
	var read []task.ReadFile
	for name, content := range files {
		x := task.ReadFile{SharedFile: aggregate.SharedFile{ID: "F" + name, Name: name, Bytes: int64(len(content))}}
		x.Take(content, len(read))
		r.Files, read = append(r.Files, x.SharedFile), append(read, x)
	}
	w.Receive(r)
	if read != nil {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) { return a.ReadFiles(a.Head.Run, read, w.Now()) })
	}
	w.Later(time.Second)
	o.Rule.Numbered = true
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, steps...)
	for i, user := range hands {
		w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
			hand := circulation.Person{User: user}
			act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: i + 1,
				Hash: a.Process().AskedSum}
			by := aggregate.Actor{Type: aggregate.ActorUser, ID: user, Team: w.By.Team, Member: true}
			return a.Act(a.Process().ID, act, by, w.AnyMember(), w.Now())
		})
		w.Later(time.Second)
	}
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		lack, _ := a.Unnumbered()
		of := task.Series{Year: w.SettingsNow().FiscalYear(lack.Settled), Last: last}
		return a.StartNumbered(a.Head.Run, of, w.Now())
	})
	return w.Load().Head.Number
}
