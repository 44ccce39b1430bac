package conversation

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"ringi/shared/words/language"
)

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
		`^test result: \w+\. (?P<passed>\d{1,9}) passed; (?P<failed>\d{1,9}) failed; (?P<skipped>\d{1,9}) ignored`,                                 // cargo
		`^(?:\[\w+\] )*Tests run: (?P<all>\d{1,9}), Failures: (?P<failed>\d{1,9}), Errors: (?P<failed>\d{1,9}), Skipped: (?P<skipped>\d{1,9})\.?$`, // Surefire
		`^(?P<all>\d{1,9}) examples?, (?P<failed>\d{1,9}) failures?(?:, (?P<skipped>\d{1,9}) pending)?`,                                            // RSpec
		`^(?P<all>\d{1,9}) (?:runs|tests), \d+ assertions, (?P<failed>\d{1,9}) failures, (?P<failed>\d{1,9}) errors, (?P<skipped>\d{1,9}) skips`,   // Minitest
		`^(?:Passed|Failed)! +- +Failed: +(?P<failed>\d{1,9}), Passed: +(?P<passed>\d{1,9}), Skipped: +(?P<skipped>\d{1,9})`,                       // .NET
		`^OK \((?P<passed>\d{1,9}) tests?, \d+ assertions?\)`,                                                                                      // PHPUnit
		`^Tests: (?P<all>\d{1,9}), Assertions: \d+(?:, Errors: (?P<failed>\d{1,9}))?(?:, Failures: (?P<failed>\d{1,9}))?(?:, .*?Skipped: (?P<skipped>\d{1,9}))?.*\.$`,
		`^(?P<passed>\d{1,9}) passing\b`, `^(?P<failed>\d{1,9}) failing\b`, `^(?P<skipped>\d{1,9}) pending$`, // Mocha
		`^[#ℹ] pass (?P<passed>\d{1,9})$`, `^[#ℹ] fail (?P<failed>\d{1,9})$`, `^[#ℹ] (?:skipped|todo) (?P<skipped>\d{1,9})$`, // Node
	} {
		all = append(all, regexp.MustCompile(form))
	}
	return all
})

var (
	escapes = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\x1b\[[0-9;]*m`) })
	// listed is a line of counts with their words: of pytest with its time, of Jest and Vitest after a heading.
	listed = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:=+ )?((?:\d{1,9} [a-z]+, )*\d{1,9} [a-z]+) in [\d.]+s\b[^=]*=*$|^Tests:? +((?:\d{1,9} [a-z]+(?:, | \| )?)+)(?: \(\d+\))?$`)
	})
	one      = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(\d+) ([a-z]+)|(failures|errors|skipped)=(\d+)`) })
	unittest = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^Ran (\d{1,9}) tests? in |^(?:OK|FAILED)(?: \(([a-z ]+=\d{1,9}(?:, [a-z ]+=\d{1,9})*)\))?$`)
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
