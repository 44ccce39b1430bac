package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// A bill of figures that nobody measures any more says nothing: the page has what the program makes of the table.
func TestTheBillIsOfTheFiguresThatWereMeasured(t *testing.T) {
	page := string(expect.Value(os.ReadFile("cost.md"))(t))
	copied := filepath.Join(t.TempDir(), "cost.md")
	expect.NoError(t, os.WriteFile(copied, []byte(page), 0o600))
	expect.NoError(t, keepCosts("README.md", copied))
	expect.Same(t, string(expect.Value(os.ReadFile(copied))(t)), page)
}

// The first page says the baseline's figures, and no older ones.
func TestTheFirstPageSaysTheBaseline(t *testing.T) {
	page := string(expect.Value(os.ReadFile("../../" + front))(t))
	copied := filepath.Join(t.TempDir(), front)
	expect.NoError(t, os.WriteFile(copied, []byte(page), 0o600))
	expect.NoError(t, expect.Value(readBaseline("baseline.json"))(t).tell(copied))
	expect.Same(t, string(expect.Value(os.ReadFile(copied))(t)), page)
}

// Nobody raises an amount by hand: later measurements are compared with what the table says was measured.
func TestTheBaselineIsWhatTheTableSays(t *testing.T) {
	_, table, _ := strings.Cut(string(expect.Value(os.ReadFile("README.md"))(t)), "\n| **One request,")
	table, _, _ = strings.Cut(table, "\n| **")
	said := map[string]float64{}
	put := func(name, n string) {
		if v := expect.Value(strconv.ParseFloat(n, 64))(t); v > 0 {
			said[name] = round(said[name] + v)
		}
	}
	row := regexp.MustCompile(`(?m)^\| ([a-z-]+) \| [0-9.]+ invocations(.*?); ([0-9.]+) read, ([0-9.]+) \+ ([0-9.]+) write units \|`)
	for _, cells := range row.FindAllStringSubmatch(table, -1) {
		for _, call := range regexp.MustCompile(`([0-9.]+) (AWS|Slack|vendor)`).FindAllStringSubmatch(cells[2], -1) {
			put(cells[1]+" "+call[2]+" calls", call[1])
		}
		put(cells[1]+" read units", cells[3])
		put(cells[1]+" write units", cells[4])
		put(cells[1]+" write units", cells[5])
	}
	transitions := regexp.MustCompile(`\| state transitions of the run \| ([0-9.]+) \|`).FindStringSubmatch(table)
	if len(said) < 30 || transitions == nil {
		t.Fatalf("the table has amounts of %d kinds", len(said))
	}
	put("transitions", transitions[1])
	expect.Same(t, said, stored(t).Amounts)
}

func TestTheBillFollowsTheTable(t *testing.T) {
	f := figures{Transitions: 10, Write: 300, Index: 100, Read: 200, Invocations: 54, Cards: 20, Sent: 20, Put: 10, Get: 0, Decrypt: 10, Sign: 10}
	bill := f.bill()
	for _, row := range []string{
		"| Step Functions | 10 transitions | 0.250 |",
		"| DynamoDB writes | 300 units of the table, 100 of its indexes | 0.250 |",
		"| Lambda, the rest | 30 × 0.1 s × 256 MB = 0.8 GB-s | 0.010 |",
		"| KMS, for credentials and the audit log's chain | 10 Decrypt, 10 Sign | 0.180 |",
		"| **AWS in all** |  | **1.10** |",
	} {
		if !strings.Contains(bill, row+"\n") {
			t.Errorf("the bill lacks %s:\n%s", row, bill)
		}
	}
	if limits := f.limits(); !strings.Contains(limits, "| 400 | 4,000 (warm it) | 40,000 | **400,000** |") {
		t.Errorf("of 40,000 write units only more is over the limit:\n%s", limits)
	}
	if _, err := measuredFigures(begin + "\n| all functions | 3 invocations, 2 AWS | x |\n" + end); err == nil {
		t.Error("a table without the figures makes a bill")
	}
}

// The page has each price with its source; the program reckons with no other.
func TestPricesAreThoseOfThePage(t *testing.T) {
	page := string(expect.Value(os.ReadFile("cost.md"))(t))
	for row, prices := range map[string][]float64{
		"Lambda, arm64: a million invocations":        {perInvocation * 1e6},
		"Lambda, arm64: GB-second":                    {perGBSecond},
		"Step Functions, Standard: 1,000 transitions": {perTransition * 1e3},
		"DynamoDB on demand: a million write units":   {perWriteUnit * 1e6, perReadUnit * 1e6},
		"SQS FIFO: a million requests":                {perQueueCall * 1e6},
		"API Gateway, HTTP API: a million requests":   {perAPICall * 1e6},
		"S3 Standard: 1,000 PUT; 1,000 GET":           {perPut * 1e3, perGet * 1e3},
		"KMS: 10,000 requests; of an ECC key":         {perDecrypt * 1e4, perSign * 1e4},
		"CloudWatch: GB of logs":                      {perLogGB},
		"X-Ray: a million traces":                     {perTrace * 1e6},
	} {
		_, rest, ok := strings.Cut(page, "\n| "+row)
		cells := strings.SplitN(rest, " | ", 3)
		if !ok || len(cells) < 3 {
			t.Errorf("the page has no price of %s", row)
			continue
		}
		said := strings.FieldsFunc(cells[1], func(r rune) bool { return r == ',' || r == ';' || r == ' ' })
		for i, want := range prices {
			if got, err := strconv.ParseFloat(said[i], 64); err != nil || got < want*0.9999 || got > want*1.0001 {
				t.Errorf("%s costs %s on the page, %v in the program", row, said[i], want)
			}
		}
	}
}
