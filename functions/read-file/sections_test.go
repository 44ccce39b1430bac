package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf16"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// Headers of first and even pages stay in the file after they were turned off: nobody sees them then.
func TestAHeaderThatIsTurnedOffIsSaidToBe(t *testing.T) {
	header := func(text string) string { return `<hdr><p>` + run(text) + `</p></hdr>` }
	refer := func(kind, id string) string { return `<headerReference type="` + kind + `" r:id="` + id + `"/>` }
	all := refer("default", "r0") + refer("first", "r1") + refer("even", "r2")
	for _, c := range []struct{ sections, settings, off string }{
		{`<sectPr>` + all + `</sectPr>`, "", "first even"},
		{`<sectPr>` + all + `<titlePg/></sectPr>`, `<settings><evenAndOddHeaders/></settings>`, ""},
		{`<sectPr>` + all + `<titlePg val="0"/></sectPr><sectPr><titlePg/></sectPr>`, "", "even"},
		{`<sectPr>` + all + `</sectPr>`, `<settings><evenAndOddHeaders val="false"/></settings>`, "first even"},
	} {
		got := word(t, `<p>`+run("本文")+`</p>`+c.sections, "header", header("default"), "header", header("first"), "header",
			header("even"), "settings", c.settings)
		want := "本文\n"
		for _, name := range []string{"default", "first", "even"} {
			off := ""
			if strings.Contains(c.off, name) {
				off = ", not shown"
			}
			want += "\n--- header" + off + " ---\n" + name + "\n"
		}
		expect.Is(t, got.Text, want, "%+v", c)
		expect.Is(t, len(got.Remarks) > 0 && got.Remarks[0] == isolated.HasHidden, c.off != "", "%+v", got)
	}
}

// A note belongs to a place in the text.
func TestNotesKeepTheirPlaces(t *testing.T) {
	refer := func(kind, id string) string { return `<r><` + kind + `Reference id="` + id + `"/></r>` }
	note := func(kind, id, text string) string {
		return `<` + kind + ` id="` + id + `"><p><r><` + kind + `Ref/></r>` + run(text) + `</p></` + kind + `>`
	}
	got := word(t, `<p>`+run("全員")+refer("footnote", "7")+run("、10月")+refer("footnote", "3")+refer("endnote", "3")+
		run("、人事")+refer("comment", "0")+`</p>`,
		"footnotes", `<footnotes>`+note("footnote", "-1", "")+note("footnote", "3", "3日まで")+note("footnote", "7", "派遣を除く")+
			note("footnote", "8", "消えた注")+`</footnotes>`, "endnotes", `<endnotes>`+note("endnote", "3", "末")+`</endnotes>`,
		"comments", `<comments>`+note("comment", "0", "対象外")+`</comments>`)
	expect.Is(t, got.Text, "全員[footnote 1]、10月[footnote 2][endnote 1]、人事[comment 1]\n\n--- footnotes ---\n"+
		"[footnote 2] 3日まで\n[footnote 1] 派遣を除く\n消えた注\n\n--- endnotes ---\n[endnote 1] 末\n\n--- comments ---\n"+
		"[comment 1] 対象外\n", "%+v", got)
}

// Who comments, and that it is done with, is what a comment says, too.
func TestACommentHasAnAuthor(t *testing.T) {
	comment := func(id, author, paragraph string) string {
		return `<comment id="` + id + `" author="` + author + `"><p paraId="` + paragraph + `0">` + run("a") +
			`</p><p paraId="` + paragraph + `1">` + run("b") + `</p></comment>`
	}
	got := word(t, `<p>`+run("営業")+`<r><commentReference id="0"/></r></p>`,
		"comments", `<comments>`+comment("0", "部長] 加藤", "A")+comment("1", "佐藤", "B")+`</comments>`,
		"commentsExtended", `<commentsEx><commentEx paraId="A1" done="1"/><commentEx paraId="B1" done="0"/></commentsEx>`)
	expect.Is(t, got.Text, "営業[comment 1]\n\n--- comments ---\n[comment 1, 部長］ 加藤, resolved] a\nb\n[comment, 佐藤] a\nb\n",
		"%+v", got)
	const people = `<authorLst><author id="{A}" name="加藤"/><author id="{B}" displayName="佐藤"/></authorLst>`
	body := func(text string) string { return `<txBody><p>` + run(text) + `</p><p>` + run("。") + `</p></txBody>` }
	got = slide(t, `<sld/>`, "p/people.xml", people,
		"p/_rels/s1.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "comments", "c.xml")),
		"p/c.xml", `<cmLst><cm authorId="{A}" status="resolved"><replyLst><reply authorId="{B}">`+body("はい")+`</reply>`+
			`<reply authorId="{C}">`+body("了解")+`</reply></replyLst>`+body("要確認")+`</cm><cm authorId="{B}"><text>済</text>`+
			`</cm></cmLst>`)
	expect.Is(t, got.Text, "--- slide 1 of 1 ---\n--- comments ---\n加藤, resolved: 要確認 。\n佐藤: はい 。\n了解 。\n佐藤: 済\n",
		"%+v", got)
	got = read(book(t, "", "", "xl/people.xml", people, "xl/worksheets/_rels/sheet1.xml.rels", fmt.Sprintf(refs,
		fmt.Sprintf(ref, "r1", "comments", "../c.xml")+fmt.Sprintf(ref, "r2", "threadedComment", "../t.xml")),
		"xl/c.xml", `<comments><authors><author>tc={9}</author><author>鈴木</author></authors><commentList>`+
			`<comment ref="A1" authorId="0"><text><t>[スレッド]</t></text></comment><comment ref="A2" authorId="1"><text>`+
			`<r><rPr><b/></rPr><t>鈴木:</t></r><r><rPr><strike/></rPr><t>対象外</t></r><rPh><t>タ</t></rPh></text></comment>`+
			`<comment ref="A3" authorId="1"><text><t>可</t></text></comment></commentList></comments>`,
		"xl/t.xml", `<ThreadedComments><threadedComment ref="A1" personId="{B}" done="1"><text>対象外</text>`+
			`</threadedComment></ThreadedComments>`), "a.xlsx", soon())
	expect.Is(t, got.Text, "--- sheet 1 of 1: S ---\n--- comments of S ---\nA2: 鈴木:~~対象外~~\nA3, 鈴木: 可\n"+
		"A1, 佐藤, resolved: 対象外\n", "%+v", got)
}

// A layout's and a master's own text is on each slide that people see, and what they leave to fill in is not.
func TestTheTextOfASlidesLayoutIsRead(t *testing.T) {
	const ph = `<nvSpPr><nvPr><ph type="title"/></nvPr></nvSpPr>`
	shape := func(text, more string) string {
		return `<sp>` + more + `<txBody><p>` + run(text) + `</p></txBody></sp>`
	}
	for attr, want := range map[string]string{"": "--- of the Layout ---\n没案\n--- of the Master ---\n社外秘\n",
		` showMasterSp="0"`: ""} {
		got := slide(t, `<sld`+attr+`>`+shape("方針", ph)+`</sld>`,
			"p/_rels/s1.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "slideLayout", "l.xml")),
			"p/l.xml", `<sldLayout>`+shape("クリックして入力", ph)+shape("没案", "")+`<sp/></sldLayout>`,
			"p/_rels/l.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "slideMaster", "m.xml")),
			"p/m.xml", `<sldMaster>`+shape("社外秘", "")+`</sldMaster>`)
		expect.Same(t, isolated.FileText{Form: isolated.Slides, Text: "--- slide 1 of 1 ---\n方針\n" + want}, got)
	}
}

// Slides of one layout have its text once, and their titles look as it and its master say.
func TestSlidesInheritFromTheirDesign(t *testing.T) {
	shape := func(ph, levels, run string) string {
		return `<sp><nvSpPr><nvPr>` + ph + `</nvPr></nvSpPr><txBody><lstStyle>` + levels + `</lstStyle><p>` +
			`<pPr lvl="1"/>` + run + `</p></txBody></sp>`
	}
	const struck = `<lvl2pPr><defRPr strike="sngStrike"/></lvl2pPr>`
	const body, other = `<ph type="body" idx="1"/>`, `<ph type="title"/>`
	part := func(kind, name string) string { return fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", kind, name)) }
	got := read(zipped(t, []string{"_rels/.rels", part("officeDocument", "p/main.xml"),
		"p/main.xml", `<presentation xmlns:r="` + kind + `"><sldId r:id="r2"/><sldId r:id="r3"/></presentation>`,
		"p/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "slide", "s1.xml")+
			fmt.Sprintf(ref, "r3", "slide", "s2.xml")),
		"p/s1.xml", `<sld>` + shape(body, "", run("旧案")+`<r><rPr strike="noStrike"/><t>新案</t></r>`) +
			shape(other, "", run("題")) + shape("", struck, run("箱")) + shape("", "", run("外")) + `</sld>`,
		"p/s2.xml", `<sld>` + shape(`<ph type="ftr" idx="9"/>`, "", run("部外秘")) + shape("", "",
			`<r><rPr sz="100"/><t>全員へ</t></r>`) + `</sld>`,
		"p/_rels/s1.xml.rels", part("slideLayout", "l.xml"), "p/_rels/s2.xml.rels", part("slideLayout", "l.xml"),
		"p/l.xml", `<sldLayout>` + shape(`<ph type="ftr" idx="9"/>`, struck, "") + shape("", "", run("社外秘")) +
			`</sldLayout>`, "p/_rels/l.xml.rels", part("slideMaster", "m.xml"),
		"p/m.xml", `<sldMaster><txStyles><titleStyle><lvl1pPr><defRPr strike="sngStrike"/></lvl1pPr></titleStyle>` +
			`<bodyStyle>` + struck + `</bodyStyle></txStyles></sldMaster>`}), "a.pptx", soon())
	expect.Same(t, isolated.FileText{Form: isolated.Slides,
		Remarks: []isolated.FileRemark{isolated.HasStruck, isolated.HasHidden},
		Text: "--- slide 1 of 2 ---\n~~旧案~~新案\n題\n~~箱~~\n外\n--- of the Layout ---\n社外秘\n\n" +
			"--- slide 2 of 2 ---\n~~部外秘~~\n[invisible: 全員へ]\n--- of the Layout: as on slide 1 ---\n"}, got)
}

// Parts may be in UTF-16 (ECMA-376 part 2), and programs write the names of encodings as they like.
func TestPartsAreReadInTheirEncodings(t *testing.T) {
	first := func(encoding string) string { return `<?xml version="1.0" encoding="` + encoding + `"?>` }
	const doc = `<document><p><r><t>営業</t></r></p></document>`
	const plain = `<document><p><r><t>&#x55B6;業</t></r></p></document>`
	wide := "\xff\xfe"
	for _, u := range utf16.Encode([]rune(first("UTF-16") + doc)) {
		wide += string([]byte{byte(u), byte(u >> 8)})
	}
	for part, want := range map[string]string{wide: "営業\n", first("UTF8") + doc: "営業\n", first("us-ascii") + plain: "営業\n",
		first("Shift_JIS") + strings.ReplaceAll(doc, "営業", "\x89\x63\x8b\xc6"): "営業\n",
		"\ufeff" + first("utf-8") + doc:                                        "営業\n",
		first("unheard-of") + doc:                                              "", first("UTF-16") + doc: ""} {
		expect.Is(t, read(paper(t, part), "a.docx", soon()).Text, want, "%.60q", part)
	}
}

// Mails are no texts, as programs keep them, and notes with one line of theirs are.
func TestMailsAndOtherTextsAreToldApart(t *testing.T) {
	const mail = "X-Status: 1\r\nSubject: a\r\n folded\r\nContent-Type: text/plain\r\n\r\n5Za25\r\n"
	for file, want := range map[string]isolated.Unreadable{mail: isolated.OtherType, "\ufeff" + mail: isolated.OtherType,
		"From - Thu Nov 26 10:00:00 2026\r\n" + mail: isolated.OtherType, "MIME-Version: 1.0": isolated.OtherType,
		"version: 2\nContent-Type: application/json\n\n部署\n": "", "件名: a\nContent-Type: b\n": "", "a\n\n" + mail: ""} {
		expect.Is(t, read([]byte(file), "a.txt", soon()).Why, want, "%q", file)
	}
	for name, want := range map[string]int{"list.xls": 1, "list.XLSX": 1, "list.html": 0, "xls": 0} {
		expect.Is(t, len(read([]byte("<table><tr><td>佐藤</td></tr></table>"), name, soon()).Remarks), want, name)
	}
}

// palette are styles of cells, in the order of their numbers: plain, the theme's black on black, gray on the same gray,
// an accent on itself, black on yellow, white by the format, a text white by the format, on a pattern, red, and a link.
var palette = `<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[White]#,##0;[赤]-0"/>` +
	`<numFmt numFmtId="165" formatCode="0;0;0;[白]@"/></numFmts><fonts><font/><font><color theme="1"/></font>` +
	`<font><color rgb="FFD9D9D9"/></font><font><color theme="4" tint="0.4"/></font><font><color rgb="FFFF0000"/></font>` +
	`<font><color theme="10"/></font></fonts><fills>` + fill("FF000000") + fill("FFD8D8D8") +
	`<fill><patternFill patternType="solid"><fgColor theme="4" tint="0.4"/></patternFill></fill>` + fill("FFFFFF00") +
	`<fill><patternFill patternType="gray125"><fgColor indexed="8"/></patternFill></fill><fill/></fills><cellXfs>` +
	`<xf fontId="0" fillId="5"/><xf fontId="1" fillId="0"/><xf fontId="2" fillId="1"/><xf fontId="3" fillId="2"/>` +
	`<xf fontId="1" fillId="3"/><xf fontId="0" fillId="5" numFmtId="164"/><xf fontId="0" fillId="5" numFmtId="165"/>` +
	`<xf fontId="0" fillId="4"/><xf fontId="4" fillId="5"/><xf fontId="5" fillId="5"/></cellXfs></styleSheet>`

func fill(rgb string) string {
	return `<fill><patternFill patternType="solid"><fgColor rgb="` + rgb + `"/></patternFill></fill>`
}

func painted(t *testing.T, sheet string, more ...string) isolated.FileText {
	t.Helper()
	got := read(book(t, "", sheet, append([]string{"xl/styles.xml", palette}, more...)...), "a.xlsx", soon())
	got.Text = strings.TrimPrefix(got.Text, "--- sheet 1 of 1: S ---\n")
	return got
}

// What is blacked out nobody sees: letters on a ground of their own color, in cells, in runs, and by a format.
func TestLettersInTheColorOfTheirGroundAreHidden(t *testing.T) {
	const runs = `<r><t>口座</t></r><r><rPr><color theme="1"/></rPr><t>1234</t></r><r><rPr><color rgb="FFFFFFFF"/></rPr>` +
		`<t>可</t></r>`
	for row, want := range map[string]string{
		plainCell(1, "a"): "[invisible: a]", plainCell(2, "a"): "[invisible: a]", plainCell(3, "a"): "[invisible: a]",
		plainCell(4, "a"): "a", plainCell(7, "a"): "a", plainCell(8, "a"): "a",
		`<c s="5"><v>5000</v></c>`: "[invisible: 5,000]", `<c s="5"><v>-5</v></c>`: "-5", plainCell(6, "a"): "[invisible: a]",
		`<c s="6"><v>5</v></c>`: "5", styledCell(1, runs): "[invisible: 口座1234]可", styledCell(4, runs): "口座1234可",
		styledCell(0, runs): "口座1234[invisible: 可]",
	} {
		got := painted(t, `<row>`+row+`</row>`)
		expect.Is(t, got.Text, want+"\n")
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasHidden), strings.Contains(want, "[invisible"), "%s", row)
	}
}

// Colors by which people mark cells are said not to be read. Those of ordinary tables say nothing: a header, a column
// in one color, bands, totals, a title above.
func TestColorsThatSaySomethingAreSaid(t *testing.T) {
	const y, red, link = 4, 8, 9
	for name, c := range map[string]struct {
		rows [][2]int // the styles of two columns; -1: no cell
		said string
	}{
		"no color":            {[][2]int{{0, 0}, {0, 0}, {0, 0}}, ""},
		"a header":            {[][2]int{{y, y}, {0, 0}, {0, 0}, {0, 0}}, ""},
		"a header twice":      {[][2]int{{y, y}, {0, 0}, {0, 0}, {y, y}, {0, 0}}, ""},
		"a colored column":    {[][2]int{{2, y}, {0, y}, {0, y}, {0, y}}, ""},
		"bands":               {[][2]int{{2, 2}, {0, 0}, {y, y}, {0, 0}, {y, y}}, ""},
		"bands of two":        {[][2]int{{2, 2}, {y, y}, {y, y}, {0, 0}, {0, 0}, {y, y}}, ""},
		"a title":             {[][2]int{{y, -1}, {2, 2}, {0, 0}, {0, 0}}, ""},
		"links":               {[][2]int{{0, 0}, {0, link}, {0, 0}, {0, link}, {0, link}}, ""},
		"two people":          {[][2]int{{2, 2}, {0, 0}, {y, y}, {y, y}, {0, 0}, {0, 0}}, "A, B"},
		"one cell":            {[][2]int{{2, 2}, {0, 0}, {0, 0}, {0, y}, {0, 0}}, "B"},
		"the last":            {[][2]int{{0, 0}, {0, 0}, {0, 0}, {y, 0}}, "A"},
		"those at the top":    {[][2]int{{2, 2}, {y, y}, {y, y}, {0, 0}}, "A, B"},
		"red letters":         {[][2]int{{0, 0}, {0, 0}, {0, red}, {0, 0}, {0, 0}}, "B"},
		"one column of names": {[][2]int{{0, -1}, {0, -1}, {y, -1}, {0, -1}, {0, -1}}, "A"},
	} {
		var rows strings.Builder
		for _, row := range c.rows {
			rows.WriteString("<row>")
			for _, style := range row {
				if style >= 0 {
					rows.WriteString(plainCell(style, "x"))
				}
			}
			rows.WriteString("</row>")
		}
		got := painted(t, rows.String())
		_, said, _ := strings.Cut(got.Text, "[colors that are not read: in columns ")
		expect.Is(t, strings.TrimSuffix(said, "]\n"), c.said, name)
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasColors), c.said != "", name)
	}
	row := func(style int, first string) string {
		return `<row>` + plainCell(style, first) + plainCell(style, "1") + `</row>`
	}
	got := painted(t, row(0, "部署")+row(0, "営業")+row(4, "小計")+row(0, "人事")+row(0, "総務")+row(4, "合計"))
	expect.Is(t, len(got.Remarks), 0, "totals: %+v", got)
	price := func(n int) string { return fmt.Sprintf(`<row><c s="5"><v>%d</v></c></row>`, n) }
	got = painted(t, price(5)+price(-5)+price(-5)+price(5))
	expect.Same(t, []isolated.FileRemark{isolated.HasHidden}, got.Remarks)
	got = painted(t, row(0, "部署")+row(0, "営業")+row(4, "会計課")+row(0, "人事"))
	expect.Is(t, len(got.Remarks), 1, "no total: %+v", got)
	got = painted(t, `<row><c><v>1</v></c></row></sheetData><conditionalFormatting sqref="A1"/><sheetData>`)
	expect.Same(t, []isolated.FileRemark{isolated.HasColors}, got.Remarks)
}

// A document blacks words out by a highlighter or a shading, and marks them by other colors.
func TestColorsOfADocumentAreSaid(t *testing.T) {
	props := func(props, text string) string { return `<r><rPr>` + props + `</rPr><t>` + text + `</t></r>` }
	const dark = `<shd val="clear" fill="000000"/>`
	hidden, colors := []isolated.FileRemark{isolated.HasHidden}, []isolated.FileRemark{isolated.HasColors}
	both := []isolated.FileRemark{isolated.HasColors, isolated.HasHidden}
	for body, want := range map[string]isolated.FileText{
		props(`<highlight val="black"/>`, "a"):                              {Text: "[invisible: a]\n", Remarks: hidden},
		props(`<color val="000000"/>`+dark, "a"):                            {Text: "[invisible: a]\n", Remarks: hidden},
		props(dark, "a"):                                                    {Text: "a\n"}, // Word shows it in white
		props(`<color themeColor="text1"/><shd val="solid"/>`, "a"):         {Text: "[invisible: a]\n", Remarks: hidden},
		props(`<color val="FFFFFF"/><highlight val="black"/>`, "a"):         {Text: "a\n"},
		props(`<color val="ffff00"/><highlight val="yellow"/>`, "a"):        {Text: "[invisible: a]\n", Remarks: both},
		`<pPr><shd val="clear" fill="auto"/></pPr>` + props("", "a"):        {Text: "a\n"},
		`<pPr>` + dark + `</pPr>` + props(`<color val="010101"/>`, "a"):     {Text: "[invisible: a]\n", Remarks: hidden},
		props("", "対象は") + props(`<highlight val="yellow"/>`, "黄色"):         {Text: "対象は黄色\n", Remarks: colors},
		props(`<shd val="clear" fill="FFFF00"/>`, "a"):                      {Text: "a\n", Remarks: colors},
		props(`<color val="FF0000"/>`, "赤字"):                                {Text: "赤字\n", Remarks: colors},
		props(`<color val="2F5496" themeColor="accent1"/>`, "a"):            {Text: "a\n"},
		props(`<color val="auto"/>`, "a") + `<r><br/></r>` + props("", "b"): {Text: "a\nb\n"},
	} {
		want.Form = isolated.Document
		expect.Same(t, want, word(t, `<p>`+body+`</p>`))
	}
	got := slide(t, `<sld><p><r><rPr><highlight><srgbClr val="FFFF00"/></highlight></rPr><t>a</t></r></p></sld>`)
	expect.Same(t, colors, got.Remarks)
}

// Days of a workbook that counts from 1904 go on to do so, whatever its extensions say of charts.
func TestAnExtensionChangesNoDays(t *testing.T) {
	file := zipped(t, []string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "xl/workbook.xml")),
		"xl/workbook.xml", head + `<workbook xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main" xmlns:r="` +
			kind + `"><workbookPr date1904="1"/><sheets><sheet name="S" r:id="r2"/></sheets><extLst><ext><x15:workbookPr ` +
			`xmlns:x15="http://schemas.microsoft.com/office/spreadsheetml/2010/11/main" chartTrackingRefBase="1"/></ext>` +
			`</extLst></workbook>`,
		"xl/_rels/workbook.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "worksheet", "sheet1.xml")+
			fmt.Sprintf(ref, "r3", "styles", "styles.xml")),
		"xl/styles.xml", `<styleSheet><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`,
		"xl/sheet1.xml", `<worksheet><sheetData><row><c s="0"><v>44895</v></c></row></sheetData></worksheet>`})
	expect.Is(t, read(file, "a.xlsx", soon()).Text, "--- sheet 1 of 1: S ---\n2026/12/1\n")
}
