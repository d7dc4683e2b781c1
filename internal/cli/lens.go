package cli

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"cutroom/internal/engine"
	"cutroom/internal/tool"
)

// lensCommand says what reading by models would do.
func (a *App) lensCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use: "lens", Short: "Say what reading a file by models would send where", GroupID: groupResults, Args: a.unknownCommand,
		Long: "Reading a picture, a recording or a video (cutroom read-image, read-audio, read-video) may show it to models that the operator configured. docs/lens.md explains how; this command says what would happen, and sends nothing.",
		RunE: a.help,
	}
	if t, ok := a.registry.Find("media.plan"); ok {
		cmd.AddCommand(a.toolCommand(t, "cutroom lens", "plan", false))
	}
	return cmd
}

// told writes an answer that says itself in lines of words.
func told(b *bytes.Buffer, reply *engine.Reply) bool {
	brief, ok := reply.Output.(tool.Brief)
	if _, made := reply.Output.(tool.Maker); !ok || made {
		return false
	}
	for _, l := range brief.Brief() {
		fmt.Fprintln(b, clean(l))
	}
	return true
}
