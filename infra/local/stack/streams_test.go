package stack

import "testing"

func TestStreamsHaveNamesOfTheStacksAccount(t *testing.T) {
	const rest = ":table/ringi-Table/stream/2026-11-22T09:33:47.119"
	names := streamNames{}
	is, err := names.add("arn:aws:dynamodb:ddblocal:000000000000" + rest)
	if want := "arn:aws:dynamodb:" + Region + ":" + Account + rest; err != nil || is != want {
		t.Errorf("%s, %v, want %s", is, err, want)
	}
	if names[is] != "arn:aws:dynamodb:ddblocal:000000000000"+rest {
		t.Errorf("its engine calls it %s", names[is])
	}
	if _, err := names.add("rows"); err == nil {
		t.Error("a name that is no ARN is taken")
	}
}
