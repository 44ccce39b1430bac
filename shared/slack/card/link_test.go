package card_test

import (
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/slack/card/cardtest"
)

func TestOnlyResultsAreLinks(t *testing.T) {
	for url, links := range map[string]bool{
		"https://docs.google.com/spreadsheets/d/1aB_c-D/edit#gid=0": true, "http://docs.google.com/x": false, "https://x.example/a|承認>": false, "javascript:alert(1)": false,
		"https://localhost/": false, "https://u:p@x.example/": false,
	} {
		s := started(t, fiveSteps()[:1]).claim(1)
		s.finish(1, task.Outcome{Status: task.StepCompleted, Result: &aggregate.Blob{JSON: aggregate.JSON(jsonOf(map[string]any{"url": url}))}})
		s.do(s.CompleteExecution(s.Head.Run, "見てください: https://evil.example/ と evil.example", s.now))
		m := card.Render(s.Aggregate, s.card(executionCard), "ja", s.now)
		expect.NoError(t, cardtest.Check(m))
		expect.That(t, strings.Contains(drawn(m.Attachments[0].Blocks.BlockSet), "<"+url+">") == links,
			"%s is a link: %v", url, !links)
	}
	for _, st := range states { // and no text becomes one by itself
		s := st.scenario(t)
		for _, c := range s.Cards {
			m := card.Render(s.Aggregate, c, "ja", s.now)
			for _, a := range m.Attachments {
				for _, b := range a.Blocks.BlockSet {
					if sec, ok := b.(*slack.SectionBlock); ok && sec.Text != nil && sec.Text.Type == slack.MarkdownType && !sec.Text.Verbatim {
						t.Fatalf("%s: Slack may make links in %q", c.Key(), sec.Text.Text)
					}
				}
			}
		}
	}
}
