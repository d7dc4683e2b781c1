package child

// int80 makes system call nr of the 32-bit ABI, which a filter of native numbers
// would mistake for another.
func int80(nr uintptr) uintptr

// ForeignABI tells whether the machine has a second way into the kernel.
const ForeignABI = true
