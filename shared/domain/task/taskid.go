package task

import "ringi/shared/domain/aggregate"

// ID derives a task's id from the Slack message that asked for it. Every
// delivery of that message, by whichever event, makes the same id.
// It returns an error when ts is not a Slack timestamp ("1713450000.000100").
func ID(team, channel, ts string) (string, error) {
	at, err := aggregate.ParseTS(ts)
	if err != nil {
		return "", err
	}
	return aggregate.Derive(at, "task", team, channel, ts), nil
}
