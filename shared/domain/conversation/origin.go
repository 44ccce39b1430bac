package conversation

import "ringi/shared/domain/aggregate"

// Origin is where the conversation was opened, and by whom. Who may see it and who may decide in it follow from that,
// as they do from a request's.
func (s *Session) Origin() aggregate.Origin {
	if s == nil {
		return aggregate.Origin{}
	}
	return aggregate.Origin{Team: s.TeamID, User: s.Opener, Channel: s.Channel, ChannelType: s.ChannelType}
}
