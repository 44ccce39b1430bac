package tenancy

import (
	"fmt"
	"slices"
)

// ChannelSeries has the documents of what is asked in a channel numbered in a series of this name, instead of that of
// the asker's department. Whatever has the same name shares the numbers.
type ChannelSeries struct {
	Channel string `json:"channel"`
	Name    string `json:"name"`
}

// MaxChannelSeries is how many channels may have a series of their own.
const MaxChannelSeries = 50

// SeriesOf returns the name of a channel's own series, or "".
func (s Settings) SeriesOf(channel string) string {
	for _, x := range s.ChannelSeries {
		if x.Channel == channel {
			return x.Name
		}
	}
	return ""
}

func seriesProblems(all []ChannelSeries) (out []Problem) {
	for i, x := range all {
		at := fmt.Sprintf("channel_series[%d].", i)
		if !channelForm.Get().MatchString(x.Channel) {
			out = append(out, Problem{Field: at + "channel", Rule: RuleChannelID})
		} else if slices.ContainsFunc(all[:i], func(y ChannelSeries) bool { return x.Channel == y.Channel }) {
			out = append(out, Problem{Field: at + "channel", Rule: RuleTaken})
		}
		if !isMatterName(x.Name) {
			out = append(out, Problem{Field: at + "name", Rule: RuleMatter})
		}
	}
	return out
}
