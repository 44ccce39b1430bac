package slackapi

import (
	"errors"
	"fmt"
	"slices"

	"ringi/shared/runtime/metric"
)

// outcome counts a call and classifies its error: nil, or one of the three
// errors, wrapped with the method's name.
func outcome(method string, err error) error {
	if err = Count(err); err != nil {
		return fmt.Errorf("%s: %w", method, err)
	}
	return nil
}

// Count counts a call that slack-go made and that returned err, for whoever has a
// client of their own. It returns nil, RateLimited, Refused or Unknown.
func Count(err error) error {
	err = normal(err)
	failed := 0.0
	if counts(err) {
		failed = 1
	}
	metric.Put(metric.Value{Name: metric.SlackCalled, N: 1}, metric.Value{Name: metric.SlackFailed, N: failed})
	return err
}

// counts reports whether an error counts for the alarm on failed calls. A refusal that concerns
// only one message, channel, person or expired trigger does not: the caller handles it.
func counts(err error) bool {
	var refused Refused
	return err != nil && !(errors.As(err, &refused) && slices.Contains(ordinary(), refused.Code))
}

func ordinary() []string {
	return []string{
		CodeMessageNotFound, CodeCantUpdate, CodeEditWindow, CodeThreadNotFound, "cant_delete_message",
		"channel_not_found", "not_in_channel", "is_archived", "restricted_action", "user_not_in_channel",
		"user_not_found", "users_not_found", "user_not_visible", "user_disabled", "cannot_dm_bot", CodeNoSuchGroup,
		CodeStreaming, CodeNotStreaming, CodeBlockMismatch, "channel_type_not_supported", "stopped_by_user",
		"expired_trigger_id", "exchanged_trigger_id", "invalid_trigger_id",
	}
}
