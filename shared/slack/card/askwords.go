package card

import "ringi/shared/words/language"

// askWords are the texts of what people ask for without writing a message to Ringi: commands, shortcuts, and the Home
// tab.
type askWords struct {
	Title, Submit, Close, Text, TextPlaceholder string
	TextOfMessage, TextGoesOn, TextCut          string
	At, AtPlaceholder, AtHint                   string
	Asked, Open                                 string
	Notes                                       map[AskNote]string

	Locale, Untitled                                                    string
	CopiesLeft, CopyFrom, OutcomeText                                   string
	HomeWaiting, HomeNothing, HomeRest, HomeHidden, HomeMore            string
	HomeWaitingMore, HomeWaitingSome, HomeNoneOf, HomeHiddenMore        string // where not all that waits was looked at
	HomeMine, HomeNoneMine, HomeHow, HomeFrom                           string
	ConversationFrom, ConversationLine, HomeConversations, WhatAction   string
	StateOpen, StateBroken                                              string
	WaitsLine, WaitsUntil, ListID                                       string
	WhatPrompt, WhatProcess, WhatStep                                   string
	StateCompleted, StateFailed, StateCancelled, StateParked, StateHeld string
	StateWaits, StateRunning, StatePrepared                             string
}

var askWordsOf = language.Read[askWords](files, "texts/asks")
