package main

import (
	"strings"
	"testing"

	"ringi/infra/local/process"
	"ringi/infra/local/template"
	"ringi/shared/runtime/expect"
)

// A reason for a right that the template no longer grants is seen without the hours of tests that use the other rights.
func TestReasonsAreForRightsThatAreGranted(t *testing.T) {
	roles := expect.Value(allRoles(expect.Value(process.ModuleRoot())(t)))(t)
	for _, line := range expect.Value(template.Ungranted(roles, unused))(t) {
		t.Error(line)
	}
	for _, gone := range []string{
		"run-action DeleteWhatCameTooLate s3:DeleteBucket *: an action that it doesn't name",
		"run-action DeleteWhatCameEarly s3:DeleteObject *: a statement that is gone",
		"run-nothing DeleteWhatCameTooLate s3:DeleteObject *: a function that is gone",
		"run-action DeleteWhatCameTooLate s3:DeleteObject,s3:GetObject *: one of two",
		"? RunActionFunction carries ContestCommits/Commit -: a policy that it doesn't carry",
	} {
		wrong := expect.Value(template.Ungranted(roles, unused+gone+"\n"))(t)
		expect.That(t, len(wrong) == 1 && strings.HasSuffix(wrong[0], gone), "%s: %q", gone, wrong)
	}
}
