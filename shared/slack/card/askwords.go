package card

import "ringi/shared/words/language"

// askWords are the texts of commands, shortcuts and the Home tab, by which people ask without writing to Ringi.
type askWords struct {
	Title, Submit, Close, Text, TextPlaceholder string
	TextOfMessage, TextGoesOn, TextCut          string
	TextChanged, TextTyped, TextTypedHint       string
	At, AtPlaceholder, AtHint                   string
	Asked, Open, ListNumber                     string
	Numbered                                    map[NumberOf]string
	Notes                                       map[AskNote]string

	Locale, Untitled                                                    string
	CopiesLeft, CopyFrom, OutcomeText                                   string
	HomeWaiting, HomeNothing, HomeRest, HomeHidden, HomeMore            string
	HomeWaitingMore, HomeWaitingSome, HomeNoneOf, HomeHiddenMore        string // if not all items were read
	HomeMine, HomeNoneMine, HomeHow, HomeFrom, HomeStandIn              string
	ConversationFrom, ConversationLine, HomeConversations, WhatAction   string
	StateOpen, StateBroken                                              string
	WaitsLine, WaitsUntil, WaitsAs, ListID                              string
	WaitsSaid, WaitsWrites, WaitsFor                                    string
	StateToRetry, StateExpired, StateRefused, StateAnswered             string
	WhatPrompt, WhatProcess, WhatStep                                   string
	StateCompleted, StateFailed, StateCancelled, StateParked, StateHeld string
	StateWaits, StateRunning, StatePrepared, StateDenied                string
}

var askWordsOf = language.Catalog[askWords]{Files: &files, Folder: "texts/asks"}
