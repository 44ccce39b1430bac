package turn

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/conversation"
	"ringi/shared/domain/files"
	"ringi/shared/model"
	"ringi/shared/words/language"
)

// The tools with which an agent reads the conversation's files.
const (
	listFiles = "list_files"
	readFile  = "read_file"
	search    = "search"
)

// Limits of reading. The first four are for a turn, the others for one call.
const (
	MaxRounds  = 12        // answers that read
	MaxResults = 256 << 10 // bytes of all results
	MaxScanned = 64 << 20  // bytes of files that are searched
	MaxScan    = 5 * time.Second

	MaxReads  = 8        // calls in one answer
	maxResult = 32 << 10 // bytes of a result's text
	maxListed = 200      // files
	maxFound  = 100      // lines that a search returns
	maxSought = 200      // characters that are searched for
	maxWidth  = 2000     // characters of a line
	maxAround = 200      // characters of a line that a search found
)

// readTools are offered where a conversation's files can be read. Every property is required, because vendors want so.
var readTools = []model.Tool{
	{Name: listFiles, Description: "List the conversation's files with their bytes and lines. It needs no approval.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string",` +
			`"description":"A folder, the beginning of a path, or a glob such as **/*.csv; empty for all files"}},` +
			`"required":["path"],"additionalProperties":false}`)},
	{Name: readFile, Description: "Read lines of one of the conversation's files. Each line follows its number. " +
		"It needs no approval.",
		Schema: json.RawMessage(`{"type":"object","properties":{"path":{"type":"string"},` +
			`"from":{"type":"integer","description":"The first line, from 1"},` +
			`"to":{"type":"integer","description":"The last line; 0 for as many as fit"}},` +
			`"required":["path","from","to"],"additionalProperties":false}`)},
	{Name: search, Description: "Find the lines of the conversation's files that hold a text, exactly as it is written. " +
		"It needs no approval.",
		Schema: json.RawMessage(`{"type":"object","properties":{` +
			`"text":{"type":"string","description":"At most 200 characters of one line"},` +
			`"path":{"type":"string",` +
			`"description":"Where: a folder, the beginning of a path, or a glob; empty for all files"}},` +
			`"required":["text","path"],"additionalProperties":false}`)},
}

var readNames = []string{listFiles, readFile, search}

// reads reports whether a tool reads files.
func reads(name string) bool { return slices.Contains(readNames, name) }

// Files are what an agent may read in a turn: one version of the conversation's files.
type Files struct {
	Version  string // empty: there are no files yet
	Attached bool   // there are attachments beside them
	// Open returns the files; it is called at the first read. Its error is shown to the model.
	Open func(ctx context.Context) (*files.Tree, error)

	tree    *files.Tree
	opened  bool
	failed  error
	scanned int
	took    time.Duration
	given   int // bytes of results
	room    int // tokens that the results may have; 0: no bound
	tokens  int // of results
}

// asked are the arguments of all read tools.
type asked struct {
	Path string `json:"path"`
	From int    `json:"from"`
	To   int    `json:"to"`
	Text string `json:"text"`
}

// arguments reads a call's arguments. Those that may be left out have the value that reads most.
func arguments(c model.Call) (a asked, err error) {
	if err := json.Unmarshal(c.Object(), &a); err != nil {
		return a, errors.New("the arguments can't be read: path and text are texts, from and to are whole numbers")
	}
	switch n := utf8.RuneCountInString(a.Text); {
	case len(a.Path) > files.MaxPath:
		return a, fmt.Errorf("path has %d bytes, the limit is %d", len(a.Path), files.MaxPath)
	case c.Name == readFile && a.Path == "":
		return a, errors.New("path is empty: name a file")
	case c.Name == search && (n == 0 || n > maxSought || strings.Contains(a.Text, "\n")):
		return a, fmt.Errorf("text has %d characters, it must have 1 to %d in one line", n, maxSought)
	case a.From < 0 || a.To < 0 || a.To > 0 && a.To < a.From:
		return a, fmt.Errorf("from is %d and to is %d: count lines from 1, and to may not come before from", a.From, a.To)
	}
	a.From = max(1, a.From)
	return a, nil
}

// asRead returns what a call asks for, for people. It reports false for any other call.
func asRead(c model.Call) (conversation.Read, bool) {
	a, err := arguments(c)
	r := conversation.Read{Tool: c.Name, Path: language.Visible(a.Path), Text: language.Visible(a.Text)}
	if c.Name == readFile {
		r.From, r.To = a.From, a.To
	}
	return r, err == nil && reads(c.Name)
}

// shown is a result. What files and their names say has members of its own; the other members are Ringi's words.
type shown struct {
	Files []listed `json:"files,omitempty"`
	Found []hit    `json:"found,omitempty"`
	File  string   `json:"file,omitempty"`
	Lines string   `json:"lines,omitempty"` // which of how many
	Text  string   `json:"text,omitempty"`
	Cut   string   `json:"cut_lines,omitempty"` // lines of which only the beginning is in the text
	// lines with characters that people can't see, which are not in the text
	Hidden   string `json:"hidden_lines,omitempty"`
	NotShown string `json:"not_shown,omitempty"`
	Version  string `json:"version,omitempty"`
}

type listed struct {
	Path  string `json:"path"`
	Bytes int    `json:"bytes"`
	Lines int    `json:"lines"`
	Kind  string `json:"kind,omitempty"` // no text; or a link
	Link  string `json:"link,omitempty"`
}

const noText = "no text in UTF-8"

// fence is what could end or open the fence of messages.
var fence = language.Regexp{Text: `(?i)<(/?\s*messages)`}

// Read answers a call of a read tool. It also returns the lines that the result of read_file has.
func (f *Files) Read(ctx context.Context, c model.Call) (model.Result, conversation.Lines) {
	if !f.opened {
		f.opened = true
		if f.tree, f.failed = f.Open(ctx); f.failed == nil && f.tree == nil {
			f.tree = &files.Tree{}
		}
	}
	began := time.Now()
	out, lines, err := f.read(c)
	f.took += time.Since(began)
	if out.Version = f.Version; len(out.Version) > 12 {
		out.Version = out.Version[:12]
	}
	text := ""
	if err == nil {
		text, err = written(out)
	}
	switch {
	case err != nil:
	case f.room > 0 && f.tokens+model.Tokens(text) > f.room:
		err = errors.New(tooLarge + ": read fewer lines, or answer with what you have")
	case f.given+len(text) > MaxResults:
		err = fmt.Errorf("the results of one turn have at most %d bytes, which are used up: answer with what you have",
			MaxResults)
	}
	if err != nil {
		said, _ := written(shown{NotShown: err.Error()}) // a text can always be written
		return model.Result{CallID: c.ID, Text: said, Failed: true}, conversation.Lines{}
	}
	f.count(text)
	return model.Result{CallID: c.ID, Text: text}, lines
}

func (f *Files) count(result string) {
	f.given, f.tokens = f.given+len(result), f.tokens+model.Tokens(result)
}

// written returns a result in the form that models read. Nothing in it can end or open the fence of messages.
func written(x shown) (string, error) {
	text, err := aggregate.Written(x)
	if err != nil {
		return "", fmt.Errorf("write a result: %w", err)
	}
	return fence.Get().ReplaceAllString(string(text), `\u003c$1`), nil
}

func (f *Files) read(c model.Call) (out shown, lines conversation.Lines, err error) {
	a, err := arguments(c)
	if err != nil {
		return out, lines, err
	}
	if f.took >= MaxScan {
		return out, lines, fmt.Errorf("the time for reading in one turn (%s) is used up: answer with what you have", MaxScan)
	}
	if f.Version == "" && !f.Attached {
		out.NotShown = "there are no files in this conversation yet"
		return out, lines, nil
	}
	if f.failed != nil {
		return out, lines, f.failed
	}
	found, err := f.tree.Find(a.Path)
	if err != nil {
		return out, lines, errors.New("path is a glob that can't be read")
	}
	switch c.Name {
	case listFiles:
		return list(found), lines, nil
	case search:
		return f.search(found, a.Text), lines, nil
	}
	if len(found) != 1 || strings.TrimPrefix(strings.TrimPrefix(a.Path, "./"), "/") != found[0].Path {
		return out, lines, errors.New("there is no file of this path; list_files says which there are")
	}
	return lineRange(found[0], a)
}

func listing(f files.Found) listed {
	x := listed{Path: f.Path, Bytes: f.Size(), Link: f.Link}
	switch text, ok := f.Text(); {
	case f.Link != "":
		x.Kind = "link"
	case !ok:
		x.Kind = noText
	default:
		x.Lines = files.LinesOf(text)
	}
	return x
}

func list(found []files.Found) (out shown) {
	size := 0
	for i, f := range found {
		size += len(f.Path) + len(f.Link)
		if i == maxListed || size > maxResult/2 {
			out.NotShown = fmt.Sprintf("%s more files of %s, in the order of their paths: name a folder or a glob",
				conversation.Grouped(len(found)-i), conversation.Grouped(len(found)))
			return out
		}
		out.Files = append(out.Files, listing(f))
	}
	if found == nil {
		out.NotShown = "no file has such a path"
	}
	return out
}

// lineRange returns lines of a file, each after its number.
func lineRange(f files.Found, a asked) (out shown, is conversation.Lines, err error) {
	out.File = f.Path
	text, ok := f.Text()
	total := files.LinesOf(text)
	switch {
	case f.Link != "":
		return out, is, errors.New("it is a link: read the file that it leads to, if that is among the files")
	case !ok:
		out.NotShown = fmt.Sprintf("the file's %s bytes, which are %s", conversation.Grouped(f.Size()), noText)
		return out, is, nil
	case total == 0:
		out.Lines = "the file is empty"
		return out, is, nil
	case a.From > total:
		return out, is, fmt.Errorf("from is %d, but the file has %d lines", a.From, total)
	}
	var b strings.Builder
	var cuts, hides []conversation.Lines
	number := 0
	for line := range bytes.Lines(text) {
		if number++; number < a.From {
			continue
		}
		as, cut, hidden := legibleLine(line)
		if as = fmt.Sprintf("%d: %s", number, as); b.Len() > 0 && b.Len()+len(as) >= maxResult {
			break
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(as)
		is = conversation.Lines{From: a.From, To: number}
		if cut {
			cuts = conversation.WithLine(cuts, number)
		}
		if hidden {
			hides = conversation.WithLine(hides, number)
		}
		if number == a.To {
			break
		}
	}
	out.Text, out.Cut, out.Hidden = b.String(), numbers(cuts), numbers(hides)
	out.Lines = fmt.Sprintf("%s of %s", conversation.NumbersOf([]conversation.Lines{is}, false),
		conversation.Grouped(total))
	if is.To < total {
		rest := conversation.NumbersOf([]conversation.Lines{{From: is.To + 1, To: total}}, false)
		out.NotShown = fmt.Sprintf("lines %s: read on from %d", rest, is.To+1)
	}
	return out, is, nil
}

// numbers writes the numbers of lines, of the first ones if there are many gaps.
func numbers(list []conversation.Lines) string {
	const most = 50
	return conversation.NumbersOf(list[:min(len(list), most)], len(list) > most)
}

// legibleLine returns a line as people see it, whether only its beginning, and whether it has characters that nobody
// sees.
func legibleLine(line []byte) (text string, cut, hidden bool) {
	is := strings.TrimSuffix(strings.TrimSuffix(string(line), "\n"), "\r")
	text = strings.ReplaceAll(language.VisibleCode(is), "\n", " ")
	if hidden = text != is; utf8.RuneCountInString(text) > maxWidth {
		text, cut = language.First(text, maxWidth), true
	}
	return text, cut, hidden
}

type hit struct {
	Path string `json:"path"`
	Line int    `json:"line"`
	Text string `json:"text"` // as it stands in the file, with the blanks at its beginning
	// Cut says which part of a long line the text is. Hidden says that the text lacks characters that people can't see.
	Cut    string `json:"cut,omitempty"`
	Hidden bool   `json:"hidden,omitempty"`
}

// search returns the lines that hold a text.
func (f *Files) search(found []files.Found, sought string) (out shown) {
	var left []string
	binary, size := 0, 0
	began := time.Now()
	for i, x := range found {
		text, ok := x.Text()
		if !ok {
			binary++
			continue
		}
		if f.scanned+len(text) > MaxScanned || f.took+time.Since(began) > MaxScan {
			left = append(left, fmt.Sprintf("%s files that were not searched: one turn searches at most %d MiB in %s",
				conversation.Grouped(len(found)-i), MaxScanned>>20, MaxScan))
			break
		}
		f.scanned += len(text)
		number := 0
		for line := range bytes.Lines(text) {
			number++
			at := bytes.Index(line, []byte(sought))
			if at < 0 {
				continue
			}
			h := around(line, at, len(sought))
			h.Path, h.Line = x.Path, number
			if size += len(h.Path) + len(h.Text); len(out.Found) == maxFound || size > maxResult/2 {
				out.NotShown = strings.Join(append(left, "further lines that hold the text: name a folder or a longer text"), "; ")
				return out
			}
			out.Found = append(out.Found, h)
		}
	}
	if binary > 0 {
		left = append(left, fmt.Sprintf("%s files that are links or %s", conversation.Grouped(binary), noText))
	}
	if out.NotShown = strings.Join(left, "; "); out.Found == nil {
		out.Lines = fmt.Sprintf("none in %s files", conversation.Grouped(len(found)-binary))
	}
	return out
}

// around returns a line in which a text of so many bytes stands at a place. Of a long line it returns the beginning or,
// if the text is beyond that, the part that begins shortly before the text.
func around(line []byte, place, length int) (h hit) {
	all := []rune(string(bytes.TrimRight(line, "\r\n")))
	from := 0
	if before := utf8.RuneCount(line[:place]); utf8.RuneCount(line[:place+length]) > maxAround {
		from = max(0, before-maxAround/4)
	}
	to := min(len(all), from+maxAround)
	if to-from < len(all) {
		is := conversation.NumbersOf([]conversation.Lines{{From: from + 1, To: to}}, false)
		h.Cut = fmt.Sprintf("characters %s of %s", is, conversation.Grouped(len(all)))
	}
	part := string(all[from:to])
	h.Text = strings.ReplaceAll(language.VisibleCode(part), "\n", " ")
	h.Hidden = h.Text != part
	return h
}
