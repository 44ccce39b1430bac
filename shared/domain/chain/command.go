package chain

// ProofCommand returns the command that proves, from a checkout of Ringi, what came of an execution, a task or an
// agent's action. In angle brackets are outputs of the stack.
func ProofCommand(tenant, id string) string {
	return "go run ./infra/audit prove -table <TableName> -key <ChainKeyArn> -heads <HeadsBucketName>" +
		" -results <ResultsBucketName> -tenant " + tenant + " " + id
}
