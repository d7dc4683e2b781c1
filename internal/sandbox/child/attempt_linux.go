//go:build linux && (amd64 || arm64)

package child

func attempt(args []string) {}
