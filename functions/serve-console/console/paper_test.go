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

// A sheet is printed on A4: a decision alone on one page, and what is long on as many as it needs, no wider than the
// paper, however long a word is.
func TestTheSheetOfADecisionFitsA4(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	w := consoletest.New(t, db)
	user := w.As(webapi.Suzuki)
	w.MatterAsked()
	user.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	short := fmt.Sprintf("%d-000001", w.MatterRecorded())
	long := longDecision(w)
	address := served(t, func(r *http.Request) consoletest.Answer { return user.Get(r.URL.RequestURI()) })
	tab := b.Open(t, address+"/console/assets/console.css", browser.Window{Width: 1440, Height: 900, Calm: true})
	for number, pages := range map[string][2]int{short: {1, 1}, long: {2, 5}} {
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

// longDecision has a decision taken about a long request, and returns its number, the second of its fiscal year.
func longDecision(w *consoletest.World) (number string) {
	word := strings.Repeat("https://example.com/a-very-long-address/", 12)
	text := strings.Repeat("棚卸しの結果を支店ごとに確認し、差異の理由を報告してください。", 60) + word
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	w.Receive(task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts,
		Text: text})
	w.Later(time.Second)
	hand := circulation.Person{User: webapi.Suzuki}
	o := consoletest.Along(consoletest.Desk("営業本部長"+strings.Repeat("代理", 20), 1, webapi.Suzuki))
	o.Rule.Numbered, o.Rule.Name = true, strings.Repeat("支店の棚卸し", 10)
	w.PlannedOnRoute(tenancy.DefaultSettings(), o, consoletest.Message(1, strings.Repeat("確認しました。", 200)+word))
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		act := circulation.Act{Kind: circulation.Stamp, Hand: hand, Principal: hand, Stage: 1, Hash: a.Process().AskedSum}
		by := aggregate.Actor{Type: aggregate.ActorUser, ID: hand.User, Team: w.By.Team, Member: true}
		return a.Act(a.Process().ID, act, by, w.AnyMember(), w.Now())
	})
	w.Decide(func(a *task.Aggregate) (aggregate.Change, error) {
		lack, _ := a.Unnumbered()
		of := task.Series{Year: w.SettingsNow().FiscalYear(lack.Settled), Last: 1}
		return a.StartNumbered(a.Head.Run, of, w.Now())
	})
	return w.Load().Head.Number
}
