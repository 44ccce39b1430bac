package conversation

import "ringi/shared/domain/aggregate"

// Origin returns where and by whom the conversation was opened. As for a request, this determines who may see it and
// who may decide.
func (s *Conversation) Origin() aggregate.Origin {
	if s == nil {
		return aggregate.Origin{}
	}
	return aggregate.Origin{Team: s.TeamID, User: s.Opener, Channel: s.Channel, ChannelType: s.ChannelType}
}
