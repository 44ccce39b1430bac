package settings

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
	"ringi/shared/slack/slackapi"
	"ringi/shared/store/storetest"
	"ringi/shared/tool"
	"ringi/shared/words/language"
)

func TestAnotherApproverOfTheSameNameIsAChange(t *testing.T) {
	was := tenancy.DefaultSettings()
	was.Approvers.Mode, was.Approvers.Users = aggregate.ApproversList, []string{"U0SATO"}
	is := was
	is.Approvers.Users = []string{"U0MALLORY"}
	m := &people.Members{People: []slackapi.User{{ID: "U0SATO", Name: "佐藤 花子"}, {ID: "U0MALLORY", Name: "佐藤\u200b 花子"}}}
	all := settingsTexts{web.TextsOf("settings", "ja")}.changes(m, tenancy.Differences(was, is))
	expect.Is(t, len(all), 1)
	expect.Is(t, all[0].Was[0], "佐藤 花子 (U0SATO)")
	expect.Is(t, all[0].Is[0], "佐藤⟨U+200B⟩ 花子 (U0MALLORY)")
}

// A 0 that lifts a limit is never read as "none allowed", and large numbers have their commas.
func TestNoLimitIsSaidInWords(t *testing.T) {
	was, is := tenancy.DefaultSettings(), tenancy.DefaultSettings()
	was.MaxOpenTasks, was.MaxCostDayUSD, was.MaxTasksPerHour = 1000, 50, 0
	is.MaxOpenTasks, is.MaxCostDayUSD, is.MaxTasksPerHour = 0, 0, 100000
	for locale, says := range map[string]string{"ja": "上限なし", "en": "no limit"} {
		texts := settingsTexts{web.TextsOf("settings", locale)}
		var told []string
		for _, c := range texts.changes(&people.Members{}, tenancy.Differences(was, is)) {
			told = append(told, c.Was[0]+" → "+c.Is[0])
		}
		all := strings.Join(told, "\n")
		expect.That(t, strings.Count(all, says) >= 3 && strings.Contains(all, "1,000 ") &&
			strings.Contains(all, "100,000 ") && !strings.Contains("\n"+all, "\n0") && !strings.Contains(all, "→ 0"), "%s", all)
	}
}

// Every setting has an input on the page, a value in the file and words for its change.
func TestARowOfTheTableIsASetting(t *testing.T) {
	was, is := tenancy.DefaultSettings(), storetest.Changed(t)
	got, problems := typed(formOf(is), was)
	file, faults := ReadYAML(expect.Value(WriteYAML(is, nil, "", func(id string) string { return id }))(t), was, nil)
	expect.Must(t, problems == nil && faults == nil, "%+v %+v", problems, faults)
	unasked, own := tenancy.Differences(got, is), tenancy.Differences(file.Settings, is)
	for _, locale := range language.All {
		texts := settingsTexts{web.TextsOf("settings", locale)}
		asked := map[string]int{}
		for _, in := range inputsOf(locale, is) {
			if asked[in.Name]++; in.Label == "" || in.Label != texts.label(in.Name) ||
				(in.Hint != "") != (in.Kind == tenancy.KindRows) || (in.Example != "") != (in.Hint != "") {
				t.Errorf("%s lacks words: %+v", locale, in)
			}
			for _, choice := range in.Choices {
				expect.That(t, choice.Text != "", "%s has no words for %s=%s", locale, in.Name, choice.Value)
			}
		}
		for _, f := range is.Fields() {
			named := func(d tenancy.Difference) bool { return d.Field == f.Name }
			n := asked[f.Name]
			expect.That(t, n == 1 && !slices.ContainsFunc(unasked, named) && !slices.ContainsFunc(own, named),
				"%s: asked for %d times; of the form stays %v, of the file %v", f.Name, n, unasked, own)
			changed := slices.DeleteFunc(tenancy.Differences(was, is), func(d tenancy.Difference) bool { return !named(d) })
			told := texts.changes(&people.Members{}, changed)
			expect.That(t, len(changed) == 1 && len(told) == 1 && told[0].Name != f.Name &&
				!slices.Equal(told[0].Was, told[0].Is), "%s: the change of %s is told as %v", locale, f.Name, told)
			expect.That(t, explain.LogWordsIn(locale).Field(f.Name) != f.Name,
				"%s: the audit log has no name for %s", locale, f.Name)
		}
	}
}

func inputsOf(locale string, s tenancy.Settings) (all []input) {
	texts := settingsTexts{web.TextsOf("settings", locale)}
	for _, x := range texts.page(settingsPage{now: s, form: formOf(s)}, &people.Members{}).Sections {
		all = append(all, x.Inputs...)
	}
	return all
}

func TestArgumentsAreOfferedAsTheirSchemaHasThem(t *testing.T) {
	at, got := arguments(`{"type":"object","$defs":{"row":{"type":"object","properties":{"price":{"type":["number","null"],
		"title":"Price","description":"of one"},"shop":{"enum":["a","b"]}}}},"properties":{
		"rows":{"type":["null","array"],"items":{"$ref":"#/$defs/row"}},
		"to":{"anyOf":[{"type":"string"},{"type":"array","items":{"type":"string"}}],"description":"who\u202e gets it"},
		"fee":{"oneOf":[{"type":"integer"},{"type":"string"}]},"a/b~c":{"type":"number"},"done":{"type":"boolean"},
		"*":{"type":"number"},"":{"type":"number"}}}`)
	var said []string
	for i, c := range got {
		said = append(said, fmt.Sprintf("%s %s %s", at[i], c.Title, c.About))
	}
	expect.Same(t, said, []string{
		"/a~1b~0c  ", "/done  ", "/fee  ", "/rows/*/price Price of one", "/rows/*/shop  ",
		"/to  who⟨U+202E⟩ gets it", "/to/*  who⟨U+202E⟩ gets it",
	})
	expect.Is(t, shownPointer("/a~1b~0c"), "a/b~c")
	expect.Is(t, shownPointer("/rows/*/price"), "rows[] › price")
	expect.Is(t, shownPointer("/lots/*/*"), "lots[][]")
}

// Schemas come from servers: whatever they are, the page offers a bounded number of arguments.
func TestHostileSchemasOfferFew(t *testing.T) {
	var wide strings.Builder
	for i := range 1000 {
		fmt.Fprintf(&wide, `"a%d":{"type":"number"},`, i)
	}
	deep := strings.Repeat(`{"properties":{"a":`, 100) + `{"type":"number"}` + strings.Repeat(`}}`, 100)
	for schema, most := range map[string]int{
		`{"properties":{` + wide.String() + `"z":{}}}`: maxArguments, deep: 0, `[`: 0, `true`: 0, ``: 0,
		`{"properties":[1],"items":5,"anyOf":{},"type":{}}`: 0,
	} {
		_, all := arguments(schema)
		expect.That(t, len(all) <= most, "%d of %.60s", len(all), schema)
		expect.Is(t, example(schema), "", "%.60s", schema)
	}
}

func TestAnExampleIsTheSchemasOwn(t *testing.T) {
	made := example(`{"type":"object","properties":{"n":{"type":"integer"}},"examples":[{"n":5},{"n":6}]}`)
	expect.Is(t, strings.Join(strings.Fields(made), ""), `{"n":5}`)
}

// Exported for the tests of the pages.
var (
	FormOf = formOf
)

type Texts = settingsTexts

func (t settingsTexts) Rule(code string) string { return t.problem(aggregate.Problem{Code: code}) }

func (t settingsTexts) Label(field string) string { return t.label(field) }

func TestEveryToolHasWords(t *testing.T) {
	for _, locale := range language.All {
		texts := web.TextsOf("tools", locale)
		for _, s := range expect.Value(tool.Builtin())(t).All() {
			expect.That(t, (explain.Provider(s.Provider).Called(locale) == "") == (s.Provider == ""), "%s has no name",
				s.Provider)
			for _, name := range s.Knows() {
				expect.That(t, texts.In("bound_wrong", name) != "", "%s has no words for %s", locale, name)
			}
		}
	}
}

// A bound is a sentence with its unit.
func TestBoundsAreSentences(t *testing.T) {
	said := map[string]string{}
	for _, in := range inputsOf("ja", tenancy.DefaultSettings()) {
		said[in.Name] = in.Bound
	}
	expect.Is(t, said["approval_timeout_hours"], "1〜8,736 時間の間で決めます。")
	expect.Is(t, said["max_open_tasks"], "0〜100,000 件の間で決めます。 0 にすると上限はありません。")
	expect.Is(t, said["max_cost_usd"], "0 にすると上限はありません。")
}
