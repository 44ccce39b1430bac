package infra_test

import (
	"ringi/infra/local/lambda"
	"time"
)

// eventRules check what invokes the functions.
func eventRules() []rule {
	return []rule{apiTimeoutRule, streamRule, queueRule}
}

func apiTimeoutRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, r := range f.Routes {
			wrong.where(r.Timeout > 30*time.Second,
				"%s: an HTTP API ends a call after 30 s, TimeoutInMillis says %s", id, r.Timeout)
			wrong.where(r.Timeout < f.Timeout,
				"%s: the API gives up after %s, the function only after %s", id, r.Timeout, f.Timeout)
		}
	}
}

func streamRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, m := range f.Streams {
			wrong.where(s.table.Stream != "NEW_AND_OLD_IMAGES",
				"%s follows a table whose stream is %q, not NEW_AND_OLD_IMAGES", id, s.table.Stream)
			wrong.where(m.From != "TRIM_HORIZON", "%s: from LATEST it may miss what changes while the mapping is made", id)
			wrong.where(m.Retries < 0 || m.MaximumAge == 0,
				"%s: one bad record would hold up its shard for a day; limit MaximumRetryAttempts and MaximumRecordAgeInSeconds", id)
			if dead, ok := s.queues[m.OnFailure]; !ok || dead.FIFO() {
				wrong("%s: OnFailure of a stream takes a standard queue", id)
			}
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one record repeats the whole batch", id)
			wrong.where(id == "SealAuditFunction" && m.Parallel > 1,
				"%s: %d batches of a shard at once meet in the head of one chain, and all but one sign in vain", id, m.Parallel)
			checkPatterns(id, m.Filters, wrong)
		}
	}
}

// lanesOfCards is the number of lanes that a tenant's cards have in package effect.
const lanesOfCards = 4

func queueRule(s *stack, wrong report) {
	for id, f := range s.functions {
		for _, m := range f.Queues {
			q, ok := s.queues[m.Source]
			if !ok {
				wrong("%s: event %s has a queue that the template doesn't make", id, m.Event)
				continue
			}
			if visible := time.Duration(number(q.Attributes["VisibilityTimeout"])) * time.Second; visible < f.Timeout {
				wrong("%s: %s shows a message again after %s, the function may take %s", id, q.ID, visible, f.Timeout)
			}
			wrong.where(at(s.resources[id].Properties, "Events", m.Event, "Properties", "MaximumBatchingWindowInSeconds") != nil && q.FIFO(),
				"%s: a FIFO queue knows no MaximumBatchingWindowInSeconds", id)
			wrong.where(q.FIFO() && m.BatchSize > 10,
				"%s: a FIFO queue gives 10 messages at most, BatchSize is %d", id, m.BatchSize)
			wrong.where(id == "UpdateCardFunction" && m.Concurrency < 50*lanesOfCards,
				"%s: %d at once are too few to draw 50 workspaces' cards side by side", id, m.Concurrency)
			wrong.where(!m.PartialFailures, "%s: without ReportBatchItemFailures one message repeats the whole batch", id)
			wrong.where(q.DeadLetters == "", "%s: %s has no dead letters", id, q.ID)
		}
	}
}

// checkPatterns parses filters as Lambda does when it makes the mapping.
func checkPatterns(id string, patterns []string, wrong report) {
	if _, err := lambda.ParseFilter(patterns); err != nil {
		wrong("%s: %v", id, err)
	}
	wrong.where(len(patterns) > 5, "%s: %d filters, Lambda takes 5", id, len(patterns))
}
