package conversation_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ringi/functions/serve-console/consoletest"
	"ringi/functions/serve-console/web"
	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
	"ringi/shared/store/storetest"
)

// onPhone opens a page of the console on a phone.
func onPhone(b *consoletest.Browser, path string) *browser.Tab {
	t := b.World.T
	t.Helper()
	pages := b.World.Console.Handler()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		r.AddCookie(&http.Cookie{Name: web.SessionCookie, Value: b.Cookies["__Host-ringi"]})
		pages.ServeHTTP(w, r)
	}))
	t.Cleanup(server.Close)
	window := browser.Window{Width: 390, Height: 844, Phone: true, Hasty: true, Calm: true, Language: b.Locale}
	return browser.Start(t).Open(t, server.URL+path, window)
}

// pictured keeps a picture of a page if RINGI_SCREENSHOTS names a folder.
func pictured(tab *browser.Tab, name string) {
	if dir := os.Getenv("RINGI_SCREENSHOTS"); dir != "" {
		tab.Screenshot(filepath.Join(dir, name+".png"))
		tab.Whole(filepath.Join(dir, name+"-whole.png"))
	}
}

// busy is a conversation in which much was said and done.
func busy(w *consoletest.World) *consoletest.Conversation {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計用のスクリプトを書いて")
	for i := range 4 {
		if i > 0 {
			k.Says(webapi.Sato, "もう一度走らせて")
		}
		x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
		w.As(webapi.Suzuki).Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
		w.Later(time.Second)
		k.Begins()
		k.Prints(x, 0, 40)
		w.Later(time.Second)
		k.Ends(x, conversation.Result{Status: conversation.ActionSucceeded, Tests: &conversation.Tests{Passed: 12}, Lines: 40})
		for n := range 12 {
			k.Says(webapi.Sato, fmt.Sprintf("%d-%d 番目の、集計のしかたを相談するメッセージ", i, n))
			k.Answers(conversation.Answer{Text: strings.Repeat("集計のしかたについての答えです。", 8)})
			w.Later(time.Second)
		}
	}
	return k
}

// top is where an element begins, in screens.
func top(tab *browser.Tab, selector string) float64 {
	return browser.Read[float64](tab, fmt.Sprintf(
		`(document.querySelector(%q).getBoundingClientRect().top + scrollY) / innerHeight`, selector))
}

// On a phone what waits for the reader is one link away from the first screen, and what is done is folded.
func TestAPhoneShowsWhatWaitsFirst(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := busy(w)
	k.Says(webapi.Sato, "最後にもう一度走らせて")
	x := k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	suzuki := w.As(webapi.Suzuki)
	tab := onPhone(suzuki, k.Page())
	pictured(tab, "conversation-phone-waits")
	expect.That(t, top(tab, "#now .first a[href='#asked-5']") < 1, "the link to what waits isn't on the first screen")
	expect.That(t, top(tab, "#asked-5") < 1, "what waits begins %.1f screens down", top(tab, "#asked-5"))
	whole := browser.Read[float64](tab, `document.documentElement.scrollHeight / innerHeight`)
	expect.That(t, whole < 8, "the page has %.1f screens", whole)
	tab.Press("#now .first a")
	tab.Until(`document.querySelector("#asked-5").getBoundingClientRect().top < innerHeight / 2`)
	tab.Fits()
	tab.Accessible(t)

	suzuki.Post(k.Page()+"/act", consoletest.ActOn(aggregate.ActApprove, x, ""))
	w.Later(time.Second)
	k.Begins()
	k.Ends(x, conversation.Result{Status: conversation.ActionFailed, Error: conversation.ReasonFilesLost, Gone: true})
	tab = onPhone(suzuki, k.Page())
	pictured(tab, "conversation-phone-lost")
	expect.That(t, top(tab, "#now .first a[href='#acts']") < 1, "lost files wait for a person, and nothing leads there")
	tab.Fits()
	tab.Accessible(t)
}

// Where nothing waits, nothing leads there.
func TestAPhoneShowsNothingThatDoesNotWait(t *testing.T) {
	w := consoletest.New(t, storetest.Start(t))
	w.Ref.Tenant = w.Tenant.ID
	k := busy(w)
	tab := onPhone(w.As(webapi.Suzuki), k.Page())
	pictured(tab, "conversation-phone")
	expect.That(t, browser.Read[bool](tab, `document.querySelector("#now .first") === null`), "something waits")
	for _, n := range []int{4, 3} {
		shown := fmt.Sprintf(`document.querySelector("#action-%d, #older-%d").innerText`, n, n)
		expect.That(t, strings.Contains(browser.Read[string](tab, shown), fmt.Sprintf("#%d", n)), "action %d is nowhere", n)
		expect.That(t, !strings.Contains(browser.Read[string](tab, shown), "rm -rf"), "what action %d did is not folded", n)
	}
	expect.That(t, strings.Contains(browser.Read[string](tab, `document.querySelector("#said").parentElement.innerText`), "3-11 番目"), "the newest message is folded")
	tab.Fits()
	tab.Accessible(t)
}
