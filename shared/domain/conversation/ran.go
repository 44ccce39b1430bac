package conversation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/words/language"
	"ringi/shared/words/legible"
)

// ranWords say what became of one command of several.
type ranWords struct{ command, exit, signal, timedOut, began, runs, notRun, took, lines string }

// Ran is what became of one command of several. It is of the command with the same place in the payload.
type Ran struct {
	StartedAt time.Time `json:"started_at"`
	From      int       `json:"from"`  // number of its first line of output, if it has one
	Lines     int       `json:"lines"` // of its output, those that are not kept included
	// Over says that the command has ended. Of one that has not, nobody knows more than that it began.
	Over     bool   `json:"over,omitempty"`
	ExitCode *int   `json:"exit_code,omitempty"` // nil: a signal ended it, or nobody knows
	Signal   string `json:"signal,omitempty"`
	TimedOut bool   `json:"timed_out,omitempty"`
	Millis   int64  `json:"ms,omitempty"` // how long it took
}

// Succeeded reports whether the command ended as it should, so that the next one may begin.
func (r Ran) Succeeded() bool { return r.Over && r.ExitCode != nil && *r.ExitCode == 0 && !r.TimedOut }

// Brief says in one word how the command ended, for the audit log.
func (r Ran) Brief() string {
	switch {
	case !r.Over:
		return "begun"
	case r.TimedOut:
		return "timeout"
	case r.ExitCode != nil:
		return fmt.Sprint(*r.ExitCode)
	}
	return "signal " + strings.ReplaceAll(legible.OneLine(r.Signal), ",", "")
}

// BriefOf says how each of several commands ended, those that have not begun left out.
func BriefOf(ran []Ran) string {
	words := make([]string, len(ran))
	for i, r := range ran {
		words[i] = r.Brief()
	}
	return strings.Join(words, ", ")
}

// withRan adds to an audit entry how each of several commands ended.
func withRan(ran []Ran, details map[string]any) map[string]any {
	if len(ran) > 0 {
		details["commands"] = BriefOf(ran)
	}
	return details
}

// Began records that the invocation that executes an action has begun these of its commands. What was recorded stays
// if the invocation ends without a result.
func (a *Aggregate) Began(id, invocation string, ran []Ran, now time.Time) (aggregate.Change, error) {
	x, err := a.executedBy(id, invocation)
	if err != nil {
		return aggregate.Change{}, err
	}
	if len(ran) <= len(x.Commands) || len(ran) > MaxCommands {
		return aggregate.Change{}, nil
	}
	c := a.begin(now)
	n := *x
	n.Commands = slices.Clone(ran)
	c.Put(&n)
	return c.done()
}

// RanLines says of each of an action's several commands what became of it; empty before the action has begun, and for
// one that is no plan.
func (x *Action) RanLines(locale string) (lines []string) {
	if x.Plan == 0 || x.StartedAt == nil {
		return nil
	}
	w := said.In(locale).ran
	for i := range x.Plan {
		line := fmt.Sprintf(w.command, i+1)
		if i < len(x.Commands) {
			line += strings.Join(x.Commands[i].said(w, x.Status == ActionExecuting), " · ")
		} else if x.Status == ActionExecuting || x.Outcome != "" || x.Status == ActionCancelled && x.Late == nil {
			continue // nobody knows whether it has begun meanwhile
		} else {
			line += w.notRun
		}
		lines = append(lines, line)
	}
	return lines
}

// said says what became of a command.
func (r Ran) said(w ranWords, executing bool) (all []string) {
	switch {
	case !r.Over && executing:
		all = append(all, w.runs)
	case !r.Over:
		all = append(all, w.began)
	case r.TimedOut:
		all = append(all, w.timedOut)
	case r.ExitCode != nil:
		all = append(all, fmt.Sprintf(w.exit, *r.ExitCode))
	default:
		all = append(all, fmt.Sprintf(w.signal, signalName(r.Signal)))
	}
	if r.Over {
		all = append(all, fmt.Sprintf(w.took, fmt.Sprintf("%.1f", float64(r.Millis)/1000)))
	}
	if r.Lines > 0 {
		all = append(all, fmt.Sprintf(w.lines, NumbersOf([]Lines{{r.From, r.From + r.Lines - 1}}, false)))
	}
	return all
}

// signalName returns a signal's name, or ? for what is none: the sandbox could say anything there.
func signalName(name string) string {
	if name == "" || len(name) > 20 || strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789+-") != "" {
		return "?"
	}
	return name
}

// Printed returns the number of the command, from 1, of whose output this line of the whole output is the first that is
// shown; 0: none. before is the line that is shown before it, 0: none.
func (x *Action) Printed(line, before int) int {
	for i, r := range x.Commands {
		if before < r.From && r.From <= line && (line < r.From+r.Lines || !r.Over) {
			return i + 1
		}
	}
	return 0
}

// Tests counts the tests that a command says it ran. It reads what the common runners print at their end, so it is as
// true as the output is.
type Tests struct {
	Passed  int `json:"passed"`
	Failed  int `json:"failed,omitempty"`
	Skipped int `json:"skipped,omitempty"`
	// Packages says that these are packages of Go, which names its tests only with -v or if they fail.
	Packages bool `json:"packages,omitempty"`

	ran      int    // by unittest, which says in another line how these ended
	packages [2]int // of Go that passed, and that failed
}

// counts are forms of lines with counts, by runner. Their groups are named by what they count; those of "all" that are
// not counted otherwise passed.
var counts = sync.OnceValue(func() (all []*regexp.Regexp) {
	for _, form := range []string{
		// cargo
		`^test result: \w+\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; (?P<skipped>\d{1,9}) ignored`,
		// Surefire
		`^(?:\[\w+\] )*Tests run: (?P<all>\d{1,9}), Failures: (?P<failed>\d{1,9}), Errors: (?P<failed>\d{1,9}), Skipped: ` +
			`(?P<skipped>\d{1,9})\.?$`,
		// RSpec
		`^(?P<all>\d{1,9}) examples?, (?P<failed>\d{1,9}) failures?(?:, (?P<skipped>\d{1,9}) pending)?`,
		// Minitest
		`^(?P<all>\d{1,9}) (?:runs|tests), \d+ assertions, (?P<failed>\d{1,9}) failures, (?P<failed>\d{1,9}) errors, ` +
			`(?P<skipped>\d{1,9}) skips`,
		// .NET
		`^(?:Passed|Failed)! +- +Failed: +(?P<failed>\d{1,9}), Passed: +(?P<passed>\d{1,9}), Skipped: +(?P<skipped>\d{1,9})`,
		// PHPUnit
		`^OK \((?P<passed>\d{1,9}) tests?, \d+ assertions?\)`,
		`^Tests: (?P<all>\d{1,9}), Assertions: \d+(?:, Errors: (?P<failed>\d{1,9}))?(?:, Failures: (?P<failed>\d{1,` +
			`9}))?(?:, .*?Skipped: (?P<skipped>\d{1,9}))?.*\.$`,
		`^(?P<passed>\d{1,9}) passing\b`, `^(?P<failed>\d{1,9}) failing\b`, `^(?P<skipped>\d{1,9}) pending$`, // Mocha
		// Node
		`^[#ℹ] pass (?P<passed>\d{1,9})$`, `^[#ℹ] fail (?P<failed>\d{1,9})$`, `^[#ℹ] (?:skipped|todo) (?P<skipped>\d{1,9})$`,
	} {
		all = append(all, regexp.MustCompile(form))
	}
	return all
})

var (
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })
	// listed is a line of counts with their words: of pytest with its time, of Jest and Vitest after a heading.
	listed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:=+ )?((?:\d{1,9} [a-z]+, )*\d{1,9} [a-z]+) in [\d.]+s\b[^=]*=*$|^Tests:? +((?:\d{1,` +
			`9} [a-z]+(?:, | \| )?)+)(?: \(\d+\))?$`)
	})
	one = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`(\d+) ([a-z]+)|(failures|errors|` +
			`skipped)=(\d+)`)
	})
	unittest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^Ran (\d{1,9}) tests? in |^(?:OK|FAILED)(?: \(([a-z ]+=\d{1,9}(?:, [a-z ]+=\d{1,` +
			`9})*)\))?$`)
	})
	ofGo = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^--- (PASS|FAIL|SKIP): |^(ok|FAIL)\s+\S+\s+(?:[\d.]+s|\(cached\)|\[.*\])`)
	})
)

// add counts so many by a runner's word; false: by none that is known.
func (t *Tests) add(word, n string) bool {
	count, _ := strconv.Atoi(n) // of digits, at most nine
	switch word {
	case "passed":
		t.Passed += count
	case "failed", "error", "errors", "failures":
		t.Failed += count
	case "skipped", "todo", "xfailed", "pending":
		t.Skipped += count
	case "deselected", "warning", "warnings", "total", "xpassed", "rerun":
	default:
		return false
	}
	return true
}

// Read counts what a line of output says.
func (t *Tests) Read(line string) {
	line = strings.TrimSpace(escapes().ReplaceAllString(line, ""))
	if m := listed().FindStringSubmatch(line); m != nil {
		was := *t
		for _, x := range one().FindAllStringSubmatch(cmp.Or(m[1], m[2]), -1) {
			if !t.add(x[2], x[1]) {
				*t = was
				return
			}
		}
		return
	}
	if m := unittest().FindStringSubmatch(line); m != nil {
		t.unittest(m[1], m[2])
		return
	}
	if m := ofGo().FindStringSubmatch(line); m != nil {
		t.ofGo(m[1], m[2])
		return
	}
	for _, form := range counts() {
		m := form.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		before := *t
		for i, name := range form.SubexpNames() {
			t.add(name, m[i])
		}
		if i := form.SubexpIndex("all"); i > 0 {
			all, _ := strconv.Atoi(m[i])
			t.Passed += max(0, all-(t.Failed-before.Failed)-(t.Skipped-before.Skipped))
		}
		return
	}
}

// unittest counts Python's own runner, which says how many ran, and then how many of these didn't pass.
func (t *Tests) unittest(ran, others string) {
	if ran != "" {
		t.ran, _ = strconv.Atoi(ran)
		return
	}
	before := *t
	for _, x := range one().FindAllStringSubmatch(others, -1) {
		t.add(x[3], x[4])
	}
	t.Passed += max(0, t.ran-(t.Failed-before.Failed)-(t.Skipped-before.Skipped))
	t.ran = 0
}

func (t *Tests) ofGo(test, pkg string) {
	switch {
	case test != "":
		t.add(map[string]string{"PASS": "passed", "FAIL": "failed", "SKIP": "skipped"}[test], "1")
	case pkg == "ok":
		t.packages[0]++
	default:
		t.packages[1]++
	}
}

type testWords struct{ tests, packages, failed, skipped, files, more, exit string }

var testsSaid = language.InEach(
	testWords{tests: "テスト: 成功 %d 件", packages: "テスト: 成功 %d パッケージ", failed: "、失敗 %d 件", skipped: "、スキップ %d 件",
		files: "ファイル: %s", more: " ほか %d 件", exit: "終了コード: %d"},
	testWords{tests: "Tests: %d passed", packages: "Tests: %d packages passed", failed: ", %d failed",
		skipped: ", %d skipped", files: "Files: %s", more: " and %d more", exit: "Exit code: %d"})

// Counted returns the tests that were counted; nil: none. A run of Go that names no test has its packages counted.
func (t *Tests) Counted() *Tests {
	n := Tests{Passed: t.Passed, Failed: t.Failed, Skipped: t.Skipped}
	if t.Passed+t.Failed+t.Skipped == 0 {
		n.Passed, n.Failed, n.Packages = t.packages[0], t.packages[1], true
	}
	if n.Passed+n.Failed+n.Skipped == 0 {
		return nil
	}
	return &n
}

// Said says how many tests passed, failed and were skipped; empty if none were counted.
func (t *Tests) Said(locale string) string {
	if t == nil {
		return ""
	}
	w := testsSaid.In(locale)
	text := fmt.Sprintf(w.tests, t.Passed)
	if t.Packages {
		text = fmt.Sprintf(w.packages, t.Passed)
	}
	if t.Failed > 0 {
		text += fmt.Sprintf(w.failed, t.Failed)
	}
	if t.Skipped > 0 {
		text += fmt.Sprintf(w.skipped, t.Skipped)
	}
	return text
}

// sum is the text of the column result_summary: the tests that were counted, the files that changed and the exit code.
func (r Result) sum(locale string) string {
	w, said := testsSaid.In(locale), []string{}
	if text := r.Tests.Said(locale); text != "" {
		said = append(said, text)
	}
	if d := r.Changed; d != nil && d.Files > 0 {
		text := fmt.Sprintf(w.files, strings.Join(d.Names, ", "))
		if more := d.Files - len(d.Names); more > 0 {
			text += fmt.Sprintf(w.more, more)
		}
		said = append(said, text)
	}
	if r.ExitCode != nil {
		said = append(said, fmt.Sprintf(w.exit, *r.ExitCode))
	} else if last := slices.IndexFunc(r.Commands, func(x Ran) bool { return !x.Succeeded() }); len(r.Commands) > 0 {
		if last < 0 {
			last = len(r.Commands) - 1
		}
		if code := r.Commands[last].ExitCode; code != nil {
			said = append(said, fmt.Sprintf(w.exit, *code))
		}
	}
	return strings.Join(said, " · ")
}
