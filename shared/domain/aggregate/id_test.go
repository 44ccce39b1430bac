package aggregate_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"runtime"
	"strings"
	"testing"

	"github.com/oklog/ulid/v2"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// An id source that counts up within a millisecond would produce ids with equal beginnings.
func TestNewIDsOfOneMomentAreUnrelated(t *testing.T) {
	seen := map[[4]byte]bool{}
	for range 200 {
		id := expect.Value(ulid.ParseStrict(aggregate.NewID()))(t)
		begin := [4]byte(id.Entropy()[:4])
		expect.Must(t, !seen[begin], "two ids begin their random part with %x", begin)
		seen[begin] = true
	}
}

func TestVendorsAreNamedWithTheirEndpoint(t *testing.T) {
	for name, want := range map[string]string{"gpt-5.4": "openai", "gemini-2.5-flash": "compatible.gemini",
		"compatible:my_box/x": "compatible.my_box", "demo": "demo"} {
		expect.Is(t, expect.Value(aggregate.ParseModelName(name))(t).Vendor(), want)
	}
}

func TestParseModel(t *testing.T) {
	for name, want := range map[string]aggregate.ModelName{
		"claude-sonnet-4-6":                          {"anthropic", "", "claude-sonnet-4-6"},
		"anthropic:claude-sonnet-4-6":                {"anthropic", "", "claude-sonnet-4-6"},
		"gpt-5.4-mini":                               {"openai", "", "gpt-5.4-mini"},
		"o3":                                         {"openai", "", "o3"},
		"openai:ft:gpt-5.4:acme::1a2b":               {"openai", "", "ft:gpt-5.4:acme::1a2b"},
		"gemini-2.5-flash":                           {"compatible", "gemini", "gemini-2.5-flash"},
		"google-gla:gemini-2.5-flash-lite":           {"compatible", "gemini", "gemini-2.5-flash-lite"},
		"compatible:ollama/llama3.2:3b":              {"compatible", "ollama", "llama3.2:3b"},
		"compatible:hub/meta-llama/Llama-3.3":        {"compatible", "hub", "meta-llama/Llama-3.3"},
		"compatible:my_agent/my_agent":               {"compatible", "my_agent", "my_agent"},
		"bedrock:global.anthropic.claude-sonnet-4-6": {"bedrock", "", "global.anthropic.claude-sonnet-4-6"},
		"bedrock:arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-9-v1:0": {
			"bedrock", "", "arn:aws:bedrock:us-east-1:123456789012:inference-profile/us.anthropic.claude-9-v1:0"},
		"grok:grok-4":                {"compatible", "grok", "grok-4"},
		"grok-responses:grok-4-fast": {"compatible", "grok", "grok-4-fast"},
		"demo":                       {"demo", "", ""},
		"demo:any":                   {"demo", "", "any"},
	} {
		got, err := aggregate.ParseModelName(name)
		expect.That(t, err == nil && got == want, "%s: %+v, %v", name, got, err)
		again, err := aggregate.ParseModelName(got.String())
		expect.That(t, err == nil && again == want, "%s in full is %s, which is read as %+v, %v", name, got, again, err)
	}
	for _, name := range []string{
		"", "llama3.2:3b", "demonstration", "anthropic", "anthropic:", "openai: gpt-5", "bedrock:",
		"bedrock:amazon.nova-pro-v1:0", "mistral:large", "Claude-sonnet", "oslo",
		"compatible:llama", "compatible:/x", "compatible:Ollama/x", "compatible:../x", "compatible:_x/x", "compatible:a/",
		"google-gla:", "grok:", "grok", "google-vertex:gemini-2.5-flash", "claude-sonnet 4", "claude-\n", "demo:a b",
		"gpt-" + strings.Repeat("5", 200), "anthropic:../../v1/messages?x", "anthropic:/etc",
	} {
		got, err := aggregate.ParseModelName(name)
		var field aggregate.Problem
		if !errors.As(err, &field) || field.Field != "model" {
			t.Errorf("%q is read as %+v, %v", name, got, err)
			continue
		}
		for _, provider := range aggregate.ModelProviders {
			expect.That(t, strings.Contains(field.Code, provider), "%q: the refusal does not name %s", name, provider)
		}
	}
}

func TestADraftThatFailedMakesNothing(t *testing.T) {
	var d aggregate.Draft
	d.Fail(nil)
	d.Put(&aggregate.Use{})
	whole, err := d.Done(nil, &aggregate.Lease{Of: "X"})
	expect.That(t, err == nil && len(whole.Rows) == 2, "%+v, %v", whole, err)
	d.Fail(aggregate.ErrMoved)
	d.Fail(errors.New("what follows from the first"))
	none, err := d.Done(nil)
	expect.Fails(t, err, aggregate.ErrMoved)
	expect.That(t, none.Empty(), "%+v", none)
}

func TestTheHeadProvesWhatItNoted(t *testing.T) {
	prompt := func(version, rev int) *task.Prompt {
		return &task.Prompt{Version: version, Meta: aggregate.Meta{Rev: rev}}
	}
	head := aggregate.Head{}
	commit := func(c aggregate.Change) {
		head.Newest = head.Newest.After(head.Rev, c)
		head.Rev++
	}
	commit(aggregate.Change{Rows: []aggregate.Row{&task.Request{}}})
	commit(aggregate.Change{Rows: []aggregate.Row{prompt(1, 0), &task.Task{}, &task.StepResult{Order: 1}}})
	commit(aggregate.Change{Rows: []aggregate.Row{prompt(2, 0)}})
	commit(aggregate.Change{Rows: []aggregate.Row{&task.Execution{ProcessVersion: 1, Attempt: 1}}})
	commit(aggregate.Change{Drop: []aggregate.Row{&task.Execution{ProcessVersion: 1, Attempt: 1}}})
	expect.Is(t, head.Newest, " TASK=2 PROMPT#0002=3 EXECUTION#0001#001=0")
	for name, tt := range map[string]struct {
		row    aggregate.Row
		proven bool
	}{
		"the newest version":             {prompt(2, 3), true},
		"as it was before":               {prompt(2, 2), false},
		"the newest version as absent":   {prompt(2, 0), false},
		"an older version":               {prompt(1, 2), false},
		"that there is no later version": {prompt(3, 0), true},
		"a later version":                {prompt(3, 4), false},
		"another type":                   {&task.Task{Meta: aggregate.Meta{Rev: 2}}, true},
		"a type that never was":          {&task.Process{Version: 1}, true},
		"a type that is there by now":    {&task.Process{Version: 1, Meta: aggregate.Meta{Rev: 4}}, false},
		"a deleted row":                  {&task.Execution{ProcessVersion: 1, Attempt: 1}, true},
		"a row that nobody notes":        {&task.StepResult{Order: 1, Meta: aggregate.Meta{Rev: 2}}, false},
	} {
		expect.Is(t, len(head.Newest.Unproven([]aggregate.Row{tt.row})) == 0, tt.proven, name)
	}
}

func TestALogLineNamesTheAggregate(t *testing.T) {
	var line bytes.Buffer
	slog.New(slog.NewJSONHandler(&line, nil)).Info("moved", aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}.Log(),
		"rev", 2)
	want := `"kind":"note","id":"1","note_id":"1","rev":2`
	expect.Has(t, line.String(), want)
}

func TestAPartitionIsReadAsItIsWritten(t *testing.T) {
	kinds := aggregate.Kinds{{Name: "task", Prefix: "TASK#"}, {Name: "note", Prefix: "NOTE#"}}
	ref := aggregate.Ref{Tenant: "T", Kind: "note", ID: "1"}
	key, known := kinds.Partition(ref)
	got, read := kinds.Ref(key)
	expect.That(t, known && key == "NOTE#T#1" && read && got == ref, "%s, %t: %v, %t", key, known, got, read)
	key, known = kinds.Partition(aggregate.Ref{Tenant: "T", Kind: "team", ID: "1"})
	expect.That(t, !known, "a kind that nobody knows is at %s", key)
}

// What a text says about one place isn't paid for at each of its values.
func TestALongNameCostsNoMoreThanItsText(t *testing.T) {
	var short uint64 // what a name of one character allocates
	for _, n := range []int{1, 150, 16000} {
		name := strings.Repeat("n", n)
		list := func(last string) aggregate.JSON {
			return aggregate.JSON(fmt.Sprintf(`{"a":{"%s":[%s%s]}}`, name, strings.Repeat("0,", (60<<10-n)/2), last))
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		err := list("0").Unambiguous("body", 64)
		runtime.ReadMemStats(&after)
		bytes := after.TotalAlloc - before.TotalAlloc
		if n == 1 {
			short = bytes
		}
		expect.That(t, err == nil && bytes < short+20<<20, "%d: %v, %d bytes, %d of a short name", n, err, bytes, short)
		wrong := list(`{"x":1,"x":2}`).Unambiguous("body", 64)
		expect.That(t, wrong != nil && strings.HasPrefix(wrong.Error(), "a."+name[:min(n, 198)]) &&
			len(wrong.Error()) < 250 &&
			strings.HasSuffix(wrong.Error(), " is there twice"), "%d: %v", n, wrong)
	}
}

func TestNumbersAreComparedByValue(t *testing.T) {
	for want, all := range map[string][]string{
		"0":                      {"0", "-0", "0.00", "0e9"},
		"3":                      {"3", "3.0", "30e-1", "0.3E+1"},
		"-149000":                {"-149000", "-1.49e5", "-149000.0"},
		"0.00012":                {"0.00012", "1.2e-4", "12E-5"},
		"1.2e-7":                 {"0.00000012", "1.2e-7"},
		"9007199254740993":       {"9007199254740993", "9007199254740993.0"},
		"100000000000000000000":  {"1e20", "100000000000000000000"},
		"1e21":                   {"1000000000000000000000", "10e20"},
		"1.5e999":                {"15e998"},
		"1e99999999999999999999": {"1e99999999999999999999"},
		// No int holds what these come to.
		"10e9223372036854775807":   {"10e9223372036854775807"},
		"1e-9223372036854775808":   {"1e-9223372036854775808"},
		"1.5e-9223372036854775808": {"1.5e-9223372036854775808"},
	} {
		for _, n := range all {
			is, err := aggregate.Canonical([]any{json.Number(n)})
			expect.That(t, err == nil && is == aggregate.JSON("["+want+"]"), "%s is %s, %v", n, is, err)
		}
	}
}
