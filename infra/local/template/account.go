package template

import (
	"strings"

	"ringi/infra/local/iam"
)

// Account says what the names of its resources stand for in calls.
func (t *Template) Account(names Names) iam.Account {
	account := iam.Account{Region: names.Region, ID: names.Account, PartitionKeys: map[string]string{}}
	for _, table := range t.Tables {
		account.PartitionKeys[table.Name] = partition(table.Key)
		for _, x := range table.Indexes {
			account.PartitionKeys[table.Name+"/index/"+*x.IndexName] = partition(x.KeySchema)
		}
	}
	for _, m := range t.Machines {
		if strings.Contains(m.Definition, ".waitForTaskToken") {
			account.Waiting = append(account.Waiting, m.ARN)
		}
	}
	return account
}
