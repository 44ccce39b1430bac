package main

import (
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"ringi/shared/domain/task"
	"ringi/shared/runtime/expect"
)

// testExpiredResult: between the read and the write, the read's result expires and is deleted.
func testExpiredResult(t *testing.T, w *world) {
	step := w.write(2)
	step.RequiresHumanCheck = true
	w.approved(w.read(1), step)
	w.run()
	e := w.Load().Execution()
	result := w.Load().StepOf(e, 1).Result
	expect.Value(w.S3().DeleteObject(t.Context(), &s3.DeleteObjectInput{Bucket: &w.Bucket, Key: &result.S3Key}))(t)
	w.Approve()
	w.run()
	w.ends(task.ExecutionFailed, task.ReasonResultExpired, task.StepCompleted)
	w.written(0)
}
