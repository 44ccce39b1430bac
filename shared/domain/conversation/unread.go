package conversation

import (
	"ringi/shared/runtime/isolated"
	"slices"
	"strings"
)

// Cause classifies why a file was not read, for pages. The reason itself is written for the model.
type Cause string

const (
	TooLarge   Cause = "too_large"
	OtherType  Cause = "other_type"
	TooMany    Cause = "too_many" // newer files used up the limit
	Altered    Cause = "altered"  // after it had been read for an answer
	Silent     Cause = "silent"   // Slack did not return it; the next answer tries again
	Unreadable Cause = "unreadable"
	External   Cause = "external"  // another service keeps it; Slack has a link
	Forbidden  Cause = "forbidden" // Slack does not let Ringi
	Full       Cause = "full"      // the conversation holds as many attachments as it may
	Surplus    Cause = "surplus"   // the message has more files than are read of one
)

// Unread is an attachment that could not be read, or not whole.
type Unread struct {
	Name string // as people named it
	Why  string // in the system's words
}

// Causes lists all causes, for texts that need one for each. The last ones are read-file's.
var Causes = append([]Cause{TooLarge, OtherType, TooMany, Altered, Silent, Unreadable, External, Forbidden, Full,
	Surplus}, ofReading()...)

func ofReading() (all []Cause) {
	for _, why := range isolated.AllUnreadable {
		if why != isolated.OtherType {
			all = append(all, Cause(why))
		}
	}
	return all
}

// beginnings map the beginning of a reason to its cause.
var beginnings = []struct {
	text  string
	cause Cause
}{
	{"the image has ", TooLarge}, {"the text has ", TooLarge}, {"it has ", TooLarge}, {OnlyRead, OtherType}, {"only the newest ", TooMany}, {Changed, Altered}, {NotNow, Silent},
	{"a conversation", Full}, {Beyond, Surplus}, {"it is external", External}, {NoRight, Forbidden},
}

// Reasons why a file was not read, in the wording for the model.
const (
	OnlyRead = "only text and images are read"
	Changed  = "it was changed after it had been read"
	Beyond   = "it is beyond the files that are read of one message"
	// NotNow means that the file may be read for the next answer.
	NotNow = "Slack did not give it now"
	// NoRight means that Slack refuses the app: its token lacks a right, or it may not see the file.
	NoRight = "Ringi may not read it"
)

// CauseOf returns the cause for a reason, or Unreadable if the reason is unknown.
func CauseOf(why string) Cause {
	if slices.Contains(isolated.AllUnreadable, isolated.Unreadable(why)) {
		return Cause(why)
	}
	for _, b := range beginnings {
		if strings.HasPrefix(why, b.text) {
			return b.cause
		}
	}
	return Unreadable
}
