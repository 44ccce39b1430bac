package conversation

import (
	"testing"

	"ringi/shared/runtime/expect"
)

func TestTheMissingLinesOfAnOutputAreNamed(t *testing.T) {
	for _, tt := range []struct {
		kept  []int
		total int
		want  string
	}{
		{nil, 0, ""}, {nil, 3, "1–3"}, {[]int{0, 1, 2}, 3, ""}, {[]int{2}, 3, "1–2"}, {[]int{1}, 3, "1, 3"},
		{[]int{0, 9500, 9501}, 9502, "2–9,500"}, {[]int{0, 1}, 1234567, "3–1,234,567"}, {[]int{5}, 2, "1–5"},
	} {
		expect.Same(t, tt.want, NumbersOf(Missing(tt.kept, tt.total), false))
	}
	for want, x := range map[string]Action{
		"":             {Lines: 3},
		"1–9,500":      {Lines: 10000, Dropped: 9500, Missing: []Lines{{1, 9500}}},
		"1–10, 20, …":  {Lines: 1000, Dropped: 300, Missing: []Lines{{1, 10}, {20, 20}}},
		"51–9,550":     {Lines: 10000, Dropped: 9500, Missing: []Lines{{51, 9550}}},
		"1–100, 9,999": {Lines: 10000, Dropped: 101, Missing: []Lines{{1, 100}, {9999, 9999}}},
	} {
		expect.Same(t, want, x.NotKept())
	}
}

// What an agent is told of a result names the lines that it sees and those that it doesn't.
func TestAnAgentIsToldWhichLinesItDoesNotSee(t *testing.T) {
	zero := 0
	flood := Action{Number: 1, Status: ActionSucceeded, ExitCode: &zero, Lines: 10000, Dropped: 9500,
		Missing: []Lines{{1, 9500}}, tail: "9999: a\n10000: b", tailLines: []Lines{{9999, 10000}}}
	m := flood.told("en")
	expect.Same(t, "Action #1 is done.\nExit code: 0\nIts output has 10,000 lines. Lines 1–9,500 are not kept. You are "+
		"not shown "+
		"lines 9,501–9,998. Lines 9,999–10,000, each after its number:\n9999: a\n10000: b", m.Content)
	expect.Same(t, Piece{"9999: a\n10000: b", true}, m.Pieces()[1])
	m = flood.told("ja")
	expect.Has(t, m.Content, "出力は全部で 10,000 行です。1–9,500 行目は残っていません。9,501–9,998 行目は省略しました。"+
		"9,999–10,000 行目を、行番号付きで示します:")
	whole := Action{Number: 1, Status: ActionSucceeded, Lines: 2, tail: "1: a\n2: b", tailLines: []Lines{{1, 2}}}
	expect.Same(t, "Action #1 is done.\nIts output has 2 lines. All of them, each after its number:\n1: a\n2: b",
		whole.told("en").Content)
	silent := Action{Number: 1, Status: ActionSucceeded}
	expect.Same(t, "Action #1 is done.", silent.told("en").Content)
	lost := Action{Number: 1, Status: ActionSucceeded, Lines: 7, Dropped: 7, Missing: []Lines{{1, 7}}}
	expect.Same(t, "Action #1 is done.\nIts output has 7 lines. Lines 1–7 are not kept.", lost.told("en").Content)
	gaps := Action{Number: 1, Status: ActionSucceeded, Lines: 9, Dropped: 3, Missing: []Lines{{2, 2}, {5, 6}},
		tail: "4: d\n7: g\n8: h\n9: i", tailLines: []Lines{{4, 4}, {7, 9}}}
	expect.Has(t, gaps.told("en").Content,
		"Lines 2, 5–6 are not kept. You are not shown lines 1, 3. Lines 4, 7–9, each after")
	gaps.Dropped = 4 // and nobody knows which
	expect.Has(t, gaps.told("en").Content,
		"Lines 2, 5–6, … are not kept. You are not shown the others. Lines 4, 7–9, each after")
	unsaved := Action{Number: 1, Status: ActionSucceeded, Lines: 2, Dropped: 2, Missing: []Lines{{1, 2}},
		tail: "2: b", tailLines: []Lines{{2, 2}}} // shown to the agent, though it could not be stored
	expect.Has(t, unsaved.told("en").Content, "2 lines. Lines 1 are not kept. Lines 2, each after its number:\n2: b")
}
