package console_test

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/circulation"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/store"
	"ringi/shared/store/storetest"
)

// The register fits a desktop and a phone, however long what it lists is.
func TestTheRegisterFits(t *testing.T) {
	db, b := storetest.Start(t), browser.Start(t)
	w := consoletest.New(t, db)
	user := w.As(webapi.Suzuki)
	w.MatterAsked()
	user.Post(w.TaskPage()+"/act", w.Act(aggregate.ActApprove, ""))
	w.MatterRecorded()
	ordinaryDecision(w)
	longDecision(w)
	address := served(t, func(r *http.Request) consoletest.Answer { return user.Get(r.URL.RequestURI()) })
	tab := b.Open(t, address+"/console/assets/console.css", browser.Window{Width: 1440, Height: 900, Calm: true})
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
				return browser.Read[float64](tab, `Math.max(...[...document.querySelectorAll(".register `+what+
					`")].map(x => x.clientHeight))`)
			}
			expect.That(t, of("tbody tr:first-child") < 90, "a row is %.0f px high", of("tbody tr:first-child"))
			expect.That(t, of("tbody") < 260, "a line is %.0f px high", of("tbody"))
		}
	}
}

// ordinaryDecision has a decision taken about a request with a file, five steps and two stages.
func ordinaryDecision(w *consoletest.World) {
	o := consoletest.Along(consoletest.Desk("課長", 1, webapi.Suzuki), consoletest.Desk("部長", 1, webapi.Tanaka))
	o.Rule.Name = "経費の承認"
	steps := []task.Step{consoletest.Message(1, "10 月の経費の集計を始めます。")}
	for n := 2; n <= 5; n++ {
		steps = append(steps, consoletest.Message(n, fmt.Sprintf("%d 月の経費をご確認ください。期限は今週の金曜日です。", n+5)))
	}
	content := []byte("日付,金額\n2026-10-01,1200\n")
	text := "10 月の経費を月ごとにまとめて、担当の方に確認をお願いしてください。集計は添付のとおりです。"
	decided(w, 1, text, map[string][]byte{"経費.csv": content}, o, []string{webapi.Suzuki, webapi.Tanaka}, steps...)
}

// longDecision has a decision taken about a long request.
func longDecision(w *consoletest.World) {
	word := strings.Repeat("https://example.com/a-very-long-address/", 12)
	text := strings.Repeat("棚卸しの結果を支店ごとに確認し、差異の理由を報告してください。", 60) + word
	o := consoletest.Along(consoletest.Desk("営業本部長"+strings.Repeat("代理", 20), 1, webapi.Suzuki))
	o.Rule.Name = strings.Repeat("支店の棚卸し", 10)
	decided(w, 2, text, nil, o, []string{webapi.Suzuki}, consoletest.Message(1, strings.Repeat("確認しました。", 200)+word))
}

// decided has a request with files, by their names, go round along a route whose stages one hand each stamps. It has
// the next number after last.
func decided(w *consoletest.World, last int, text string, files map[string][]byte, o aggregate.Opening, hands []string,
	steps ...task.Step) {
	ts := w.Slack.Say(w.T, webapi.Sato, webapi.HR, text)
	r := task.Request{User: webapi.Sato, Channel: webapi.HR, ChannelType: "channel", MessageTS: ts, ThreadTS: ts,
		Text: text}
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
		settled, _ := a.Unnumbered()
		of := task.Series{Year: w.SettingsNow().FiscalYear(settled), Last: last}
		return a.StartNumbered(a.Head.Run, of, w.Now())
	})
}

// The audit log makes one call for what all requests of a page are called, however many there are.
func TestTheAuditLogNamesItsRequestsInOneCall(t *testing.T) {
	db := storetest.Start(t)
	w, h := consoletest.New(t, db), &heard{}
	cfg := db.Config
	cfg.HTTPClient = &http.Client{Transport: h}
	plain := w.Console.Store
	counted := web.RowsOf(store.NewTasks(dynamodb.NewFromConfig(cfg), w.Table).KindStore.Store)
	day := w.Now().In(tenancy.Zone()).Format("2006-01-02")
	for _, n := range []int{1, 5} {
		for w.Console.Store = plain; n > 0; n-- {
			w.Made(consoletest.Requested{User: webapi.Sato, Channel: webapi.HR, Kind: "channel", Title: "勤怠集計"})
		}
		w.Console.Store = counted
		b := w.As(webapi.Suzuki)
		h.take()
		b.Get("/console/audit?from="+day+"&to="+day).Says(t, http.StatusOK, "勤怠集計")
		calls, _ := h.take()
		expect.Same(t, []string{"BatchGetItem", "GetItem", "Query"}, calls)
	}
}
