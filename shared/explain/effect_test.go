package explain_test

import (
	"fmt"
	"strings"
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/rules"
	"ringi/shared/domain/task"
	"ringi/shared/explain"
	"ringi/shared/runtime/expect"
)

// drawn writes an effect as surfaces do: all of its texts, without the kinds of their pieces.
func drawn(e explain.Effect) string {
	out := []string{fmt.Sprint(e.Order) + ". " + text(e.Sentence)}
	if e.Words != nil {
		out = append(out, "> "+strings.ReplaceAll(text(e.Words), "\n", "\n> "))
	}
	for _, a := range e.Rest {
		out = append(out, "· "+text(a.Name)+" "+text(a.Value))
	}
	return strings.Join(out, "\n")
}

// ordering is the mark of a tool that orders goods.
func ordering() *rules.Mark {
	return &rules.Mark{Version: "v1", How: rules.HowProduct, Currency: "JPY",
		Pointers: []string{"/items/*/quantity", "/items/*/unit_price"}}
}

// write makes a step of a tool that writes.
func write(tool string, mark *rules.Mark, input string) task.Step {
	return task.Step{StepID: "step-1", Order: 1, Tool: tool, ToolInput: aggregate.JSON(input), Access: aggregate.Write,
		ToolVersion: "v1", Mark: mark}
}

const laptops = `{"supplier":"アクメ","currency":"JPY","reference":"R-70d3903e","items":[` +
	`{"name":"ノート PC 14 型","quantity":1,"unit_price":149000},{"unit_price":149000,"quantity":1,` +
	`"name":"デスクトップ PC"}]}`

func TestWhatAStepDoes(t *testing.T) {
	for name, c := range map[string]struct {
		step   task.Step
		ja, en string
	}{
		"what a sheet won't have": {write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"1aB","sheet":"a",`+
			`"columns":[{"key":"name","title":"氏名"}],"rows":[{"num":1,"name":"x","secret_code":"y"}]}`),
			"1. シート「1aB」のタブ「a」に書き込みます — 1 行\n· 列 氏名 = name\n· 書き込まない列 num、secret_code\n" + "· 行 › 1 氏名: x",
			"1. Writes to the tab “a” of the sheet “1aB” — 1 row\n· Columns 氏名 = name\n" +
				"· Columns not written num, secret_code\n· Rows › 1 氏名: x"},
		"only what nobody has a title for": {write("write_rows_to_google_sheet", nil, `{"spreadsheet_id":"1aB","sheet":"a",`+
			`"columns":[{"key":"num","title":"社員番号"}],"rows":[{"num":1,"secret_code":"y","b":1}]}`),
			"1. シート「1aB」のタブ「a」に書き込みます — 1 行\n· 列 社員番号 = num\n· 書き込まない列 b、secret_code\n" + "· 行 › 1 社員番号: 1",
			"1. Writes to the tab “a” of the sheet “1aB” — 1 row\n· Columns 社員番号 = num\n" +
				"· Columns not written b, secret_code\n· Rows › 1 社員番号: 1"},
	} {
		for locale, want := range map[string]string{"ja": c.ja, "en": c.en} {
			got := drawn(explain.EffectOf(locale, c.step, nil, nil))
			expect.That(t, got == want, "%s, %s:\n%s\nwant\n%s", name, locale, got, want)
		}
	}
}

func TestArgumentsAreCalledAsTheServerDoes(t *testing.T) {
	s := write("rooms.place_order", nil, `{"note_to_supplier":"x","supplier":"A","currency":"JPY",`+
		`"items":[{"unit_price":5,"name":"PC"}],"Account":1,"account_no":2}`)
	s.Declared = `[["/supplier","Supplier of the goods"],["/items",""],["/items/*/unit_price","Unit price"],` +
		`["/items/*/name","Item"],["/currency","Currency"],["/account_no","Account"],["/note_to_supplier",""]]`
	expect.Is(t, drawn(explain.EffectOf("en", s, nil, nil)), "1. Calls place_order on rooms\n"+
		"· “Supplier of the goods” (supplier) A\n· items › 1 unit price: 5 · “Item” (name): PC\n· currency JPY\n"+
		"· “Account” (account_no) 2\n· note to supplier x\n· Account 1")
}
