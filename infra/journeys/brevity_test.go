package journeys

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ringi/infra/local/driver"
	"ringi/infra/local/sandbox/webapi"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/domain/tenancy"
	"ringi/shared/runtime/expect"
)

// commands are Slack's forms for people and dates; ids are ULIDs.
var commands, ids, english = regexp.MustCompile(`<[@#!][^>]*>|https?://[^ |>]*`),
	regexp.MustCompile(`\b[0-9A-Z]{26}\b`),
	regexp.MustCompile(`[A-Za-z][A-Za-z_.'’-]*`)

// What people read of a request, from asking to its end, has at most so many English words: in all of its messages as
// they stand in the end, without ids.
func TestARequestIsToldInFewWords(t *testing.T) {
	s := start(t)
	expect.NoError(t, driver.ConnectOrdering(t.Context(), s, aggregate.TenantID(s.Sandbox.TeamID())))
	driver.Settings(t, s, func(x *tenancy.Settings) { x.Locale = "en" })
	asks := func(text string) *driver.Request { return driver.Ask(t, s, webapi.Sato, text) }
	form := func() *driver.Request {
		return driver.FillIn(t, s, webapi.Sato, map[string]any{"matter": "Spending", "title": "Replace the copier",
			"amount": "1200000", "description": "It jams every day."})
	}
	for _, of := range []struct {
		name string
		asks func() *driver.Request
		rule *rules.Rule
		most int
	}{
		{"a DM", func() *driver.Request {
			return asks("Send <@" + webapi.Tanaka + "> a DM “The meeting is at three”")
		}, nil, 90},
		{"overtime", func() *driver.Request { return asks("Check last month's overtime") }, nil, 330},
		{"an order", func() *driver.Request { return asks("Order 3 PCs from Acme, 447,000 yen in total") },
			&rules.Rule{ID: "01KS000000000000000000000H", Name: "Orders", Outcome: rules.Outcome{
				Stages: []rules.Stage{desk("Manager", 1, webapi.Suzuki), desk("Accounts", 1, webapi.Tanaka)}}}, 220},
		{"a decision", form, nil, 90},
	} {
		if of.rule != nil {
			driver.SaveRules(t, s, *of.rule)
		}
		d := of.asks()
		seen := map[string]string{} // by message, as it stood when it had most to say
		look := func() {
			for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
				if text := m.Text + "\n" + words(m.Attachments); m.User == webapi.Bot && count(text) > count(seen[m.TS]) {
					seen[m.TS] = text
				}
			}
		}
		steps := driver.TaskCard
		if of.name != "a decision" {
			steps = driver.ProcessCard
			d.Card(driver.PromptCard, "approve_prompt")
			look()
			d.Click(webapi.Suzuki, driver.PromptCard, "approve_prompt")
		}
		d.Card(steps, "approve_process")
		look()
		d.Click(webapi.Suzuki, steps, "approve_process")
		if of.rule != nil {
			d.Card(driver.ProcessCard, "Now: Accounts")
			d.Click(webapi.Tanaka, driver.ProcessCard, "approve_process")
			driver.SaveRules(t, s)
		}
		d.Until("it is done and shown", func(a *task.Aggregate) bool {
			return a.Head.Ended != nil && a.Head.ShownRev == a.Head.Rev
		})
		sum, end, all := 0, 0, ""
		for _, m := range s.Sandbox.Messages(d.Channel, d.Root) {
			if m.User == webapi.Bot {
				end += count(m.Text + "\n" + words(m.Attachments))
			}
		}
		look()
		for _, ts := range slices.Sorted(maps.Keys(seen)) {
			sum, all = sum+count(seen[ts]), all+"\n"+strings.Repeat("-", 20)+"\n"+seen[ts]
		}
		t.Logf("%s: %d, in the end %d", of.name, sum, end)
		expect.That(t, end <= of.most, "%s has %d words, not %d:%s", of.name, end, of.most, all)
	}
}

// count counts the English words of a text.
func count(text string) int {
	return len(english.FindAllString(ids.ReplaceAllString(commands.ReplaceAllString(text, ""), ""), -1))
}

// words are the texts of blocks, a line each.
func words(v any) (out string) {
	switch v := v.(type) {
	case []any:
		for _, e := range v {
			out += words(e)
		}
	case map[string]any:
		if text, is := v["text"].(string); is {
			return text + "\n"
		}
		for _, key := range []string{"blocks", "text", "fields", "elements"} {
			out += words(v[key])
		}
	}
	return out
}
