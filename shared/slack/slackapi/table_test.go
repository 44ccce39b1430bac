package slackapi_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/slack-go/slack"

	"ringi/shared/slack/slackapi"
)

// A Slack that knows no table block, or refuses this one, shows the card without it.
func TestACardIsPostedWithoutATableThatSlackRefuses(t *testing.T) {
	for _, code := range []string{"invalid_blocks", "invalid_attachments"} {
		var shown []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if strings.Contains(r.FormValue("attachments"), `"table"`) {
				_, _ = fmt.Fprintf(w, `{"ok":false,"error":%q}`, code)
				return
			}
			shown = append(shown, r.FormValue("text"))
			_, _ = fmt.Fprint(w, `{"ok":true,"ts":"1.000002","channel":"C1"}`)
		}))
		defer server.Close()
		table := message("with")
		table.Attachments[0].Blocks.BlockSet = append(table.Attachments[0].Blocks.BlockSet, slack.NewTableBlock("").AddRow(slack.NewTableRawTextCell("a")))
		table.Plain = new(message("without"))
		c := client(t, server.URL+"/api/", time.Minute)
		if ts, err := c.Post(t.Context(), "C1", "1.000001", table, about); err != nil || ts != "1.000002" {
			t.Errorf("%s: post: %q, %v", code, ts, err)
		}
		if err := c.Update(t.Context(), "C1", "1.000002", table, about); err != nil || strings.Join(shown, " ") != "without without" {
			t.Errorf("%s: update: %v; shown %q", code, err, shown)
		}
		table.Plain = nil
		if _, err := c.Post(t.Context(), "C1", "1.000001", table, about); slackapi.Code(err) != code {
			t.Errorf("%s: without another form: %v", code, err)
		}
	}
}
