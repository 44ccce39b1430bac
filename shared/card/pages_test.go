package card_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/slack-go/slack"

	"ringi/shared/card"
	"ringi/shared/task"
)

func TestManyStepsPageOrAreCounted(t *testing.T) {
	for _, tc := range []struct {
		n, width  int
		pages     int
		countLine string
	}{
		{5, 20, 1, ""},
		{30, 20, 1, ""},
		{60, 20, 2, ""},
		{45, 300, 3, ""},
		{60, 300, 2, ""},
		{200, 300, 3, "…ほか"},
	} {
		t.Run(fmt.Sprintf("%d steps of %d", tc.n, tc.width), func(t *testing.T) {
			s := planned(t, fiveSteps(), task.DefaultSettings())
			s.Process().Steps = manySteps(tc.n, tc.width)
			m := card.Render(s.Aggregate, s.card(processCard), "ja", s.now)
			if err := card.Validate(m); err != nil {
				t.Fatal(err)
			}
			pages, lines, last := 0, 0, ""
			for _, b := range m.Attachments[0].Blocks.BlockSet {
				if sec, ok := b.(*slack.SectionBlock); ok {
					pages++
					all := strings.Split(sec.Text.Text, "\n")
					lines, last = lines+len(all), all[len(all)-1]
				}
			}
			if pages != tc.pages {
				t.Errorf("%d sections, want %d", pages, tc.pages)
			}
			if tc.countLine == "" && lines != tc.n {
				t.Errorf("%d lines for %d steps", lines, tc.n)
			}
			if tc.countLine != "" && last != fmt.Sprintf("…ほか %d 件", tc.n-(lines-1)) {
				t.Errorf("the last of %d lines is %q", lines, last)
			}
		})
	}
}

func TestArgumentsHidePersonalDataButWhereTheyGo(t *testing.T) {
	shown := func(args task.Blob) string {
		s := gated(t, args)
		m := card.Render(s.Aggregate, s.card(stepCard), "ja", s.now)
		if err := card.Validate(m); err != nil {
			t.Fatal(err)
		}
		b, err := json.Marshal(m)
		if err != nil {
			t.Fatal(err)
		}
		return string(b)
	}
	const told = "個人情報は * で伏せています"
	got := shown(task.Blob{JSON: `{"recipient":"hanako@example.com","rows":[{"email":"ichiro@example.com","id":123456789018}],"text":"電話 090-1234-5678"}`})
	for _, want := range []string{"hanako@example.com", "i*****@example.com", "***-****-**78", "123456789018", told} {
		if !strings.Contains(got, want) {
			t.Errorf("the card lacks %s: %s", want, got)
		}
	}
	if strings.Contains(got, "ichiro") || strings.Contains(got, "090-1234") {
		t.Errorf("the card shows %s", got)
	}
	if got := shown(task.Blob{JSON: `{"recipient":"hanako@example.com","n":1}`}); strings.Contains(got, told) {
		t.Errorf("nothing is hidden: %s", got)
	}
	if got := shown(task.Blob{S3Key: "k", Bytes: 5000, Preview: `{"recipient":"hanako@example.com","rows":[{"email":"i*****@example.com"},"… +41"]`}); !strings.Contains(got, told) || !strings.Contains(got, "hanako@") {
		t.Errorf("a preview: %s", got)
	}
	if got := shown(task.Blob{JSON: `hanako@example.com, no JSON`}); strings.Contains(got, "hanako") {
		t.Errorf("no JSON: %s", got)
	}
}

// What people stamp they must have seen: a policy of 8,000 characters, the most that a model may write.
func TestALongPolicyIsShownWhole(t *testing.T) {
	for name, tc := range map[string]struct {
		text  string
		pages int
	}{
		"short":               {"方針", 1},
		"one section":         {strings.Repeat("あ", 3000), 1},
		"one line":            {strings.Repeat("あ", 8000), 3},
		"many lines":          {strings.Repeat("目的: 四月の勤怠\n", 800), 3},
		"lines of half a one": {strings.Repeat(strings.Repeat("あ", 1598)+"\n\n", 5), 3},
		"a page of spaces":    {"a" + strings.Repeat(" ", 6000) + "b", 2},
		"escaped":             {strings.Repeat("<&>", 600), 3},
	} {
		t.Run(name, func(t *testing.T) {
			s := received(t).extracted().drafting()
			s.do(s.FinishPrompt(s.Head.Run, tc.text, task.DefaultSettings(), s.now))
			m := card.Render(s.Aggregate, s.card(promptCard), "ja", s.now)
			if err := card.Validate(m); err != nil {
				t.Fatal(err)
			}
			shown, pages := "", 0
			for _, b := range m.Attachments[0].Blocks.BlockSet {
				if sec, ok := b.(*slack.SectionBlock); ok {
					shown, pages = shown+sec.Text.Text, pages+1
				}
			}
			words := func(s string) string { return strings.Join(strings.Fields(s), "") }
			if want := words(strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;").Replace(tc.text)); words(shown) != want || pages != tc.pages {
				t.Errorf("%d sections show %d of %d bytes", pages, len(words(shown)), len(want))
			}
		})
	}
}

func TestLongArgumentsPageAndSayWhatIsCut(t *testing.T) {
	rows := make([][]string, 500)
	for i := range rows {
		rows[i] = []string{fmt.Sprint(i), "山田 太郎", "160:00", "<12:30>"}
	}
	b, err := json.Marshal(map[string]any{"rows": rows[:100]})
	if err != nil {
		t.Fatal(err)
	}
	texts := func(args task.Blob) (sections []string, note string) {
		s := gated(t, args)
		m := card.Render(s.Aggregate, s.card(stepCard), "ja", s.now)
		if err := card.Validate(m); err != nil {
			t.Fatal(err)
		}
		for _, b := range m.Attachments[0].Blocks.BlockSet[2:] {
			switch b := b.(type) {
			case *slack.SectionBlock:
				sections = append(sections, b.Text.Text)
			case *slack.ContextBlock:
				if text := b.ContextElements.Elements[0].(*slack.TextBlockObject).Text; strings.Contains(text, "バイト") {
					note = text
				}
			}
		}
		return sections, note
	}
	sections, note := texts(task.Blob{JSON: task.JSON(b), Bytes: len(b)})
	if len(sections) != 2 || note != "" {
		t.Errorf("100 rows: %d sections, note %q", len(sections), note)
	}
	for i := range 100 {
		if !strings.Contains(strings.Join(sections, ""), fmt.Sprintf(`["%d", "山田`, i)) {
			t.Errorf("row %d is not shown", i)
		}
	}
	b, err = json.Marshal(map[string]any{"rows": rows})
	if err != nil {
		t.Fatal(err)
	}
	sections, note = texts(task.Blob{JSON: task.JSON(b), Bytes: len(b)})
	if len(sections) != 3 || !strings.Contains(note, fmt.Sprint(len(b))) {
		t.Errorf("500 rows: %d sections, note %q", len(sections), note)
	}
	for _, s := range sections {
		if strings.Count(s, "```") != 2 || !strings.HasSuffix(s, "\n```") {
			t.Errorf("a section has no code block of its own: %q", s)
		}
	}
	sections, note = texts(task.Blob{JSON: task.JSON(strings.Repeat("[", 30000))})
	if len(sections) == 0 || note == "" {
		t.Errorf("deep nonsense: %d sections, note %q", len(sections), note)
	}
	sections, _ = texts(task.Blob{JSON: `{"a":"x` + "```" + `\n<!channel>","b":1e400,"c":[],"d":{}}`})
	if want := "*引数*\n```\n{\n  \"a\": \"x\\u0060\\u0060\\u0060\\n&lt;!channel&gt;\",\n  \"b\": 1e400,\n  \"c\": [],\n  \"d\": {}\n}\n```"; sections[0] != want {
		t.Errorf("got %q, want %q", sections[0], want)
	}
}
