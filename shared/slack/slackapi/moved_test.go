package slackapi_test

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	goslack "github.com/slack-go/slack"

	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/slackapi"
	"ringi/shared/slack/slackapi/outgoing"
	"ringi/shared/slack/slackapi/slacktest"
)

// Rows name a former id, which Slack doesn't know any more.
func TestACallForAFormerIDIsMadeUnderThePresentOne(t *testing.T) {
	slack := slacktest.Start(t)
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	_, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	slack.Client.Follow(func(context.Context, string) (tenancy.Channels, error) {
		return tenancy.Channels{"C0FORMER": {To: webapi.HR, At: "1612206778.000000"}}, nil
	})
	ids, _, err := slack.Client.Members(ctx, "C0FORMER", 10)
	expect.That(t, err == nil && len(ids) > 0, "%v, %v", ids, err)
	_, _, err = slack.Client.Members(ctx, "C0NOBODY", 10)
	expect.Is(t, slackapi.Code(err), "channel_not_found")
	for ch, err := range slack.Client.Channels(ctx, webapi.Suzuki, "public_channel") {
		expect.NoError(t, err)
		expect.That(t, ch.ID != webapi.HR, "listed under its present id, which rows don't know")
	}
}

// Every method that names a channel is called again under the channel's present id, in whatever form its arguments are.
func TestEveryMethodFollowsAChannel(t *testing.T) {
	moved := tenancy.Channels{"C0FORMER": {To: "C0NOW", At: "1612206778.000000"}}
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	for name, c := range map[string]struct {
		refusal string
		call    func(s *slackapi.Client) error
	}{
		"chat.postMessage": {"channel_not_found", func(s *slackapi.Client) error {
			_, err := s.Post(ctx, "C0FORMER", "", outgoing.Message{Text: "x"}, slackapi.Metadata{})
			return err
		}},
		"chat.getPermalink": {"channel_not_found", func(s *slackapi.Client) error {
			_, err := s.Permalink(ctx, "C0FORMER", "1776675600.000100")
			return err
		}},
		"files.completeUploadExternal": {"invalid_channel", func(s *slackapi.Client) error {
			return s.Share(ctx, "C0FORMER", "", "", []slackapi.Uploaded{{ID: "F1"}})
		}},
		"agents.sessions.setStatus": {"channel_not_found", func(s *slackapi.Client) error {
			return s.SetAgentStatus(ctx, "C0FORMER", "1776675600.000100", slackapi.AgentActive, "")
		}},
	} {
		var asked []string
		server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			expect.NoError(t, r.ParseForm())
			id := cmp.Or(r.Form.Get("channel"), r.Form.Get("channel_id"))
			asked = append(asked, strings.TrimPrefix(r.URL.Path, "/")+" "+id)
			w.Header().Set("Content-Type", "application/json")
			if id != "C0NOW" {
				fmt.Fprintf(w, `{"ok":false,"error":%q}`, c.refusal)
				return
			}
			fmt.Fprint(w, `{"ok":true,"ts":"1776675600.000200"}`)
		}))
		client := slackapi.With(slacktest.Keys{Token: "xoxb-test", Address: server.URL + "/"}, time.Minute)
		client.Follow(func(context.Context, string) (tenancy.Channels, error) { return moved, nil })
		expect.NoError(t, c.call(client))
		expect.Same(t, asked, []string{name + " C0FORMER", name + " C0NOW"})
		server.Close()
	}
}

// What people read names and links a channel by its present id.
func TestAFormerIDIsNeitherShownNorLinked(t *testing.T) {
	slack := slacktest.Start(t)
	ctx := slackapi.For(t.Context(), aggregate.TenantID(slacktest.Team))
	slack.Client.Follow(func(context.Context, string) (tenancy.Channels, error) {
		return tenancy.Channels{"C0FORMER": {To: webapi.HR, At: "1612206778.000000"}}, nil
	})
	link := slack.Client.Link(ctx, "C0FORMER", "1776675600.000100", "1776675500.000100")
	expect.Is(t, link, "https://ringi-sandbox.slack.com/archives/"+webapi.HR+"/p1776675600000100?thread_ts="+
		"1776675500.000100&cid="+webapi.HR)
	text := func(channel string) outgoing.Message {
		in := goslack.NewTextBlockObject("mrkdwn", "in <#"+channel+">", false, false)
		block := goslack.Attachment{Blocks: goslack.Blocks{BlockSet: []goslack.Block{goslack.NewSectionBlock(in, nil, nil)}}}
		return outgoing.Message{Text: "in <#" + channel + "> and <#C0OTHER>", Attachments: []goslack.Attachment{block}}
	}
	ts := expect.Value(slack.Client.Post(ctx, webapi.HR, "", text("C0FORMER"), slackapi.Metadata{}))(t)
	said := slack.Thread(t, webapi.HR, ts)[0]
	written := string(expect.Value(json.Marshal(said))(t))
	expect.That(t, !strings.Contains(written, "FORMER") && strings.Count(written, "#"+webapi.HR) == 2 &&
		strings.Contains(written, "#C0OTHER"), "%s", written)
}
