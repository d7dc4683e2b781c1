package child

// Numbers of calls that package syscall does not have.
const (
	sysExecveat        = 281
	sysPpoll           = 73
	sysBpf             = 280
	sysUserfaultfd     = 282
	sysPerfEventOpen   = 241
	sysKeyctl          = 219
	sysAddKey          = 217
	sysOpenByHandleAt  = 265
	sysMemfdCreate     = 279
	sysProcessVMReadv  = 270
	sysProcessVMWritev = 271
	sysSetns           = 268
	sysFinitModule     = 273
	sysKcmp            = 272
)
