"""Makes the files beside it, by other programs than the one that reads them. They are committed; nothing runs this.

pip install openpyxl==3.1.5 XlsxWriter python-docx python-pptx xlwt msoffcrypto-tool
"""
import datetime
import io
import os

import docx
import msoffcrypto
import openpyxl
import pptx
import xlsxwriter
import xlwt
from msoffcrypto.format.ooxml import OOXMLFile

os.chdir(os.path.dirname(os.path.abspath(__file__)))

# Formulas with the values that a spreadsheet program has stored.
book = xlsxwriter.Workbook("sales.xlsx")
sheet = book.add_worksheet("売上")
day = book.add_format({"num_format": "yyyy/mm/dd"})
era = book.add_format({"num_format": '[$-411]ggge"年"m"月"d"日"'})
time = book.add_format({"num_format": "h:mm"})
both = book.add_format({"num_format": 22})
long = book.add_format({"num_format": "[h]:mm:ss"})
yen = book.add_format({"num_format": '"¥"#,##0'})
sheet.write_row(0, 0, ["部署", "日付", "金額", "税込"])
for i, (name, on, sum) in enumerate([("営業", datetime.date(2026, 4, 1), 1200),
    ("開発", datetime.date(1900, 2, 28), 0.1 + 0.2)], 1):
    sheet.write(i, 0, name)
    sheet.write_datetime(i, 1, datetime.datetime.combine(on, datetime.time()), day)
    sheet.write_number(i, 2, sum, yen)
    sheet.write_formula(i, 3, f"=C{i + 1}*1.1", yen, round(sum * 1.1, 2))
sheet.write_datetime(3, 1, datetime.datetime(2026, 11, 23), era)
sheet.write_datetime(4, 1, datetime.datetime(2026, 11, 23, 18, 30), both)
sheet.write_number(4, 2, 0.75, time)
sheet.write_number(4, 3, 1.5, long)
sheet.write_boolean(5, 0, True)
sheet.write_string(5, 2, "tab\there\nand a line")
sheet.write_rich_string(6, 0, "rich ", book.add_format({"bold": True}), "text")
sheet.write_string(19, 4, "far")
secret = book.add_worksheet("hidden one")
secret.write(0, 0, "見えない")
secret.hide()
book.close()

# What openpyxl writes: texts in the cells, formulas without values.
book = openpyxl.Workbook()
book.active.title = "Sheet"
book.active.append(["a", "b"])
book.active.append([1, 2.5])
book.active.append([datetime.datetime(2026, 1, 2, 3, 4, 5), datetime.time(23, 59, 59)])
book.active["C2"] = "=A2+B2"
book.save("unsaved-values.xlsx")

with open("/tmp/vbaProject.bin", "wb") as f:
    f.write(b"\xd0\xcf\x11\xe0 a program")
book = xlsxwriter.Workbook("macros.xlsm")
book.add_worksheet("Sheet1").write(0, 0, "beside macros")
book.add_vba_project("/tmp/vbaProject.bin")
book.close()

plain = io.BytesIO(open("unsaved-values.xlsx", "rb").read())
with open("encrypted.xlsx", "wb") as f:
    OOXMLFile(plain).encrypt("secret", f)
assert msoffcrypto.OfficeFile(open("encrypted.xlsx", "rb")).is_encrypted()

old = xlwt.Workbook()
old.add_sheet("old").write(0, 0, "x")
old.save("old.xls")

paper = docx.Document()
paper.add_heading("議事録", 1)
paper.add_paragraph("予算は 1,200 円です。\tタブの後")
paper.add_paragraph("First", style="List Bullet")
broken = paper.add_paragraph("one line")
broken.add_run().add_break()
broken.add_run("and the next").bold = True
table = paper.add_table(rows=2, cols=2)
for i, text in enumerate(["氏名", "部署", "佐藤", "営業\n一課"]):
    table.cell(i // 2, i % 2).text = text
paper.add_paragraph("after the table")
paper.save("minutes.docx")

deck = pptx.Presentation()
slide = deck.slides.add_slide(deck.slide_layouts[1])
slide.shapes.title.text = "方針"
slide.placeholders[1].text = "one\ntwo"
slide.notes_slide.notes_text_frame.text = "話すこと"
slide = deck.slides.add_slide(deck.slide_layouts[5])
slide.shapes.title.text = "Table"
cells = slide.shapes.add_table(2, 2, 0, 0, 1000000, 500000).table
for i, text in enumerate(["A", "B", "1", "2"]):
    cells.cell(i // 2, i % 2).text = text
deck.save("deck.pptx")

text = "部署,氏名,金額\r\n営業,髙橋①,1200\r\n㈱山田,ソ能表,-5\r\n"
for name, encoding in {"sjis": "cp932", "utf8": "utf-8", "utf8-bom": "utf-8-sig"}.items():
    with open(f"{name}.csv", "wb") as f:
        f.write(text.encode(encoding))

# Lists by styles and by themselves, and what styles strike out or hide.
from docx.enum.style import WD_STYLE_TYPE
from docx.oxml import OxmlElement
from docx.oxml.ns import qn
from docx.shared import RGBColor

paper = docx.Document()
for name, attribute in [("Gone", "strike"), ("Gone twice", "double_strike"), ("Unseen", "hidden")]:
    setattr(paper.styles.add_style(name, WD_STYLE_TYPE.CHARACTER).font, attribute, True)
paper.styles.add_style("Gone lines", WD_STYLE_TYPE.PARAGRAPH).font.strike = True
paper.styles.add_style("More lines", WD_STYLE_TYPE.PARAGRAPH).base_style = paper.styles["Gone lines"]
for text in ["対象は営業", "期間は10月", "上限は30時間"]:
    paper.add_paragraph(text, style="List Number")
paper.add_paragraph("点", style="List Bullet")
p = paper.add_paragraph("営業")
p.add_run("と人事", style="Gone")
p.add_run("と総務", style="Gone twice")
p.add_run("の残業。")
p.add_run("役員も]含む", style="Unseen")
p = paper.add_paragraph("取消", style="More lines")
p.add_run("ではない", style="Gone")
p = paper.add_paragraph("見える")
p.add_run("白い文字").font.color.rgb = RGBColor(255, 255, 255)
run = p.add_run("白抜き")
run.font.color.rgb = RGBColor(255, 255, 255)
shade = OxmlElement("w:shd")
shade.set(qn("w:val"), "clear")
shade.set(qn("w:fill"), "1F3864")
run._r.rPr.append(shade)
cell = paper.add_table(rows=1, cols=1).cell(0, 0).paragraphs[0].add_run("表の白")
cell.font.color.rgb = RGBColor(255, 255, 255)
paper.save("lists.docx")
