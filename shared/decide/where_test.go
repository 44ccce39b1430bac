package decide

import (
	"testing"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
	"ringi/shared/slack/people"
)

// A channel that becomes shared gets another id, under which Slack reports clicks on its cards from then on.
func TestAClickInAChannelThatIsCalledOtherwiseByNow(t *testing.T) {
	a := &task.Aggregate{}
	a.Cards = []*aggregate.Card{
		{CardType: task.CardProcess, Subject: "PROCESS#0001", Channel: "C1", MessageTS: "1776675600.000100"},
		{CardType: task.CardProcess, Subject: "PROCESS#0001", Channel: "D1", User: "U1", MessageTS: "1776675600.000200"},
	}
	for _, tt := range []struct{ name, place, kind, channel, message, want string }{
		{"the card", "C1", "group", "C2", "1776675600.000100", "C2"},
		{"where it was", "C1", "group", "C1", "1776675600.000100", "C1"},
		{"another message", "C1", "group", "C2", "1776675600.000300", "C1"},
		{"a copy", "C1", "group", "D1", "1776675600.000200", "C1"},
		{"in a dialog", "C1", "group", "", "", "C1"},
		{"of another place", "C0HOME", "channel", "C2", "1776675600.000100", "C0HOME"},
		{"of a direct message", "C1", "im", "C2", "1776675600.000100", "C1"},
	} {
		c := Click{Want: people.Want{Channel: tt.channel}, Message: tt.message}
		is := c.where(a, aggregate.Origin{Channel: tt.place, ChannelType: tt.kind})
		expect.Is(t, is.Channel, tt.want, tt.name)
	}
}
