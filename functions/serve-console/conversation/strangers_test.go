package conversation_test

import (
	"net/http"
	"net/url"
	"strings"
	"testing"

	"ringi/functions/serve-console/consoletest"
	pages "ringi/functions/serve-console/conversation"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/conversation"
	"ringi/shared/runtime/expect"
)

// everyAddressAsksWho: whatever address a conversation has, nobody but who may see it gets anything there. Addresses come
// from the pages themselves, so that a new one is asked, too.
func everyAddressAsksWho(t *testing.T, w *consoletest.World) {
	k := w.Talked(webapi.Sato, webapi.HR, "channel", "集計用のスクリプトを書いて")
	k.Proposes(conversation.ShellCommand, consoletest.Script, "")
	other := w.Found("T0OTHER", "U0OTHER")
	fill := strings.NewReplacer("{id}", k.Talk.ID, "{number}", "1", "{text}", "1", "{use}", "1")
	asked := 0
	for _, route := range (&pages.Pages{}).Routes() {
		if !strings.Contains(route.Pattern, "{id}") {
			continue
		}
		method, pattern, _ := strings.Cut(route.Pattern, " ")
		path := fill.Replace(pattern)
		expect.Must(t, !strings.Contains(path, "{"), "%s has a part that this test doesn't know", pattern)
		for name, b := range map[string]*consoletest.Browser{
			"another workspace's administrator": w.Of(other, "U0OTHER"), "a member who is not in the channel": w.As(webapi.Alex),
		} {
			var a consoletest.Answer
			if method == http.MethodGet {
				a = b.Get(path)
			} else {
				a = b.Post(path, url.Values{"act": {"approve"}})
			}
			if a.Status != http.StatusNotFound && a.Status != http.StatusForbidden {
				t.Errorf("%s %s for %s is answered %d", method, path, name, a.Status)
			}
			a.Lacks(t, "スクリプト", "make test")
		}
		asked++
	}
	expect.That(t, asked >= 7 && k.Load().Current().Status == conversation.ActionPending, "%d addresses", asked)
}
