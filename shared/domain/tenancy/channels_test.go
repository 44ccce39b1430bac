package tenancy

import (
	"testing"

	"ringi/shared/runtime/expect"
)

func TestAChannelIsKnownByItsFirstIDAndCalledByItsLast(t *testing.T) {
	for _, tt := range []struct {
		name       string
		c          Channels
		ids        []string // all of one channel
		known, now string
	}{
		{"none", nil, []string{"C1"}, "C1", "C1"},
		{"another channel's", Channels{"C8": {"C9", "1"}}, []string{"C1"}, "C1", "C1"},
		{"one", Channels{"C1": {"C2", "1"}}, []string{"C1", "C2"}, "C1", "C2"},
		{"a chain", Channels{"C2": {"C3", "2"}, "C1": {"C2", "1"}}, []string{"C1", "C2", "C3"}, "C1", "C3"},
		{"a chain whose middle is missing", Channels{"C2": {"C3", "2"}}, []string{"C2", "C3"}, "C2", "C3"},
		{"back again", Channels{"C1": {"C2", "1"}, "C2": {"C1", "2"}}, []string{"C2", "C1"}, "C2", "C1"},
		{"itself", Channels{"C1": {"C1", "1"}}, []string{"C1"}, "C1", "C1"},
	} {
		for _, id := range tt.ids {
			expect.Is(t, tt.c.Now(id), tt.now, tt.name, id)
			expect.Is(t, tt.c.Names(id)[0], tt.known, tt.name, id)
		}
	}
}
