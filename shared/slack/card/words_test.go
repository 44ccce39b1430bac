package card

import (
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/words/language"
	"ringi/shared/words/language/languagetest"
)

// texts collects every text of a language, by the path of its field.
func texts(v reflect.Value, path string, out map[string]string) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			texts(v.Field(i), path+"."+v.Type().Field(i).Name, out)
		}
	case reflect.Map:
		for _, k := range v.MapKeys() {
			texts(v.MapIndex(k), path+"."+k.String(), out)
		}
	case reflect.String:
		out[path] = v.String()
	}
}

func TestEachLanguageHasAllTexts(t *testing.T) {
	languagetest.Whole[words](t, files, "texts/cards")
	languagetest.Whole[conversationWords](t, files, "texts/conversations")
	languagetest.Whole[askWords](t, files, "texts/asks")
	languagetest.Whole[routeWords](t, files, "texts/routes")
	languagetest.Whole[endTexts](t, files, "texts/ends")
}

var place = regexp.MustCompile(`\{[a-z]+\}`)

func TestBothLanguagesSayEverything(t *testing.T) {
	ja, en := map[string]string{}, map[string]string{}
	texts(reflect.ValueOf(*wordsOf.In("ja")), "", ja)
	texts(reflect.ValueOf(*wordsOf.In("en")), "", en)
	expect.Same(t, slices.Sorted(maps.Keys(ja)), slices.Sorted(maps.Keys(en)))
	for field, text := range ja {
		if text == "" || en[field] == "" {
			t.Errorf("%s is empty: ja %q, en %q", field, text, en[field])
		}
		a, b := place.FindAllString(text, -1), place.FindAllString(en[field], -1)
		slices.Sort(a)
		slices.Sort(b)
		diff := cmp.Diff(a, b)
		expect.That(t, diff == "", "%s has other places (-ja +en)\n%s", field, diff)
	}
}

func TestSentenceShowsItsDetailAndNothingElse(t *testing.T) {
	for _, tc := range []struct {
		name   string
		reason aggregate.Reason
		detail string
		want   string
	}{
		{"a tool", task.ReasonToolNotAllowed, "send_slack_dm", "許可されていないツールです (send_slack_dm)。"},
		{"seconds", task.ReasonTimeout, "360", "制限時間を超えました (360 秒)。"},
		{"a timeout of something else", task.ReasonTimeout, "step-3", "制限時間を超えました (step-3)。"},
		{"hostile", task.ReasonToolFailed, "<!channel>\n*x*", "失敗しました (&lt;!channel&gt; ＊x＊)。"},
		{"a place", task.ReasonToolFailed, "{detail}", "失敗しました ({detail})。"},
		{"unknown", "brand_new", "", "Ringi の内部で問題が起きました。"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			got := Sentence("ja", tc.reason, tc.detail)
			expect.That(t, strings.Contains(got, tc.want), "got %q, want it to contain %q", got, tc.want)
		})
	}
	if got := Sentence("ja", task.ReasonToolFailed, strings.Repeat("x", 10000)); len(got) > 1000 {
		t.Errorf("a long detail is not cut: %d bytes", len(got))
	}
}

// stored are states whose rows have a sentence in Japanese, which was the workspace's language when it was written, or
// which a model answered to a request in Japanese.
var stored = []string{"execution_failed_constraint", "talk_said_of_task", "talk_said_of_typed", "task_answered_help",
	"task_answered_unsupported", "task_answered_and_changed"}

// A card is in one language: its headings, effects, summary and whatever else Ringi says. What people, models and
// vendors wrote in these states is in their files.
func TestACardIsInOneLanguage(t *testing.T) {
	ours := languagetest.SentencesBelow(t, "../..")
	var data []string
	for _, path := range []string{"scenario_test.go", "states_test.go"} {
		data = append(data, string(expect.Value(os.ReadFile(path))(t)))
	}
	for _, locale := range language.All {
		cards := strings.Split("\n"+string(expect.Value(os.ReadFile("testdata/golden/"+locale+".txt"))(t)), "\n== ")[1:]
		expect.Must(t, len(cards) >= 200, "%d cards", len(cards))
		for _, text := range cards {
			found := ours.Foreign(locale, text, data...)
			name := strings.Fields(text)[0]
			meant := locale != "ja" && slices.Contains(stored, name)
			expect.That(t, meant == (len(found) > 0), "%s says %q", name, found)
		}
	}
	for locale, said := range map[string]string{"en": "承認・却下できる人: x", "ja": "Until: You can't approve your own request."} {
		expect.Is(t, len(ours.Foreign(locale, said)), 1, "of another language in %q", said)
	}
}

// A change that was seen before an execution began or the request ended is too late for it from then on, and no limit
// of versions is named as the reason.
func TestAChangeIsLateOnceItsTimeIsOver(t *testing.T) {
	change := func(deleted bool) *task.Aggregate {
		return &task.Aggregate{Request: &task.Request{User: "U1", Text: "営業部"}, Task: &task.Task{},
			Correction: &task.Correction{Text: "人事部", Edited: "1.0", Deleted: deleted, Author: "U2"},
			Prompts:    []*task.Prompt{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}},
			Processes:  []*task.Process{{Version: 1, Gate: aggregate.Gate{Status: aggregate.Approved}}}}
	}
	same := func(s string) string { return s }
	for deleted, want := range map[bool]string{false: wordsOf.In("ja").ChangedLate, true: wordsOf.In("ja").DeletedLate} {
		running, ended := change(deleted), change(deleted)
		running.Executions = []*task.Execution{{ProcessVersion: 1, Attempt: 1, Status: task.ExecutionCompleted}}
		ended.Head.Ended = &task.Ended{As: task.TaskCancelled, At: time.Now()}
		for _, a := range []*task.Aggregate{running, ended} {
			expect.Is(t, Changed(a, "ja", same, same), fill(want, "text", "人事部"))
		}
	}
}

// What an edited message forwards or has as files, and can't be read, is said beside the change.
func TestWhatCantBeReadOfAnEditIsSaid(t *testing.T) {
	files := []aggregate.SharedFile{{ID: "F1", Name: "名簿.csv"}, {ID: "F2"}}
	a := &task.Aggregate{Request: &task.Request{User: "U1", Text: "営業部"}, Correction: &task.Correction{Text: "人事部",
		Forwarded: []aggregate.Quoted{{User: "U2"}, {Name: "Bot", Text: "長い", Cut: true}, {User: "U3", Text: "全部"}},
		Files:     files, MoreFiles: 3, Edited: "1.0"}}
	same := func(s string) string { return s }
	for locale, want := range map[string]string{
		"ja": "人事部 · 転送: U2。Slack が内容を表示しないため、読めません, Bot 長い。長いため、読むのは先頭の 2 文字までです, U3 全部 · 添付: 名簿.csv, F2 " +
			"⚠️ ほかに 3 件のファイルがありますが、読んでいません。一度に読めるのは 2 件までです。",
		"en": "人事部 · Forwards: U2. Slack doesn’t show its text, so it can’t be read, Bot 長い. It is long: only its first 2 " +
			"characters are read, U3 全部 · Files: 名簿.csv, F2 ⚠️ 3 more files were not read: 2 are read at a time.",
	} {
		expect.Has(t, Changed(a, locale, same, same), want)
	}
}
