package card

import "ringi/shared/words/language"

// routeWords are the texts about where a gate under a rule stands.
type routeWords struct {
	Locale, Looking, Unknown, ShownTo                  string
	Again, AgainLooking, AgainDone                     string // asked once more about steps
	OtherRule                                          string // asked about a step by another rule
	Path, PathAgain, PathDone, PathNumbered, Number    string
	Amount, AmountUnknown, RequestNumber               string
	Done, Present, Progress, Later, Skipped            string // a stage
	SentBack, Denied, Folded                           string
	Needs, Given, StandIn, And, Others                 string
	Now, NowAll, NowSome, NowOne, Rule, OneDenies      string
	NotCarried, NoneCarried, MadeFrom, Left, Successor string
	Rejection, Send, Reason, EndsStamps, Then          string // a rejection's form
	SendBack, NewVersion, NewTurn                      string // how it goes on, and what that means
	Deny, Over, NoTurn, NoVersion, SendBacks, TookBack string
	TakeBack, TakeBackTitle, TakeBackText, TakeBackYes string // of one's own stamp
	TakeBackNo, OpenRoute, Stamped                     string
	AsWhom, AsWhomText, AsWhomLabel, AsWhomSend        string            // the form for a hand that stands in for several
	Owes                                               string            // in lists
	Askers                                             string            // whose words were shown beside the requester's
	Closed, OnlyButton                                 string            // on copies
	LeftOut                                            map[string]string // why a stage asks nobody, by circulation.Stage.LeftOut; another is shown as it is
	Filled                                             map[string]string // a stage's name, by circulation.Stage.Filled
}

var routeWordsOf = language.Catalog[routeWords]{Files: &files, Folder: "texts/routes"}
