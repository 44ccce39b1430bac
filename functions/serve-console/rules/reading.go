package rules

import (
	"maps"
	"net/http"
	"net/url"
	"path"
	"slices"
	"strconv"
	"strings"

	"ringi/functions/serve-console/web"
	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/organisation"
	"ringi/shared/words/charset"
	"ringi/shared/words/legible"
)

// reading is as what files are read, and what is asked about it. Each form sends all of it again.
type reading struct {
	Files   []fileRead
	Missing []string // columns that no file has
	MayLack bool     // only departments are missing
	Values  []valueRead
	Ranks   []rankRead
	Splits  []web.Choice // empty: no name of a department may be a path
	Without bool         // there are no departments, as somebody said
	Asks    bool
	Notes   []string // what was decided that the files don't say
}

// ValuesAsked reports whether nobody said as what a value is read.
func (x reading) ValuesAsked() bool {
	return slices.ContainsFunc(x.Values, func(v valueRead) bool { return v.Asked })
}

// Opened reports whether a file has columns, which may be read otherwise.
func (x reading) Opened() bool {
	return slices.ContainsFunc(x.Files, func(f fileRead) bool { return len(f.Columns) > 0 })
}

// RanksAsked reports whether nobody said where a position stands.
func (x reading) RanksAsked() bool {
	return slices.ContainsFunc(x.Ranks, func(v rankRead) bool { return v.Asked })
}

// fileRead is a file, and its columns.
type fileRead struct {
	Name, Packed, Encoding string
	About                  string // product, rows, encoding
	Ignored                string // columns that are not read
	Columns                []columnRead
}

type columnRead struct {
	Header, Key, Example, Usual string
	As                          []web.Choice
}

// valueRead is a word of a product, and as what it is read.
type valueRead struct {
	Column, Value, Key, Usual, Count string
	As                               []web.Choice
	Asked                            bool
}

// rankRead is a position of files without ranks.
type rankRead struct {
	Position, Rank, Count string
	Asked                 bool
}

// filesOf returns the uploaded files as UTF-8 with the names of their encodings, or the texts that the page kept of
// them. A file that is in no encoding is returned as it is, and refused for that when it is read. So are damaged
// characters, by their rows.
func filesOf(r *http.Request) (files []organisation.File, encodings []string, err error) {
	uploads, err := web.Uploads(r)
	if err != nil {
		return nil, nil, err
	}
	for _, u := range uploads {
		text, encoding := utf8Of(u.File)
		files, encodings = append(files, organisation.File{Name: u.Name, Text: text}), append(encodings, encoding)
	}
	if len(files) > 0 {
		return files, encodings, nil
	}
	for i, packed := range r.PostForm["packed"] {
		text, err := web.Unpacked(packed, organisation.MaxBytes)
		if err != nil || i >= organisation.MaxFiles {
			return nil, nil, aggregate.ErrField{Field: "file", Limit: "can't be read"}
		}
		files, encodings = append(files, organisation.File{Name: at(r.PostForm["file_name"], i), Text: text}),
			append(encodings, at(r.PostForm["encoding"], i))
	}
	if len(files) == 0 {
		files, encodings = []organisation.File{{}}, []string{""}
	}
	return files, encodings, nil
}

func utf8Of(file []byte) (text []byte, encoding string) {
	decoded, encoding := charset.Decode(file)
	if encoding == "" { // its rows are told from the bytes
		return file, ""
	}
	return []byte(decoded), encoding
}

// at returns a value of a list, empty where the list is shorter.
func at(all []string, i int) string {
	if i < len(all) {
		return all[i]
	}
	return ""
}

// fileName returns what a file is called, without the folders that some browsers send.
func fileName(name string) string {
	return legible.Clip(legible.Spelled(path.Base(strings.ReplaceAll(name, `\`, "/"))), 80)
}

// answered returns what is kept of files with the answers of a form: for each column, value and position the key and
// what was chosen.
func answered(kept organisation.Kept, form url.Values) (organisation.Kept, error) {
	k := organisation.Kept{Columns: copied(kept.Columns), Values: copied(kept.Values), Ranks: copied(kept.Ranks),
		Split: kept.Split, Without: kept.Without}
	for i, key := range form["column"] {
		as := at(form["column_as"], i)
		if _, ok := organisation.ParseReading(as); !ok {
			return k, aggregate.ErrField{Field: "column", Limit: "must be read as one of those offered"}
		}
		if k.Columns[key] = as; as == at(form["column_was"], i) {
			delete(k.Columns, key)
		}
	}
	for i, key := range form["value"] {
		as := at(form["value_as"], i)
		column, _, _ := strings.Cut(key, " ")
		if k.Values[key] = as; as == at(form["value_was"], i) {
			delete(k.Values, key)
		} else if !slices.Contains(organisation.Choices(organisation.Column(column)), as) {
			return k, aggregate.ErrField{Field: "value", Limit: "must be read as one of those offered"}
		}
	}
	for i, position := range form["position"] {
		text := strings.TrimSpace(at(form["rank"], i))
		rank, err := strconv.Atoi(text)
		if text != "" && (err != nil || rank < 1 || rank > organisation.MaxRank) {
			return k, aggregate.ErrField{Field: "rank", Limit: "must be a whole number from 1 to 999, or empty"}
		}
		k.Ranks[position] = rank
	}
	if form.Has("split") {
		k.Split = form.Get("split")
		if k.Split != "" && !slices.Contains(organisation.Splits, k.Split) {
			return k, aggregate.ErrField{Field: "split", Limit: "must be one of those offered"}
		}
	}
	if form.Has("read") {
		k.Without = form.Get("without") != ""
	}
	return k, nil
}

// copied is a copy to which answers can be added, also of none.
func copied[T any](of map[string]T) map[string]T {
	all := map[string]T{}
	maps.Copy(all, of)
	return all
}

// reading says as what files were read.
func (t texts) reading(l *organisation.Laid, kept organisation.Kept, files []organisation.File,
	encodings []string) reading {
	x := reading{Without: kept.Without, Asks: l.Asks()}
	for i, f := range files {
		x.Files = append(x.Files, fileRead{Name: fileName(f.Name), Packed: web.Packed(f.Text), Encoding: encodings[i]})
	}
	for i, s := range l.Sheets {
		t.file(&x.Files[i], s, encodings[i])
	}
	x.Missing = web.Each(l.Missing, func(c organisation.Column) string { return t.In("missing", c) })
	x.MayLack = slices.Equal(l.Missing, []organisation.Column{organisation.ColumnPath})
	for _, v := range l.Values {
		x.Values = append(x.Values, valueRead{t.column(v.Column), legible.Clip(legible.Spelled(v.Value), 40), v.Key(),
			v.Usual(), web.Count(int64(v.Count)), t.choices(v.Column, v.As), v.As == ""})
	}
	for _, p := range l.Ranks {
		rank := ""
		if p.Rank > 0 {
			rank = strconv.Itoa(p.Rank)
		}
		x.Ranks = append(x.Ranks, rankRead{p.Position, rank, web.Count(int64(p.Count)), !p.Known})
	}
	if l.Paths || kept.Split != "" {
		words := t.Texts
		x.Splits = web.Choices(words, "splits", kept.Split, append([]string{""}, organisation.Splits...)...)
	}
	x.Notes = t.notes(l, files)
	return x
}

// notes say what was decided that files don't say.
func (t texts) notes(l *organisation.Laid, files []organisation.File) (all []string) {
	if l.Key == organisation.ColumnID || l.Key == organisation.ColumnMail {
		all = append(all, t.In("keys", l.Key))
	}
	if l.Top {
		all = append(all, t.Say("top_made"))
	}
	for _, x := range []struct {
		who  []string
		text string
	}{
		{l.Strangers, t.Say("strangers", t.some(l.Strangers)...)},
		{l.Unnumbered, t.Say("unnumbered", t.some(l.Unnumbered)...)},
		{l.Rehired, t.Say("rehired", t.some(l.Rehired)...)},
		{l.Enabled, t.Say("enabled", t.some(l.Enabled)...)},
		{l.Placed, t.Say("placed", t.some(l.Placed)...)},
		{l.Unposted, t.Say("unposted", t.some(l.Unposted)...)},
		{l.Spelled, t.Say("spelled", t.some(l.Spelled)...)},
		{l.Elsewhere, t.Say("elsewhere", t.some(l.Elsewhere)...)},
		{l.Alike, t.Say("alike", t.some(l.Alike)...)},
	} {
		if len(x.who) > 0 {
			all = append(all, x.text)
		}
	}
	for i, s := range l.Sheets {
		for _, d := range s.Doubts {
			all = append(all, t.doubt(d, files[i].Name, len(files) > 1))
		}
	}
	return all
}

// some are how many there are of a list, and the first of them.
func (t texts) some(all []string) []any {
	shown := strings.Join(all[:min(len(all), 5)], t.Say("and"))
	return []any{"n", web.Count(int64(len(all))), "some", legible.Clip(legible.Spelled(shown), 200)}
}

// doubt says that two columns of departments differ, and which one is read.
func (t texts) doubt(d organisation.Doubt, file string, several bool) string {
	of := append(t.some(web.Each(d.Rows, strconv.Itoa)), "used", legible.Clip(legible.Spelled(d.Used), 60),
		"other", legible.Clip(legible.Spelled(d.Other), 60))
	text := t.Say("doubt", of...)
	if d.Dropped {
		text = t.Say("doubt_dropped", of...)
	}
	if several {
		return fileName(file) + ": " + text
	}
	return text
}

// file says as what a file and its columns were read.
func (t texts) file(f *fileRead, s organisation.Sheet, encoding string) {
	about := []string{t.In("layouts", s.Layout), t.Say("rows", "n", web.Count(int64(s.Rows)))}
	if encoding != "" {
		about = append(about, t.Say("encoding")+" "+encoding)
	}
	f.About = strings.Join(about, " · ")
	var ignored []string
	seen := map[string]bool{} // a name that stands there twice is one answer
	for _, c := range s.Columns {
		if c.Reading == (organisation.Reading{}) {
			ignored = append(ignored, legible.Spelled(c.Header))
		}
		if seen[c.Key] || c.Key == "" {
			continue
		}
		seen[c.Key] = true
		f.Columns = append(f.Columns, columnRead{legible.Clip(legible.Spelled(c.Header), 60), c.Key,
			legible.Clip(legible.Spelled(c.Example), 40), c.Usual.String(), t.readings(c.Reading)})
	}
	f.Ignored = strings.Join(ignored, t.Say("and"))
}

// offered are the readings that a column may have: those of the first posts, since more of them are named by number.
func offered() (all []organisation.Reading) {
	for _, c := range []organisation.Column{organisation.ColumnNumber, organisation.ColumnName, organisation.ColumnFamily,
		organisation.ColumnGiven, organisation.ColumnMail, organisation.ColumnPath, organisation.ColumnDepartment,
		organisation.ColumnDepartmentName, organisation.ColumnParent, organisation.ColumnPosition, organisation.ColumnRank,
		organisation.ColumnPost, organisation.ColumnManager, organisation.ColumnEmployment, organisation.ColumnStatus,
		organisation.ColumnFrom, organisation.ColumnTo, organisation.ColumnLeaveFrom, organisation.ColumnLeaveTo,
		organisation.ColumnSince} {
		all = append(all, organisation.Reading{Column: c, Nth: 1})
	}
	for nth := 2; nth <= 3; nth++ {
		for _, c := range []organisation.Column{organisation.ColumnPath, organisation.ColumnDepartment,
			organisation.ColumnPosition} {
			all = append(all, organisation.Reading{Column: c, Nth: nth})
		}
	}
	return all
}

// readings are as what a column may be read, also as it is read now.
func (t texts) readings(is organisation.Reading) []web.Choice {
	all := []web.Choice{{Value: organisation.Ignored, Text: t.Say("not_read"), Chosen: is == organisation.Reading{}}}
	readings := offered()
	if is.Column != "" && !slices.Contains(readings, is) {
		readings = append(readings, is)
	}
	for _, x := range readings {
		text := t.column(x.Column)
		if x.Nth > 1 {
			text += " " + strconv.Itoa(x.Nth)
		}
		all = append(all, web.Choice{Value: x.String(), Text: text, Chosen: x == is})
	}
	return all
}

// choices are as what a value may be read.
func (t texts) choices(c organisation.Column, as string) []web.Choice {
	words := t.Texts
	all := web.Choices(words, "value_words", as, organisation.Choices(c)...)
	if as == "" {
		all = slices.Insert(all, 0, web.Choice{Text: t.Say("choose"), Chosen: true})
	}
	return all
}
