package provider_test

import (
	"context"
	"fmt"

	"cutroom/internal/provider"
)

// A chain of a service that cannot be reached and of work on this machine.
func ExampleChain() {
	c := provider.Chain{Client: provider.New(provider.Options{})}
	defer c.Client.Close()
	ask := func(context.Context) (provider.Request, error) {
		return provider.Request{Messages: []provider.Message{{Role: provider.RoleUser, Parts: []provider.Part{provider.TextPart("What is in the picture?"), {Kind: provider.Image, Type: "image/png", Data: []byte("…")}}}}}, nil
	}
	out, err := c.Run(context.Background(), []provider.Hop{
		{Route: "configured", Endpoint: provider.Endpoint{Name: "lab", Wire: provider.Messages, BaseURL: "http://127.0.0.1:1/v1", Model: "m", Keys: []string{"key one", "key two"}}, Request: ask},
		{Route: "local", Endpoint: provider.Endpoint{Name: "ocr"}, Local: func(context.Context) (provider.Reply, error) {
			return provider.Reply{Message: provider.Message{Role: provider.RoleAssistant, Parts: []provider.Part{provider.TextPart("EXIT")}}}, nil
		}},
	}, nil)
	fmt.Println(out.Reply.Message.Text(), err)
	for _, a := range out.Attempts {
		fmt.Printf("%s %v %q %q\n", a.Provider, a.OK, a.Class, a.Message)
	}
	fmt.Println(out.Warnings[0])
	// Output:
	// EXIT <nil>
	// configured:lab false "unavailable" "the service takes no connection"
	// local:ocr true "" ""
	// failover: configured:lab failed (unavailable), going on to local:ocr
}
