package main

import (
	"fmt"
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
