package task

import "ringi/shared/domain/aggregate"

// ID derives a task's id from the requesting Slack message, so that every delivery of the message gives the same id. It
// returns an error if ts is not a Slack timestamp such as "1713450000.000100".
func ID(team, channel, ts string) (string, error) {
	at, err := aggregate.ParseTS(ts)
	if err != nil {
		return "", err
	}
	return aggregate.Derive(at, "task", team, channel, ts), nil
}
