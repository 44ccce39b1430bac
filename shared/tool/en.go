package tool

var englishProviders = map[Provider]string{Freee: "freee HR", Google: "Google Sheets", Slack: "Slack"}

var english = map[Problem]string{
	ProblemNotConnected: "%s is not connected. Ask an administrator to connect it.",
	ProblemUnauthorized: "%s no longer accepts our credentials. Ask an administrator to connect it again, then retry.",
	ProblemForbidden:    "%s refused (403): a permission is missing, or there were too many calls in a short time. Check the permission, wait about 10 minutes, then retry.",
	ProblemNotFound:     "%s does not know what was asked for (404). Check the id and who it is shared with.",
	ProblemRateLimited:  "The call limit of %s is reached. Retry in a while.",
	ProblemRejected:     "%s did not accept the call: %s",
	ProblemDown:         "%s has a problem (%v). Retry in a while.",
	ProblemTimeout:      "%s did not answer in time.",
	ProblemUnreachable:  "%s could not be reached.",
	ProblemLost:         "The connection to %s broke.",
	ProblemBadAnswer:    "The answer of %s could not be read.",
	ProblemBadArguments: "The arguments of %s are not right: %s",
	ProblemBadData:      "The attendance data has %d problems. The first: %s",
	ProblemNoRecipient:  "The recipient %s was not found in Slack.",
	ProblemNoCompany:    "%s has no company that can be used.",
	ProblemTokenLost:    "Renewing the credentials of %s broke off half-way, and the connection is lost. Ask an administrator to connect it again, then retry.",
	ProblemUninstalled:  "The app was removed from Slack, so %s is disconnected. Ask an administrator to install the app and connect it again.",
	ProblemRevoked:      "The token for %s was revoked. Ask an administrator to install the app and connect it again.",
	ProblemLocked:       "The credentials of %s could not be opened. Ask whoever runs the AWS account to check the key (KMS) and the table, then retry.",
	ProblemChanged:      "%s has changed or removed its tool %s since an administrator allowed it, so it was not called. Once an administrator has looked at it and allowed it again, please ask again.",
	ProblemAddress:      "The address of %s may not be called: only public addresses with https are. Ask an administrator to correct it.",
	ProblemNotListed:    "The constraint %[2]s of %[1]s does not allow %[3]v, only %[4]s.",
	ProblemTooMany:      "The constraint %[2]s of %[1]s allows %[3]d rows at once, and there are %[4]d.",
	ProblemUnbound:      "%s can't be called: its constraints are not right (%s).",
	ProblemTooLarge:     "The result of %s is over the limit of %s. Ask for less.",
	ProblemNoDepartment: "%s has no department %q. Check its name or code.",
	ProblemSheetFull:    "Nothing was written: the spreadsheet (%s) would have %d cells, the limit is %d. Delete tabs that nobody uses, or name another spreadsheet.",
	ProblemInternal:     "An internal error happened while %s ran.",
}
