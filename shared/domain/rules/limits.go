package rules

import "ringi/shared/words/language"

// Limits of a tenant's rules.
const (
	MaxBytes    = 100 << 10 // of all rules as JSON: what one row holds
	MaxRules    = 100
	MaxName     = 80 // characters of a rule's or a stage's name
	MaxRefuse   = 1000
	MaxListed   = 100 // values of one condition
	MaxValue    = 200 // characters of a department or position, or of a label
	MaxAddress  = 500 // bytes of a tool's address, as the settings have
	MaxTool     = 100 // bytes of a tool's name
	MaxStages   = 8
	MaxPeople   = 50 // of one stage, and of the readers
	MaxLevel    = 2
	MaxStamps   = 50 // that all stages of a route need together, as in circulation
	MaxPointers = 4
	maxPointer  = 200 // bytes
	maxVersion  = 200 // bytes
)

var (
	userForm     = language.Regexp{Text: `^[UW][A-Z0-9]{1,40}$`}
	groupForm    = language.Regexp{Text: `^S[A-Z0-9]{1,40}$`}
	channelForm  = language.Regexp{Text: `^[CG][A-Z0-9]{1,40}$`}
	currencyForm = language.Regexp{Text: `^[A-Z]{3}$`}
	pointerForm  = language.Regexp{Text: `^(/([^~/]|~[01])+)+$`}
)
