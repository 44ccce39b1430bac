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
	ordinary, long := ordinaryDecision(w), longDecision(w)
	address := served(t, func(r *http.Request) consoletest.Answer { return user.Get(r.URL.RequestURI()) })
	tab := b.Open(t, address+"/console/assets/console.css", browser.Window{Width: 1440, Height: 900, Calm: true})
	for number, pages := range map[string][2]int{short: {1, 1}, ordinary: {1, 1}, long: {2, 5}} {
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
		x := task.ReadFile{SharedFile: task.OwnFile(name, content)}
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
