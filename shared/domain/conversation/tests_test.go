package conversation

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// The ends of what test runners print, as their documentation or they themselves have it.
func TestTestsAreCountedAsTheirRunnersSay(t *testing.T) {
	for name, tt := range map[string]struct {
		output string
		want   Tests
	}{
		"pytest":           {"\x1b[31m===== \x1b[31m\x1b[1m1 failed\x1b[0m, \x1b[32m11 passed\x1b[0m, 2 skipped, 1 error, 3 warnings\x1b[31m in 0.12s\x1b[0m\x1b[31m =====\x1b[0m", Tests{Passed: 11, Failed: 2, Skipped: 2}},
		"pytest -q":        {"....\n4 passed in 0.02s", Tests{Passed: 4}},
		"pytest, a minute": {"=== 4 passed in 83.20s (0:01:23) ===", Tests{Passed: 4}},
		"unittest":         {"Ran 5 tests in 0.001s\n\nFAILED (failures=1, errors=1, skipped=1)", Tests{Passed: 2, Failed: 2, Skipped: 1}},
		"unittest, well":   {"Ran 1 test in 0.000s\n\nOK", Tests{Passed: 1}},
		"go -v":            {"=== RUN   TestA\n--- PASS: TestA (0.00s)\n    --- PASS: TestA/x (0.00s)\n--- SKIP: TestB (0.00s)\n--- FAIL: TestC (0.00s)\nFAIL\nFAIL\texample.com/a\t0.002s\nok  \texample.com/b\t0.003s", Tests{Passed: 2, Failed: 1, Skipped: 1}},
		"go":               {"ok  \texample.com/a\t0.002s\nok  \texample.com/b\t(cached)\n?   \texample.com/c\t[no test files]\nFAIL\texample.com/d [build failed]", Tests{Passed: 2, Failed: 1, Packages: true}},
		"Jest":             {"Test Suites: 1 failed, 2 passed, 3 total\nTests:       1 failed, 1 skipped, 8 passed, 10 total", Tests{Passed: 8, Failed: 1, Skipped: 1}},
		"Vitest":           {" Test Files  1 passed (1)\n      Tests  1 failed | 5 passed | 2 skipped (8)", Tests{Passed: 5, Failed: 1, Skipped: 2}},
		"Mocha":            {"  5 passing (8ms)\n  1 pending\n  2 failing\n", Tests{Passed: 5, Failed: 2, Skipped: 1}},
		"Node":             {"ℹ tests 3\nℹ pass 2\nℹ fail 1\nℹ cancelled 0\nℹ skipped 0\nℹ todo 0", Tests{Passed: 2, Failed: 1}},
		"cargo":            {"test result: ok. 5 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s\n\ntest result: FAILED. 1 passed; 1 failed; 0 ignored; 0 measured", Tests{Passed: 6, Failed: 1, Skipped: 1}},
		"Surefire":         {"[INFO] Tests run: 3, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.04 s - in a.B\n[INFO] \n[ERROR] Tests run: 7, Failures: 1, Errors: 1, Skipped: 2", Tests{Passed: 3, Failed: 2, Skipped: 2}},
		"RSpec":            {"5 examples, 1 failure, 1 pending", Tests{Passed: 3, Failed: 1, Skipped: 1}},
		"Minitest":         {"8 runs, 20 assertions, 1 failures, 1 errors, 2 skips", Tests{Passed: 4, Failed: 2, Skipped: 2}},
		"PHPUnit":          {"OK (5 tests, 9 assertions)", Tests{Passed: 5}},
		"PHPUnit, badly":   {"Tests: 5, Assertions: 9, Errors: 1, Failures: 1, Skipped: 1.", Tests{Passed: 2, Failed: 2, Skipped: 1}},
		".NET":             {"Passed!  - Failed:     0, Passed:     5, Skipped:     1, Total:     6, Duration: 4 ms - a.dll (net9.0)", Tests{Passed: 5, Skipped: 1}},
		"nothing":          {"hello\n3 bottles in 2s\nall 5 passed the exam\nTests: none", Tests{}},
		"too many to be":   {"99999999999999999999 passed in 0.1s", Tests{}},
	} {
		var got Tests
		for line := range strings.Lines(tt.output) {
			got.Read(line)
		}
		counted := got.Counted()
		if counted == nil {
			counted = &Tests{}
		}
		expect.Is(t, *counted, tt.want, "%s", name)
	}
}

func TestTheSummaryNamesTestsFilesAndExit(t *testing.T) {
	zero, one := 0, 1
	over := func(code *int) Ran { return Ran{Over: true, ExitCode: code} }
	files := &FilesChanged{Files: 7, Names: []string{"a.md", "b/c.md"}}
	for name, tt := range map[string]struct {
		r      Result
		ja, en string
	}{
		"tests":           {Result{Tests: &Tests{Passed: 12, Failed: 1, Skipped: 2}, ExitCode: &one}, "テスト: 成功 12 件、失敗 1 件、スキップ 2 件 · 終了コード: 1", "Tests: 12 passed, 1 failed, 2 skipped · Exit code: 1"},
		"files":           {Result{Changed: files}, "ファイル: a.md, b/c.md ほか 5 件", "Files: a.md, b/c.md and 5 more"},
		"several":         {Result{Commands: []Ran{over(&zero), over(&one)}}, "終了コード: 1", "Exit code: 1"},
		"several, well":   {Result{Commands: []Ran{over(&zero), over(&zero)}}, "終了コード: 0", "Exit code: 0"},
		"one of a signal": {Result{Commands: []Ran{over(&zero), {Over: true, Signal: "SIGKILL"}}}, "", ""},
		"all":             {Result{Tests: &Tests{Passed: 2, Packages: true}, Changed: files, ExitCode: &zero}, "テスト: 成功 2 パッケージ · ファイル: a.md, b/c.md ほか 5 件 · 終了コード: 0", "Tests: 2 packages passed · Files: a.md, b/c.md and 5 more · Exit code: 0"},
		"nothing":         {Result{}, "", ""},
	} {
		expect.Is(t, tt.r.sum("ja"), tt.ja, "%s", name)
		expect.Is(t, tt.r.sum("en"), tt.en, "%s", name)
	}
}
