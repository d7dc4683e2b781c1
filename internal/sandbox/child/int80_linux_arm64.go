package child

func int80(uintptr) uintptr { return 0 }

// ForeignABI tells whether the machine has a second way into the kernel.
const ForeignABI = false
