package infra_test

import "strings"

// storageRules are about data that must survive a mistaken update, a deleted stack or a lost message.
func storageRules() []rule {
	return []rule{keptRule, tableRule, bucketRule, forgettingRule, deadLetterRule, secretAndLogRule}
}

func keptRule(s *stack, wrong report) {
	stateful := []string{"AWS::DynamoDB::Table", "AWS::S3::Bucket", "AWS::KMS::Key", "AWS::SecretsManager::Secret"}
	for _, kind := range stateful {
		for _, id := range s.of(kind) {
			keep := "RetainExceptOnCreate" // deletes what a failed first deployment made
			if kind == "AWS::DynamoDB::Table" {
				keep = "Retain" // its deletion protection would make that deletion fail
			}
			if r := s.resources[id]; r.DeletionPolicy != keep || r.UpdateReplacePolicy != "Retain" {
				wrong("%s holds what cannot be made again: DeletionPolicy must be %s, UpdateReplacePolicy Retain", id, keep)
			}
		}
	}
}

func tableRule(s *stack, wrong report) {
	p := s.resources[s.table.ID].Properties
	for _, path := range [][]string{
		{"DeletionProtectionEnabled"}, {"PointInTimeRecoverySpecification", "PointInTimeRecoveryEnabled"}, {"SSESpecification", "SSEEnabled"},
	} {
		wrong.where(at(p, path...) != "true", "%s: %s must be true", s.table.ID, strings.Join(path, "."))
	}
	wrong.where(p["TableName"] != nil,
		"%s: with a TableName of its own a replacement would collide with what it replaces", s.table.ID)
	wrong.where(s.table.Expiry != "delete_after",
		"%s: the TTL attribute is %q, not delete_after", s.table.ID, s.table.Expiry)
}

func bucketRule(s *stack, wrong report) {
	for _, id := range s.of("AWS::S3::Bucket") {
		p := s.resources[id].Properties
		for _, name := range []string{"BlockPublicAcls", "BlockPublicPolicy", "IgnorePublicAcls", "RestrictPublicBuckets"} {
			wrong.where(at(p, "PublicAccessBlockConfiguration", name) != "true",
				"%s: PublicAccessBlockConfiguration.%s must be true", id, name)
		}
		wrong.where(p["BucketEncryption"] == nil || p["LifecycleConfiguration"] == nil,
			"%s: BucketEncryption and LifecycleConfiguration are wanted", id)
		wrong.where(!s.refusesPlainHTTP(id), "%s: no bucket policy refuses plain http", id)
	}
}

func deadLetterRule(s *stack, wrong report) {
	for _, q := range s.queues {
		if q.DeadLetters == "" {
			continue
		}
		dead, ok := s.queues[q.DeadLetters]
		switch {
		case !ok:
			wrong("%s: its dead letters go nowhere", q.ID)
		case dead.FIFO() != q.FIFO():
			wrong("%s and its dead letters' %s must both be FIFO, or neither", q.ID, dead.ID)
		case number(dead.Attributes["MessageRetentionPeriod"]) <= number(q.Attributes["MessageRetentionPeriod"]):
			wrong("%s must keep messages longer than %s, whose age they bring along", dead.ID, q.ID)
		}
	}
}

func secretAndLogRule(s *stack, wrong report) {
	wrong.where(strings.Contains(s.text, "{{resolve:"),
		"a dynamic reference ({{resolve:…}}) would put a secret into a resource's readable configuration")
	for _, id := range s.of("AWS::Logs::LogGroup") {
		wrong.where(s.resources[id].Properties["RetentionInDays"] == nil, "%s keeps logs for ever", id)
	}
}

func (s *stack) refusesPlainHTTP(bucket string) bool {
	for _, id := range s.of("AWS::S3::BucketPolicy") {
		p := s.resources[id].Properties
		if target(p["Bucket"]) != bucket {
			continue
		}
		for _, st := range list(at(p, "PolicyDocument", "Statement")) {
			if at(st, "Effect") == "Deny" && at(st, "Principal") == "*" && at(st, "Condition", "Bool", "aws:SecureTransport") == "false" && len(list(at(st, "Resource"))) == 2 {
				return true
			}
		}
	}
	return false
}
