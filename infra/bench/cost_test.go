package main

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ringi/infra/bench/measure"
	"ringi/shared/runtime/expect"
)

// The pages are up to date with the baseline, and reading the baseline back loses nothing.
func TestPagesAreMadeOfTheBaseline(t *testing.T) {
	root, written := "../..", t.TempDir()
	paths := []string{baseline}
	for _, s := range stored(t).sections() {
		paths = append(paths, s.page)
	}
	for _, path := range paths {
		expect.NoError(t, os.MkdirAll(filepath.Dir(filepath.Join(written, path)), 0o700))
		expect.NoError(t, os.WriteFile(filepath.Join(written, path), expect.Value(os.ReadFile(filepath.Join(root, path)))(t), 0o600))
	}
	expect.NoError(t, stored(t).keep(written))
	for _, path := range paths {
		expect.Same(t, string(expect.Value(os.ReadFile(filepath.Join(written, path)))(t)), string(expect.Value(os.ReadFile(filepath.Join(root, path)))(t)))
	}
}

func TestTheBillFollowsWhatIsMeasured(t *testing.T) {
	m := &Measured{Contest: &Contests{}, Calls: &Calls{Quiet: Pipeline{
		Functions: map[string]Usage{
			"draft-prompt": {Invocations: 29, Write: 300, Index: 100, Read: 200}, "receive-event": {Invocations: 3},
			"receive-interaction": {Invocations: 1}, "update-card": {Invocations: 20, AWS: 80, Slack: 20},
			"execute-process": {Invocations: 1},
		},
		Actions: map[string]float64{"SQS.SendMessage": 20, "S3.PutObject": 10, "KMS.Decrypt": 10, "KMS.Sign": 10}, Transitions: 10,
	}}, Load: &Load{Limits: measure.Limits{Cards: 250, Memory: map[string]int{
		"draft-prompt": 128, "execute-process": 512, "receive-event": 256, "receive-interaction": 256, "update-card": 256,
	}}}}
	bill := m.bill()
	for _, row := range []string{
		"| Step Functions | 10 transitions | 0.250 |",
		"| DynamoDB writes | 300 units of the table, 100 of its indexes | 0.250 |",
		"| Lambda, three models' answers | 3 × 10 s × 128 MB = 3.8 GB-s | 0.050 |",
		"| Lambda, carrying out five steps and the summary | 1 × 20 s × 512 MB = 10.0 GB-s | 0.133 |",
		"| Lambda, the rest | 30 × 0.1 s × 256 MB = 0.8 GB-s | 0.010 |",
		"| KMS, for credentials and the audit log's chain | 10 Decrypt, 10 Sign | 0.180 |",
		"| Lambda, cards | 20 × 0.25 s × 256 MB = 1.2 GB-s | 0.017 |", // 20 ms + 4 × 7.5 ms + 200 ms
		"| API Gateway | 4 requests | 0.004 |",
		"| **AWS in all** |  | **1.04** |",
	} {
		expect.Has(t, bill, row+"\n", "the bill")
	}
}

// A function that has fewer clients than any bare handler starts in less time than the nearest.
func TestTheFrontPageSaysWhatStartsAreComparedWith(t *testing.T) {
	expect.Has(t, stored(t).sentence(), "a bare Go handler with the nearest clients", "the sentence of starts")
}

// The page names each price's source; the program uses no other prices.
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
			got, err := strconv.ParseFloat(said[i], 64)
			expect.That(t, err == nil && got >= want*0.9999 && got <= want*1.0001,
				"%s costs %s on the page, %v in the program", row, said[i], want)
		}
	}
}
