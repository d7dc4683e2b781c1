package mcpserver

import (
	"encoding/json"
	"slices"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"cutroom"
	"cutroom/internal/docgen"
	"cutroom/internal/tool"
)

// anyObject stands for a schema that is made later.
var anyObject = json.RawMessage(`{"type":"object"}`)

// list is what a host sees of the listed tools.
func (s *server) list() []*mcp.Tool {
	tools := []*mcp.Tool{}
	for _, t := range s.listed {
		tools = append(tools, Translate(docgen.Entry(s.Engine.Registry, t, docgen.ContractOptions{})))
	}
	return tools
}

// Translate is an entry of the contract as a host lists it.
func Translate(e docgen.ToolEntry) *mcp.Tool {
	t := &mcp.Tool{
		Name: e.MCPName, Title: e.Title, Description: e.Description,
		Annotations: annotations(e),
	}
	if docgen.Promises(e.ToolID) {
		t.OutputSchema = e.OutputSchema
	}
	input := e.InputSchema
	if len(e.Rare) > 0 {
		input = brief(input, e.Rare)
		t.Description += " More options: tool_search shows all."
	}
	t.InputSchema = docgen.HostInput(input, e.MCP.Positional)
	if slices.Contains(main, e.ToolID) {
		t.Meta = mcp.Meta{"anthropic/alwaysLoad": true}
	}
	return t
}

// annotations derive from what a tool may do. A host that runs unattended decides by
// them, so each hint is stated, and none is nicer than the truth. To replace a file
// takes a person's approval of that call, so that what writes files only adds some.
func annotations(e docgen.ToolEntry) *mcp.ToolAnnotations {
	reads := (e.Kind == cutroom.Read || e.Kind == cutroom.Preview) && !e.Writes
	destructive, open := e.Risk == tool.HighRisk, e.NetworkAccess != "none"
	return &mcp.ToolAnnotations{
		Title: e.Title, ReadOnlyHint: reads, IdempotentHint: e.Replay == tool.ReplaySafe,
		DestructiveHint: &destructive, OpenWorldHint: &open,
	}
}
