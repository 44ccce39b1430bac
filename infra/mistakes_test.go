package infra_test

import (
	"strings"
	"testing"

	"ringi/shared/runtime/expect"
)

// mistakes are edits that look harmless. The linters pass nearly all of them.
var mistakes = []struct {
	name     string
	file     string
	old, new string // old stands in the file
	want     string // part of what a rule then says
}{
	{"a table that a stack's deletion takes along", templateFile, "    DeletionPolicy: Retain\n    UpdateReplacePolicy: Retain\n    Properties:\n      BillingMode", "    Properties:\n      BillingMode", "Table holds what cannot be made again"},
	{"no point-in-time recovery", templateFile, "PointInTimeRecoveryEnabled: true", "PointInTimeRecoveryEnabled: false", "PointInTimeRecoveryEnabled must be true"},
	{"a public bucket", templateFile, "BlockPublicPolicy: true", "BlockPublicPolicy: false", "BlockPublicPolicy must be true"},
	{"a bucket over plain http", templateFile, `"aws:SecureTransport": "false"`, `"aws:SecureTransport": "true"`, "refuses plain http"},
	{"a standard queue for a FIFO's dead letters", templateFile, "CardDeadLetters:\n    Type: AWS::SQS::Queue\n    Properties:\n      FifoQueue: true", "CardDeadLetters:\n    Type: AWS::SQS::Queue\n    Properties:\n      DelaySeconds: 0", "must both be FIFO"},
	{"dead letters that die at once", templateFile, "MessageRetentionPeriod: 1209600", "MessageRetentionPeriod: 86400", "must keep messages longer"},
	{"a secret in the environment", templateFile, "TENANT_ADMIN: !Ref TenantAdmin", `TENANT_ADMIN: "{{resolve:secretsmanager:x}}"`, "readable configuration"},
	{"logs for ever", templateFile, "      RetentionInDays: !Ref LogRetentionDays\n", "", "keeps logs for ever"},

	{"a function without a folder", templateFile, "SweepTasksFunction", "CleanTasksFunction", "no functions/clean-tasks/main.go"},
	{"a folder without a function", templateFile, "SweepTasksFunction", "CleanTasksFunction", "functions/sweep-tasks is not in the template"},
	{"everybody's binary", templateFile, "Metadata: { BuildMethod: makefile }", "Metadata: { BuildMethod: go1.x }", "binary of another function"},
	{"a timeout that the alias never sees", templateFile, "AutoPublishAliasAllProperties: true\n", "AutoPublishAliasAllProperties: false\n", "never reaches the alias"},
	{"a canary on a worker", templateFile, "      Timeout: 30\n      Environment:\n        Variables:\n          TENANT_ADMIN", "      Timeout: 30\n      DeploymentPreference: { Type: AllAtOnce }\n      Environment:\n        Variables:\n          TENANT_ADMIN", "DeploymentPreference belongs"},
	{"a canary that watches its neighbour", templateFile, "Alarms: [!Ref ReceiveEventNewVersionAlarm]", "Alarms: [!Ref ReceiveInteractionNewVersionAlarm]", "canary's alarm"},
	{"an alarm that keeps its own mend out", templateFile, "Alarms: [!Ref ReceiveEventNewVersionAlarm]", "Alarms: [!Ref ReceiveEventErrorsAlarm]", "ReceiveEventErrorsAlarm watches all versions in answered"},
	{"an alarm of half of a version", templateFile, "                - { Name: version, Value: !GetAtt ServeConsoleFunction.Version.Version }\n", "", "ServeConsoleNewVersionAlarm watches all versions in answered"},
	{"an alarm that rings before its version runs", templateFile, "NewVersion-${ReceiveEventFunction.Version.Version}", "NewVersion", "keeps its state from version to version"},
	{"a parameter that the alias never sees", templateFile, "Timeout: 10\n", "Timeout: !Ref LogRetentionDays\n", "Timeout holds the parameter LogRetentionDays"},
	{"a parameter inside of a text", templateFile, "Description: Verifies one Slack event", "Description: !Sub ${Stage} verifies one Slack event", "Description holds the parameter Stage"},
	{"a parameter behind a condition", templateFile, "Timeout: 10\n", "Timeout: !If [HasAlarmEmail, 10, 9]\n", "of the condition HasAlarmEmail"},
	{"a parameter for everybody", templateFile, "        TABLE_NAME: !Ref Table\n", "        TABLE_NAME: !Ref Table\n        STAGE: !Ref Stage\n", "Environment holds the parameter Stage"},
	{"a tag that breaks an update", templateFile, "    Tracing: Active\n", "    Tracing: Active\n    Tags: { stage: dev }\n", "a changed tag breaks the update"},
	{"a worker behind an alias", templateFile, "      Role: !GetAtt CloseTaskRole.Arn\n", "      Role: !GetAtt CloseTaskRole.Arn\n      AutoPublishAlias: live\n", "an alias would keep its old environment"},
	{"an address with a slash", templateFile, "Default: https://api.freee.co.jp/hr", "Default: https://api.freee.co.jp/hr/", "ends without a slash"},

	{"a FIFO queue for a stream's failures", templateFile, "Destination: !GetAtt ChangeDeadLetters.Arn", "Destination: !GetAtt CardDeadLetters.Arn", "takes a standard queue"},
	{"a batching window on FIFO", templateFile, "            BatchSize: 1\n", "            BatchSize: 1\n            MaximumBatchingWindowInSeconds: 1\n", "MaximumBatchingWindowInSeconds"},
	{"a message that is seen twice", templateFile, "VisibilityTimeout: 60", "VisibilityTimeout: 20", "shows a message again"},
	{"a filter that is no JSON", templateFile, `'{"dynamodb":{"NewImage":{"type":{"S":["head","wait","home"]}}}}'`, `'{"dynamodb":{"NewImage":'`, "unexpected end of JSON input"},
	{"a filter without a list", templateFile, `{"S":["head","wait","home"]}`, `{"S":"head"}`, "values stand in lists"},
	{"a stream that the table lacks", templateFile, "      StreamSpecification:\n        StreamViewType: NEW_AND_OLD_IMAGES\n", "", "whose stream is"},
	{"a batch that is done again for one record", templateFile, "            FunctionResponseTypes: [ReportBatchItemFailures]\n", "", "ReportBatchItemFailures"},
	{"one bad record for a day", templateFile, "            MaximumRecordAgeInSeconds: 3600\n", "", "one bad record"},
	{"links that are signed in vain", templateFile, "            MaximumBatchingWindowInSeconds: 2\n", "            MaximumBatchingWindowInSeconds: 2\n            ParallelizationFactor: 4\n", "meet in the head of one chain"},
	{"an API that waits too long", templateFile, "TimeoutInMillis: 10000", "TimeoutInMillis: 31000", "ends a call after 30 s"},
	{"an API that gives up first", templateFile, "TimeoutInMillis: 5000", "TimeoutInMillis: 3000", "gives up after 3s"},

	{"a role that SAM makes", templateFile, "      Role: !GetAtt CloseTaskRole.Arn\n", "", "has no Role"},
	{"a shared role", templateFile, "Role: !GetAtt CloseTaskRole.Arn", "Role: !GetAtt ResumeTaskRole.Arn", "share ResumeTaskRole"},
	{"every queue of the account", templateFile, "Action: sqs:SendMessage\n            Resource: !GetAtt CardQueue.Arn", "Action: sqs:SendMessage\n            Resource: \"*\"", "on every resource"},
	{"every action", templateFile, "[s3:PutObject, s3:GetObject]", `["s3:*"]`, "says more than is meant"},
	{"an audit log that can be rewritten", templateFile, "ManagedPolicyArns: [!Ref FunctionBasics, !Ref TaskCommits, !Ref SlackCredentials, !Ref BotTokens]", "ManagedPolicyArns: [!Ref TaskCommits, !Ref SlackCredentials]", "may rewrite the audit log"},
	{"a card updater that may not commit", templateFile, "ManagedPolicyArns: [!Ref FunctionBasics, !Ref TaskCommits, !Ref SlackCredentials, !Ref BotTokens]", "ManagedPolicyArns: [!Ref FunctionBasics, !Ref SlackCredentials]", "may not write the rows of every kind"},
	{"an audit log that can be shortened", templateFile, "Action: [dynamodb:UpdateItem, dynamodb:DeleteItem, dynamodb:BatchWriteItem,", "Action: [dynamodb:UpdateItem, dynamodb:BatchWriteItem,", "may rewrite the audit log by dynamodb:DeleteItem"},
	{"an audit log that SQL rewrites", templateFile, "dynamodb:PartiQLUpdate, ", "", "may rewrite the audit log by dynamodb:PartiQLUpdate"},
	{"entries that nothing comes with", templateFile, "StringNotEquals: { \"dynamodb:EnclosingOperation\": TransactWriteItems }", "StringNotEquals: { \"dynamodb:EnclosingOperation\": TransactGetItems }", "that no change comes with"},
	{"a chain that everybody writes", templateFile, `["TASK#*", "QUOTA#*", "AUDIT#*"]`, `["TASK#*", "QUOTA#*", "AUDIT#*", "CHAIN#*"]`, "may forge the chain"},
	{"a second hand that signs", templateFile, "                Action: s3:DeleteObject\n                Resource: !Sub \"${ResultsBucket.Arn}/*\"", "                Action: [s3:DeleteObject, kms:Sign]\n                Resource: !Sub \"${ResultsBucket.Arn}/*\"", "may forge the chain"},
	{"heads that can be deleted", templateFile, "                Action: s3:PutObject\n                Resource: !Sub \"${HeadsBucket.Arn}/heads/*\"", "                Action: [s3:PutObject, s3:DeleteObject]\n                Resource: !Sub \"${HeadsBucket.Arn}/heads/*\"", "on the heads that are put away"},
	{"heads that are not locked", templateFile, "Rule: { DefaultRetention: { Mode: !If [LocksForGood, COMPLIANCE, GOVERNANCE], Days: !Ref HeadRetentionDays } }", "Rule: {}", "locks nothing"},
	{"a sealer that may put more", templateFile, "${HeadsBucket.Arn}/heads/*", "${ResultsBucket.Arn}/results/*", "more than prompts"},
	{"settings that anybody writes", templateFile, `["TASK#*", "QUOTA#*", "AUDIT#*"]`, `["TASK#*", "AUDIT#*", "TENANT#*"]`, "only ResumeTaskFunction makes tenants"},
	{"integrations that anybody writes", templateFile, `["TASK#*", "QUOTA#*", "AUDIT#*"]`, `["INTEGRATIONS#*", "AUDIT#*"]`, "who renews credentials writes them"},
	{"an edge that writes settings", templateFile, `["INTEGRATIONS#*", "AUDIT#*"]`, `["TENANT#*", "AUDIT#*"]`, "or to end integrations"},
	{"a renewal that writes permissions", templateFile, `"dynamodb:LeadingKeys": ["INTEGRATIONS#*", "AUDIT#*"]`, `"dynamodb:LeadingKeys": ["INTEGRATIONS#*", "AUDIT#*", "TENANT#*"]`, "only ResumeTaskFunction makes tenants"},
	{"a note that allows tools", templateFile, "updated_at, agent_id, environment_id]", "updated_at, agent_id, environment_id, allowed]", "only ResumeTaskFunction makes tenants"},
	{"a note that lacks its date", templateFile, "changed_at, updated_at, agent_id", "changed_at, agent_id", "may not note what the store writes"},
	{"rows that anybody deletes", templateFile, "            Action: dynamodb:DeleteItem\n            Resource: !GetAtt Table.Arn\n            Condition: { \"ForAllValues:StringLike\": { \"dynamodb:LeadingKeys\": [\"TASK#*\"] } }\n", "            Action: dynamodb:DeleteItem\n            Resource: !GetAtt Table.Arn\n", "without saying on which rows"},
	{"exports that stay", templateFile, "Prefix: exports/\n            ExpirationInDays: 1\n", "Prefix: exports/\n            ExpirationInDays: 30\n", "keeps exports of the audit log"},
	{"answers that stay", templateFile, "Prefix: turns/\n            ExpirationInDays: 8\n", "Prefix: turns/\n            ExpirationInDays: 30\n", "keeps models' answers"},
	{"answers that go before their rows", templateFile, "Prefix: turns/\n            ExpirationInDays: 8\n", "Prefix: turns/\n            ExpirationInDays: 7\n", "keeps models' answers"},
	{"a round that can't keep a long answer", templateFile, ", !Sub \"${ResultsBucket.Arn}/turns/*\"]", "]", "may not keep the answers"},
	{"an export over everything", templateFile, "${ResultsBucket.Arn}/exports/*", "${ResultsBucket.Arn}/*", "more than prompts"},
	{"a console that can't export", templateFile, "          EXPORT_AUDIT_FUNCTION: !Ref ExportAuditFunction\n", "", "is not told EXPORT_AUDIT_FUNCTION"},
	{"statistics that can be taken away", templateFile, "- Sid: Count\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:UpdateItem]", "- Sid: Count\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:DeleteItem]", "only who answers task tokens deletes them"},
	{"facts over other rows", templateFile, `"dynamodb:LeadingKeys": ["FACT#*"]`, `"dynamodb:LeadingKeys": ["TASK#*"]`, "it seals and counts, and writes nothing else"},
	{"a scan", templateFile, "Action: [dynamodb:GetItem, dynamodb:Query]\n            Resource", "Action: [dynamodb:GetItem, dynamodb:Query, dynamodb:Scan]\n            Resource", "nothing here needs dynamodb:Scan"},
	{"an edge that reads", templateFile, "KeepTheRequest\n                Effect: Allow\n                Action: dynamodb:PutItem", "KeepTheRequest\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:GetItem]", "all it does is to keep a request"},
	{"an edge that deletes", templateFile, "KeepTheRequest\n                Effect: Allow\n                Action: dynamodb:PutItem", "KeepTheRequest\n                Effect: Allow\n                Action: [dynamodb:PutItem, dynamodb:DeleteItem]", "only who answers task tokens deletes them"},
	{"an edge that commits", templateFile, "ManagedPolicyArns: [!Ref FunctionBasics, !Ref SlackCredentials]", "ManagedPolicyArns: [!Ref FunctionBasics, !Ref TaskCommits, !Ref SlackCredentials, !Ref BotTokens]", "all it does is to keep a request"},
	{"a stop that an old conversation refuses", templateFile, `"MESSAGES#*", "ACTIONS#*", "QUOTA#*"`, `"MESSAGES#*", "QUOTA#*"`, "ReceiveEventFunction decides on a session and may not dynamodb:PutItem on ACTIONS#*"},
	{"a decision that can't rely on the settings", templateFile, `["TASK#*", "TENANT#*"] } }`, `["TASK#*"] } }`, "may not dynamodb:ConditionCheckItem on TENANT#*, which a decision may write or rely on"},
	{"a variable without the right", templateFile, "          TENANT_ADMIN: !Ref TenantAdmin\n", "          CARD_QUEUE_URL: !Ref CardQueue\n", "may do none of"},
	{"a right without the variable", templateFile, "          RESULTS_BUCKET: !Ref ResultsBucket\n", "", "is not told RESULTS_BUCKET"},
	{"a card that is stopped by arguments that are gone", templateFile, "              # Without it S3 says of arguments that are gone that they are forbidden, and no card of their task would be drawn.\n              - Sid: TellWhatIsGone\n                Effect: Allow\n                Action: s3:ListBucket\n", "              - Sid: TellWhatIsGone\n                Effect: Allow\n                Action: s3:GetObjectTagging\n", "is not told which are gone"},
	{"a contest that never ends, and nobody hears of it", templateFile, "MetricName: ContestLate", "MetricName: SweepFailed", "no alarm watches Ringi ContestLate"},
	{"an alarm of the cost of what never counts it", templateFile, "MetricName: ContestCost\n      Dimensions:\n        - { Name: function, Value: !Ref CloseContestFunction }", "MetricName: ContestCost\n      Dimensions:\n        - { Name: function, Value: !Ref RunRoundFunction }", "which never counts it"},
	{"a contest whose usual files must be there", templateFile, "          - Sid: TellWhatIsNotThere\n            Effect: Allow\n            Action: s3:ListBucket\n", "          - Sid: TellWhatIsNotThere\n            Effect: Allow\n            Action: s3:GetObjectTagging\n", "is not told which are not there"},
	{"a card that can't read older keys", templateFile, "Action: s3:GetObject\n                Resource: !Sub \"${ResultsBucket.Arn}/*\"", "Action: s3:GetObject\n                Resource: !Sub \"${ResultsBucket.Arn}/arguments/*\"", "under older keys"},
	{"a card that reads results", templateFile, "Effect: Deny\n                Action: s3:GetObject\n", "Effect: Allow\n                Action: s3:GetObject\n", "may get results"},
	{"a function that thinks and forgets what it asked", templateFile, "            Action: s3:PutObject\n            Resource: !Sub \"${ResultsBucket.Arn}/prompts/*\"", "            Action: s3:PutObject\n            Resource: !Sub \"${ResultsBucket.Arn}/prompt/*\"", "may not keep what models were sent"},
	{"a function that thinks and writes results", templateFile, "            Action: s3:PutObject\n            Resource: !Sub \"${ResultsBucket.Arn}/prompts/*\"", "            Action: s3:PutObject\n            Resource: [!Sub \"${ResultsBucket.Arn}/prompts/*\", !Sub \"${ResultsBucket.Arn}/*\"]", "may put more than prompts"},
	{"a card that reads prompts", templateFile, ", !Sub \"${ResultsBucket.Arn}/prompts/*\"]", "]", "may get prompts"},
	{"a sweeper that deletes arguments", templateFile, "              - Sid: KeepArguments\n                Effect: Deny\n", "              - Sid: KeepArguments\n                Effect: Allow\n", "may delete arguments that people approved"},
	{"results that stay for ever", templateFile, "Action: s3:DeleteObject\n                Resource: !Sub \"${ResultsBucket.Arn}/*\"", "Action: s3:DeleteObject\n                Resource: !Sub \"${ResultsBucket.Arn}/results/*\"", "kept under older keys"},
	{"a vendor's credentials for members of a contest", templateFile, `"kms:EncryptionContext:provider": "mcp:*"`, `"kms:EncryptionContext:provider": "*"`, "nobody approved what members of a contest read"},
	{"credentials of anybody", templateFile, `, "kms:EncryptionContext:provider": "false"`, "", "without saying whose"},
	{"a sandbox for several actions", templateFile, "TenantIsolationMode: PER_TENANT", "TenantIsolationMode: NONE", "would serve several actions"},
	{"a sandbox in the open", templateFile, "      VpcConfig:\n        SubnetIds: [!Ref SandboxSubnetA, !Ref SandboxSubnetB]\n        SecurityGroupIds: [!Ref SandboxSecurityGroup]\n", "", "would reach the internet"},
	{"a sandbox that knows the table", templateFile, `TABLE_NAME: ""`, "TABLE_NAME: !Ref Table", "its code would read TABLE_NAME"},
	{"a sandbox with a right", templateFile, "                  - ec2:DescribeSubnets\n", "                  - ec2:DescribeSubnets\n                  - s3:GetObject\n", "may do s3:GetObject"},
	{"a sandbox that uses Lambda's rights", templateFile, `"lambda:SourceFunctionArn": "false"`, `"lambda:SourceFunctionArn": "true"`, "could use the rights that Lambda needs"},
	{"an agent that changes files by itself", templateFile, "Action: s3:GetObject\n                Resource: !Sub \"${ResultsBucket.Arn}/workspaces/versions/*\"", "Action: [s3:GetObject, s3:PutObject]\n                Resource: !Sub \"${ResultsBucket.Arn}/workspaces/versions/*\"", "which is not its business"},
	{"a sandbox that carries things to anybody's bucket", templateFile, "Resource: !Sub \"${ResultsBucket.Arn}/workspaces/*\"", "Resource: \"*\"", "more passes than workspaces"},
	{"a sandbox that looks up any name", templateFile, "Action: BLOCK, BlockResponse: NXDOMAIN", "Action: ALERT", "answers other names"},
	{"a sandbox that somebody may call", templateFile, "      SecurityGroupEgress:\n", "      SecurityGroupIngress: [{ IpProtocol: tcp, FromPort: 1, ToPort: 2, CidrIp: 0.0.0.0/0 }]\n      SecurityGroupEgress:\n", "may call the sandbox"},
	{"a sandbox with a way out", templateFile, "  SandboxRoutesOfA:\n", "  SandboxExit:\n    Type: AWS::EC2::Route\n    Condition: HasSandbox\n  SandboxRoutesOfA:\n", "is a way out of the sandbox"},
	{"a sandbox that nobody asked for", templateFile, "    Type: AWS::EC2::VPC\n    Condition: HasSandbox\n", "    Type: AWS::EC2::VPC\n", "though there is no sandbox"},

	{"a pipeline that may not call", templateFile, "                  - !GetAtt CloseTaskFunction.Arn\n", "", "may not call CloseTaskFunction.Arn"},
	{"a pipeline through an alias", templateFile, "CloseTaskFunctionArn: !GetAtt CloseTaskFunction.Arn", "CloseTaskFunctionArn: !Ref CloseTaskFunction.Alias", "a worker has no alias"},

	{"an alarm that nobody hears", templateFile, "      AlarmActions: [!Ref Alerts]\n", "", "tells nobody"},
	{"no alarm on dead letters", templateFile, "!GetAtt CardDeadLetters.QueueName", "!GetAtt CardQueue.QueueName", "no alarm watches AWS/SQS ApproximateNumberOfMessagesVisible"},
	{"an alarm that is deaf to direct messages", templateFile, "MetricName: SlackFailed, Dimensions: [{ Name: function, Value: !Ref ExecuteProcessFunction }]", "MetricName: SlackFailed, Dimensions: [{ Name: function, Value: !Ref UpdateCardFunction }]", "ExecuteProcessFunction calls Slack, and no alarm counts what fails"},
	{"an alarm that looks and does not reckon", templateFile, "(FILL(cardsfailed, 0) + FILL(clicksfailed, 0) + FILL(messagesfailed, 0) + FILL(threadsfailed, 0) + FILL(peoplefailed, 0))", "(FILL(cardsfailed, 0) + FILL(clicksfailed, 0))", "SlackErrorsAlarm reads messagesfailed"},
	{"an index that nobody watches", templateFile, "{ Name: GlobalSecondaryIndexName, Value: GSI2 }", "{ Name: GlobalSecondaryIndexName, Value: GSI3 }", "no alarm watches WriteThrottleEvents of the index GSI2"},
	{"a canary that looks for crashes only", templateFile, "MetricName: NotAnswered\n              Dimensions:\n                - { Name: function, Value: !Ref ReceiveEventFunction }", "MetricName: EventRepeated\n              Dimensions:\n                - { Name: function, Value: !Ref ReceiveEventFunction }", "lets a version in that answers 5xx"},
	{"a workspace that is refused and nobody hears of it", templateFile, "      MetricName: TenantFull\n", "      MetricName: PersonFull\n", "no alarm watches Ringi TenantFull"},
	{"an alarm that its own cause mutes", templateFile, "          Expression: FILL(events, 0) + FILL(clicks, 0)\n          Label: Calls that nobody could verify\n", "          Expression: FILL(events, 0) + FILL(clicks, 0) + FILL(calls, 0)\n          Label: Calls that nobody could verify\n        - Id: calls\n          ReturnData: false\n          MetricStat: { Metric: { Namespace: AWS/ApiGateway, MetricName: 5xx, Dimensions: [{ Name: ApiId, Value: !Ref Api }] }, Period: 900, Stat: Sum }\n", "heard of by nobody"},
	{"an alarm that reads too much", templateFile, "Label: Calls that nobody could verify\n", "Label: Calls that nobody could verify\n" + strings.Repeat("        - Id: events\n          ReturnData: false\n          MetricStat: { Metric: { Namespace: Ringi, MetricName: SecretMissing, Dimensions: [{ Name: function, Value: !Ref ReceiveEventFunction }] }, Period: 900, Stat: Sum }\n", 9), "and CloudWatch takes 10"},
	{"an alarm for what a vendor refuses", templateFile, "MetricName: ExecutionsFailed, Dimensions: [{ Name: StateMachineArn, Value: !Ref Chat }]", "MetricName: ExecutionsFailed, Dimensions: [{ Name: StateMachineArn, Value: !Ref Pipeline }]", "RunsFailedAlarm rings for tasks"},
	{"an alarm that is deaf to the console", templateFile, "MetricName: DecisionSeconds, Dimensions: [{ Name: function, Value: !Ref ServeConsoleFunction }]", "MetricName: DecisionSeconds, Dimensions: [{ Name: function, Value: !Ref ReceiveInteractionFunction }]", "no alarm watches Ringi DecisionSeconds of \"ServeConsoleFunction\""},
	{"an alarm on all versions", templateFile, `!Sub "${ReceiveEventFunction}:live"`, "!Ref ReceiveEventFunction", "the dimension Resource"},

	{"an alarm that nobody counts for", templateFile, "      MetricName: SweepRepaired", "      MetricName: SweepRepairs", "no function counts Ringi SweepRepairs"},
	{"an alarm that the dashboard lacks", templateFile, `            "${RepairsAlarm.Arn}",` + "\n", "", "does not show RepairsAlarm"},
	{"a metric that the dashboard lacks", templateFile, `["Ringi", "RelayFailed", `, `["Ringi", "RelayFails", `, "does not draw RelayFailed"},
	{"a metric of nobody on the dashboard", templateFile, `["Ringi", "SweepFailed", "function", "${SweepTasksFunction}"`, `["Ringi", "SweepFailed", "function", "${UpdateCardFunction}"`, "SweepFailed of UpdateCardFunction, which never counts it"},
	{"a dashboard of something else", templateFile, `"${CardDeadLetters.QueueName}"`, `"${CardLetters.QueueName}"`, "shows CardLetters, which does not exist"},
	{"a dashboard that is no JSON", templateFile, `{ "widgets": [`, `{ "widgets": `, "is no JSON"},
	{"metrics that nobody reads", templateFile, "        ThrottlingRateLimit: 100\n", "        ThrottlingRateLimit: 100\n        DetailedMetricsEnabled: true\n", "pays for metrics that nobody reads"},
	{"a curve that never has data", templateFile, `"AWS/States", "ExecutionsFailed", "StateMachineArn"`, `"AWS/States", "ExecutionsFailed", "StateMachine"`, "names a dimension StateMachine"},

	{"a lost substitution", templateFile, "        CloseTaskFunctionArn: !GetAtt CloseTaskFunction.Arn\n", "", "DefinitionSubstitutions lacks CloseTaskFunctionArn"},
	{"a swapped substitution", templateFile, "PlanProcessFunctionArn: !GetAtt PlanProcessFunction.Arn", "PlanProcessFunctionArn: !GetAtt DraftPromptFunction.Arn", "${PlanProcessFunctionArn} is DraftPromptFunction.Arn"},
	{"a partition in a state", definitionFile, "arn:${Partition}:states:::lambda:invoke\"", "arn:aws:states:::lambda:invoke\"", "says arn:aws:states, which is one partition's"},
	{"a partition in the template", templateFile, "arn:${AWS::Partition}:iam", "arn:aws-us-gov:iam", "says arn:aws-us-gov:iam"},
	{"another region's partition", templateFile, "Partition: !Ref \"AWS::Partition\"", "Partition: !Ref \"AWS::Region\"", "${Partition} is AWS::Region"},
	{"a state that does not exist", definitionFile, `"Default": "UnknownRoute"`, `"Default": "Unknown"`, "leads to Unknown, which does not exist"},
	{"a state that nobody comes to", definitionFile, `"Next": "TaskFailed"`, `"Next": "UnknownRoute"`, "TaskFailed: no state leads here"},
	{"a route that is missing", definitionFile, `        { "Variable": "$.next", "StringEquals": "Pause", "Next": "Pause" },` + "\n", "", "may point to Pause"},
	{"a route that goes astray", definitionFile, `"StringEquals": "PlanProcess", "Next": "PlanProcess"`, `"StringEquals": "PlanProcess", "Next": "DraftPrompt"`, "sends PlanProcess to DraftPrompt"},
	{"a route that nobody takes", definitionFile, `"StringEquals": "Pause"`, `"StringEquals": "Rest"`, "no function ever points to Rest"},
	{"a failure that looks like success", definitionFile, `"StringEquals": "Fail", "Next": "TaskFailed"`, `"StringEquals": "Fail", "Next": "Finish"`, "which is not red"},
	{"bugs that are tried again", definitionFile, `"ErrorEquals": ["ModelUnavailable"]`, `"ErrorEquals": ["Internal"]`, "which does not heal"},
	{"a misspelt error", definitionFile, `"Sandbox.Timedout"`, `"Sandbox.TimedOut"`, "names Sandbox.TimedOut, which nothing returns"},
	{"a death that is not tried again", definitionFile, `, "Runtime.ExitError"`, "", "does not try again after Runtime.ExitError"},
	{"a try less", definitionFile, `"MaxAttempts": 28`, `"MaxAttempts": 27`, "its tries are not those of the design"},
	{"a longer wait in one machine", "infra/chat.asl.json", `"MaxDelaySeconds": 60`, `"MaxDelaySeconds": 120`, "RunAction: its tries are not those of the design"},
	{"a state that gives up at once", "infra/contest.asl.json", `"MaxAttempts": 6,`, `"MaxAttempts": 3,`, "RunRound: its tries are not those of the design"},
	{"a want of room that is written down as a failure", definitionFile, `"ErrorEquals": ["Lambda.TooManyRequestsException"], "ResultPath": null, "Next": "NoRoom"`, `"ErrorEquals": ["Lambda.TooManyRequestsException"], "ResultPath": null, "Next": "CloseTask"`, "a run for which there is no room ends as NoRoom"},
	{"a want of room by another name", "infra/chat.asl.json", `"Error": "NoRoom"`, `"Error": "Throttled"`, "a run for which there is no room ends as NoRoom"},
	{"an error that nobody catches", definitionFile, `{ "ErrorEquals": ["States.ALL"], "ResultPath": null, "Next": "TaskFailed" }`, `{ "ErrorEquals": ["Internal"], "ResultPath": null, "Next": "TaskFailed" }`, "Catch ends with States.ALL"},
	{"an error in the wrong place", definitionFile, `"ResultPath": "$.error", "Next": "CloseTask"`, `"ResultPath": "$.failure", "Next": "CloseTask"`, "finds its error at $.error"},
	{"a wait for ever", definitionFile, `"TimeoutSecondsPath": "$.timeout_seconds"`, `"TimeoutSeconds": 60`, "would wait for ever"},
	{"a token for nobody", definitionFile, `"task_token.$": "$$.Task.Token"`, `"task_token.$": "$$.Execution.Id"`, "gives nobody its token"},
	{"a fuse that ends the task", definitionFile, `"ErrorEquals": ["States.Timeout", "States.HeartbeatTimeout"]`, `"ErrorEquals": ["States.HeartbeatTimeout"]`, "burnt fuse"},
	{"a fuse that is too short", definitionFile, `"TimeoutSeconds": 165`, `"TimeoutSeconds": 150`, "a little longer is wanted"},
	{"a function that ends before its tools do", templateFile, "Timeout: 150", "Timeout: 120", "ExecuteProcessFunction ends after"},
	{"steps that never come round", definitionFile, `"StringEquals": "ExecuteProcess", "Next": "ExecuteProcess"`, `"StringEquals": "ExecuteProcess", "Next": "ResumeTask"`, "sends ExecuteProcess to ResumeTask"},
	{"content in a payload", definitionFile, `"error.$": "$.error.Error"`, `"error.$": "$.error.Cause"`, "is no id"},
	{"the wrong function", definitionFile, "${PlanProcessFunctionArn}", "${DraftPromptFunctionArn}", "PlanProcess calls"},
	{"variables, which the local interpreter lacks", definitionFile, `"SecondsPath": "$.wait_seconds",`, `"SecondsPath": "$.wait_seconds", "Assign": { "x": 1 },`, "unknown field"},
}

func TestRulesNoticeMistakes(t *testing.T) {
	expect.Patience(t)
	for _, m := range mistakes {
		t.Run(m.name, func(t *testing.T) {
			texts := files(t)
			expect.Must(t, strings.Contains(texts[m.file], m.old),
				"%s does not contain %q; make the mistake anew", m.file, m.old)
			texts[m.file] = strings.ReplaceAll(texts[m.file], m.old, m.new)
			said := strings.Join(problems(t, texts), "\n")
			expect.That(t, strings.Contains(said, m.want), "no rule says %q; they say:\n%s", m.want, said)
		})
	}
}
