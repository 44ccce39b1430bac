package main

import (
	"cmp"
	"encoding/xml"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"ringi/shared/runtime/isolated"
	"ringi/shared/words/language"
)

// Colors are six hexadecimal digits, or a name where only the theme or the program knows them; "" is none. Of a pattern
// or a gradient nobody knows what can be seen on it.
const (
	white, black = "FFFFFF", "000000"
	mixed        = "mixed"
)

// near reports whether two colors are so near to each other that nobody reads one on the other.
func near(a, b string) bool {
	x, errX := strconv.ParseUint(a, 16, 24)
	y, errY := strconv.ParseUint(b, 16, 24)
	if errX != nil || errY != nil {
		return a == b && a != mixed
	}
	for shift := 0; shift < 24; shift += 8 {
		if d := int(x>>shift&0xff) - int(y>>shift&0xff); d <= -16 || d >= 16 {
			return false
		}
	}
	return true
}

// basic are the colors that sheets and formats name by numbers: 0 to 7, and again 8 to 15.
var basic = []string{black, white, "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF"}

// colorOf returns a color of a sheet. Themes have white and black first; their other colors are names here.
func colorOf(e xml.StartElement) string {
	tint, _ := strconv.ParseFloat(attribute(e, "tint"), 64)
	shade := func(part float64) string {
		return strings.Repeat(fmt.Sprintf("%02X", int(255*min(max(part, 0), 1))), 3)
	}
	theme, rgb := attribute(e, "theme"), attribute(e, "rgb")
	n, err := strconv.Atoi(attribute(e, "indexed"))
	switch {
	case theme == "0":
		return shade(1 + min(tint, 0))
	case theme == "1":
		return shade(max(tint, 0))
	case theme != "":
		return "theme " + theme + " " + strconv.FormatFloat(math.Round(tint*100), 'f', 0, 64)
	case len(rgb) >= 6:
		return strings.ToUpper(rgb[len(rgb)-6:])
	case err == nil && n >= 0 && n < 2*len(basic):
		return basic[n%len(basic)]
	case err == nil && n != 64: // the program's own for letters
		return "indexed " + strconv.Itoa(n)
	}
	return ""
}

var named = language.Regexp{Text: `(?i)^\[(black|white|red|green|blue|yellow|magenta|cyan|[黒白赤緑青黄紫水]|` +
	`(?:color ?|色)([1-8]))\]$`}

// colorIn returns the color that a section of a format gives a number or a text, or "".
func colorIn(section string) string {
	for _, token := range noText.Get().FindAllString(section, -1) {
		if m := named.Get().FindStringSubmatch(token); m != nil {
			if n, err := strconv.Atoi(m[2]); err == nil {
				return basic[n-1]
			}
			word := strings.ToLower(m[1])
			return basic[max(slices.Index([]string{"black", "white", "red", "green", "blue", "yellow", "magenta", "cyan"}, word),
				slices.Index([]string{"黒", "白", "赤", "緑", "青", "黄", "紫", "水"}, word))]
		}
	}
	return ""
}

// richRun is a part of a text in a cell, and how it looks. One without properties looks as its cell does.
type richRun struct {
	look
	text, color string
	own         bool // it has properties
}

// rich is a text with runs.
type rich struct {
	runs []richRun
	own  bool // one of them has properties
}

// dress takes an element of a run's properties.
func (r *rich) dress(as *richRun, e xml.StartElement) {
	r.own, as.own = true, true
	if as.take(e); e.Name.Local == "color" {
		as.color = colorOf(e)
	}
}

func (r *rich) add(s string, as richRun) {
	if n := len(r.runs); n > 0 {
		as.text = r.runs[n-1].text
		if r.runs[n-1] == as {
			r.runs[n-1].text += s
			return
		}
	}
	as.text = s
	r.runs = append(r.runs, as)
}

// on returns the text on a ground, in a cell whose letters have a color, and says what is struck out or hidden. Of a
// text without properties the cell says that.
func (r *rich) on(ground, letters string, w *writer) string {
	var m marked
	for _, run := range r.runs {
		color := letters
		if run.own {
			color = run.color
		}
		as := run.look
		as.hidden = as.hidden || r.own && near(cmp.Or(color, black), ground)
		if as.hidden && strings.TrimSpace(run.text) != "" {
			w.remark(isolated.HasHidden)
		}
		m.add(run.text, as)
	}
	text, struck := m.done()
	if struck {
		w.remark(isolated.HasStruck)
	}
	return text
}

// column is how the colors of a column's cells change from row to row.
type column struct {
	fed           int    // rows
	header        string // the color of the first row, which says nothing of those below
	last          string
	runs          int // of rows in one color
	length, first int // of the last run, and of the first
	pair          [2]string
	body          int // rows below the header
	uneven        bool
}

// feed takes the color of the next rows. The header's own color is that of headers wherever it stands.
func (c *column) feed(color string, rows int) {
	if c.fed == 0 && rows > 0 {
		c.header, c.fed, rows = color, 1, rows-1
	}
	c.fed += rows
	switch {
	case rows <= 0 || color != "" && color == c.header:
		return
	}
	c.body += rows
	switch {
	case c.runs > 0 && color == c.last:
		c.length += rows
		return
	case c.runs == 1:
		c.first = c.length
	case c.runs > 1:
		c.uneven = c.uneven || c.length != c.first || color != c.pair[c.runs%2]
	}
	if c.runs < 2 {
		c.pair[c.runs] = color
	}
	c.runs, c.last, c.length = c.runs+1, color, rows
}

// leastBands is how many rows there are at least if colors that change evenly are bands.
const leastBands = 4

// says reports whether the colors seem to say something: they change, and not from one to the other and back in steps
// of the same length, as bands do.
func (c *column) says() bool {
	return c.runs == 2 || c.runs > 2 && (c.uneven || c.length > c.first || c.body < leastBands)
}

// coloring is that of a sheet's rows. Of ordinary tables nobody is told: a header, a column in one color, bands, rows
// of totals, lines with one cell above a table.
type coloring struct {
	fills, letters map[int]*column
	rows           int  // that were fed
	wide           bool // a row has several texts: those with one are titles
	row            []tinted
	texts          int
	title          string // the row's first text
}

// tinted is a cell's fill, and the color of its letters if it has a text.
type tinted struct {
	column        int
	fill, letters string
	text          bool
}

var total = language.Regexp{Text: `(?i)計$|\btotals?$`}

// cell takes a cell of the row.
func (c *coloring) cell(at int, fill, letters, text string) {
	if text != "" {
		if c.texts++; c.texts == 1 {
			c.title = text
		}
	}
	if text != "" || fill != "" {
		c.row = append(c.row, tinted{at, fill, letters, text != ""})
	}
}

// endRow takes the row.
func (c *coloring) endRow() {
	row, texts, title := c.row, c.texts, c.title
	c.row, c.texts, c.title = c.row[:0], 0, ""
	if texts > 1 && !c.wide {
		*c = coloring{wide: true, row: c.row}
	}
	if texts == 0 || c.wide && texts == 1 || total.Get().MatchString(title) {
		return
	}
	if c.fills == nil {
		c.fills, c.letters = map[int]*column{}, map[int]*column{}
	}
	for _, cell := range row {
		if cell.text {
			of(c.letters, cell.column).feed(cell.letters, 1)
		}
		if known := c.fills[cell.column]; known == nil && cell.fill == "" {
			continue
		}
		fills := of(c.fills, cell.column)
		fills.feed("", c.rows-fills.fed)
		fills.feed(cell.fill, 1)
	}
	c.rows++
}

func of(columns map[int]*column, n int) *column {
	if columns[n] == nil {
		columns[n] = &column{}
	}
	return columns[n]
}

// columns returns the columns whose colors seem to say something.
func (c *coloring) columns() (all []int) {
	for n, fills := range c.fills {
		if fills.feed("", c.rows-fills.fed); fills.says() {
			all = append(all, n)
		}
	}
	for n, letters := range c.letters {
		if letters.says() && !slices.Contains(all, n) {
			all = append(all, n)
		}
	}
	slices.Sort(all)
	return all
}

// colors says which columns have colors that seem to say something.
func (r *rows) colors() error {
	all := r.coloring.columns()
	if len(all) == 0 {
		return nil
	}
	r.w.remark(isolated.HasColors)
	var names []string
	for _, n := range all[:min(len(all), mostMerged)] {
		names = append(names, lettersOf(n))
	}
	return r.w.write("[colors that are not read: in columns " + listed(names, len(all)-len(names)) + "]\n")
}
