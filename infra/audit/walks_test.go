package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"testing"

	"ringi/shared/runtime/expect"
)

// verify.py says of each walk what package circulation says of it, whose tests write the file.
func TestBothLanguagesWalkAlike(t *testing.T) {
	var gates bytes.Buffer
	var want []any
	for line := range bytes.Lines(expect.Value(os.ReadFile("../../shared/domain/circulation/testdata/walks.json"))(t)) {
		var walk struct {
			Gate   json.RawMessage `json:"gate"`
			Stands any             `json:"stands"`
		}
		expect.NoError(t, json.Unmarshal(line, &walk))
		gates.Write(append(walk.Gate, '\n'))
		want = append(want, walk.Stands)
	}
	var errs bytes.Buffer
	c := exec.Command("python3", "verify.py", "--walks")
	c.Stdin, c.Stderr = &gates, &errs
	out, err := c.Output()
	expect.Must(t, err == nil, "verify.py: %v\n%s", err, &errs)
	n := 0
	for line := range bytes.Lines(out) {
		var got any
		expect.NoError(t, json.Unmarshal(line, &got))
		expect.Must(t, n < len(want), "more than %d answers", len(want))
		expect.Same(t, got, want[n])
		n++
	}
	expect.Is(t, n, 500, "walks")
}
