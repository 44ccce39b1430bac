// Package store keeps everything in one DynamoDB table: a task's rows as one
// aggregate that changes by commits, and what a tenant owns beside its tasks.
package store

import (
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"ringi/shared/aggregate"
)

const (
	// retryFor bounds how long one write is tried again while the table is
	// busy; Slack waits three seconds for the function that needs it most.
	retryFor = 2 * time.Second
	// dueAfterCommit is when the sweeper looks whether a commit's effects were done.
	dueAfterCommit = time.Minute
)

// Store reads and writes the table. It is safe for concurrent use.
type Store struct {
	db    *dynamodb.Client
	table string
	newID func() string
	now   func() time.Time
}

// New returns a store over the table of that name.
func New(db *dynamodb.Client, table string) *Store {
	return &Store{db: db, table: table, newID: aggregate.NewID, now: time.Now}
}

// partition is the key of a task's aggregate. Ids may come from outside: what
// cannot be one names no task, so task.ErrNotFound.
func partition(ref aggregate.Ref) (string, error) {
	if !keyPart(ref.Tenant) || !keyPart(ref.Task) {
		return "", fmt.Errorf("task %.40q: %w", ref.Task, aggregate.ErrNotFound)
	}
	return "TASK#" + ref.Tenant + "#" + ref.Task, nil
}

// tenantPartition is the key of what a tenant owns beside its tasks.
func tenantPartition(tenant string) (string, error) {
	if !keyPart(tenant) {
		return "", fmt.Errorf("tenant %.40q: %w", tenant, aggregate.ErrNotFound)
	}
	return "TENANT#" + tenant, nil
}

// keyPart reports whether s can stand between the # of a key. DynamoDB's own
// limit on a partition key is 2,048 bytes.
func keyPart(s string) bool { return s != "" && len(s) <= 128 && !strings.Contains(s, "#") }
