package sandbox_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/infra/local/browser"
	"ringi/infra/local/sandbox/webapi"
)

// Older threads are folded, but a link to a reply in one opens it.
func TestALinkLeadsIntoAFoldedThread(t *testing.T) {
	w := newWorld(t)
	var roots, replies []string
	for n := range 12 {
		root := w.post(t, webapi.HR, slack.MsgOptionText(fmt.Sprintf("request %d", n), false))
		roots = append(roots, root)
		replies = append(replies, w.post(t, webapi.HR, slack.MsgOptionTS(root), slack.MsgOptionText("reply", false)))
	}
	p := browser.Open(t, w.url+"/archives/"+webapi.HR+"/p"+strings.ReplaceAll(replies[0], ".", ""), 1280, 800)
	shown := func(ts string) string { return fmt.Sprintf(`document.querySelector('.msg[data-ts="%s"]')`, ts) }
	p.Until(shown(roots[1]) + ` && !` + shown(replies[1]) + ` && ` + shown(replies[0]))
}
