// Package rules says who is asked about a request: Match finds the tenant's rule for it, and Resolve turns that rule's
// policy into a circulation.Route of named people. Amounts are read from a call's arguments where an administrator
// marked them. Problems and Findings check rules when they are saved. No condition reads words that people or models
// write. Everything is a pure function; what Slack and the organisation say comes in through Facts and Directory.
package rules
