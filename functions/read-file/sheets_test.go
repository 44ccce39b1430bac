package main

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// looks are styles of cells, in the order of their numbers: plain, white, the theme's white, a bit darker than that,
// white on blue, white on a fill of white, a color by its number, two fonts of pictures,
// and a color near white.
var looks = `<styleSheet><fonts><font/><font><color rgb="FFFFFFFF"/></font><font><color theme="0"/></font>` +
	`<font><color theme="0" tint="-0.5"/></font><font><color indexed="9"/></font><font><name val="Wingdings"/></font>` +
	`<font><name val="Wingdings 2"/></font><font><color rgb="FFFEFEFE"/></font></fonts><fills><fill><patternFill ` +
	`patternType="none"/></fill><fill><patternFill patternType="gray125"/></fill><fill><patternFill patternType="solid">` +
	`<fgColor rgb="FF1F4E78"/></patternFill></fill><fill><patternFill patternType="solid"><fgColor theme="0"/>` +
	`</patternFill></fill></fills><cellStyleXfs><xf fontId="1"/></cellStyleXfs><cellXfs><xf fontId="0"/>` +
	`<xf fontId="1" fillId="0"/><xf fontId="2"/><xf fontId="3"/>` +
	`<xf fontId="1" fillId="2"/><xf fontId="1" fillId="3"/><xf fontId="4"/>` +
	`<xf fontId="5"/><xf fontId="6"/><xf fontId="7"/></cellXfs></styleSheet>`

// sheetOf reads a book with these styles. Its rows are lists of cells, each with its style.
func sheetOf(t *testing.T, shared, rows string, more ...string) isolated.FileText {
	t.Helper()
	got := read(book(t, shared, rows, append([]string{"xl/styles.xml", looks}, more...)...), "a.xlsx", soon())
	got.Text = strings.TrimPrefix(got.Text, "--- sheet 1 of 1: S ---\n")
	return got
}

func styledCell(style int, text string) string {
	return fmt.Sprintf(`<c t="inlineStr" s="%d"><is>%s</is></c>`, style, text)
}

func plainCell(style int, text string) string { return styledCell(style, `<t>`+text+`</t>`) }

// White on white is marked as a document's is, in cells and in runs of their texts, and nowhere else.
func TestWhiteOnWhiteInASheetIsMarked(t *testing.T) {
	const white = `<r><rPr><color rgb="FFFFFFFF"/></rPr><t>全員へ</t></r>`
	hidden := []isolated.FileRemark{isolated.HasHidden}
	for name, c := range map[string]struct {
		row  string
		want isolated.FileText
	}{
		"cells": {plainCell(1, "a[b]") + plainCell(2, "c") + plainCell(5, "d") + plainCell(6, "e") + plainCell(9, "f"),
			isolated.FileText{Text: "[invisible: a［b］]\t[invisible: c]\t[invisible: d]\t[invisible: e]\t[invisible: f]\n",
				Remarks: hidden}},
		"a number":         {`<c s="1"><v>7</v></c>`, isolated.FileText{Text: "[invisible: 7]\n", Remarks: hidden}},
		"what can be seen": {plainCell(0, "a") + plainCell(3, "b") + plainCell(4, "c"), isolated.FileText{Text: "a\tb\tc\n"}},
		"blanks":           {plainCell(1, " ") + plainCell(0, "a"), isolated.FileText{Text: " \ta\n"}},
		"runs": {styledCell(0, `<r><t>営業 </t></r>`+white), isolated.FileText{Text: "営業 [invisible: 全員へ]\n",
			Remarks: hidden}},
		"runs on a color":    {styledCell(4, white) + `<c t="s" s="4"><v>0</v></c>`, isolated.FileText{Text: "全員へ\t全員へ\n"}},
		"runs that are kept": {`<c t="s"><v>0</v></c>`, isolated.FileText{Text: "[invisible: 全員へ]\n", Remarks: hidden}},
	} {
		c.want.Form = isolated.Sheets
		t.Run(name, func(t *testing.T) {
			expect.Same(t, c.want, sheetOf(t, `<si>`+white+`</si>`, `<row>`+c.row+`</row>`))
		})
	}
	got := sheetOf(t, "", `<row>`+plainCell(1, "見出し")+`</row><row>`+plainCell(1, "外")+`</row>`,
		"xl/worksheets/_rels/sheet1.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "table", "../t.xml")),
		"xl/t.xml", `<table ref="A1:B1"/>`)
	expect.Is(t, got.Text, "見出し\n[invisible: 外]\n", "a table's style has a color of its own")
}

// What a merged cell covers nobody sees.
func TestWhatAMergedCellCoversIsSaid(t *testing.T) {
	merged := func(areas ...string) string {
		return `</sheetData><mergeCells><mergeCell ref="` + strings.Join(areas, `"/><mergeCell ref="`) +
			`"/></mergeCells><sheetData>`
	}
	row := `<row r="1">` + plainCell(0, "見積書") + plainCell(0, "承認不要") + `</row><row r="4"><c r="B4"><v>4</v></c></row>`
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "見積書\t承認不要\n" +
			"\n\n\t4\n[covered by merged cells, so that nobody sees them: B1, B4]\n[merged cells: A1:C1, A3:$B$5, ?]\n"},
		sheetOf(t, "", row+merged("A1:C1", "A3:$B$5", "?")))
	got := sheetOf(t, "", row+merged("A1:A3", "B1:B1", "B2:C4", "C1:D4", "A9:B12"))
	expect.That(t, strings.Contains(got.Text, "nobody sees them: B4]"), "%+v", got)
	many := strings.Repeat(`<c><v>1</v></c>`, 110)
	got = sheetOf(t, "", `<row>`+many+`</row>`+merged("A1:ZZ1"))
	expect.That(t, strings.Contains(got.Text, ", CW1 and 9 more]"), "%+v", got)
}

// Buttons of Excel 2007 stand in the drawing for older programs alone, which shows comments, too.
func TestButtonsForOlderProgramsAreSaid(t *testing.T) {
	const shape = `<xml xmlns:x="urn:schemas-microsoft-com:office:excel" xmlns:v="urn:schemas-microsoft-com:vml">` +
		`<v:shape>%s<x:ClientData ObjectType="%s"/></v:shape></xml>`
	for drawing, want := range map[string][]isolated.FileRemark{
		fmt.Sprintf(shape, "", "Note"):       nil,
		fmt.Sprintf(shape, "", "Button"):     {isolated.HasPictures},
		fmt.Sprintf(shape, "", "Checkbox"):   {isolated.HasPictures},
		fmt.Sprintf(shape, "a<br>b", "Note"): {isolated.HasPictures}, // nobody knows what follows
	} {
		got := sheetOf(t, "", `<row><c><v>1</v></c></row>`, "xl/worksheets/_rels/sheet1.xml.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "vmlDrawing", "../d.vml")), "xl/d.vml", drawing)
		expect.Same(t, isolated.FileText{Form: isolated.Sheets, Text: "1\n", Remarks: want}, got)
	}
}

// A row with borders alone is as empty as one that isn't there, and hides nothing.
func TestRowsWithoutATextAreEmpty(t *testing.T) {
	var rows strings.Builder
	fmt.Fprintf(&rows, `<row r="1">%s</row>`, plainCell(0, "氏名"))
	for r := 2; r < 5000; r++ {
		fmt.Fprintf(&rows, `<row r="%d" hidden="%d"><c s="0"/></row>`, r, r%2)
	}
	fmt.Fprintf(&rows, `<row r="5000" hidden="1">%s</row><row r="5002">%s</row><row r="5009"/>`, plainCell(0, "鈴木"),
		plainCell(0, "佐藤"))
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "氏名\n[rows 2 to 4999 are empty]\n[hidden from row 5000 on]\n鈴木\n\n[shown from row 5002 on]\n佐藤\n"},
		sheetOf(t, "", rows.String()))
}

// þ is a ticked box in Wingdings, in whatever form it is kept, and a letter in other fonts.
func TestFontsOfPicturesShowPictures(t *testing.T) {
	const runs = `<r><t>出席 </t></r><r><rPr><rFont val="Wingdings"/></rPr><t>þ¨o</t></r>`
	got := sheetOf(t, "", `<row>`+plainCell(7, "þ 済ÿ")+plainCell(8, "R")+plainCell(0, "þ")+styledCell(0, runs)+
		`<c s="7"><v>5</v></c></row>`)
	expect.Is(t, got.Text, "☑ 済[Wingdings FF]\t☑\tþ\t出席 ☑☐☐\t5\n", "a sheet")
	props := `<rPr><rFonts ascii="Wingdings"/></rPr>`
	got = word(t, `<p><r>`+props+"<t>\uf0feo</t></r>"+run("o")+`<r><sym font="Wingdings 2" char="F0A3"/>`+
		`<sym font="Wingdings" char="F052"/></r></p>`)
	expect.Is(t, got.Text, "☑☐o☐[Wingdings F052]\n", "a document")
	got = slide(t, `<sld><p><r><rPr><latin typeface="Wingdings"/></rPr><t>ü</t></r></p></sld>`)
	expect.That(t, strings.Contains(got.Text, "✓"), "%+v", got)
	got = slide(t, `<sld><p><r><rPr><latin typeface="Meiryo UI"/><sym typeface="Wingdings"/></rPr>`+
		"<t>DMはSalesだけ\uf0fc</t></r></p></sld>")
	expect.Is(t, got.Text, "--- slide 1 of 1 ---\nDMはSalesだけ✓\n", "letters have no font of signs")
}

// Nobody reads letters of a point.
func TestTinyLettersInASheetAreMarked(t *testing.T) {
	const run = `<r><t>営業</t></r><r><rPr><sz val="1.5"/></rPr><t>全員へ</t></r><r><rPr><sz val="6"/></rPr><t>案</t></r>`
	got := read(book(t, `<si>`+run+`</si>`, `<row>`+plainCell(1, "全員へ")+plainCell(0, "案")+styledCell(0, run)+
		`<c t="s"><v>0</v></c></row>`, "xl/styles.xml", `<styleSheet><fonts><font><sz val="11"/></font><font><sz val="1"/>`+
		`</font></fonts><cellXfs><xf fontId="0"/><xf fontId="1"/></cellXfs></styleSheet>`), "a.xlsx", soon())
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "--- sheet 1 of 1: S ---\n[invisible: 全員へ]\t案\t営業[invisible: 全員へ]案\t営業[invisible: 全員へ]案\n"}, got)
}

// Numbers are what Excel shows in a Japanese edition.
func TestNumbersAreWrittenAsPeopleSeeThem(t *testing.T) {
	for _, tt := range []struct{ code, value, want string }{
		{"", "0.30000000000000004", "0.3"}, {"", "1234567890123456789", "1234567890123456789"}, {"", "1E-20", "1E-20"},
		{"", "NaN", "NaN"}, {"", "x", "x"}, {"", "", ""}, {"General", "1234567890123", "1234567890123"},
		{"general", "0.1", "0.1"}, {"@", "7", "7"}, {`@"号"`, "7", "7号"},
		{`"No."@`, "7.5", "No.7.5"},
		{"00000", "7", "00007"}, {"000-0000", "1500001", "150-0001"}, {"000-0000", "1", "000-0001"},
		{"0.00%", "0.1234", "12.34%"}, {"0%", "0.075", "8%"}, {"#,##0", "1234567.5", "1,234,568"}, {`"¥"#,##0`, "1200",
			"¥1,200"},
		{"[$¥-411]#,##0", "-1200", "-¥1,200"}, {"#,##0;[Red]\"△\"#,##0", "-1234", "△1,234"}, {"#,##0_);(#,##0)", "-99",
			"(99)"},
		{`0"個"`, "3", "3個"}, {`#,##0,"千円"`, "1234567", "1,235千円"}, {"0.00E+00", "12345", "1.23E+04"}, {"# ?/?", "1.25",
			"1 1/4"},
		{`[>=1000]#,##0"千";0`, "7", "7"}, {`[>=1000]#,##0"千";0`, "1500", "1,500千"}, {`[<0]"△"0;0`, "-5", "△5"},
		{`[<-10]#" Wow"`, "-11", "-11 Wow"},
		{`[<=99999999]####-####;\(00\)\ ####-####`, "312345678", "(03) 1234-5678"},
		{`[<=99999999]####-####;\(00\)\ ####-####`, "12345678", "1234-5678"}, {`[=1]"一";[=2]"二"`, "3", "3"},
		{"yyyy/m/d", "46114", "2026/4/2"}, {`yyyy"年"m"月"d"日"`, "46114", "2026年4月2日"}, {"yyyy/m/d (aaa)", "46114",
			"2026/4/2 (木)"},
		{"aaaa", "46114", "木曜日"}, {"ddd", "46114", "Thu"}, {`[$-411]ggge"年"m"月"d"日"`, "46114", "令和8年4月2日"},
		{`[$-411]ggge"年"m"月"d"日"`, "43585", "平成31年4月30日"}, {`[$-411]ggge"年"m"月"d"日"`, "43586", "令和1年5月1日"},
		{`[$-ja-JP-x-gannen]ggge"年"m"月"d"日"`, "43586", "令和元年5月1日"}, {"[$-411]ge.m.d", "32516", "H1.1.8"},
		{"[$-411]ge.m.d", "32515", "S64.1.7"}, {`gg"ee"ee`, "43586", "令ee01"}, {"[$-411]ge.m.d", "-1", "-1"},
		{"[$-411]ge.m.d", "2958466", "2958466"}, {"yyyy-mm-dd hh:mm", "46114.75", "2026-04-02 18:00"}, {"[h]:mm", "1.5",
			"36:00"},
		{"h:mm AM/PM", "0.75", "6:00 PM"}, {"mm:ss", "0.01", "14:24"}, {"yyyy-mm-dd", "60", "1900-02-29"},
		{"[Color 3]0.0", "5", "5.0"}, {"[色3]0", "5", "5"}, {"¥#,##0;[赤]-¥#,##0", "-1234", "-¥1,234"}, {"0%;[赤]-0%", "-0.25",
			"-25%"},
		{`_ * #,##0_ ;_ * -#,##0_ ;_ * "-"_ ;_ @_ `, "0", "-"}, {"0;-0;;@", "0", ""}, {"0;;", "-5", ""},
		{"+0;-0;±0", "0", "±0"}, {"0;0", "-5", "5"}, {"#", "0", ""}, {"#,###", "0", ""}, {`#,###"円"`, "0.4", "円"}, {"#,###",
			"0.5", "1"},
		{"#.##", "0.02", ".02"}, {"0.#", "27", "27."},
		{`#,##0.0,,"百万円"`, "12350000", "12.4百万円"}, {"#,##0,", "1234500", "1,235"},
		{"0.0%", "0.1255", "12.6%"}, {"0.00%", "-0.12345", "-12.35%"}, {"#,##0", "0", "0"},
		{`General"件"`, "5", "5件"}, {"G/標準", "5.5", "5.5"}, {`General"件"`, "-5", "-5件"},
		{"0.??", "27.5", "27.5"}, {"#,##0.??", "1234.56", "1,234.56"}, {"???.???", "44.398", "44.398"},
		{"0.0?", "12.34", "12.34"}, {"¥#,##0.??", "1980.5", "¥1,980.5"},
		{`_(* #,##0_);_(* \(#,##0\);_(* "-"??_);_(@_)`, "0", "-"}, {"?,???", "1234567", "1,234,567"},
		{`_ * #,##0.00_ ;_ * \-#,##0.00_ ;_ * "-"??_ ;_ @_ `, "0", "-"}, {"|??.??|", "-1.1", "-| 1.1 |"},
		{"#,.#,", "1234567", "1.2"}, {"0,000000000", "1234567", "0,001,234,567"},
		{"0,0.0%%", "123.45", "1,234,500.0%%"}, {",0", "1234", ",1234"}, {"0.00", "999.995", "1000.00"},
		{"0", "1e20", "100000000000000000000"}, {"0", "1234567890123456789", "1234567890123460000"},
		{"###-####", "5", "-5"}, {"0/100", "0.25", "25/100"}, {`# ?/100"点"`, "-1.25", "-1 25/100点"},
		{"# ?/8", "2", "2"}, {"# ?/8", "0", "0"}, {"0 0/8", "0.5", "0 4/8"}, {`"1/8 "0`, "3", "1/8 3"},
		{"?/?", "1.25", "5/4"}, {"??/??", "0.5", "1/2"}, {`#\:#/#`, "23.75", "23.75"},
		{`[$€-2] #,##0.00`, "5", "€ 5.00"}, {`"a;b"0`, "5", "a;b5"}, {"*x0", "5", "5"},
		{"# ?/?", "0.75", "3/4"}, {"0.00", "1.005", "1.01"}, {"0.00", "-2.675", "-2.68"}, {"0.0", "28.499999999999996",
			"28.5"},
		{"0", "0.285e2", "29"}, {"r/m/d", "46114", "08/4/2"}, {"rr.m.d", "46114", "令和08.4.2"}, {"bbbb/m/d", "46114",
			"2569/4/2"},
		{`0"ggge"`, "3", "3ggge"}, {`"Gram "0.0`, "1.25", "Gram 1.3"}, {"yyyy/m/d;@", "46114", "2026/4/2"},
		{codeOf("41"), "0", "-"}, {codeOf("44"), "-3", "-3.00"}, {codeOf("14"), "46114", "2026/4/2"}, {codeOf("58"), "46114",
			"令和8年4月2日"}, {codeOf("33"), "0.75", "18時00分00秒"},
		{codeOf("37"), "-1234", "-1,234"}, {codeOf("46"), "1.5", "36:00:00"}, {codeOf("999"), "5", "5"},
	} {
		expect.Is(t, (&formats{}).number(tt.value, tt.code), tt.want, "%s as %s", tt.value, tt.code)
	}
	expect.Is(t, (&formats{from04: true}).number("44652.5", "yyyy-mm-dd hh:mm"), "2026-04-02 12:00")
	expect.Is(t, (&formats{from04: true}).number("1", "[$-411]gge"), "明37")
	for code, want := range map[string]string{"yyyy-mm-dd h:mm": "1904-01-01 12:00", "[h]:mm": "12:00", "0.0": "0.5",
		"h:mm": "12:00"} {
		expect.Is(t, (&formats{from04: true}).number("0.5", code), want, code)
	}
	expect.Is(t, (&formats{}).text("佐藤", `@"様"`), "佐藤様")
	many := &formats{}
	for i := range maxFormats + 10 {
		expect.Is(t, many.number("7", fmt.Sprintf(`0"%d"`, i)) != "", true)
	}
}

// FuzzNumber asks that no format makes a number fail, or something else of it that can't be shown.
func FuzzNumber(f *testing.F) {
	for _, code := range []string{`[$-411]ggge"年"m"月"d"日";@`, `_ * #,##0_ ;[Red]-#,##0;"-"`, `[<=9999]##-##;\(0\) 0.0,%`,
		"# ?/?", "[h]:mm", "rr.mm.dd"} {
		f.Add(code, 46114.5, true)
		f.Add(code, -3.25, false)
	}
	f.Fuzz(func(t *testing.T, code string, n float64, from04 bool) {
		shown := (&formats{from04: from04}).number(strconv.FormatFloat(n, 'g', -1, 64), code)
		if strings.ContainsFunc(shown, func(r rune) bool {
			return r < ' ' || r >= 0xf8e0 && r <= 0xf8e9 &&
				!strings.ContainsRune(code, r)
		}) {
			t.Errorf("%g as %q: %q", n, code, shown)
		}
	})
}

const styled = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="00000"/><numFmt numFmtId="165" formatCode="@&quot;様&quot;"/></numFmts>` +
	`<cellXfs><xf numFmtId="0"/><xf numFmtId="164"/><xf numFmtId="9"/><xf numFmtId="165"/></cellXfs></styleSheet>`

// What people don't see of a sheet, or see beside its cells, is said.
func TestASheetIsWhatPeopleSeeAndSaysWhatTheyDont(t *testing.T) {
	file := zipped(t, []string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "xl/workbook.xml")),
		"xl/workbook.xml", head + `<workbook xmlns:r="` + kind + `"><sheets><sheet name="S" r:id="r2"/></sheets></workbook>`,
		"xl/_rels/workbook.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "worksheet", "worksheets/sheet1.xml")+
			fmt.Sprintf(ref, "r3", "styles", "styles.xml")),
		"xl/styles.xml", head + styled,
		"xl/worksheets/sheet1.xml",
		head + `<worksheet><cols><col min="2" max="3" hidden="1"/><col min="5" max="5" hidden="true"/></cols><sheetData>` +
			`<row r="1"><c r="A1" s="1"><v>7</v></c><c r="B1" s="2"><v>0.5</v></c></row>` +
			`<row r="2" hidden="1"><c r="A2"><v>2</v></c></row><row r="3" hidden="1"><c r="A3" t="b"><v>1</v></c></row>` +
			`<row r="4"><c r="A4" t="inlineStr" s="3"><is><t>佐藤</t></is></c><c r="B4" t="e"><v>#N/A</v></c></row>` +
			`<row r="5" ht="0" customHeight="1"><c r="A5"><v>5</v></c></row></sheetData><mergeCells><mergeCell ref="A4:C4"/><mergeCell ref="D1:D3"/></mergeCells>` +
			`<headerFooter differentOddEven="1"><oddHeader>&amp;C&amp;"ＭＳ,Bold"&amp;14社外秘&amp;R&amp;P/&amp;N</oddHeader>` +
			`<oddFooter>&amp;L&amp;K01+000R&amp;&amp;D &amp;D</oddFooter><evenHeader>偶数</evenHeader></headerFooter></worksheet>`,
		"xl/worksheets/_rels/sheet1.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "comments", "../comments1.xml")+
			fmt.Sprintf(ref, "r2", "threadedComment", "../threadedComments/t.xml")+fmt.Sprintf(ref, "r3", "drawing",
			"../drawings/d.xml")),
		"xl/comments1.xml", head + `<comments><authors><author>佐藤</author><author>tc={B4}</author></authors><commentList>` +
			`<comment ref="A1" authorId="0"><text><r><t>要</t></r><r><t>確認</t></r></text></comment>` +
			`<comment ref="B4" authorId="1"><text><t>[スレッド化されたコメント]&#10;使用しているバージョンの…` +
			`なぜ N/A?</t></text></comment></commentList></comments>`,
		"xl/threadedComments/t.xml",
		head + `<ThreadedComments><threadedComment ref="B4"><text>なぜ N/A?</text></threadedComment></ThreadedComments>`,
		"xl/drawings/d.xml", head + `<wsDr><sp><txBody><p><r><t>社外秘</t></r></p></txBody></sp><pic><blipFill><blip/></blipFill></pic></wsDr>`,
	})
	expect.Same(t, isolated.FileText{Form: isolated.Sheets, Remarks: []isolated.FileRemark{isolated.HasHidden, isolated.HasPictures}, Text: `--- sheet 1 of 1: S ---
[columns B to C are hidden]
[column E is hidden]
00007	50%
[hidden from row 2 on]
2
TRUE
[shown from row 4 on]
佐藤様	#N/A
[hidden from row 5 on]
5
[covered by merged cells, so that nobody sees them: B4]
[merged cells: A4:C4, D1:D3]
--- header of S ---
社外秘
(page)/(pages)
偶数
--- footer of S ---
R&D (date)
--- comments of S ---
A1, 佐藤: 要確認
B4: なぜ N/A?
--- text boxes of S ---
社外秘
`}, read(file, "a.xlsx", soon()))
}

// Each cell stands in its column, and has what was saved of it. What stands on the sheet beside cells is said.
func TestCellsAreReadWhereAndAsTheyWereSaved(t *testing.T) {
	const in, anchor = `<c t="inlineStr"><is><t>`, `<from><xdr:col>1</xdr:col><xdr:row>2</xdr:row></from>`
	pictures, formulas := []isolated.FileRemark{isolated.HasPictures}, []isolated.FileRemark{isolated.HasFormulas}
	for _, c := range map[string]struct {
		rows, text string
		remarks    []isolated.FileRemark
	}{
		"empty cells without a name": {`<row>` + in + `氏名</t></is></c>` + in +
			`手当</t></is></c></row><row><c/><c/><c><v>5000</v></c></row>`, "氏名\t手当\n\t\t5000\n", nil},
		"empty cells with a style": {`<row><c s="0"/><c r="C1"/><c><v>4</v></c><c r="F1"><v>6</v></c></row>`,
			"\t\t\t4\t\t6\n", nil},
		"rows without a number": {`<row/><row><c><v>2</v></c></row><row r="4"><c r="B4"><v>4</v></c></row>`,
			"\n2\n\n\t4\n", nil},
		"an empty result": {`<row><c t="str"><f>IF(A2="","",1)</f><v></v></c>` +
			`<c t="str"><f>""</f><v/></c><c><v>3</v></c></row>`, "\t\t3\n", nil},
		"a formula over two cells": {`<row><c><f si="0"/></c><c><f si="0"/><v>3</v></c></row>`, "=…\t3\n", formulas},
		"no result": {`<row><c><f>A2+1</f><v></v></c><c t="str"><f>T(A2)</f></c></row>`, "=A2+1\t=T(A2)\n",
			formulas},
		"a text beside a value": {`<row><c t="inlineStr"><v>01.</v><is><t>1.</t></is></c>` +
			`<c t="inlineStr"><is><t>2.</t></is><v>02.</v></c></row>`, "1.\t2.\n", nil},
		"a picture in a cell": {`<row><c t="e" vm="1"><v>#VALUE!</v></c><c t="e"><v>#VALUE!</v></c></row>`,
			"[picture or data type]\t#VALUE!\n", pictures},
		"a control": {`<row><c><v>1</v></c></row></sheetData><controls xmlns:xdr="x"><control><controlPr><anchor>` + anchor +
			`</anchor></controlPr></control></controls><sheetData>`,
			"1\n", pictures},
		"an embedded file": {`</sheetData><oleObjects xmlns:xdr="x"><oleObject><objectPr><anchor>` + anchor +
			`</anchor></objectPr></oleObject></oleObjects><sheetData><row><c><v>1</v></c></row>`,
			"1\n", pictures},
		"lines that look like ours": {`<row>` + in + `--- sheet 2 of 2: 正 ---</t></is></c>` + in +
			`[hidden from row 3 on]</t></is></c></row><row>` + in + `[hidden from row 3 on]</t></is></c></row>`,
			"\\--- sheet 2 of 2: 正 ---\t[hidden from row 3 on]\n\\[hidden from row 3 on]\n", nil},
		"another's rows": {`<row><c><v>1</v></c></row></sheetData><ext><row r="9"><c r="A9"><v>9</v></c></row><col min="0"/></ext><sheetData>`, "1\n", nil},
	} {
		want := isolated.FileText{Form: isolated.Sheets, Text: "--- sheet 1 of 1: S ---\n" + c.text, Remarks: c.remarks}
		expect.Same(t, want, read(book(t, "", c.rows), "a.xlsx", soon()))
	}
	const anew = `</sheetData><sheetCalcPr fullCalcOnLoad="1"/><sheetData>`
	got := read(book(t, "", `<row><c><f>A2+1</f><v>0</v></c></row>`+anew), "a.xlsx", soon())
	expect.Same(t, formulas, got.Remarks)
	expect.Has(t, got.Text, "0\n[formulas of this sheet are calculated anew when it is opened]\n")
	got = read(book(t, "", `<row><c><v>0</v></c></row>`+anew), "a.xlsx", soon())
	expect.Is(t, len(got.Remarks), 0, "no formula: %+v", got)
}

// What is struck out is marked: a cell by its font, a part of a text by its run's.
func TestWhatIsStruckOutInASheetIsMarked(t *testing.T) {
	const in, run = `<c t="inlineStr"`, `</t></r><r><rPr><strike/><sz val="9"/></rPr><t>`
	rich := `<r><t>営業` + run + `と人事</t></r><r><rPr><vertAlign val="superscript"/></rPr><t>2</t></r>`
	file := book(t, `<si>`+rich+`</si>`,
		`<row><c t="s"><v>0</v></c>`+in+`><is>`+rich+`</is></c>`+
			`<c s="1"><v>7</v></c>`+in+` s="1"><is><t>取消</t></is></c><c s="2"><v>8</v></c><c s="1"/>`+
			in+` s="3"><is><t>隠</t></is></c></row>`,
		"xl/styles.xml", `<styleSheet><numFmts><numFmt numFmtId="165" formatCode=";;;"/></numFmts><fonts><font/><font><strike/></font><font><strike val="0"/></font></fonts><dxfs><dxf><font><strike/></font></dxf></dxfs>`+
			`<cellXfs><xf fontId="0"/><xf fontId="1"/><xf fontId="2"/><xf numFmtId="165"/></cellXfs></styleSheet>`)
	expect.Same(t, isolated.FileText{Form: isolated.Sheets,
		Remarks: []isolated.FileRemark{isolated.HasStruck, isolated.HasHidden},
		Text:    "--- sheet 1 of 1: S ---\n営業~~と人事~~^2\t営業~~と人事~~^2\t~~7~~\t~~取消~~\t8\t\t隠\n"}, read(file, "a.xlsx", soon()))
}

// A broken workbook is said to be broken, however it is.
func TestABrokenWorkbookIsBroken(t *testing.T) {
	row := `<row r="1"><c r="A1"><v>1</v></c></row>`
	for name, file := range map[string][]byte{
		"a row beyond the last": book(t, "",
			`<row r="9223372036854775807"><c><v>1</v></c></row><row><c><v>2</v></c></row>`),
		"rows after the last":         book(t, "", `<row r="1048576"/><row/>`),
		"a text that isn't there":     book(t, "<si><t>a</t></si>", `<row><c t="s"><v>1</v></c></row>`),
		"a text by a negative number": book(t, "<si><t>a</t></si>", `<row><c t="s"><v>-1</v></c></row>`),
		"a column that ends before":   book(t, "", `</sheetData><cols><col min="3" max="2"/></cols><sheetData>`),
		"no sheet where it says": zipped(t, []string{
			"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "xl/workbook.xml")),
			"xl/workbook.xml", head + `<workbook xmlns:r="` + kind + `"><sheets><sheet name="S" r:id="r2"/></sheets></workbook>`}),
		"it is cut off": book(t, "", strings.Repeat(row, 100))[:900],
	} {
		expect.Is(t, read(file, "a.xlsx", soon()).Why, isolated.Broken, name)
	}
}
