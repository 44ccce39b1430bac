package reading

import (
	"ringi/shared/domain/tenancy"
	"ringi/shared/explain/failedcall"
	"ringi/shared/words/language"
)

// texts are what people read of tools that may not be called any more.
type texts struct{ closed string }

var words = language.InEach(
	texts{closed: "ツール %s は、コンテストで使えなくなりました。使う場合は、管理者がツールのページで許可してください。"},
	texts{closed: "Contests may no longer use the tool %s. An administrator can allow it on the page of tools."},
)

// changed says that a server has another tool now than was allowed.
func changed(locale, name string) string {
	server, tool, _ := tenancy.ServerTool(name)
	return failedcall.Sentence(locale, failedcall.ProblemChanged,
		failedcall.Provider(tenancy.MCPServer{Name: server}.Provider()), tool)
}
