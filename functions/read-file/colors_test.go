package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
	"ringi/shared/runtime/isolated"
)

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
