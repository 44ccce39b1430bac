package card_test

import (
	"regexp"
	"strings"
	"testing"

	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/card"
	"ringi/shared/words/language"
)

// namedButton finds a name in brackets or quotation marks, and what stands before it in its sentence.
var namedButton = regexp.MustCompile(`([^。.\n]*?)(?:\[([^\]]+)\]|「([^」]+)」|“([^”]+)”)`)

// elsewhere are words by which a sentence says where a button is that isn't on its own card.
var elsewhere = map[string][]string{"ja": {"カード", "コンソール", "ホームタブ", "メニュー"},
	"en": {"card", "console", "Home tab", "menu"}}

// A sentence that names a button names one of its own card or dialog, or says where it is.
func TestNoSentenceNamesAButtonThatIsNotThere(t *testing.T) {
	bare := func(label string) string {
		return strings.TrimLeft(label, "✅❌⏹️🔄🔁📄💬🧭📝🔎 ")
	}
	for _, locale := range language.All {
		of, all := map[string]map[string]bool{}, map[string]bool{}
		drawn := map[string][]string{}
		for name, v := range looks(t, locale) {
			of[name] = map[string]bool{}
			visit(decoded(t, v), func(v any) {
				x, is := v.(map[string]any)
				if !is {
					return
				}
				text, _ := x["text"].(map[string]any)
				label, _ := text["text"].(string)
				said, _ := x["text"].(string)
				_, option := x["value"]
				switch kind := x["type"]; {
				case kind == "button" || option:
					of[name][bare(label)], all[bare(label)] = true, true
				case kind == "mrkdwn" || kind == nil:
					drawn[name] = append(drawn[name], said)
				}
				if submit, is := x["submit"].(map[string]any); is {
					label, _ := submit["text"].(string)
					of[name][bare(label)], all[bare(label)] = true, true
				}
			})
		}
		named := 0
		for name, texts := range drawn {
			text := strings.Join(texts, "\n")
			for _, at := range namedButton.FindAllStringSubmatchIndex(text, -1) {
				m := namedButton.FindStringSubmatch(text[at[0]:at[1]])
				after := strings.FieldsFunc(text[at[1]:]+" ", func(r rune) bool { return strings.ContainsRune(".。\n", r) })
				label, says := bare(m[2]+m[3]+m[4]), false
				if !all[label] {
					continue
				}
				named++
				for _, word := range elsewhere[locale] {
					says = says || strings.Contains(m[1]+after[0], word)
				}
				expect.That(t, of[name][label] || says, "%s %s names %q, which it lacks: %s", locale, name, label, m[0])
			}
		}
		expect.That(t, all["承認"] || all["Approve"], "%s: no labels were found", locale)
		expect.That(t, named >= 10, "%s: looked at %d names", locale, named)
	}
}

// Where a route waits for somebody who has left, the link by which an administrator sets who stands in for them stands
// beside their name.
func TestALinkToStandInsStandsBesideWhoHasLeft(t *testing.T) {
	for _, state := range routeStates {
		if state.name != "route_stuck" {
			continue
		}
		s := state.scenario(t)
		m := card.Render(s.Aggregate, s.card(state.card), defaults, card.Around{Console: "https://x.example/console"}, s.now)
		expect.Has(t, drawn(m.Attachments[0].Blocks.BlockSet), "<@"+yamada+
			"> さん (<https://x.example/console/stand-ins|代理を決める>)")
		return
	}
	t.Fatal("no such state")
}

// What is wrong with a contest's file stands on the request's page, which the card links.
func TestACardLinksWhereAFilesMistakeStands(t *testing.T) {
	s := received(t).extracted().drafting()
	s.do(s.SkipContest(s.Head.Run, "configs/contest.toml", task.ContestFiles, "configs/contest.toml: teams: 10", s.now))
	s.do(s.FinishPrompt(s.Head.Run, task.Drafted{Content: content}, defaults, s.now))
	m := card.Render(s.Aggregate, s.card(promptCard), defaults, card.Around{Console: "https://x.example/console"}, s.now)
	said := drawn(m.Attachments[0].Blocks.BlockSet)
	expect.Has(t, said, "管理者に知らせてください · <https://x.example/console/tasks/"+s.Head.TaskID+"|開く>")
	expect.That(t, !strings.Contains(said, "contest.toml"), "an approver reads %s", said)
	expect.Has(t, explain.DraftedAlone(s.Prompt(), "ja"), "管理者に知らせてください (configs/contest.toml: teams: 10)")
}
