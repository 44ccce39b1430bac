package task

import (
	"time"

	"ringi/shared/domain/aggregate"
	"ringi/shared/domain/tenancy"
	"ringi/shared/words/language"
)

// Language returns the language of the task's cards and of whatever else several people read of it: that of the
// request's text, or otherwise if the text doesn't tell.
func (a *Aggregate) Language(otherwise string) string {
	if a.Request == nil {
		return otherwise
	}
	return language.Of(a.Request.Text, otherwise)
}

// terms freezes the settings for a gate of the task.
func (a *Aggregate) terms(required bool, s tenancy.Settings, now time.Time) aggregate.Terms {
	s.Locale = a.Language(s.Locale)
	return s.Terms(required, now)
}
