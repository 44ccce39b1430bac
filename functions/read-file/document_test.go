package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

// word reads a document with this body and these parts beside it, each a kind of relation and a part.
func word(t *testing.T, body string, beside ...string) isolated.FileText {
	t.Helper()
	var related strings.Builder
	parts := []string{"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "d/main.xml")),
		"d/main.xml", `<document xmlns:r="` + kind + `"><body>` + body + `</body></document>`}
	for i := 0; i+1 < len(beside); i += 2 {
		name := fmt.Sprintf("part%d.xml", i/2)
		fmt.Fprintf(&related, ref, fmt.Sprintf("r%d", i/2), beside[i], name)
		parts = append(parts, "d/"+name, beside[i+1])
	}
	return read(zipped(t, append(parts, "d/_rels/main.xml.rels", fmt.Sprintf(refs, related.String()))), "a.docx", soon())
}

func run(text string) string { return `<r><t>` + text + `</t></r>` }

// fieldOf is a field of a document. Without a result it has only a code.
func fieldOf(code string, result ...string) string {
	char := func(kind string) string { return `<r><fldChar fldCharType="` + kind + `"/></r>` }
	s := char("begin") + `<r><instrText>` + code + `</instrText></r>`
	for _, r := range result {
		s += char("separate") + run(r)
	}
	return s + char("end")
}

// Circled characters and the readings of older documents are equations, which stand in their code alone.
func TestAFieldWithoutAResultIsReadOrSaid(t *testing.T) {
	formulas, numbers := []isolated.FileRemark{isolated.HasFormulas}, []isolated.FileRemark{isolated.HasNumbers}
	for code, want := range map[string]isolated.FileText{
		` eq \o\ac(○,有) `: {Text: "○有"},
		`EQ \* jc2 \* "Font:ＭＳ 明朝" \* hps10 \o\ad(\s\up 9(さとう),佐藤)`: {Text: "佐藤"},
		` eq \o(\s\up 7(株式),\s\do 3(会社)) `:                          {Text: "株式会社"},
		`eq V\d\ba8()\s\up9(re)\d\ba1()isionary`:                    {Text: "V^(re)isionary"},
		`EQ \f(a+1,2)`:                                              {Text: "(a+1)/(2)"},
		`EQ \r(3,x)\b\bc\[(a\,b)`:                                   {Text: "[3]√(x)[a,b]"},
		`EQ \r(,x) \i(0,1,f(x)) \x(a)`:                              {Text: "√(x) ∫0, 1, f(x) a"},
		`eq \o(`:                                                    {Text: ""},
		` MERGEFIELD 氏名 `:                                           {Text: "{MERGEFIELD 氏名}", Remarks: formulas},
		` PAGE `:                                                    {Text: "(page)"},
		` XE "索引" `:                                                 {},
		` LISTNUM `:                                                 {Remarks: numbers},
		"eq " + strings.Repeat(`\o(`, 200):                          {Text: ""},
	} {
		want.Form, want.Text = isolated.Document, "前"+want.Text+"後\n"
		expect.Same(t, want, word(t, `<p>`+run("前")+fieldOf(code)+run("後")+`</p>`))
	}
	got := word(t, `<p>`+run("前")+`<fldSimple instr=" EQ \o\ac(○,無) "/></p><p>`+strings.TrimSuffix(fieldOf("PAGE"),
		`<r><fldChar fldCharType="end"/></r>`)+run("後")+`</p>`)
	expect.Is(t, got.Text, "前○無\n\n{PAGE後}\n", "%+v", got)
}

// Nothing in a field's code is text: no result of another field in it, and no branch that is not taken.
func TestAFieldsCodeIsNoText(t *testing.T) {
	code := ` IF </instrText></r>` + fieldOf(" MERGEFIELD 社外 ", "全員へDM") +
		`<r><instrText> = "x" "</instrText></r>` +
		run("送る") + `<r><instrText>" "送らない" `
	got := word(t, `<p>`+fieldOf(code, "送らない")+fieldOf(" HYPERLINK ", "規程"+fieldOf(" PAGEREF ", "3"))+`</p>`)
	expect.Same(t, isolated.FileText{Form: isolated.Document, Text: "送らない規程3\n"}, got)
}

// People circle a word by a shape, and cross out a line by another. What has no text is said, as pictures are.
func TestAShapeWithoutATextIsSaid(t *testing.T) {
	const text = `<txBody><p><r><t>案</t></r></p></txBody>`
	shape := func(name string) string {
		return `<` + name + `><spPr><prstGeom prst="ellipse"/></spPr></` + name + `>`
	}
	said := func(what string, got isolated.FileText, want bool) {
		t.Helper()
		expect.Is(t, slices.Contains(got.Remarks, isolated.HasPictures), want, "%s: %+v", what, got)
	}
	for drawing, want := range map[string]bool{shape("sp"): true, shape("cxnSp"): true, `<contentPart id="r1"/>`: true,
		`<grpSp><sp>` + text + `</sp>` + shape("sp") + `</grpSp>`: true, `<sp>` + text + `</sp>`: false,
		`<sp><txBody><p/></txBody></sp>`: true, `<sp><nvSpPr><nvPr><ph type="title"/></nvPr></nvSpPr></sp>`: false} {
		drawn := `<wsDr><twoCellAnchor>` + drawing + `</twoCellAnchor></wsDr>`
		said(drawing, read(book(t, "", `<row><c><v>1</v></c></row>`, "xl/worksheets/_rels/sheet1.xml.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "drawing", "../d.xml")), "xl/d.xml", drawn), "a.xlsx", soon()), want)
		said(drawing, slide(t, `<sld>`+drawing+`</sld>`), want)
	}
	for drawing, want := range map[string]bool{`<drawing>` + shape("wsp") + `</drawing>`: true,
		`<pict><oval style="width:28pt"/></pict>`: true, `<pict><rect hr="t"/></pict>`: false,
		`<pict><shapetype id="a"/><shape><textbox><txbxContent>` +
			`<p><r><t>a</t></r></p></txbxContent></textbox></shape></pict>`: false,
		`<drawing><wsp><spPr><custGeom><rect l="0"/></custGeom></spPr><txbx><txbxContent>` +
			`<p><r><t>a</t></r></p></txbxContent></txbx></wsp></drawing>`: false} {
		said(drawing, word(t, `<p>`+run("承認 ・ 否認")+`<r>`+drawing+`</r></p>`), want)
	}
}

// slide reads a presentation of one slide, and of further parts.
func slide(t *testing.T, slide string, more ...string) isolated.FileText {
	t.Helper()
	return read(zipped(t, append([]string{
		"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "p/main.xml")),
		"p/main.xml", `<presentation xmlns:r="` + kind + `"><sldId r:id="r2"/></presentation>`,
		"p/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "slide", "s1.xml")+
			fmt.Sprintf(ref, "r3", "authors", "people.xml")), "p/s1.xml", slide}, more...)),
		"a.pptx", soon())
}

// item is a paragraph of a list, with further properties.
func item(level int, text, props string) string {
	return fmt.Sprintf(`<p><pPr><numPr><ilvl val="%d"/><numId val="1"/></numPr>%s</pPr>%s</p>`, level, props, text)
}

// Extensions name things again: a deck's slides by its sections. What a program may leave out is no text, and of
// alternatives the first that can be read is.
func TestExtensionsAreLeftOut(t *testing.T) {
	deck := func(main string) isolated.FileText {
		return read(zipped(t, []string{
			"_rels/.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "p/main.xml")),
			"p/main.xml", `<presentation xmlns:r="` + kind + `"><sldIdLst><sldId id="256" r:id="r2"/></sldIdLst>` + main +
				`</presentation>`, "p/_rels/main.xml.rels", fmt.Sprintf(refs, fmt.Sprintf(ref, "r2", "slide", "s1.xml")),
			"p/s1.xml", `<sld><p>` + run("手順") + `</p></sld>`}), "a.pptx", soon())
	}
	const sections = `<p14:sectionLst xmlns:p14="http://schemas.microsoft.com/office/powerpoint/2010/main">` +
		`<p14:sldIdLst><p14:sldId id="256"/></p14:sldIdLst></p14:sectionLst>`
	want := isolated.FileText{Form: isolated.Slides, Text: "--- slide 1 of 1 ---\n手順\n"}
	for _, main := range []string{sections, `<extLst><ext><sldId id="256"/></ext></extLst>`} {
		expect.Same(t, want, deck(main))
	}
	either := func(parts ...string) string {
		return `<p><r><mc:AlternateContent xmlns:mc="` + standard + `markup-compatibility/2006" xmlns:x="urn:x">` +
			strings.Join(parts, "") + `</mc:AlternateContent></r>` + run("後") + `</p>`
	}
	const fallback = `<mc:Fallback><t>😊</t></mc:Fallback>`
	for body, want := range map[string]string{
		either(`<mc:Choice><x:sign char="1F60A"/></mc:Choice>`, fallback):                      "😊後\n",
		either(`<mc:Choice><t>a</t></mc:Choice>`, `<mc:Choice><t>b</t></mc:Choice>`, fallback): "a後\n",
		either(`<mc:Choice><w:t xmlns:w="http://schemas.microsoft.com/office/word/2006/wordml">a</w:t></mc:Choice>`,
			fallback): "a後\n",
		either(`<mc:Choice Requires="x"><t>誰にも見えない</t></mc:Choice>`, fallback): "😊後\n",
		either(`<mc:Choice xmlns:x="http://schemas.microsoft.com/office/word/2010/wordprocessingShape" Requires="x"><t>a</t>`+
			`</mc:Choice>`, fallback): "a後\n",
		`<p xmlns:x="urn:x"><x:r><t>誰にも見えない</t></x:r>` + run("後") + `</p>`: "後\n",
	} {
		expect.Same(t, isolated.FileText{Form: isolated.Document, Text: want}, word(t, body))
	}
}

// boxOf is a text box of Word: a drawing in a run, with properties of its name.
func boxOf(props, content string) string {
	return `<r><drawing><anchor><docPr id="1"` + props + `/><graphic><wsp><txbx><txbxContent>` + content +
		`</txbxContent></txbx></wsp></graphic></anchor></drawing></r>`
}

// A text box is anchored within a paragraph and stands anywhere on the page.
func TestATextBoxIsNoPartOfASentence(t *testing.T) {
	const list = `<numbering><abstractNum abstractNumId="0"><lvl ilvl="0"><start val="1"/><numFmt val="decimal"/>` +
		`<lvlText val="%1."/></lvl></abstractNum><num numId="1"><abstractNumId val="0"/></num></numbering>`
	p := func(content string) string { return `<p>` + content + `</p>` }
	box := boxOf("", p(run("を除く全部署")))
	table := `<tbl><tr><tc>` + p(run("a")) + `</tc><tc>` + p(run("b")) + `</tc></tr></tbl>`
	for body, want := range map[string]string{
		p(run("営業部と人事部") + box + run("の社員")):                                 "営業部と人事部の社員\n[text box] を除く全部署\n",
		item(0, box+run("人事部"), "") + item(0, run("総務部"), ""):                "1. 人事部\n[text box] を除く全部署\n2. 総務部\n",
		p(run("前") + boxOf("", item(0, run("中"), "")+table) + run("後")):      "前後\n[text box] 1. 中\n[text box] a\tb\n",
		p(run("前") + boxOf("", p(run("外")+box))):                             "前\n[text box] 外\n[text box] を除く全部署\n",
		`<tbl><tr><tc>` + p(run("営業")+box) + `</tc><tc><p/></tc></tr></tbl>`: "営業 [text box] を除く全部署\t\n",
		p(run("[text box] a") + `<r><pict><shape/></pict></r>`):              "\\[text box] a\n",
		p(run("a") + boxOf("", p(`<del><r><t>x</t></r></del>`)) + run("b")):  "ab\n",
		p(boxOf("", p(run("--- notes ---")+`<r><fldChar fldCharType="begin"/><instrText>PAGE</instrText></r>`))): "\n" +
			"[text box] \\--- notes ---\n[text box] (page)\n",
	} {
		expect.Is(t, word(t, body, "numbering", list).Text, want, body)
	}
}

// What people hid in the list of shapes is on no screen and no paper.
func TestShapesThatAreHiddenAreSaidToBe(t *testing.T) {
	hidden := func(got isolated.FileText, want string) {
		t.Helper()
		expect.Is(t, strings.Contains(got.Text, want) && slices.Contains(got.Remarks, isolated.HasHidden), true, "%+v", got)
	}
	const name = `<cNvPr id="2" name="t"%s/>`
	shape := func(hidden string) string {
		return `<sp><nvSpPr>` + fmt.Sprintf(name, hidden) + `</nvSpPr><txBody><p>` + run("旧案") + `</p></txBody></sp>`
	}
	const off = ` hidden="1"`
	table := `<graphicFrame><nvGraphicFramePr>` + fmt.Sprintf(name, off) + `</nvGraphicFramePr><tbl><tr><tc><txBody><p>` +
		run("旧案") + `</p></txBody></tc></tr></tbl></graphicFrame>`
	group := `<grpSp><nvGrpSpPr>` + fmt.Sprintf(name, off) + `</nvGrpSpPr>` + shape("") + `</grpSp>`
	for _, drawing := range []string{shape(off), group, table} {
		hidden(slide(t, `<sld>`+shape(` hidden="0"`)+drawing+shape("")+`</sld>`), "\n旧案\n[invisible: 旧案]\n旧案\n")
		hidden(read(book(t, "", "", "xl/worksheets/_rels/sheet1.xml.rels",
			fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "drawing", "../d.xml")), "xl/d.xml",
			`<wsDr><twoCellAnchor>`+drawing+`</twoCellAnchor></wsDr>`), "a.xlsx", soon()), "[invisible: 旧案]")
	}
	p := `<p>` + run("旧案") + `</p>`
	for _, box := range []string{boxOf(off, p), `<r><rPr><vanish/></rPr>` + strings.TrimPrefix(boxOf("", p), `<r>`),
		`<r><pict><shape style="position:absolute; visibility: hidden"><textbox><txbxContent>` + p +
			`</txbxContent></textbox></shape></pict></r>`} {
		hidden(word(t, `<p>`+run("新案")+box+run("です")+`</p>`), "新案です\n[text box] [invisible: 旧案]\n")
	}
}

// A cell over several rows counts for all of them.
func TestCellsOverSeveralRowsAreSaid(t *testing.T) {
	cell := func(attributes, props, text string) string {
		return `<tc` + attributes + `><tcPr>` + props + `</tcPr><p>` + run(text) + `</p></tc>`
	}
	rows := func(rows ...string) string { return `<tbl><tr>` + strings.Join(rows, `</tr><tr>`) + `</tr></tbl>` }
	got := word(t, rows(cell("", `<vMerge/>`, "部署")+cell("", `<vMerge val="restart"/>`, ""), cell("", "", "")+
		cell("", `<vMerge/>`, ""))+rows(cell("", `<vMerge val="restart"/>`, "営業")+cell("", "", "佐藤"),
		cell("", `<vMerge/>`, "")+cell("", "", "鈴木"), cell("", `<vMerge val="continue"/>`, "承認不要")+cell("", "", "田中")))
	expect.Same(t, isolated.FileText{Form: isolated.Document, Remarks: []isolated.FileRemark{isolated.HasHidden},
		Text: "部署\t\n\t\n" +
			"営業\t佐藤\n[merged with the cell above]\t鈴木\n[merged with the cell above] [invisible: 承認不要]\t田中\n"}, got)
	got = slide(t, `<sld><graphicFrame>`+rows(cell(` rowSpan="2" gridSpan="2"`, "", "営業")+cell(` hMerge="1"`, "", "")+
		cell("", "", "佐藤"), cell(` vMerge="1" gridSpan="2"`, "", "")+cell(` vMerge="1" hMerge="1"`, "", "")+
		cell("", "", "[merged] 鈴木"))+`</graphicFrame></sld>`)
	expect.Is(t, got.Text, "--- slide 1 of 1 ---\n営業\t\t佐藤\n"+
		"[merged with the cell above]\t\t\\[merged] 鈴木\n", "%+v", got)
}

// An address can't be seen in a link's text.
func TestTheAddressOfALinkIsSaid(t *testing.T) {
	const to = `<Relationship Id="l%d" Type="` + kind + `/hyperlink" Target="%s" TargetMode="External"/>`
	targets := fmt.Sprintf(to, 1, "https://a.example/規程") + fmt.Sprintf(to, 2, "mailto:a@b.example") +
		fmt.Sprintf(to, 3, "http://www.c.example/")
	link := func(id, content string) string { return `<hyperlink r:id="` + id + `">` + content + `</hyperlink>` }
	top := fmt.Sprintf(refs, fmt.Sprintf(ref, "r1", "officeDocument", "d/main.xml"))
	for body, want := range map[string]string{
		run("規程は") + link("l1", run("こち")+run("ら")) + run("。"):       "規程はこちら (https://a.example/規程)。\n",
		link("l1", run("https://a.example/規程")) + link("", run("章")): "https://a.example/規程章\n",
		link("l2", run("a@b.example")):                               "a@b.example\n",
		link("l1", run("")) + link("l3", run("www.c.example")):       "www.c.example\n",
		link("l2", run("係")):                                         "係 (mailto:a@b.example)\n",
		fieldOf(` HYPERLINK "https://b.example" `, "表") + run("、") +
			fieldOf(` HYPERLINK \l "章" `, "章"): "表 (https://b.example)、章\n",
		`<fldSimple instr="HYPERLINK https://b.example">` + run("表") + `</fldSimple>`: "表 (https://b.example)\n",
	} {
		got := read(zipped(t, []string{"_rels/.rels", top, "d/main.xml", `<document xmlns:r="` + kind + `"><p>` + body +
			`</p></document>`, "d/_rels/main.xml.rels", fmt.Sprintf(refs, targets)}), "a.docx", soon())
		expect.Same(t, isolated.FileText{Form: isolated.Document, Text: want}, got)
	}
	click := func(id string) string { return `<hlinkClick r:id="` + id + `"/>` }
	linked := func(id, text string) string { return `<r><rPr>` + click(id) + `</rPr><t>` + text + `</t></r>` }
	name := `<cNvPr>` + click("l2") + `</cNvPr>`
	got := slide(t, `<sld xmlns:r="`+kind+`"><grpSp>`+name+`<sp><nvSpPr>`+name+`</nvSpPr><txBody><p>`+
		linked("l1", "申請")+linked("l1", "form")+run("へ")+`<endParaRPr>`+click("l1")+`</endParaRPr></p>`+
		`<p>`+run("次")+`</p></txBody></sp></grpSp></sld>`,
		"p/_rels/s1.xml.rels", fmt.Sprintf(refs, targets))
	expect.Is(t, got.Text, "--- slide 1 of 1 ---\n申請form (https://a.example/規程)へ\n次\n(mailto:a@b.example)\n", "%+v", got)
	got = sheetOf(t, "", `<row>`+plainCell(0, "規程")+`</row></sheetData><hyperlinks xmlns:r="`+kind+`">`+
		`<hyperlink ref="A1" r:id="l1"/><hyperlink ref="A2" r:id="l2" display="mailto:a@b.example"/>`+
		`<hyperlink ref="A3" location="S!A1"/></hyperlinks><sheetData>`,
		"xl/worksheets/_rels/sheet1.xml.rels", fmt.Sprintf(refs, targets))
	expect.Is(t, got.Text, "規程\n--- links of S ---\nA1: https://a.example/規程\n", "%+v", got)
}

func TestALevelGoesOnAsItsListSays(t *testing.T) {
	list := func(restart string) string {
		s := `<numbering><abstractNum abstractNumId="0">`
		for i, name := range []string{"章", "節", "条"} {
			s += fmt.Sprintf(`<lvl ilvl="%d"><start val="1"/><numFmt val="decimal"/><lvlText val="第%%%d%s"/>`, i, i+1, name)
			if i == 2 {
				s += restart
			}
			s += `</lvl>`
		}
		return s + `</abstractNum><num numId="1"><abstractNumId val="0"/></num></numbering>`
	}
	body := ""
	for _, level := range []int{0, 1, 2, 1, 2, 0, 1, 2} {
		body += item(level, "", "")
	}
	for restart, want := range map[string]string{"": "1 1 1",
		`<lvlRestart val="0"/>`: "1 2 3", `<lvlRestart val="1"/>`: "1 2 1",
		`<lvlRestart val="2"/>`: "1 1 1"} {
		got := strings.Fields(word(t, body, "numbering", list(restart)).Text)
		for i, n := range strings.Fields(want) {
			expect.Is(t, got[[]int{2, 4, 7}[i]], "第"+n+"条", "%s: %v", restart, got)
		}
	}
}

// Changes are read as if accepted: an item that was deleted has no number, one whose end was deleted is one with the
// next, and what properties were before is nothing.
func TestWhatIsDeletedIsNotCounted(t *testing.T) {
	const list = `<numbering><abstractNum abstractNumId="0"><lvl ilvl="0"><start val="1"/><numFmt val="decimal"/>` +
		`<lvlText val="%1."/></lvl></abstractNum><num numId="1"><abstractNumId val="0"/></num></numbering>`
	const gone = `<rPr><del id="1"/></rPr>`
	const was = `<p><pPr><pPrChange><pPr><numPr><ilvl val="0"/><numId val="1"/></numPr></pPr></pPrChange></pPr>`
	got := word(t, item(0, run("営業"), "")+item(0, `<del><r><delText>人事</delText></r></del>`, gone)+
		item(0, run("総務"), gone)+item(0, run("部"), "")+was+run("以上")+`</p>`+
		`<tbl><tr><trPr><del id="2"/></trPr><tc><p>`+run("鈴木")+`</p></tc></tr>`+
		`<tr><tc><p>`+run("田中")+`</p></tc></tr></tbl>`,
		"numbering", list)
	expect.Same(t, isolated.FileText{Form: isolated.Document, Text: "1. 営業\n2. 総務部\n以上\n田中\n",
		Remarks: []isolated.FileRemark{isolated.HasChanges}}, got)
}
