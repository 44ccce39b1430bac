package teamconfig

import (
	"fmt"
	"strings"
	"testing"
)

func TestAllThatIsWrongWithAFileOfServersIsSaidAtOnce(t *testing.T) {
	server := "[servers.s%02d]\nurl = 'https://a.example/mcp'\n"
	many := ""
	for i := range 11 {
		many += fmt.Sprintf(server, i)
	}
	for name, c := range map[string]struct {
		text string
		want []string
	}{
		"none":          {"[servers]\n", nil},
		"another table": {"servers = 1\n[server]\n", []string{"servers: must be a table, got 1", "server: is not a field that is known here"}},
		"no table":      {"[servers]\nwiki = 'https://a.example'\n", []string{"servers.wiki: must be a table, got"}},
		"too many":      {many, []string{"servers: must be at most 10 servers, these are 11"}},
		"too many tools": {fmt.Sprintf(server, 1) + "tools = ['" + strings.Join(strings.Split("abcdefghijklmnopqrstu", ""), "','") + "']\n",
			[]string{"servers: must list at most 20 tools together, these are 21"}},
		"what is secret": {"[servers.b]\nurl = 'https://u:himitsu@a.example/mcp'\ntoken_env = 'himitsu'\nauth = 'himitsu'\n", []string{
			"servers.b.url: must have no name, password, query", "servers.b.token_env: must be MCP_B_TOKEN, the variable of the environment", "servers.b.auth: is not a field that is known here",
		}},
		"several mistakes": {"[servers.Wiki_1]\nurl = 'ftp://x'\ntoken_env = 'HOME'\nbearer = 'x'\n[servers.b]\ntools = [1]\n", []string{
			"servers.Wiki_1: the name must be 1 to 32 of a-z, 0-9 and -", `servers.Wiki_1.url: must begin with https://, got "ftp://x"`, `servers.Wiki_1.token_env: must be MCP_WIKI_1_TOKEN`,
			"servers.Wiki_1.bearer: is not a field that is known here", "servers.b.url: is required", "servers.b.tools: must be a list of texts",
		}},
	} {
		_, found := workspace(map[string]string{"servers.toml": c.text}).Servers("servers.toml")
		if len(found) != len(c.want) {
			t.Errorf("%s: %v", name, found)
			continue
		}
		for _, want := range c.want {
			if said := fmt.Sprint(found); !strings.Contains(said, "servers.toml: "+want) || strings.Contains(said, "himitsu") {
				t.Errorf("%s: %s, want %s", name, said, want)
			}
		}
	}
	if all, found := workspace(map[string]string{"servers.toml": fmt.Sprintf(server, 2) + fmt.Sprintf(server, 1)}).Servers("servers.toml"); len(found) != 0 || len(all) != 2 || all[0].Name != "s01" {
		t.Errorf("%v %v", all, found)
	}
}
